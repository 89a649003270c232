"""How a student's mistake ends a grading.

The stages return it as a value, `Failure`. A grading cannot go on without what the stage was to
give: `value_of` raises the mistake, and whoever began the grading catches it, once.
"""

from __future__ import annotations

from typing import TypeVar

from grader.records import Failure, Status

Result = TypeVar("Result")


class SubmissionError(Exception):
    """A submission that fails. `failure` holds all that is known of it."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure

    @property
    def status(self) -> Status:
        """How the grading of the submission ends."""
        return self.failure.status

    @property
    def message(self) -> str:
        """One sentence that says what is wrong and where."""
        return self.failure.message

    @property
    def line(self) -> int | None:
        """The line of the source that is at fault, as far as it is known."""
        lines = [finding.line for finding in self.failure.findings]
        lines += [self.failure.cause.line] if self.failure.cause is not None else []
        return next((line for line in lines if line is not None), None)

    @property
    def advice(self) -> str:
        """What to try next; empty where nothing can be said."""
        return self.failure.advice


def value_of(result: Result | Failure) -> Result:
    """Returns what a stage gave. Raises SubmissionError where that is a student's mistake."""
    if isinstance(result, Failure):
        raise SubmissionError(result)
    return result


def refuse(failure: Failure | None) -> None:
    """Raises SubmissionError where a check found a mistake."""
    if failure is not None:
        raise SubmissionError(failure)
