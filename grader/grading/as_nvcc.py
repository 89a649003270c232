"""A replacement for nvcc that PyCUDA's SourceModule starts: it compiles with the isolation, limits
and cache of the check of the submission.

`python -m grader.grading.as_nvcc SETTINGS SHA256 --cubin OPTION... -arch ARCH -IFOLDER... FILE.cu`
writes FILE.cubin next to the file, as nvcc does, and only if its bytes have this SHA-256.
SourceModule calls nvcc with these arguments if its own cache is off. The include folders that it
adds are ignored, because the check of a submission does not have them.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.errors import GraderError
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import tool_runner
from grader.plumbing.record_json import converter
from grader.records import Binary, Recipe, Submission, ToolLimits
from grader.toolchain.compilation import artifacts_key
from grader.toolchain.compile import compile_cubin
from grader.toolchain.nvcc import Nvcc, Nvdisasm
from grader.toolchain.workspace import OPTIONS

_FAILED = 1
_NOT_UNDERSTOOD = 2


@dataclass(frozen=True)
class Settings:
    """The inputs of a compilation besides the text and the architecture. `search_path`: the PATH on
    which nvcc finds the host compiler."""

    nvcc: Nvcc
    nvdisasm: Nvdisasm
    cache: Path
    wall_seconds: float
    isolated: bool
    search_path: str


@dataclass(frozen=True)
class Order:
    source: Path
    arch: str
    options: tuple[str, ...]


def with_recipe(binary: Binary, source: Submission, settings: Settings) -> Binary:
    """The binary with a recipe that lets the GPU's process compile it again; without a recipe if
    the cache does not contain it."""
    nvcc, nvdisasm = settings.nvcc, settings.nvdisasm
    key = artifacts_key(source.text, nvcc=nvcc, nvdisasm=nvdisasm, arch=binary.arch)
    if not (settings.cache / key).is_file():
        return binary
    program = (sys.executable, "-P", "-m", "grader.grading.as_nvcc", format_settings(settings))
    return replace(binary, recipe=Recipe(source.text, OPTIONS, program))


def main(argv: Sequence[str]) -> int:
    """Compiles the file of the command line. Exit code 1 if this fails, 2 if the arguments are
    unknown; the reason goes to stderr."""
    settings, sha256, order = parse_settings(argv[0]), argv[1], parse_order(argv[2:])
    if isinstance(order, str):
        return _refuse(order, _NOT_UNDERSTOOD)
    os.environ["PATH"] = settings.search_path
    text = order.source.read_bytes().decode()
    submission = Submission(order.source.name, hashlib.sha256(text.encode()).hexdigest(), text)
    nvcc, nvdisasm = settings.nvcc, settings.nvdisasm
    try:
        cubin = compile_cubin(
            submission,
            nvcc=nvcc,
            nvdisasm=nvdisasm,
            arch=order.arch,
            run=tool_runner(nvcc, nvdisasm, isolated=settings.isolated),
            limits=ToolLimits(wall_seconds=settings.wall_seconds),
            cache=settings.cache,
        )
    except GraderError as error:
        return _refuse(str(error), _FAILED)
    if not isinstance(cubin, bytes):
        return _refuse(str(SubmissionError(cubin)), _FAILED)
    if hashlib.sha256(cubin).hexdigest() != sha256:
        return _refuse("The source compiles to other machine code than the checked code.", _FAILED)
    order.source.with_suffix(".cubin").write_bytes(cubin)
    return 0


def parse_order(words: Sequence[str]) -> Order | str:
    """Parses a command line of PyCUDA 2022 to 2026; returns the reason if it has another form."""
    if len(words) < 2 or words[0] != "--cubin" or not words[-1].endswith(".cu"):
        return f"This compiles one file with --cubin, not {' '.join(words)}"
    arch, options = None, []
    rest = iter(words[1:-1])
    for word in rest:
        if word == "-arch":
            arch = next(rest, None)
        elif not word.startswith("-I"):
            options.append(word)
    if arch is None or tuple(options) != OPTIONS:
        return (
            f"This compiles with {' '.join(OPTIONS)} -arch ARCH, not with {' '.join(words[1:-1])}"
        )
    return Order(Path(words[-1]), arch, tuple(options))


def format_settings(settings: Settings) -> str:
    cache = settings.cache.resolve()
    return json.dumps(converter().unstructure(replace(settings, cache=cache)))


def parse_settings(text: str) -> Settings:
    return converter().structure(json.loads(text), Settings)


def _refuse(why: str, exit_code: int) -> int:
    print(why, file=sys.stderr)
    return exit_code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
