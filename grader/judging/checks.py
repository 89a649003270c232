"""Judges the checks of a spec: thresholds, absolute or relative, partial credit, per-GPU overrides
and prerequisites.

A check that an option or the spec disables is `excluded`, and so is one that requires it. A
prerequisite that did not pass makes a check `skipped`: its points are lost. A prerequisite that
could not be judged makes it `not_measured` too, like a value that this device does not have: its
points are pending. But findings of the checked mode fail their check in any case.

Where a value has an interval, the position of the goal decides. An interval on one side of the goal
decides the check, however wide it is. A goal inside the interval is passed with the benefit of the
doubt, and the check's message states this; it is not judged where the model's interval is too wide
(judging.timing, `find_unsure`). For such a kernel, partial credit is known at the ends of the
interval alone: it earns the points of the worse end. If the better end gives more than
LEAST_PENDING points more, the difference is pending.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.judging.goals import Grounds
from grader.judging.values import Others, measure_correctness
from grader.messages.doubt import describe_doubt
from grader.messages.findings import FINDINGS
from grader.messages.reasons import (
    describe_cases,
    describe_open,
    describe_prerequisites,
    describe_unknown,
    describe_verdict,
)
from grader.metrics import CHECKED_CASES, CORRECTNESS, METRICS
from grader.records import (
    CaseResult,
    CheckResult,
    CheckStatus,
    DeviceInfo,
    Failure,
    MetricValue,
    PartResult,
)
from grader.spec.exercise import CheckSpec, Exercise, Threshold
from grader.statuses import Doing

LEAST_CREDIT = 0.01
"""Partial credit below this part of a check's points is 0."""
LEAST_PENDING = 4.0
"""Smallest difference in points between the ends of an interval that stays pending for a GPU. A
modelled time can cost an honest submission this much."""


@dataclass(frozen=True)
class _Verdict:
    """The status of a check with the reason."""

    status: CheckStatus
    message: str
    points: float = 0.0
    in_doubt: bool = False
    pending_points: float = 0.0


def judge_checks(
    exercise: Exercise,
    cases: Sequence[CaseResult],
    metrics: Sequence[MetricValue],
    device: DeviceInfo,
    *,
    parts: Sequence[PartResult] = (),
    others: Others | None = None,
    excluded: frozenset[str] = frozenset(),
    kernels: Mapping[str, Mapping[str, MetricValue]] | None = None,
) -> tuple[CheckResult, ...]:
    """Judge every check of the spec, in its order; `correctness` comes from the cases, everything
    else from the metrics."""
    values = {metric.name: metric for metric in (*metrics, measure_correctness(cases))}
    grounds = Grounds(
        exercise,
        device,
        values,
        cases,
        {part.part: part for part in parts},
        others or {},
        excluded,
        kernels or {},
    )
    results: dict[str, CheckResult] = {}
    for check in _prerequisites_first(exercise.checks):
        results[check.name] = _result(check, _judge(check, results, grounds), grounds)
    return tuple(results[check.name] for check in exercise.checks)


def judge_failure(
    exercise: Exercise,
    failure: Failure,
    metrics: Sequence[MetricValue],
    device: DeviceInfo | None,
    excluded: frozenset[str] = frozenset(),
) -> tuple[CheckResult, ...]:
    """The checks of a submission that did not compile or run: `correctness` fails, and the others
    are skipped. Where it is not the student's fault, all points are pending."""
    values = {metric.name: metric for metric in metrics}
    grounds = Grounds(exercise, device, values, excluded=excluded)
    return tuple(
        _result(check, _judge_failed(check, failure, grounds), grounds) for check in exercise.checks
    )


def earned_fraction(value: float, threshold: Threshold) -> float:
    """Part of the points that a value earns, 0 to 1: all from the threshold on, and linear down to
    `zero_at` before it."""
    full = threshold.full_mark
    if value == full or (value > full) == (threshold.at_least is not None):
        return 1.0
    if threshold.zero_at is None or threshold.zero_at == full:
        return 0.0
    return max(0.0, (value - threshold.zero_at) / (full - threshold.zero_at))


def _prerequisites_first(checks: Sequence[CheckSpec]) -> list[CheckSpec]:
    """The checks in an order in which each follows its prerequisites; spec.reader refuses
    cycles."""
    by_name = {check.name: check for check in checks}
    ordered: dict[str, CheckSpec] = {}

    def visit(check: CheckSpec) -> None:
        for name in check.requires:
            visit(by_name[name])
        ordered.setdefault(check.name, check)

    for check in checks:
        visit(check)
    return list(ordered.values())


