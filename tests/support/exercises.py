"""The exercises of kernels, found without a check of their specs, since each worker of pytest asks
while it collects."""

from __future__ import annotations

import json
from pathlib import Path

_EXERCISES = Path(__file__).resolve().parents[2] / "exercises"


def grades_kernels(folder: Path) -> bool:
    """Whether an exercise grades kernels, not whole programs."""
    return "program" not in json.loads((folder / "spec.json").read_text(encoding="utf-8"))


OF_KERNELS = sorted(
    path.parent.name for path in _EXERCISES.glob("*/spec.json") if grades_kernels(path.parent)
)
"""Their names."""
