"""Paths of many files: a grading compares a thousand with the compiler's folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path


def lies_under(roots: Iterable[Path]) -> Callable[[str], bool]:
    """Whether a path lies in one of these folders. All of them are absolute and resolved. pathlib's
    `is_relative_to` takes 0.1 ms for each path."""
    starts = tuple(f"{root}{os.sep}" for root in roots)
    return lambda path: path.startswith(starts)
