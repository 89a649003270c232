"""Says of a check what its goal is, and why it passed, failed or was not judged."""

from __future__ import annotations

from collections.abc import Sequence

from grader.metrics import METRICS, format_value
from grader.records import CaseResult, CheckResult, MetricValue
from grader.spec.exercise import Threshold, Yardstick
from grader.words.sizes import list_sizes

NOT_SHIPPED = "the reference is not shipped with this exercise"
NO_PEAK = "the peak of this GPU's tensor cores is not known"
PART_NOT_RUN = "it did not run"
_MOST_CASES = 3
"""Wrong cases that a message names."""


def format_goal(metric: str, threshold: Threshold, other: MetricValue | None) -> str:
    """`>= 80 %`, `== 0`, `<= 0.5 x the baseline's 400`; `other` is the value that a relative
    threshold is a multiple of, as far as it is known."""
    full = threshold.full_mark
    sign = ">=" if threshold.at_least is not None else "<="
    if threshold.relative_to is not None:
        owner = f"the {threshold.relative_to}"
        if other is None or other.value is None:
            return f"{sign} {full:g} x that of {owner}"
        return f"{sign} {full:g} x {owner}'s {format_value(metric, other.value)}"
    is_whole = METRICS[metric].is_fraction and full == 1
    exactly = is_whole if threshold.at_least is not None else full == 0
    return f"{'==' if exactly else sign} {format_value(metric, full)}"


def describe_verdict(metric: MetricValue, value: float, goal: str, *, passed: bool) -> str:
    """Value and goal, with the sizes where these are those of the timed run."""
    shown = format_value(metric.name, value, missed="" if passed else goal)
    figure = f"{METRICS[metric.name].noun} {shown}"
    sizes = "" if metric.sizes is None else f", at the timed size ({list_sizes(metric.sizes)})"
    return f"{figure} {'reaches' if passed else 'misses'} the goal {goal}{sizes}"


def describe_cases(cases: Sequence[CaseResult]) -> str:
    """How many cases are wrong, and the first of them."""
    wrong = [case.name for case in cases if case.is_wrong]
    if not wrong:
        return f"all {len(cases)} cases are right"
    more = ", ..." if len(wrong) > _MOST_CASES else ""
    return f"{len(wrong)} of {len(cases)} cases: {', '.join(wrong[:_MOST_CASES])}{more}"


def describe_unknown(yardstick: Yardstick, other: MetricValue | None) -> str:
    """Why the value that a threshold is relative to is not there."""
    reason = (other.reason if other is not None else None) or "it was not counted"
    return f"the value of the {yardstick} is not known: {reason}"


def describe_prerequisites(titles: Sequence[str], *, missed: bool) -> str:
    """Which checks must pass before this one is judged, or could not be judged themselves."""
    return f"{' and '.join(titles)} {'must pass first' if missed else 'could not be judged'}"


def describe_worth(check: CheckResult) -> str:
    """What mending a check is worth: `for 11.5 points`."""
    points = check.missing_points
    return f"for {points:g} {'point' if points == 1 else 'points'}"


def summarise_points(
    earned: float, judged: float, most: float, *, hidden_left_out: bool = False
) -> str:
    """`75 of 75 points that this device can judge (25 of 100 were not measured)`; and, by a
    students' copy of the exercise, that there are more cases."""
    there = "; by the public cases: your course's grading adds hidden ones" * hidden_left_out
    if judged == most:
        return f"{earned:g} of {judged:g} points{there}"
    return (
        f"{earned:g} of {judged:g} points that this device can judge ({most - judged:g} of"
        f" {most:g} were not measured){there}"
    )