def _judge(check: CheckSpec, judged: Mapping[str, CheckResult], grounds: Grounds) -> _Verdict:
    """Tests the reasons why a check cannot be judged, in their order, and then compares."""
    required = [judged[name] for name in check.requires]
    unknown = [each for each in required if each.status is CheckStatus.NOT_MEASURED]
    missed = [
        each for each in required if each.status.has_points and each.status != CheckStatus.PASSED
    ]
    metric, part, goal = grounds.metric_of(check), grounds.part_of(check), grounds.goal_of(check)
    if why := grounds.why_excluded(check):
        return _Verdict(CheckStatus.EXCLUDED, why)
    if part is not None and part.absent is not None:
        return _Verdict(CheckStatus.SKIPPED, part.absent)
    found = check.metric == CHECKED_CASES and metric.value is not None and metric.value < 1
    if missed and not found:
        return _Verdict(CheckStatus.SKIPPED, describe_prerequisites(_titles(missed), missed=True))
    if unknown and not found:
        message = describe_prerequisites(_titles(unknown), missed=False)
        return _Verdict(CheckStatus.NOT_MEASURED, message)
    if part is not None and (failure := part.failure) is not None:
        students = failure.status.row.doing is Doing.STUDENT
        status = CheckStatus.FAILED if students else CheckStatus.NOT_MEASURED
        return _Verdict(status, failure.message)
    if metric.value is None:
        return _Verdict(CheckStatus.NOT_MEASURED, metric.reason or "")
    if goal.figures is None:
        assert goal.threshold.relative_to is not None  # the figures of others are known
        message = describe_unknown(goal.threshold.relative_to, goal.other)
        return _Verdict(CheckStatus.NOT_MEASURED, message)
    return _compare(check, metric, metric.value, goal.figures, grounds)


def _titles(results: Sequence[CheckResult]) -> list[str]:
    return [result.headline or result.title for result in results]


def _compare(
    check: CheckSpec, metric: MetricValue, value: float, figures: Threshold, grounds: Grounds
) -> _Verdict:
    goal = grounds.goal_of(check)
    in_doubt, unsure = goal.is_open(metric), goal.why_unsure(metric)
    if in_doubt and unsure:
        return _Verdict(CheckStatus.NOT_MEASURED, unsure)
    fraction = best = 1.0 if in_doubt else earned_fraction(value, figures)
    if unsure:
        ends = goal.interval_of(metric) or (value,)
        fraction, best = sorted(earned_fraction(end, figures) for end in (ends[0], ends[-1]))
    status = CheckStatus.PASSED if fraction == 1 else CheckStatus.PARTIAL
    points = round(fraction * check.points, 2)
    if fraction < LEAST_CREDIT or (check.points and not points):
        points, status = 0.0, CheckStatus.FAILED
    open_points = round(best * check.points - points, 2)
    pending = open_points if open_points > LEAST_PENDING and not check.bonus else 0.0
    if check.metric == CORRECTNESS:
        message = describe_cases(grounds.cases_of(check))
    elif in_doubt:
        relative = goal.threshold.relative_to is not None
        message = describe_doubt(metric, value, str(goal), relative=relative)
    else:
        passed = status is CheckStatus.PASSED
        message = describe_verdict(metric, value, str(goal), passed=passed)
        message += describe_open(pending, unsure) if pending else ""
    return _Verdict(status, message, points, in_doubt, pending)


def _judge_failed(check: CheckSpec, failure: Failure, grounds: Grounds) -> _Verdict:
    """A check of a submission that did not run to its end. Limits that ended the run are no
    findings of the checked mode."""
    if why := grounds.why_excluded(check):
        return _Verdict(CheckStatus.EXCLUDED, why)
    message = failure.status.row.clause or str(failure.status)
    if failure.status.row.doing is not Doing.STUDENT:
        return _Verdict(CheckStatus.NOT_MEASURED, message)
    found = any(not FINDINGS[finding.kind].is_limit for finding in failure.findings)
    failed = (check.metric == CORRECTNESS and check.part is None) or (
        check.metric == CHECKED_CASES and found
    )
    return _Verdict(CheckStatus.FAILED if failed else CheckStatus.SKIPPED, message)


def _result(check: CheckSpec, verdict: _Verdict, grounds: Grounds) -> CheckResult:
    metric, goal = grounds.metric_of(check), grounds.goal_of(check)
    waits = verdict.status is CheckStatus.NOT_MEASURED and not check.bonus
    return CheckResult(
        name=check.name,
        title=f"{check.title} (bonus)" if check.bonus else check.title,
        status=verdict.status,
        points=verdict.points,
        max_points=check.points,
        metric=check.metric,
        value=metric.value,
        threshold=str(goal),
        unit=METRICS[check.metric].unit,
        source=metric.source,
        message=verdict.message,
        headline=f"{check.headline} (bonus)" if check.headline and check.bonus else check.headline,
        bonus=check.bonus,
        relative_value=goal.other.value if goal.other is not None else None,
        in_doubt=verdict.in_doubt,
        part=check.part,
        pending_points=check.points if waits else verdict.pending_points,
    )
