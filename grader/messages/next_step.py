"""The next step after a grading, in one line: the fix that wins back most points, the advice where
the grading ended early, or the judge of pending points."""

from __future__ import annotations

import re

from grader.messages.reasons import count_points, list_waiting
from grader.metrics import CHECKED_CASES
from grader.records import CheckResult, CheckStatus, Score

_LINE = re.compile(r"\bline \d+: ")
ALL_PASSED = "hand the file in: all checks passed"


def describe_next_step(score: Score) -> str:
    """Without a label and without line breaks; the report's parts above have the full text."""
    if score.status.ended_early:
        return " ".join((score.advice or score.message).split())
    if hinted := [check for check in score.checks if check.hint]:
        check = max(hinted, key=_rank)
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


def _rank(check: CheckResult) -> tuple[float, bool]:
    """The cost of the mistake. Of two checks with the same mistake, the checked mode has the line
    and the fix."""
    return check.cost_points, check.metric == CHECKED_CASES
