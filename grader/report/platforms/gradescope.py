"""A score as Gradescope's results.json
(https://gradescope-autograders.readthedocs.io/en/latest/specs/).

Every text is shown as `text`: a submission's words are never taken for markup. All tests are
visible: were one hidden, students would not see their total. A check that was not measured, and a
bonus that was not attempted, have no points, which makes them information.
"""

from __future__ import annotations

import json
from typing import Any

from grader.errors import GraderError
from grader.records import CheckResult, CheckStatus, PendingRule, Score
from grader.report.platforms.texts import check_name, describe_check, describe_score, find_factor


def format_gradescope(score: Score, rule: PendingRule | None = None) -> str:
    """The JSON. GraderError where no grade follows from the score: without a file Gradescope
    reports a fault of the autograder, not a zero."""
    factor = find_factor(score, rule)
    if factor is None:
        raise GraderError(
            f"no grade for Gradescope follows from this: {score.status.value}: {score.message}",
            score.advice or "--pending lost|scaled decides pending points.",
        )
    return json.dumps(_plain(score, factor, rule), indent=2) + "\n"


def _plain(score: Score, factor: float, rule: PendingRule | None) -> dict[str, Any]:
    return {
        "score": score.marks.grade(rule),
        "output": describe_score(score, rule),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            _plain_test(check, number, score, factor)
            for number, check in enumerate(score.checks, 1)
        ],
        "extra_data": {
            "exercise": score.exercise,
            "status": score.status.value,
            "max_score": score.max_score,
            "judged_points": score.judged_points,
            "pending_points": score.pending_points,
            "sha256": score.submission_sha256,
            "seed": score.seed,
            "environment": score.environment,
        },
    }


def _plain_test(check: CheckResult, number: int, score: Score, factor: float) -> dict[str, Any]:
    test: dict[str, Any] = {
        "number": str(number),
        "name": check_name(check),
        "output": describe_check(check, score),
        "visibility": "visible",
    }
    if not check.status.has_points or (check.bonus and check.status is CheckStatus.SKIPPED):
        return {**test, "tags": [check.status.row.word]}
    if check.bonus:
        points = {"score": check.points, "max_score": 0.0}
    else:
        most = round(check.max_points * factor, 2)
        points = {"score": round(check.points * factor, 2), "max_score": most}
    return {
        **test,
        **points,
        "status": "passed" if check.status is CheckStatus.PASSED else "failed",
    }
