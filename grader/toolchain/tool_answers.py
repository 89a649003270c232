"""Keeps answers of nvcc and nvdisasm about themselves: a version and a list of folders stay the
same as long as the programs do.

Only for real programs: a script, or a gcc that is a link to a compiler cache, may run another
program tomorrow.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from grader.plumbing.cache import cache_key, recall, remember
from grader.records import Completed, RunTool, ToolLimits

HOST_COMPILER = "gcc"
ANSWER_LIMITS = ToolLimits()
_ELF = b"\x7fELF"
_ABSENT = re.compile(r'^ignoring nonexistent directory "(.*)"$', re.MULTILINE)
"""gcc's message about a folder that it would search if it existed."""


def keep_answers(run: RunTool, folder: Path, environ: Mapping[str, str]) -> RunTool:
    """`run`, for questions to nvcc and nvdisasm: an answer that is kept is given again."""

    def ask(
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        limits: ToolLimits = ANSWER_LIMITS,
        env: dict[str, str] | None = None,
    ) -> Completed:
        path = environ.get("PATH", "")
        stamps = [_stamp(Path(argv[0])), _stamp_host_compiler(path)]
        if None in stamps:
            return run(argv, cwd=cwd, limits=limits, env=env)
        key = "answer-" + cache_key(*argv, path, *map(str, stamps))
        if (known := _read(folder, key)) is not None:
            return known
        completed = run(argv, cwd=cwd, limits=limits, env=env)
        if completed.returncode == 0 and completed.limit is None:
            remember(folder, key, completed)
        return completed

    return ask


def _stamp(program: Path) -> str | None:
    """Distinguishes a program from an earlier program in its place; None for a script or a link,
    which may run another program."""
    try:
        real = program.resolve(strict=True)
        with real.open("rb") as file:
            if file.read(len(_ELF)) != _ELF:
                return None
        found = real.stat()
    except OSError:
        return None
    return f"{real} {found.st_size} {found.st_mtime_ns} {found.st_ino}"


def _stamp_host_compiler(path: str) -> str | None:
    """The stamp of the gcc that nvcc calls; None if it is none, or a stand-in."""
    found = shutil.which(HOST_COMPILER, path=path)
    if found is None or HOST_COMPILER not in Path(found).resolve().name:
        return None
    return _stamp(Path(found))


def _read(folder: Path, key: str) -> Completed | None:
    """The kept answer, if the folders that it reports as absent are still absent."""
    answer = recall(folder, key, Completed)
    if answer is None:
        return None
    absent = _ABSENT.findall(answer.stderr)
    return None if any(Path(each).exists() for each in absent) else answer
