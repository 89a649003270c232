"""Grades student CUDA submissions on a GPU or on an emulated one.

`grader.grade(exercise, submission, device="auto") -> Score` is the whole public API; it loads on
first use.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from grader.grading.grade import grade as grade
    from grader.records import Score as Score

__version__ = "0.1.0"
__all__ = ["Score", "grade"]


def __getattr__(name: str) -> object:
    if name == "grade":
        from grader.grading.grade import grade

        return grade
    if name == "Score":
        from grader.records import Score

        return Score
    raise AttributeError(f"module 'grader' has no attribute {name!r}")
