"""The next step after a grading, in one line: the fix that wins back most points, the advice where
the grading ended early, or the judge of pending points."""

from __future__ import annotations

from collections.abc import Sequence

from grader.messages.reasons import count_points, list_waiting
from grader.metrics import CHECKED_CASES
from grader.records import CheckResult, CheckStatus, Score

ALL_PASSED = "hand the file in: all checks passed"


def describe_next_step(score: Score) -> str:
    """Without a label and without line breaks; the report's parts above have the full text."""
    if score.status.ended_early:
        return " ".join((score.advice or score.message).split())
    if hinted := [check for check in score.checks if check.hint]:
        check = _most_valuable(hinted)
        return _label(check) + (check.action or check.hint)
    for check in score.checks:
        if check.status is CheckStatus.SKIPPED and not check.bonus:
            return _label(check) + check.message
    waiting = [f"{points:g} points wait for {judge}" for judge, points in list_waiting(score)]
    return ", ".join(waiting) or ALL_PASSED


def _label(check: CheckResult) -> str:
    return f"{check.headline or check.title} ({count_points(check)}): "


def _most_valuable(hinted: Sequence[CheckResult]) -> CheckResult:
    """The check whose mistake costs most, with the checks that refer to it (`see Bank conflicts`).
    Of two checks with the same mistake, the checked mode has the line and the fix."""
    by_label = {check.headline or check.title: check for check in hinted}
    costs = dict.fromkeys((check.name for check in hinted), 0.0)
    for check in hinted:
        target = check
        for _ in hinted:
            target = by_label.get(target.refers_to or "", target)
        costs[target.name] += check.cost_points
    return max(hinted, key=lambda check: (costs[check.name], check.metric == CHECKED_CASES))
