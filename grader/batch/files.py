"""Writes the files of a batch: whole or not at all. They are made from the journal, so that no
power cut has to be outlived."""

from __future__ import annotations

import os
from pathlib import Path

from grader.errors import GraderError

_ADVICE = "Make room or mend the folder, and give the same command again: what was graded is kept."


def replace_file(path: Path, content: bytes) -> None:
    """Write the file, or leave the old one. Raises GraderError where the disk is full or the folder
    is gone."""
    temporary = path.with_name(f".{path.name[:60]}.{os.getpid()}.tmp")
    try:
        try:
            temporary.write_bytes(content)
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(content)
        temporary.replace(path)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise GraderError(f"cannot write {path}: {error.strerror}", _ADVICE) from error


def write_if_new(path: Path, content: bytes) -> None:
    """Write the file unless it is there with this content."""
    try:
        if path.read_bytes() == content:
            return
    except OSError:  # not there, or not to be read: written anew
        pass
    replace_file(path, content)
