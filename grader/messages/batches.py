"""Sentences for submissions that a batch could not grade."""

from __future__ import annotations

from grader.records import Failure, GivenUp, OverBatchLimit

_ADVICE = "The submission is not the cause: repair the machine, then use --rerun failed."


def describe_ungraded(mistake: OverBatchLimit | GivenUp) -> Failure:
    """The failure in the place of a score."""
    match mistake:
        case OverBatchLimit(seconds):
            return Failure(
                mistake.status,
                f"Grading was stopped after {seconds:.0f} s, the time limit of this batch.",
                advice="Find the slow part: the compilation or the kernels.",
            )
        case GivenUp(tries, error_text, quoted, advice):
            tried = f"It was tried {tries} times"
            message = f"{tried}, and {error_text}." if mistake.lost else f"{tried}: {error_text}"
            return Failure(mistake.status, message, quoted, advice or _ADVICE)
