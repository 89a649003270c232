"""SubmissionError: a student's mistake ends a grading.

The stages return a mistake as a value, either as a message (`Failure`) or as a `Fact`. `value_of`
raises it, because the grading cannot continue without the stage's result; only the start of the
grading catches it. A fact becomes a message when a property of the error is read.
"""

from __future__ import annotations

from typing import TypeVar

from grader.messages.hidden import describe_mistake
from grader.records import Fact, Failure, Status

Result = TypeVar("Result")


class SubmissionError(Exception):
    """The submission fails: it has a status, a message, a line and advice."""

    def __init__(self, mistake: Failure | Fact) -> None:
        super().__init__(mistake)
        self.mistake = mistake

    def __str__(self) -> str:
        return self.message

    @property
    def failure(self) -> Failure:
        """The mistake with all its texts."""
        return describe_mistake(self.mistake)

    @property
    def status(self) -> Status:
        """The status of the score."""
        return self.mistake.status

    @property
    def message(self) -> str:
        """One sentence: the mistake and its place."""
        return self.failure.message

    @property
    def detail(self) -> str:
        """The full output of a tool, such as the compiler's messages; empty for most mistakes."""
        return self.failure.detail

    @property
    def line(self) -> int | None:
        """The line of the mistake in the source, if known."""
        lines = [*(finding.line for finding in self.failure.findings), self.failure.line]
        return next((line for line in lines if line is not None), None)

    @property
    def advice(self) -> str:
        """The next step; empty if there is none."""
        return self.failure.advice


def value_of(result: Result | Failure | Fact) -> Result:
    """The result of a stage. Raises SubmissionError if it is a student's mistake."""
    if isinstance(result, Failure | Fact):
        raise SubmissionError(result)
    return result


def refuse(mistake: Failure | Fact | None) -> None:
    """Raises SubmissionError if a check found a mistake."""
    if mistake is not None:
        raise SubmissionError(mistake)
