"""Files of a cache that several processes share. Each has its digest and is written atomically.

File names contain the version of the program that wrote them, and several versions may be in use.
Therefore a read marks a file as used, at most once a day, and files without use for a month are
removed.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
from contextlib import suppress
from pathlib import Path

_DIGEST_BYTES = hashlib.sha256().digest_size
_DAY_SECONDS = 24 * 3600.0
UNUSED_SECONDS = 30 * _DAY_SECONDS
SWEPT_NAME = ".swept"
"""An empty file in the folder; its time is that of the last removal of unused files."""


def read_whole(path: Path) -> bytes | None:
    """Contents of a file; None if it is absent or damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, content = content[-_DIGEST_BYTES:], content[:-_DIGEST_BYTES]
    if hashlib.sha256(content).digest() != digest:
        return None
    with suppress(OSError):  # the file belongs to another user, or was just removed
        if _age_seconds(path) > _DAY_SECONDS:
            os.utime(path)
    return content


def write_whole(path: Path, content: bytes) -> None:
    """Writes a file atomically: concurrent readers see the old file or none. Removes unused files
    of the folder once a day. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + hashlib.sha256(content).digest())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
    with suppress(OSError):
        _sweep_daily(path.parent)


def _sweep_daily(folder: Path) -> None:
    """Removes files without recent use, once a day per folder. Processes may do this at the same
    time; a removed file that one of them needs is created again."""
    swept = folder / SWEPT_NAME
    if swept.exists() and _age_seconds(swept) < _DAY_SECONDS:
        return
    swept.touch()
    with os.scandir(folder) as entries:
        for entry in entries:
            with suppress(OSError):
                path = Path(entry.path)
                if entry.is_file(follow_symlinks=False) and _age_seconds(path) > UNUSED_SECONDS:
                    path.unlink()


def _age_seconds(path: Path) -> float:
    """Seconds since the last write or mark of use."""
    return time.time() - path.stat().st_mtime
