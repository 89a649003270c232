"""A compilation by an nvcc whose front end is kept ready (ready.py).

nvcc runs gcc's preprocessor, cicc and ptxas. Every submission begins with `cuda_runtime.h`, so gcc
reads it once: a stand-in for the submission includes the submission, where gcc stops. Every
preprocessed submission begins with the same text, so cicc reads it once: another stand-in includes
this text, and then the rest, where cicc stops. Both meet the same text with the same options as
under nvcc, which prints them (`--dryrun`).
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, replace
from pathlib import Path
from string import Template

from grader.records import Completed
from grader.toolchain.ready import ReadyRun, Start
from grader.toolchain.workspace import (
    DEPENDENCIES_NAME,
    SOURCE_NAME,
    Compiler,
    Workspace,
    nvcc_command,
    run_nvcc,
)

PREPROCESSED_NAME = "submission.ii"
PREPROCESSOR_BYTES = 1 << 30
"""Memory of the preprocessor. CUB as a whole takes 200 MB; `#include "/dev/zero"` takes all."""
_MAIN, _TEXT = "stand-in.cu", "headers.ii"
_SEES_MAIN = re.compile(
    rb'\bpragma\s+once\b|"once"|\binclude_next\b|__(?:INCLUDE_LEVEL|BASE_FILE)__'
)
"""What differs between gcc's main file and an included file."""
_CONTINUED = re.compile(rb"\\[ \t\r]*\n")
"""The end of a line that the next one continues."""
_STAND_IN = "submission.cup"
"""cicc preprocesses files of this type."""
_HEADERS, _REST = "headers.h", "rest.h"
PTX_NAME = "submission.ptx"
_BEGIN = f'\n# 1 "{SOURCE_NAME}"\n'
"""gcc's line marker where the submission begins."""


@dataclass(frozen=True)
class _Steps:
    """The steps of nvcc, for files of other names, and their variables."""

    gcc: tuple[str, ...]
    cicc: tuple[str, ...]
    ptxas: tuple[str, ...]
    env: tuple[tuple[str, str], ...]


def compile_ready(compiler: Compiler, workspace: Workspace, cubin: str) -> Completed | None:
    """Compiles as `nvcc -cubin` does, with the same warnings; None where this is not possible or
    fails: nvcc gives the reason. An architecture that lacks instructions is a failure of its
    own."""
    steps = _find_steps(compiler, workspace)
    translated = translate_ready(compiler, workspace)
    if steps is None or translated is None:
        return None
    limits = replace(compiler.limits, cpu_seconds=compiler.limits.wall_seconds)
    argv = [*steps.ptxas, f"../out/{PTX_NAME}", "-o", f"../out/{cubin}"]
    ended = compiler.run(argv, cwd=workspace.source, limits=limits, env=dict(steps.env))
    if ended.limit or (ended.returncode != 0 and not needs_all_features(ended, compiler.arch)):
        return None
    return Completed(
        ended.returncode, translated.stdout + ended.stdout, translated.stderr + ended.stderr
    )


def translate_ready(compiler: Compiler, workspace: Workspace) -> Completed | None:
    """Compiles to PTX_NAME as `nvcc -ptx` does; None where this is not possible or fails."""
    run, steps = compiler.run, _find_steps(compiler, workspace)
    if not isinstance(run, ReadyRun) or steps is None:
        return None
    preprocessed = run_preprocessor(compiler, workspace)
    if preprocessed.limit or preprocessed.returncode != 0:
        return None
    text = (workspace.out / PREPROCESSED_NAME).read_text("utf-8", "surrogateescape")
    headers, begin, rest = text.partition(_BEGIN)
    if not begin:
        return None
    stand_in = f'#include "{_HEADERS}"\n#include "{_REST}"\n'
    files = ((_STAND_IN, stand_in), (_HEADERS, f"{headers}\n"), (_REST, ""))
    limits = replace(compiler.limits, cpu_seconds=compiler.limits.wall_seconds)
    tool = run.tool(Start(steps.cicc, files, _REST, 1, steps.env), limits)
    body = (begin + rest).encode("utf-8", "surrogateescape")
    made = tool.ask(body, (PTX_NAME, "stdout", "stderr"), limits)
    if made is None:
        return None
    (workspace.out / PTX_NAME).write_bytes(made[0])
    printed, warned = (part.decode("utf-8", "replace") for part in made[1:])
    return Completed(0, preprocessed.stdout + printed, preprocessed.stderr + warned)


