"""Folders of the exercises that are installed with the grader."""

from __future__ import annotations

from pathlib import Path

PACKAGED = "course"
"""The folder with the exercises and starters in an installed package."""


def shipped_root() -> Path:
    """The folder with the grader's `exercises/` and `starter/`: in the installed package, or the
    checkout."""
    package = Path(__file__).resolve().parent
    packaged = package / PACKAGED
    return packaged if packaged.is_dir() else package.parent


def shipped_exercises() -> tuple[Path, ...]:
    """The folders of the grader's exercises, sorted by name."""
    root = shipped_root() / "exercises"
    return tuple(sorted(path.parent for path in root.glob("*/spec.json")))
