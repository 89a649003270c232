"""Where the grader keeps files of its own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path


def default_cache(environ: Mapping[str, str]) -> Path:
    """The user's cache folder of the grader (XDG Base Directory Specification): compiled
    submissions, and the emulator's runtime."""
    base = environ.get("XDG_CACHE_HOME", "")
    return (
        Path(base) if Path(base).is_absolute() else Path.home() / ".cache"
    ) / "cuda-exercise-grader"
