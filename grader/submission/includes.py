"""Decide whether the files that a submission includes are headers that it may read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.records import Failure, Status

ADVICE = (
    "Include only headers of the CUDA toolkit and of C++; write everything else in the one file"
    " that you hand in."
)


def check_includes(files: Sequence[str], allowed_roots: Sequence[Path]) -> Failure | None:
    """A Failure (`rejected`) naming the first of `files` that lies under none of the roots once
    links and `..` are followed.

    `files` are absolute paths as the preprocessor gives them; a relative one is refused.
    """
    roots = [root.resolve() for root in allowed_roots]
    for file in files:
        if not _is_allowed(file, roots):
            return Failure(
                Status.REJECTED,
                f"the submission includes {file!r}, which is no header of CUDA or C++",
                advice=ADVICE,
            )
    return None


def _is_allowed(file: str, roots: Sequence[Path]) -> bool:
    path = Path(file)
    if not path.is_absolute():
        return False
    try:
        real = path.resolve()
    except (OSError, ValueError, RuntimeError):  # a loop of links, or a null character
        return False
    return any(real.is_relative_to(root) for root in roots)
