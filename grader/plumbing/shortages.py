"""What this machine can lack: room, files, processes, memory; each with a message and advice."""

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

_ROOM = "Make room there, or set TMPDIR to a folder with room, and give the same command again."
_OPEN_FILES = "Raise the limit of open files (`ulimit -n 1024`), and give the same command again."
_MORE = (
    "Raise the limit of processes (`ulimit -u`), free memory, or use fewer --jobs, and give the"
    " same command again."
)
_DISK = "Check the disk or the network folder (`dmesg`), and give the same command again."
_FOLDER = "Set TMPDIR to a folder that you may write to, and give the same command again."
_ADVICE: Mapping[int, str] = {
    errno.ENOSPC: _ROOM,
    errno.EDQUOT: _ROOM,
    errno.EFBIG: "Raise the limit of file sizes (`ulimit -f`), and give the same command again.",
    errno.EROFS: "Mount it for writing, or name another folder (for temporary files: TMPDIR), and"
    " give the same command again.",
    errno.EMFILE: _OPEN_FILES,
    errno.ENFILE: _OPEN_FILES,
    errno.EAGAIN: _MORE,
    errno.ENOMEM: _MORE,
    errno.EIO: _DISK,
    errno.ESTALE: _DISK,
}
ROOM_BYTES = 32 << 20
"""The intermediate files of a compilation take less (`#include <cub/cub.cuh>`: 14 MB). With less
room a file may have been cut short."""
_NO_FOLDER = "No usable temporary directory"
"""How tempfile says that there is none."""


def machine_fault(error: BaseException) -> GraderError | None:
    """The error in words, if it is a lack of this machine."""
    if isinstance(error, MemoryError):
        error = OSError(errno.ENOMEM, "the grader ran out of memory")
    if isinstance(error, RuntimeError) and "start new thread" in str(error):
        error = OSError(errno.EAGAIN, "no thread can be started")
    if not isinstance(error, OSError):
        return None
    if _NO_FOLDER in str(error):
        return GraderError("there is no folder for temporary files", _FOLDER)
    if isinstance(error, FileNotFoundError) and not Path(tempfile.gettempdir()).is_dir():
        return GraderError(
            f"the folder for temporary files, {tempfile.gettempdir()}, was removed",
            "Give the same command again.",
        )
    if error.errno is None or error.errno not in _ADVICE:
        return None
    where = f"{error.filename}: " if error.filename else ""
    return GraderError(f"{where}{error.strerror}", _ADVICE[error.errno])


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
            return GraderError(
                f"`ulimit -{option}` is {hard // unit}, less than the grader needs",
                f"Set `ulimit -{option}` to {wanted // unit} or more, and give the same command"
                " again.",
            )
    return None


def find_full_folder(size_bytes: int) -> GraderError | None:
    """Whether the folder for temporary files lacks so many bytes. They are taken for a moment:
    quotas and limits of file sizes count."""
    try:
        with tempfile.TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, size_bytes)
    except OSError as error:
        if (fault := machine_fault(error)) is not None:
            needed = f"{tempfile.gettempdir()} has less than {size_bytes >> 20} MiB of room: "
            return GraderError(f"{'' if _NO_FOLDER in str(error) else needed}{fault}", fault.advice)
    return None
