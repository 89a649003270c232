"""Decides whether a failed compilation is the submission's or this machine's fault.

It is the submission's where a diagnostic names one of its lines, or where a second try ends alike
although the machine has all that the limits allow, no signal ended a tool, and the same tools
compile an empty kernel. Everything else is a GraderError. No text that a submission can
print decides for the machine.
"""

from __future__ import annotations

import re
import signal
from collections.abc import Callable
from typing import TypeVar

from grader.errors import GraderError
from grader.plumbing.shortages import (
    AGAIN,
    FREE_MEMORY,
    LEAST_FREE_BYTES,
    find_full_folder,
    find_small_bound,
    keep_temporary_folder,
    machine_fault,
    reported_fault,
)
from grader.records import CompileErrors, CompilerEnd, CompilerEnded
from grader.toolchain.workspace import Compiler, open_workspace, run_nvcc

Made = TypeVar("Made")
_EMPTY_KERNEL = "__global__ void k() {}\n"
_LIMIT_SIGNALS = frozenset((signal.SIGXCPU, signal.SIGXFSZ))
"""The kernel sends them to a process that exceeds a limit of the grader."""
_FAULTY_READ = re.compile(
    r": fatal error: .*: (?:Input/output error|Too many open files|Stale file handle)$",
    re.MULTILINE,
)
"""gcc's message about a header that exists and cannot be read."""


def settle(attempt: Callable[[], Made], compiler: Compiler) -> Made:
    """The result of an attempt to compile. It is tried a second time if the machine may have caused
    the failure. Raises GraderError if the machine is at fault."""
    stop = compiler.limits.stop
    try:
        made = attempt()
        if _is_certain(made) or (stop is not None and stop.is_set()):
            return made
    except (GraderError, OSError):
        keep_temporary_folder()
    try:
        made = attempt()
    except OSError as error:
        raise machine_fault(error) or error from error
    if _is_certain(made):
        return made
    if isinstance(made, CompilerEnded):
        lack = find_small_bound(made.limits) or find_full_folder(made.limits.file_bytes)
        lack = lack or _find_end(made)
    else:
        lack = find_full_folder(LEAST_FREE_BYTES)
    if not (isinstance(made, CompileErrors) and made.line):
        lack = lack or _try_tools(compiler)
    if lack is not None:
        raise lack
    return made


def _is_certain(made: object) -> bool:
    """Whether a first try decides: it succeeded, or its mistakes have lines in the submission and
    no file can have been cut short."""
    if isinstance(made, CompilerEnded):
        return made.how is CompilerEnd.TOO_SLOW and find_small_bound(made.limits) is None
    if not isinstance(made, CompileErrors):
        return True
    if made.line is None or find_full_folder(LEAST_FREE_BYTES):
        return False
    if _FAULTY_READ.search(made.quoted):
        raise GraderError(
            f"the compiler cannot read its headers: {made.error_text}",
            f"Check the disk and the limit of open files, {AGAIN}",
        )
    return True


def _find_end(made: CompilerEnded) -> GraderError | None:
    """A signal that ended a tool: a crash of the compiler, or the kernel without free memory."""
    if made.signal in (0, *_LIMIT_SIGNALS):
        return None
    return GraderError(
        f"signal {made.signal} ended a program of the compiler, twice", f"{FREE_MEMORY}, {AGAIN}"
    )


def _try_tools(compiler: Compiler) -> GraderError | None:
    """Whether the tools fail on an empty kernel, too."""
    with open_workspace(_EMPTY_KERNEL) as workspace:
        done = run_nvcc(compiler, workspace, "-cubin", output="empty.cubin")
    if done.limit is None and done.returncode == 0:
        return None
    if (fault := reported_fault(done.stderr)) is not None:
        return fault
    output = " ".join((done.stderr + done.stdout).split())[-300:]
    return GraderError(
        f"the compiler fails on an empty kernel, too: {output or f'exit code {done.returncode}'}",
        "`grade doctor` checks the compiler.",
    )
