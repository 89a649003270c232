"""Exercises for commands that know kernels only."""

from __future__ import annotations

from pathlib import Path

from grader.errors import UsageError
from grader.spec.exercise import Exercise
from grader.spec.reader import read_exercise


def read_kernel_exercise(folder: Path, command: str) -> Exercise:
    """The exercise. Raises UsageError if it grades whole programs, and SpecError."""
    exercise = read_exercise(folder)
    if exercise.program is not None:
        raise UsageError(
            f"{command} is for exercises that grade kernels, and {exercise.id} grades programs",
            "Run the program: `grade exec FILE.cu -- ARGS` shows its kernels, times and findings.",
        )
    return exercise
