"""A score as GitHub Classroom's graders hand it to `autograding-grading-reporter`: a runner's
result, with partial points.

The reporter adds up `tests[].score` and `max_score` of its runners, each the base64 of this JSON in
the step output `result`. Where `max_score` is 0 it reports no points at all: so a fault of the
grader is no zero.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from grader.records import CheckResult, CheckStatus, Score, Status
from grader.report.platforms.texts import check_name, describe_check, describe_score
from grader.report.text import clean_line

VERSION = 1


def format_github(score: Score) -> str:
    """The JSON. Points that this device could not judge are left out of `max_score`."""
    if not score.status.has_points:
        return _format(
            "error", 0, [_plain_test(score, "grading", "error", 0, describe_score(score))]
        )
    tests = [
        _plain_check(score, check)
        for check in score.checks
        if check.status is not CheckStatus.NOT_MEASURED
    ]
    if score.status.ended_early:
        tests.insert(
            0,
            _plain_test(
                score, score.status.value.replace("_", " "), "fail", 0, describe_score(score)
            ),
        )
    return _format(
        "pass" if score.status is Status.PASSED else "fail",
        score.judged_points or score.max_score,
        tests,
    )


def _format(status: str, max_score: float, tests: Sequence[dict[str, Any]]) -> str:
    return (
        json.dumps(
            {"version": VERSION, "status": status, "max_score": max_score, "tests": list(tests)},
            indent=2,
        )
        + "\n"
    )


def _plain_check(score: Score, check: CheckResult) -> dict[str, Any]:
    status = "pass" if check.status is CheckStatus.PASSED or check.bonus else "fail"
    return _plain_test(score, check_name(check), status, check.points, describe_check(check, score))


def _plain_test(
    score: Score, name: str, status: str, points: float, message: str
) -> dict[str, Any]:
    return {
        "name": name,
        "status": status,
        "score": points,
        "message": message,
        "test_code": f"grade {score.exercise} {clean_line(score.submission_name)}",
        "filename": clean_line(score.submission_name),
        "line_no": next(
            (finding.line for finding in score.findings if finding.line is not None), 0
        ),
        "duration": 0,
    }
