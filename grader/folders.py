"""The folders of the exercises that come with the grader."""

from __future__ import annotations

from pathlib import Path

PACKAGED = "course"
"""The folder of an installed package that holds the exercises and their starters."""


def shipped_root() -> Path:
    """The folder with `exercises/` and `starter/` that come along: in the installed package, or the
    checkout that it runs from."""
    package = Path(__file__).resolve().parent
    packaged = package / PACKAGED
    return packaged if packaged.is_dir() else package.parent


def shipped_exercises() -> tuple[Path, ...]:
    """The folders of the exercises that come along, by their names."""
    root = shipped_root() / "exercises"
    return tuple(sorted(path.parent for path in root.glob("*/spec.json")))
