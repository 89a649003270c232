"""A compilation by an nvcc whose front end is kept ready (ready.py).

nvcc runs gcc's preprocessor, cicc and ptxas. Every preprocessed submission begins with the same
text, that of `cuda_runtime.h`, so cicc reads this text once: the stand-in includes it, and then the
rest of the submission, where cicc stops. The compiler meets the same text with the same options as
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
    SOURCE_NAME,
    Compiler,
    Workspace,
    compile_options,
    run_nvcc,
)

_PREPROCESSED = "submission.ii"
_STAND_IN = "submission.cup"
"""cicc preprocesses files of this type."""
_HEADERS, _REST = "headers.h", "rest.h"
PTX_NAME = "submission.ptx"
_BEGIN = f'\n# 1 "{SOURCE_NAME}"\n'
"""gcc's line marker where the submission begins."""


@dataclass(frozen=True)
class _Steps:
    """The steps of nvcc after the preprocessor, for files of other names, and their variables."""

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
    preprocessed = run_nvcc(compiler, workspace, "-E", output=_PREPROCESSED)
    if preprocessed.limit or preprocessed.returncode != 0:
        return None
    text = (workspace.out / _PREPROCESSED).read_text(encoding="utf-8", errors="surrogateescape")
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
    argv = [str(compiler.nvcc.path), "-cubin", *compile_options(compiler.arch), SOURCE_NAME]
    argv += ["--dryrun", "--keep"]
    printed = compiler.run(argv, cwd=workspace.source, limits=compiler.limits).stderr
    lines = [line.removeprefix("#$ ") for line in printed.splitlines()]
    env = dict(line.split("=", 1) for line in lines if re.match(r"\w+=", line))
    commands = [
        shlex.split(Template(line).safe_substitute(env)) for line in lines if ".ptx" in line
    ]
    if [Path(command[0]).name for command in commands] != ["cicc", "ptxas"]:
        return None
    cicc, ptxas = commands
    inputs = [each for each in cicc if each.endswith(".ii")]
    if len(inputs) != 1:
        return None
    cicc[cicc.index(inputs[0])] = _STAND_IN
    cicc[cicc.index("-o") + 1] = PTX_NAME
    end = next(at for at, each in enumerate(ptxas) if each.endswith(".ptx"))
    kept = {name: value for name, value in env.items() if name in ("PATH", "NVVMIR_LIBRARY_DIR")}
    return _Steps(tuple(cicc), tuple(ptxas[:end]), tuple(kept.items()))
