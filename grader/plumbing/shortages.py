"""Shortages of this machine: disk space, open files, processes, memory; each with a message and
advice."""

from __future__ import annotations

import contextlib
import errno
import math
import os
import resource
import tempfile
from collections.abc import Mapping
from pathlib import Path

from grader.errors import GraderError
from grader.records import ToolLimits

_FREE_SPACE = "Make room there, or set TMPDIR to a folder with room"
_FILES = "Raise the limit of open files (`ulimit -n 1024`)"
_MORE = "Raise the limit of processes (`ulimit -u`), free memory, or use fewer --jobs"
_DISK = "Check the disk or the network folder (`dmesg`)"
_STEPS: Mapping[int | None, str] = {
    errno.ENOSPC: _FREE_SPACE,
    errno.EDQUOT: _FREE_SPACE,
    errno.EFBIG: "Raise the limit of file sizes (`ulimit -f`)",
    errno.EROFS: "Mount it for writing, or name another folder (for temporary files: TMPDIR)",
    errno.EMFILE: _FILES,
    errno.ENFILE: _FILES,
    errno.EAGAIN: _MORE,
    errno.ENOMEM: _MORE,
    errno.EIO: _DISK,
    errno.ESTALE: _DISK,
}
AGAIN = "and give the same command again."
FREE_MEMORY = "The machine may be out of memory (see `dmesg`): use fewer --jobs"
LEAST_FREE_BYTES = 32 << 20
"""The intermediate files of a compilation take less (`#include <cub/cub.cuh>`: 14 MB). With less
room a file may have been cut short."""
_NO_FOLDER = "No usable temporary directory"
"""The message of tempfile when no folder for temporary files is usable."""


def machine_fault(error: BaseException) -> GraderError | None:
    """The error in words, if it is a lack of this machine."""
    if isinstance(error, MemoryError):
        error = OSError(errno.ENOMEM, "the grader ran out of memory")
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        error = OSError(errno.EAGAIN, "")
    if not isinstance(error, OSError):
        return None
    message, step = error.strerror, _STEPS.get(error.errno)
    if _NO_FOLDER in str(error):
        message, step = "there is no folder for temporary files", "Set TMPDIR to a writable folder"
    elif (
        isinstance(error, FileNotFoundError) and not Path(folder := tempfile.gettempdir()).is_dir()
    ):
        message, step = f"the folder for temporary files, {folder}, was removed", "Make it"
    elif error.errno == errno.EAGAIN:
        message = "no further process or thread can be started"
    elif error.filename:
        message = f"{error.filename}: {message}"
    return None if step is None else GraderError(str(message), f"{step}, {AGAIN}")


def reported_fault(text: str) -> GraderError | None:
    """The lack of this machine that a tool reports; not for text that a submission can print."""
    reported = (number for number in _STEPS if number and os.strerror(number) in text)
    return next((machine_fault(OSError(number, os.strerror(number))) for number in reported), None)


def keep_temporary_folder() -> None:
    """Make this process's folder for temporary files again if a cleaner has removed it."""
    with contextlib.suppress(OSError):
        Path(tempfile.gettempdir()).mkdir(mode=0o700, exist_ok=True)


def list_bounds(limits: ToolLimits) -> tuple[tuple[int, int, int, str], ...]:
    """The limits that the kernel keeps: its number, the value, the unit of the shell's `ulimit` and
    its option."""
    seconds = math.ceil(limits.wall_seconds if limits.cpu_seconds is None else limits.cpu_seconds)
    return (
        (resource.RLIMIT_CPU, seconds + 1, 1, "t"),
        (resource.RLIMIT_FSIZE, limits.file_bytes, 512, "f"),
        (resource.RLIMIT_AS, limits.memory_bytes, 1024, "v"),
    )


def find_small_bound(limits: ToolLimits) -> GraderError | None:
    """A limit of this process that is smaller than the grader's own."""
    for kind, wanted, unit, option in list_bounds(limits):
        hard = resource.getrlimit(kind)[1]
        if hard != resource.RLIM_INFINITY and hard < wanted:
            message = f"`ulimit -{option}` is {hard // unit}, less than the grader needs"
            return GraderError(message, f"Set it to {wanted // unit} or more, {AGAIN}")
    return None


def find_full_folder(size_bytes: int) -> GraderError | None:
    """Whether the folder for temporary files lacks so many bytes. A temporary file of that size is
    allocated, so that quotas and limits of file sizes count."""
    try:
        with tempfile.TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
    except OSError as error:
        if (fault := machine_fault(error)) is not None:
            message = f"less than {size_bytes >> 20} MiB of room for temporary files: {fault}"
            return GraderError(message, fault.advice)
    return None
