"""Locks between processes: a file that one process holds at a time. The system frees it when its
holder ends for any reason.

filelock opens the file for writing, so that other users of the machine cannot share it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Callable, Iterator
from pathlib import Path


@contextlib.contextmanager
def hold_lock(path: Path, when_taken: Callable[[], None], *, mode: int = 0o600) -> Iterator[None]:
    """Hold a lock alone. Creates its file, if missing, with these permissions.

    While another process holds the lock, `when_taken` is called repeatedly: it waits a little, or
    raises. Raises OSError if the file cannot be opened.
    """
    descriptor = _open(path, mode)
    try:
        while not _try_lock(descriptor):
            when_taken()
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _open(path: Path, mode: int) -> int:
    """Read-only suffices for a lock, so that other users' files serve as well."""
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW
    with contextlib.suppress(FileNotFoundError):
        return os.open(path, flags)
    with contextlib.suppress(FileExistsError):
        return os.open(path, flags | os.O_CREAT | os.O_EXCL, mode)
    return os.open(path, flags)
