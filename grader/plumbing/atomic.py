"""Writes a file so that a reader sees either the old or the whole new content, never a part.

The libraries for this (atomicwrites, python-atomicwrites) are no longer maintained.
"""

from __future__ import annotations

import os
import secrets
from pathlib import Path

from grader.errors import UsageError


def replace_file(path: Path, content: bytes, *, synced: bool = False) -> None:
    """Write the file. `synced`: it is on the disk then, and outlives a power cut. Raises OSError,
    and leaves nothing behind."""
    temporary = path.with_name(f".{path.name[:100]}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            if synced:
                file.flush()
                os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_file(path: Path, content: bytes, what: str) -> None:
    """Write the content. A pipe or device (`/dev/stdout`) is written directly.

    `what` names the file in the UsageError that is raised where the path cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(content)
        else:
            replace_file(path.resolve(), content, synced=True)
    except OSError as error:
        raise UsageError(
            f"cannot write {what} to {path}: {error.strerror}",
            "Name a file in a folder that you may write to.",
        ) from error
