"""Writes the files of a batch completely or not at all. They need not survive a power cut, because
the journal can restore them."""

from __future__ import annotations

from pathlib import Path

from grader.errors import GraderError
from grader.plumbing import atomic

_ADVICE = "Free disk space or restore the folder, and repeat the command: all results are kept."


def replace_file(path: Path, content: bytes) -> None:
    """Writes the file or keeps the old file. Raises GraderError for a fault of the disk."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.replace_file(path, content)
    except OSError as error:
        raise GraderError(f"cannot write {path}: {error.strerror}", _ADVICE) from error


def write_if_new(path: Path, content: bytes) -> None:
    """Writes the file unless it has this content."""
    try:
        if path.read_bytes() == content:
            return
    except OSError:  # missing or unreadable: written again
        pass
    replace_file(path, content)
