"""Decide whether the files that a submission includes are headers that it may read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.records import ForeignFile


def check_includes(files: Sequence[str], allowed_roots: Sequence[Path]) -> ForeignFile | None:
    """The first of `files` that lies under none of the roots after links and `..` are resolved.

    `files` are absolute paths from the preprocessor; a relative path is refused.
    """
    roots = [root.resolve() for root in allowed_roots]
    foreign = next((file for file in files if not _is_allowed(file, roots)), None)
    return None if foreign is None else ForeignFile(foreign)


def _is_allowed(file: str, roots: Sequence[Path]) -> bool:
    path = Path(file)
    if not path.is_absolute():
        return False
    try:
        real = path.resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, or a null character
        return False
    return any(real.is_relative_to(root) for root in roots)
