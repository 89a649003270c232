"""A score in the form that GitHub Classroom's graders pass to `autograding-grading-reporter`: a
runner's result, with partial points.

The reporter adds up `tests[].score` and `max_score` of its runners, each the base64 of this JSON in
the step output `result`. Where `max_score` is 0 it reports no points at all: so a fault of the
grader does not become a zero, and pending points make no grade.
"""

from __future__ import annotations

import json
from typing import Any

from grader.records import CheckResult, CheckStatus, PendingRule, Score, Status
from grader.report.platforms.texts import check_name, describe_check, describe_score, find_factor
from grader.report.text import clean_line

VERSION = 1


def format_github(score: Score, rule: PendingRule | None = None) -> str:
    """The JSON, by a rule for pending points."""
    factor, tests = find_factor(score, rule), []
    words = score.status.value.replace("_", " ")
    description = describe_score(score, rule)
    if factor is None:
        tests.append(_plain_test(score, "grading", "error", 0, description))
    elif score.status.ended_early:
        tests.append(_plain_test(score, words, "fail", 0, description))
    earned = 0.0  # rounded sums: the reporter adds up what is here
    for check in score.checks:
        if not check.status.has_points and (not check.pending_points or rule is PendingRule.SCALED):
            continue
        before, earned = earned, earned + check.points * (1 if check.bonus else factor or 0)
        tests.append(_plain_check(score, check, round(round(earned, 2) - round(before, 2), 2)))
    scaled = score.status is Status.INCONCLUSIVE and rule is PendingRule.SCALED
    full = scaled or score.status is Status.PASSED
    result = {
        "version": VERSION,
        "status": "error" if factor is None else "pass" if full else "fail",
        "max_score": 0 if factor is None else score.marks.full,
        "tests": tests,
    }
    return json.dumps(result, indent=2) + "\n"


def _plain_check(score: Score, check: CheckResult, points: float) -> dict[str, Any]:
    status = "pass" if check.status is CheckStatus.PASSED or check.bonus else "fail"
    status = status if check.status.has_points else "error"
    return _plain_test(score, check_name(check), status, points, describe_check(check, score))


def _plain_test(
    score: Score, name: str, status: str, points: float, message: str
) -> dict[str, Any]:
    file = clean_line(score.submission_name)
    lines = (finding.line for finding in score.findings if finding.line is not None)
    return {
        "name": name,
        "status": status,
        "score": points,
        "message": message,
        "test_code": f"grade {score.exercise} {file}",
        "filename": file,
        "line_no": next(lines, 0),
        "duration": 0,
    }
