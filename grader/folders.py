"""Where the grader keeps files of its own."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from grader.records import Options

PACKAGED = "course"
"""The folder of an installed package that holds the exercises and their starters."""


def default_cache(environ: Mapping[str, str]) -> Path:
    """The user's cache folder of the grader (XDG Base Directory Specification): compiled
    submissions, and the emulator's runtime."""
    base = environ.get("XDG_CACHE_HOME", "")
    return (
        Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    ) / "cuda-exercise-grader"


def cache_folder(options: Options) -> Path:
    """The cache folder that the options give, else the user's."""
    return options.cache or default_cache(os.environ)


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
