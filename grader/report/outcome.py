"""The word and the colour for a submission on a page: a wrong program differs from a slow program
that lost a few points, although both have the status `failed`."""

from __future__ import annotations

from grader.metrics import CORRECTNESS
from grader.records import Score
from grader.statuses import Badge

WRONG = "wrong outputs"


def describe_outcome(score: Score) -> tuple[str, Badge]:
    """Word and badge of the status; a graded program with wrong outputs has its own."""
    wrong = not score.status.ended_early and any(
        check.metric == CORRECTNESS and check.status.lost_points and not check.bonus
        for check in score.checks
    )
    row = score.status.row
    return (WRONG, Badge.FAILED) if wrong else (row.word, row.badge)