def run_preprocessor(compiler: Compiler, workspace: Workspace) -> Completed:
    """Preprocesses as `nvcc -E` does, with the same warnings, to PREPROCESSED_NAME, and lists the
    included files."""
    return _preprocess_ready(compiler, workspace) or run_nvcc(
        compiler, workspace, "-E", output=PREPROCESSED_NAME
    )


def _preprocess_ready(compiler: Compiler, workspace: Workspace) -> Completed | None:
    """None where this is not possible or fails, or where gcc would warn: its warnings name the
    files around the submission."""
    run, steps = compiler.run, _find_steps(compiler, workspace)
    source = (workspace.source / SOURCE_NAME).read_bytes()
    if not isinstance(run, ReadyRun) or steps is None:
        return None
    if _SEES_MAIN.search(_CONTINUED.sub(b"", source)):
        return None
    memory = min(compiler.limits.memory_bytes, PREPROCESSOR_BYTES)
    seconds = compiler.limits.wall_seconds
    limits = replace(compiler.limits, cpu_seconds=seconds, memory_bytes=memory)
    stand_in = (_MAIN, f'#include "{SOURCE_NAME}"\n')
    tool = run.tool(Start(steps.gcc, (stand_in,), SOURCE_NAME, 1, steps.env), limits)
    made = tool.ask(source, ("stdout", "stderr", DEPENDENCIES_NAME), limits)
    if made is None or made[1]:
        return None
    begin, end = f'# 1 "{_MAIN}"\n# 1 "{SOURCE_NAME}" 1\n', f'# 2 "{_MAIN}" 2\n'
    headers, found, body = (tool.read(_TEXT) + made[0]).partition(begin.encode())
    if not found or not body.endswith(end.encode()):
        return None
    headers = headers.replace(_MAIN.encode(), SOURCE_NAME.encode())
    text = headers + _BEGIN[1:].encode() + body.removesuffix(end.encode())
    (workspace.out / PREPROCESSED_NAME).write_bytes(text)
    (workspace.out / DEPENDENCIES_NAME).write_bytes(made[2])
    return Completed(0, "", "")


def needs_all_features(completed: Completed, arch: str) -> bool:
    """Whether a compilation failed for instructions that only sm_90a has (`wgmma`): code that does
    without them is the same for both."""
    refused = f"not supported on .target '{arch}'"
    return arch == "sm_90" and completed.returncode != 0 and refused in completed.stderr


def _find_steps(compiler: Compiler, workspace: Workspace) -> _Steps | None:
    """The steps as nvcc prints them, asked once; None if it prints others than expected, or no
    compiler is kept ready."""
    run = compiler.run
    if not isinstance(run, ReadyRun) or not run.several:
        return None
    return run.once((compiler.nvcc, compiler.arch), lambda: _read_steps(compiler, workspace))


def _read_steps(compiler: Compiler, workspace: Workspace) -> _Steps | None:
    argv = [*nvcc_command(compiler, "-cubin"), "--dryrun", "--keep"]
    printed = compiler.run(argv, cwd=workspace.source, limits=compiler.limits).stderr
    lines = [line.removeprefix("#$ ") for line in printed.splitlines()]
    env = dict(line.split("=", 1) for line in lines if re.match(r"\w+=", line))
    commands = [
        shlex.split(Template(line).safe_substitute(env))
        for line in lines
        if ".ii" in line or ".ptx" in line
    ]
    if [Path(command[0]).name for command in commands] != ["gcc", "cicc", "ptxas"]:
        return None
    gcc, cicc, ptxas = commands
    inputs = [each for each in cicc if each.endswith(".ii")]
    if len(inputs) != 1:
        return None
    gcc[gcc.index(SOURCE_NAME)] = _MAIN
    gcc[gcc.index("-MF") + 1] = DEPENDENCIES_NAME
    at = gcc.index("-o")
    gcc[at : at + 2] = []
    gcc = ["/bin/sh", "-c", f'exec "$@" > {_TEXT}', "gcc", *gcc]
    cicc[cicc.index(inputs[0])] = _STAND_IN
    cicc[cicc.index("-o") + 1] = PTX_NAME
    end = next(at for at, each in enumerate(ptxas) if each.endswith(".ptx"))
    kept = {name: value for name, value in env.items() if name in ("PATH", "NVVMIR_LIBRARY_DIR")}
    return _Steps(tuple(gcc), tuple(cicc), tuple(ptxas[:end]), tuple(kept.items()))
