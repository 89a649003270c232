"""Writes a file that somebody asked for, so that a reader sees the old one or the whole new one,
never a part."""

from __future__ import annotations

from pathlib import Path

from grader.errors import UsageError
from grader.plumbing.atomic import replace_file


def write_file(path: Path, content: bytes, what: str) -> None:
    """Write the content. What is no regular file (`/dev/stdout`, a pipe) is written to as it is.

    `what` is how the UsageError calls it, which is raised where the path cannot be written.
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
