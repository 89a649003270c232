"""Errors of the grader, the machine and the user, with exit codes and advice.

A student's mistake is a value (`records.Failure` or a `Fact`); it is no GraderError.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


class GraderError(Exception):
    """The grader or the machine failed. `advice`: one sentence with the next step; `detail`: text
    for the person who fixes it."""

    exit_code = 3

    def __init__(self, message: str, advice: str = "", *, detail: str = "") -> None:
        super().__init__(message)
        self.advice = advice
        self.detail = detail

    @property
    def sentence(self) -> str:
        """The message with a capital letter and a full stop."""
        return f"{str(self)[:1].upper()}{str(self)[1:]}."


class UsageError(GraderError):
    """Bad usage: a missing file, an unknown option value."""

    exit_code = 2


class ToolMissing(GraderError):  # noqa: N818 - the arguments name the missing tool
    """A required program or package is missing; `grade doctor` lists them all."""


class WorkerError(GraderError):
    """The worker process of a submission died or sent an invalid answer."""


@dataclass(frozen=True)
class SpecProblem:
    """A mistake in an exercise: the file, the JSON path (`$.checks[2].metric`) and a message."""

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
    """A broken exercise, with all its mistakes."""

    exit_code = 2

    def __init__(self, problems: Sequence[SpecProblem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = tuple(problems)
        self.advice = "Correct the exercise; all its mistakes are listed above."
