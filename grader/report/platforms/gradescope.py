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
from grader.records import CheckResult, CheckStatus, Score
from grader.report.platforms.texts import check_name, describe_check, describe_score


def format_gradescope(score: Score) -> str:
    """The JSON. GraderError where no points follow from the score: without a file Gradescope
    reports an autograder's fault, no zero."""
    if not score.status.has_points:
        raise GraderError(
            f"no points for Gradescope follow from this: {score.status.value}: {score.message}",
            score.advice,
        )
    return json.dumps(_plain(score), indent=2) + "\n"


def _plain(score: Score) -> dict[str, Any]:
    return {
        "score": score.score,
        "output": describe_score(score),
        "output_format": "text",
        "test_output_format": "text",
        "test_name_format": "text",
        "visibility": "visible",
        "stdout_visibility": "hidden",
        "tests": [
            _plain_test(check, number, score) for number, check in enumerate(score.checks, 1)
        ],
        "extra_data": {
            "exercise": score.exercise,
            "status": score.status.value,
            "max_score": score.max_score,
            "judged_points": score.judged_points,
            "sha256": score.submission_sha256,
            "seed": score.seed,
            "environment": score.environment,
        },
    }


def _plain_test(check: CheckResult, number: int, score: Score) -> dict[str, Any]:
    test: dict[str, Any] = {
        "number": str(number),
        "name": check_name(check),
        "output": describe_check(check, score),
        "visibility": "visible",
    }
    if check.status is CheckStatus.NOT_MEASURED or (
        check.bonus and check.status is CheckStatus.SKIPPED
    ):
        return {**test, "tags": [check.status.row.word]}
    points = {"score": check.points, "max_score": 0 if check.bonus else check.max_points}
    return {
        **test,
        **points,
        "status": "passed" if check.status is CheckStatus.PASSED else "failed",
    }
