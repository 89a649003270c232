"""Every error that is not the student's: its exit code and what to do about it.

A student's mistake is a value, `records.Failure`; it never becomes an exception.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GraderError(Exception):
    """The grader or the machine failed. `advice` is one sentence that says what to do; `detail` is
    for whoever mends it."""

    exit_code = 3

    def __init__(self, message: str, advice: str = "", *, detail: str = "") -> None:
        super().__init__(message)
        self.advice = advice
        self.detail = detail


class UsageError(GraderError):
    """Bad usage: a missing file, an unknown option value."""

    exit_code = 2


class ToolMissing(GraderError):  # noqa: N818 - what is missing is named by its arguments
    """A program or package that this run needs is not there; `grade doctor` tells how to get it."""


class WorkerError(GraderError):
    """The worker process of a submission died or answered nonsense."""


@dataclass(frozen=True)
class SpecProblem:
    """One mistake in an exercise: the file, the JSON path in it (`$.checks[2].metric`), and what is
    wrong."""

    file: str
    path: str
    message: str

    def __str__(self) -> str:
        return (
            f"{self.file}: {self.path}: {self.message}"
            if self.path
            else f"{self.file}: {self.message}"
        )


class SpecError(GraderError):
    """A broken exercise: all its mistakes at once."""

    exit_code = 2

    def __init__(self, problems: Sequence[SpecProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
        self.advice = "Correct the exercise; every mistake that was found is listed above."
