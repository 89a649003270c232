"""Files of a cache that several processes share: each with its digest, written as a whole."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path

_DIGEST_BYTES = hashlib.sha256().digest_size


def read_whole(path: Path) -> bytes | None:
    """What was written to a file; None where there is none, or a damaged one."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    digest, content = content[-_DIGEST_BYTES:], content[:-_DIGEST_BYTES]
    return content if hashlib.sha256(content).digest() == digest else None


def write_whole(path: Path, content: bytes) -> None:
    """Write a file as a whole: who reads it meanwhile sees the old one, or none. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content + hashlib.sha256(content).digest())
        Path(name).replace(path)
    except OSError:
        Path(name).unlink(missing_ok=True)
        raise
