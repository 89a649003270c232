"""Describes the goal of a check, the reason why it passed, failed or was not judged, and the next
step after a grading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.messages.sizes import list_sizes
from grader.metrics import CHECKED_CASES, METRICS, format_value
from grader.records import CaseResult, CheckResult, CheckStatus, MetricValue, Score
from grader.spec.exercise import ComparedWith, Threshold

NOT_SHIPPED = "the reference is not shipped with this exercise"
NO_PEAK = "the peak of this GPU's tensor cores is not known"
PART_NOT_RUN = "it did not run"
WITHOUT_MODEL = "graded without modelled times"
EXCLUDED_ON = {"emulated": "only a GPU judges it", "gpu": "only the emulated device judges it"}
"""By the kind of device on which the spec excludes a check."""
PUBLIC_ONLY = "by the public cases: your course's grading adds hidden ones"
_MOST_CASES = 3
"""Most wrong cases that a message names."""


def format_goal(metric: str, threshold: Threshold, other: MetricValue | None) -> str:
    """`>= 80 %`, `== 0`, `<= 0.5 x the baseline's 400`; `other` is the value to which a relative
    threshold refers, where it is known."""
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
    """Value and goal, with the sizes if the value is from the timed run."""
    shown = format_value(metric.name, value, missed="" if passed else goal)
    figure = f"{METRICS[metric.name].noun} {shown}"
    sizes = "" if metric.sizes is None else f", at the timed size ({list_sizes(metric.sizes)})"
    return f"{figure} {'reaches' if passed else 'misses'} the goal {goal}{sizes}"


def describe_cases(cases: Sequence[CaseResult]) -> str:
    """The number of wrong cases, and the names of the first."""
    wrong = [case.name for case in cases if case.is_wrong]
    if not wrong:
        return f"all {len(cases)} cases are right"
    more = ", ..." if len(wrong) > _MOST_CASES else ""
    return f"{len(wrong)} of {len(cases)} cases: {', '.join(wrong[:_MOST_CASES])}{more}"


def describe_unknown(compared_with: ComparedWith, other: MetricValue | None) -> str:
    """The reason why the value is missing to which a threshold refers."""
    reason = (other.reason if other is not None else None) or "it was not counted"
    return (
        reason
        if reason == NOT_SHIPPED
        else f"the value of the {compared_with} is not known: {reason}"
    )


def describe_prerequisites(titles: Sequence[str], *, missed: bool) -> str:
    """The checks that must pass before this check is judged, or that could not be judged
    themselves."""
    return f"{' and '.join(titles)} {'must pass first' if missed else 'could not be judged'}"


def describe_open(points: float, unsure: str) -> str:
    """The partial credit that the interval leaves open, and the reason."""
    return f"; {points:g} more points are pending: {unsure}"


def describe_cost(check: CheckResult) -> str:
    """`costs 11.5 points`, with the points of the checks that were skipped for this one."""
    return f"costs {count_points(check)}"


def count_points(check: CheckResult) -> str:
    """`11.5 points`: the cost of the check's mistake."""
    points = check.cost_points or check.missing_points
    return f"{points:g} {'point' if points == 1 else 'points'}"


def summarise_points(score: Score) -> str:
    """`75 of 100 points, 25 wait for a GPU`; a score by public cases alone adds PUBLIC_ONLY."""
    more = score.hidden_left_out and not score.status.ended_early
    return format_points(score) + f"; {PUBLIC_ONLY}" * more


def format_points(score: Score) -> str:
    """`75 of 100 points, 25 wait for a GPU`."""
    waits = "".join(f", {points:g} wait for {judge}" for judge, points in list_waiting(score))
    return f"{score.score:g} of {score.max_score:g} points{waits}"


def list_waiting(score: Score) -> Iterator[tuple[str, float]]:
    """The pending points by the device or grading that can judge them."""
    absent = sum(each.pending_points for each in score.checks if each.message == NOT_SHIPPED)
    emulated = score.device is not None and score.device.kind == "emulated"
    on_gpu = emulated and not score.status.is_worth_a_retry
    judge = "a GPU" if on_gpu else "another grading"
    found = ((judge, round(score.pending_points - absent, 2)), ("the course's grading", absent))
    return ((judge, points) for judge, points in found if points)


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
