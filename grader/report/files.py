"""Writes a file that somebody asked for, so that a reader sees the old one or the whole new one,
never a part."""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from grader.errors import UsageError


def write_file(path: Path, content: bytes, what: str) -> None:
    """Write the content. What is no regular file (`/dev/stdout`, a pipe) is written to as it is.

    `what` is how the UsageError calls it, which is raised where the path cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
        else:
            _replace_file(path.resolve(), content)
    except OSError as error:
        raise UsageError(
            f"cannot write {what} to {path}: {error.strerror}",
            "Name a file in a folder that you may write to.",
        ) from error


def _replace_file(path: Path, content: bytes) -> None:
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
