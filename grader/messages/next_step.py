"""The next step after a grading, in one line: the fix that wins back most points, the advice where
the grading ended early, or the judge of pending points."""

from __future__ import annotations

import re
from collections.abc import Sequence

from grader.messages.reasons import count_points, list_waiting
from grader.metrics import CHECKED_CASES
from grader.records import CheckResult, CheckStatus, Score

_LINE = re.compile(r"\bline \d+: ")
_REFERENCE = re.compile(r"\b[Ss]ee ([^.:]+)\.$")
"""A hint that refers to another check's hint, which refers to no earlier one."""
ALL_PASSED = "hand the file in: all checks passed"


def describe_next_step(score: Score) -> str:
    """Without a label and without line breaks; the report's parts above have the full text."""
    if score.status.ended_early:
        return " ".join((score.advice or score.message).split())
    if hinted := [check for check in score.checks if check.hint]:
        check = _most_valuable(hinted)
        return _label(check) + _find_action(check.hint)
    for check in score.checks:
        if check.status is CheckStatus.SKIPPED and not check.bonus:
            return _label(check) + check.message
    waiting = [f"{points:g} points wait for {judge}" for judge, points in list_waiting(score)]
    return ", ".join(waiting) or ALL_PASSED


def _label(check: CheckResult) -> str:
    return f"{check.headline or check.title} ({count_points(check)}): "


def _find_action(hint: str) -> str:
    """The advice of a hint, behind its line: `line 51: Change the row length of the tile.` The
    first sentence of most hints is the observation."""
    observation, _, advice = hint.partition(". ")
    place = _LINE.search(observation)
    if place is None:
        return advice or observation
    return place[0] + (advice or observation[place.end() :])


def _most_valuable(hinted: Sequence[CheckResult]) -> CheckResult:
    """The check whose mistake costs most, with the checks that refer to it (`see Bank conflicts`).
    Of two checks with the same mistake, the checked mode has the line and the fix."""
    by_label = {check.headline or check.title: check for check in hinted}
    costs = dict.fromkeys((check.name for check in hinted), 0.0)
    for check in hinted:
        target = check
        for _ in hinted:
            found = _REFERENCE.search(target.hint)
            target = by_label.get(found[1], target) if found else target
        costs[target.name] += check.cost_points
    return max(hinted, key=lambda check: (costs[check.name], check.metric == CHECKED_CASES))
