"""Judges the checks of a spec: thresholds, absolute or relative, partial credit, per-GPU overrides
and prerequisites.

A check whose metric the device cannot give is `not_measured` whatever the submission did, so that
two submissions on one device are judged out of equally many points. After that, a prerequisite that
did not pass makes it `skipped`, and one that could not be judged makes it `not_measured` too; but
what the checked mode found fails its check in any case. A measured value that cannot be told from
the threshold passes: the student has the benefit of the doubt, and the check's message says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.judging.goals import Grounds
from grader.judging.values import Others, measure_correctness
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
from grader.words.doubt import describe_doubt
from grader.words.findings import FINDINGS
from grader.words.reasons import (
    describe_cases,
    describe_prerequisites,
    describe_unknown,
    describe_verdict,
)

LEAST_CREDIT = 0.01
"""The part of a check's points below which partial credit is none: 0.01 of 25 points is no step on
the way."""


@dataclass(frozen=True)
class _Verdict:
    """How a check ended, and why."""

    status: CheckStatus
    message: str
    points: float = 0.0
    in_doubt: bool = False


def judge_checks(
    exercise: Exercise,
    cases: Sequence[CaseResult],
    metrics: Sequence[MetricValue],
    device: DeviceInfo,
    *,
    parts: Sequence[PartResult] = (),
    others: Others | None = None,
) -> tuple[CheckResult, ...]:
    """Judge every check of the spec, in its order; `correctness` comes from the cases, everything
    else from the metrics."""
    values = {metric.name: metric for metric in (*metrics, measure_correctness(cases))}
    grounds = Grounds(
        exercise, device, values, cases, {part.part: part for part in parts}, others or {}
    )
    results: dict[str, CheckResult] = {}
    for check in _prerequisites_first(exercise.checks):
        results[check.name] = _result(check, _judge(check, results, grounds), grounds)
    return tuple(results[check.name] for check in exercise.checks)


def judge_failure(
    exercise: Exercise, failure: Failure, metrics: Sequence[MetricValue], device: DeviceInfo | None
) -> tuple[CheckResult, ...]:
    """The checks of a submission that did not compile or run: `correctness` fails, and nothing else
    could be judged."""
    grounds = Grounds(exercise, device, {metric.name: metric for metric in metrics})
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
    """The checks in an order in which each follows those that it requires; spec.reader has refused
    circles."""
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
    """The reasons why a check cannot be judged, in their order, and then the comparison."""
    required = [judged[name] for name in check.requires]
    unknown = [each for each in required if each.status is CheckStatus.NOT_MEASURED]
    missed = [
        each for each in required if each not in unknown and each.status is not CheckStatus.PASSED
    ]
    metric, part, goal = grounds.metric_of(check), grounds.part_of(check), grounds.goal_of(check)
    if (lacking := grounds.lacks(check)) is not None:
        return _Verdict(CheckStatus.NOT_MEASURED, lacking)
    if part is not None and part.absent is not None:
        return _Verdict(CheckStatus.SKIPPED, part.absent)
    found = check.metric == CHECKED_CASES and metric.value is not None and metric.value < 1
    if missed and not found:
        return _Verdict(CheckStatus.SKIPPED, describe_prerequisites(_titles(missed), missed=True))
    if unknown and not found:
        message = describe_prerequisites(_titles(unknown), missed=False)
        return _Verdict(CheckStatus.NOT_MEASURED, message)
    if part is not None and (failure := part.failure) is not None:
        students = failure.status.has_points
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
    in_doubt = goal.is_open(metric)
    fraction = 1.0 if in_doubt else earned_fraction(value, figures)
    status = CheckStatus.PASSED if fraction == 1 else CheckStatus.PARTIAL
    points = round(fraction * check.points, 2)
    if fraction < LEAST_CREDIT or (check.points and not points):
        points, status = 0.0, CheckStatus.FAILED
    if check.metric == CORRECTNESS:
        message = describe_cases(grounds.cases_of(check))
    elif in_doubt:
        relative = goal.threshold.relative_to is not None
        message = describe_doubt(metric, value, str(goal), relative=relative)
    else:
        passed = status is CheckStatus.PASSED
        message = describe_verdict(metric, value, str(goal), passed=passed)
    return _Verdict(status, message, points, in_doubt)


def _judge_failed(check: CheckSpec, failure: Failure, grounds: Grounds) -> _Verdict:
    """A check of a submission that did not run to its end. Limits that ended the run are no
    findings of the checked mode."""
    if (lacking := grounds.lacks(check)) is not None:
        return _Verdict(CheckStatus.NOT_MEASURED, lacking)
    message = failure.status.row.clause or str(failure.status)
    if not failure.status.has_points:
        return _Verdict(CheckStatus.NOT_MEASURED, message)
    found = any(not FINDINGS[finding.kind].is_limit for finding in failure.findings)
    failed = (check.metric == CORRECTNESS and check.part is None) or (
        check.metric == CHECKED_CASES and found
    )
    return _Verdict(CheckStatus.FAILED if failed else CheckStatus.SKIPPED, message)


def _result(check: CheckSpec, verdict: _Verdict, grounds: Grounds) -> CheckResult:
    metric, goal = grounds.metric_of(check), grounds.goal_of(check)
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
    )
