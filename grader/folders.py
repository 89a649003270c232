"""Folders of the grader: its cache, and the exercises that are installed with it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from grader.records import Options

PACKAGED = "course"
"""The folder with the exercises and starters in an installed package."""


def default_cache(environ: Mapping[str, str]) -> Path:
    """The user's cache folder of the grader (XDG Base Directory Specification): compiled
    submissions, kept results and the emulator's runtime."""
    base = environ.get("XDG_CACHE_HOME", "")
    return (
        Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    ) / "cuda-exercise-grader"


def cache_folder(options: Options) -> Path:
    """The cache folder of the options, else the user's."""
    return options.cache or default_cache(os.environ)


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
