"""Writes new files, all or none, and never over an existing file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from grader.errors import GraderError, UsageError


def write_new_files(files: Mapping[Path, bytes], *, otherwise: str) -> None:
    """Write the files and the folders that they need.

    UsageError where a file exists already, with the advice `otherwise`; GraderError where a file
    cannot be written. In both cases only new folders are left behind.
    """
    taken = [path for path in files if path.exists() or path.is_symlink()]
    if taken:
        raise UsageError(
            f"nothing was written, for {'this file is' if len(taken) == 1 else 'these files are'}"
            f" there already: {', '.join(map(str, taken))}",
            otherwise,
        )
    written: list[Path] = []
    try:
        for path, content in files.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:  # "x": what somebody else made meanwhile stays as it is
                written.append(path)
                file.write(content)
    except OSError as error:
        for path in written:
            path.unlink(missing_ok=True)
        raise GraderError(
            f"cannot write {error.filename}: {error.strerror}",
            "Give --folder a folder that you may write to.",
        ) from error
