"""The margins of an exercise's goals, and proposals for goals with sufficient margins."""

from __future__ import annotations

import math

from grader.metrics import METRICS, format_value
from grader.records import CheckResult, Score, Source
from grader.report.soundness import Margin, Proof
from grader.spec.exercise import CheckSpec, Exercise

MIN_MARGIN = 0.03
"""Least distance of a timed value from its goal, as a fraction of the goal: smaller distances are
the noise of a busy machine."""
GOOD_MARGIN = 0.05
"""The distance from the reference's value at which a goal is proposed."""
TOO_NEAR = "; no goal is known that lies between: starter and reference are too near"
DIGITS = 3
"""Significant digits of a proposed goal."""


def find_margins(exercise: Exercise, reference: Score | None, starter: Score) -> tuple[Margin, ...]:
    """For each check, the margin of the reference beyond its goal, and of the starter before it."""
    rows = []
    for index, (check, own) in enumerate(zip(exercise.checks, starter.checks, strict=True)):
        best = reference.checks[index] if reference is not None else None
        beyond = _distance(check, best, reference)
        rows.append(_margin(own, best, beyond, _distance(check, own, starter)))
    return tuple(rows)


def _margin(
    starter: CheckResult, reference: CheckResult | None, beyond: float | None, before: float | None
) -> Margin:
    distances = {"reference": beyond, "starter": before}
    known = {who: distance for who, distance in distances.items() if distance is not None}
    shown = ", ".join(f"{who} {100 * distance:+.3g} %" for who, distance in known.items())
    timed = reference is not None and reference.source in (Source.MEASURED, Source.MODELLED)
    narrow = timed and any(abs(distance) < MIN_MARGIN for distance in known.values())
    if narrow:
        shown += f": less than {100 * MIN_MARGIN:g} %, so noise decides"
    missed, given = beyond is not None and beyond < 0, before is not None and before >= 0
    if reference is not None and (narrow or missed or given):
        goal = propose_goal(reference, starter, timed=timed)
        shown += f"; {goal}" if goal else "" if given and not narrow else TOO_NEAR
    is_known = reference is not None and reference.value is not None
    proof = Proof.FAILS if narrow else Proof.HOLDS if is_known else Proof.OPEN
    return Margin(starter.name, starter.threshold, _value(reference), _value(starter), shown, proof)


def propose_goal(reference: CheckResult, starter: CheckResult, *, timed: bool) -> str:
    """In the spec's own fields, a goal that the reference reaches with a margin and the starter
    misses; empty where there is none, or a value is unknown."""
    best, before = _in_spec(reference), _in_spec(starter)
    if best is None or before is None:
        return ""
    higher = METRICS[reference.metric].better.value == "higher"
    margin = GOOD_MARGIN if timed else 0.0
    goal = _round(best * (1 - margin) if higher else best * (1 + margin), down=higher)
    apart = (goal - before if higher else before - goal) / abs(goal or 1.0)
    if apart < MIN_MARGIN:
        return ""
    zero = _round(before, down=not higher)
    field = "at_least" if higher else "at_most"
    ends = f', "zero_at": {zero:.12g}' if (zero < goal if higher else zero > goal) else ""
    leaves = f"leaves {100 * GOOD_MARGIN:g} % margin" if timed else "is the value of the reference"
    return f'"{field}": {goal:.12g}{ends} {leaves}'


def _in_spec(check: CheckResult) -> float | None:
    """The value in the spec's own terms: as a multiple, where the goal is relative."""
    if check.value is None or check.relative_value is None:
        return check.value
    return check.value / check.relative_value if check.relative_value else None


def _round(value: float, *, down: bool) -> float:
    """The value in DIGITS digits; whole numbers below 1,000 stay as they are."""
    if value == 0:
        return 0.0
    scale = 10.0 ** (DIGITS - 1 - math.floor(math.log10(abs(value))))
    return (math.floor if down else math.ceil)(round(value * scale, 6)) / scale


def _distance(check: CheckSpec, own: CheckResult | None, score: Score | None) -> float | None:
    """The distance of the value in a score beyond the goal, as a fraction of the goal: negative
    before it; None for goals without an order, and for multiples of an unknown value."""
    if own is None or score is None or own.value is None or check.metric == "correctness":
        return None
    goal = check.threshold_on(score.device)
    if goal.relative_to is not None:
        if own.relative_value is None:
            return None
        goal = goal.scaled(own.relative_value)
    if goal.at_least:
        return own.value / goal.at_least - 1
    return 1 - own.value / goal.at_most if goal.at_most else None


def _value(check: CheckResult | None) -> str:
    if check is None:
        return "–"
    if check.value is None:
        return check.status.value.replace("_", " ")
    return format_value(check.metric, check.value)
