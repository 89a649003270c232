"""What all translated kernels call, in C++: accesses with their counting, divergence, the blocks of
a grid, the checked mode; and the timing model's simulation.

It is compiled for this processor by the host's g++, once: the object lies in a folder of the
caller's under a key of all that it depends on. An object that is damaged, or cannot be kept, costs
the time to compile it again.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import platform
import subprocess
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from llvmlite import binding

from grader.emulator.codegen.kept_files import read_whole, write_whole
from grader.emulator.codegen.steps import Steps
from grader.emulator.cpp.header import write_header
from grader.emulator.layouts.execution import FUNCTION_PREFIX

_FLAGS = (
    *("-fPIC", "-std=c++17", "-O3", "-march=native", "-fvisibility=hidden"),
    *("-fno-exceptions", "-fno-rtti", "-fno-strict-aliasing"),
    "-ffp-contract=off",  # the timing model's figures are the same on every processor
)
_LINKING = ("-shared", "-Wl,--as-needed")
_SOURCES = Path(__file__).parent
_COMPILE_SECONDS = 300.0


class CompilerFailed(Exception):  # noqa: N818 - a property of the machine, not an error of ours
    """The compiler does not work, or not with the runtime's sources; says what it printed."""


@dataclass(frozen=True)
class Runtime:
    """The loaded runtime, whose functions the steps of kernels find by their names, and what Python
    calls of it, which releases the GIL. Records are told by their addresses.

    `run_blocks(context, first, end)` and `finish_blocks(context)`, which lets those of them end
    that wait for others, return a FaultCode. Of the timing model, `measure_traces` and
    `expand_traces` take a Trace, `add_up` takes Totals, `touch` Touched, `follow_walks` Walks,
    `find_meetings` Meetings, and `simulate` an SM, as
    `simulate_profiled` does one with a profile.
    `digest(data, size_bytes, key, sums)` is told in digests.py.
    """

    run_blocks: Callable[[int, int, int], int]
    finish_blocks: Callable[[int], int]
    measure_traces: Callable[[int], None]
    expand_traces: Callable[[int], None]
    add_up: Callable[[int], None]
    touch: Callable[[int], None]
    follow_walks: Callable[[int], None]
    find_meetings: Callable[[int], None]
    simulate: Callable[[int], None]
    simulate_profiled: Callable[[int], None]
    digest: Callable[[int, int, int, int], None]
    steps: Steps


def load(folder: Path, compiler: str) -> Runtime:
    """The runtime from an object in the folder, which is made where it is missing or damaged.

    Raises CompilerFailed. A process that is to be confined loads it before.
    """
    header = write_header()
    kept = folder / f"runtime-{_key(header, compiler)}.so"
    steps = Steps(folder / "steps")
    content = read_whole(kept)
    if content is None:
        content = _compile(header, compiler)
        with suppress(OSError):  # a folder that cannot be written
            write_whole(kept, content)
    try:
        return _open(kept, steps)
    except (OSError, RuntimeError):  # not kept, or removed meanwhile
        return _load_once(content, steps)


def _key(header: str, compiler: str) -> str:
    """A digest of all that the object depends on: sources, compiler, processor."""
    sources = "".join(path.read_text(encoding="utf-8") for path in _source_files())
    features = sorted(binding.get_host_cpu_features().items())
    flags = _FLAGS + _LINKING
    parts = (header, sources, flags, _ask_version(compiler), platform.machine(), features)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


def _source_files() -> list[Path]:
    return sorted((*_SOURCES.glob("*/*.cpp"), *_SOURCES.glob("*/*.h")))


def _ask_version(compiler: str) -> str:
    return _run([compiler, "--version"])


def _compile(header: str, compiler: str) -> bytes:
    """The shared object."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "records.h").write_text(header, encoding="utf-8")
        sources = [path for path in _source_files() if path.suffix == ".cpp"]
        objects = [str(folder / f"{path.parent.name}-{path.stem}.o") for path in sources]
        command = [compiler, *_FLAGS, f"-I{folder}", f"-I{_SOURCES}", "-c"]
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            each = zip(sources, objects, strict=True)
            list(pool.map(_run, ([*command, str(path), "-o", made] for path, made in each)))
        shared = folder / "runtime.so"
        _run([compiler, *_LINKING, *objects, "-o", str(shared)])
        return shared.read_bytes()


def _run(command: list[str]) -> str:
    try:
        done = subprocess.run(
            command,
            capture_output=True,
            check=False,
            text=True,
            errors="replace",
            timeout=_COMPILE_SECONDS,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CompilerFailed(str(error)) from error
    if done.returncode != 0:
        raise CompilerFailed(done.stderr.strip() or f"{command[0]} ended with {done.returncode}")
    return done.stdout


def _load_once(content: bytes, steps: Steps) -> Runtime:
    """Load an object that cannot be kept; what is mapped outlives its file."""
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "runtime.so"
        path.write_bytes(content)
        return _open(path, steps)


def _open(path: Path, steps: Steps) -> Runtime:
    binding.load_library_permanently(str(path))
    library = ctypes.CDLL(str(path))
    return Runtime(
        _function(library, "run_blocks", 3, ctypes.c_uint32),
        _function(library, "finish_blocks", 1, ctypes.c_uint32),
        _function(library, "measure_traces", 1, None),
        _function(library, "expand_traces", 1, None),
        _function(library, "add_up", 1, None),
        _function(library, "touch", 1, None),
        _function(library, "follow_walks", 1, None),
        _function(library, "find_meetings", 1, None),
        _function(library, "simulate", 1, None),
        _function(library, "simulate_profiled", 1, None),
        _function(library, "digest", 4, None),
        steps,
    )


def _function(library: ctypes.CDLL, name: str, arguments: int, result: type | None) -> Any:  # noqa: ANN401 - any function
    """A function of the runtime that takes so many words."""
    function = getattr(library, f"{FUNCTION_PREFIX}{name}")
    function.restype = result
    function.argtypes = (ctypes.c_uint64,) * arguments
    return function
