"""Files of a cache that several processes share: each with its digest, written as a whole.

Names say which version wrote a file, and nobody knows which versions are still in use. So a file
that is read is marked as used, once a day at most, and what nobody has used for a month is removed.
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
"""An empty file beside the others: when they were last looked through."""


def read_whole(path: Path) -> bytes | None:
    """What was written to a file; None where there is none, or a damaged one."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, content = content[-_DIGEST_BYTES:], content[:-_DIGEST_BYTES]
    if hashlib.sha256(content).digest() != digest:
        return None
    with suppress(OSError):  # another user's file, or one that was removed meanwhile
        if _age_seconds(path) > _DAY_SECONDS:
            os.utime(path)
    return content


def write_whole(path: Path, content: bytes) -> None:
    """Write a file as a whole: who reads it meanwhile sees the old one, or none. Once a day this
    removes what nobody has used beside it. Raises OSError."""
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
    """Remove the files of a folder that nobody has used for long, if none has done so today. Any
    number of processes may do it at once: a file that one of them needs after all is made again."""
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
    """Seconds since the file was last written, or marked as used."""
    return time.time() - path.stat().st_mtime
