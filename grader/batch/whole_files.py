"""Writes the files of a batch: whole or not at all. They are made from the journal, so that no
power cut has to be outlived."""

from __future__ import annotations

from pathlib import Path

from grader.errors import GraderError
from grader.plumbing import atomic

_ADVICE = "Make room or mend the folder, and give the same command again: what was graded is kept."


def replace_file(path: Path, content: bytes) -> None:
    """Write the file, or leave the old one. Raises GraderError where the disk is full or the folder
    is gone."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        atomic.replace_file(path, content)
    except OSError as error:
        raise GraderError(f"cannot write {path}: {error.strerror}", _ADVICE) from error


def write_if_new(path: Path, content: bytes) -> None:
    """Write the file unless it is there with this content."""
    try:
        if path.read_bytes() == content:
            return
    except OSError:  # not there, or not to be read: written anew
        pass
    replace_file(path, content)
