"""Writes a requested file atomically: a reader sees the old file or the whole new file, never a
part."""

from __future__ import annotations

from pathlib import Path

from grader.errors import UsageError
from grader.plumbing.atomic import replace_file


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
