"""How a student's mistake ends a grading.

The stages return it as a value, in words (`Failure`) or as a `Fact`. A grading cannot go on
without what the stage was to give: `value_of` raises the mistake, and whoever began the grading
catches it, once. A fact becomes words only when somebody asks for them.
"""

from __future__ import annotations

from typing import TypeVar

from grader.messages.hidden import tell
from grader.records import Fact, Failure, Status

Result = TypeVar("Result")


class SubmissionError(Exception):
    """A submission that fails."""

    def __init__(self, mistake: Failure | Fact) -> None:
        super().__init__(mistake)
        self.mistake = mistake

    def __str__(self) -> str:
        return self.message

    @property
    def failure(self) -> Failure:
        """All that is known of it, in words."""
        return tell(self.mistake)

    @property
    def status(self) -> Status:
        """How the grading of the submission ends."""
        return self.mistake.status

    @property
    def message(self) -> str:
        """One sentence that says what is wrong and where."""
        return self.failure.message

    @property
    def detail(self) -> str:
        """What a tool said of it, at length: the compiler's messages, say; empty for most."""
        return self.failure.detail

    @property
    def line(self) -> int | None:
        """The line of the source that is at fault, as far as it is known."""
        lines = [*(finding.line for finding in self.failure.findings), self.failure.line]
        return next((line for line in lines if line is not None), None)

    @property
    def advice(self) -> str:
        """What to try next; empty where nothing can be said."""
        return self.failure.advice


def value_of(result: Result | Failure | Fact) -> Result:
    """Returns what a stage gave. Raises SubmissionError where that is a student's mistake."""
    if isinstance(result, Failure | Fact):
        raise SubmissionError(result)
    return result


def refuse(mistake: Failure | Fact | None) -> None:
    """Raises SubmissionError where a check found a mistake."""
    if mistake is not None:
        raise SubmissionError(mistake)
