"""Judges the checks of a spec: thresholds, partial credit, per-GPU overrides and prerequisites.

A check whose metric the device cannot give is `not_measured` whatever the submission did, so that two submissions on one
device are judged out of equally many points. After that, a prerequisite that did not pass makes it `skipped`, and one that
could not be judged makes it `not_measured` too. A measured value that cannot be told from the threshold passes: the student
has the benefit of the doubt, and the check's message says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.judging.values import LACKING, measure_correctness
from grader.metrics import METRICS, format_value
from grader.records import CaseResult, CheckResult, CheckStatus, DeviceInfo, Failure, MetricValue, Status
from grader.spec.model import CheckSpec, Exercise, Threshold

CORRECTNESS = "correctness"

_NOT_THE_STUDENTS = frozenset({Status.UNSUPPORTED, Status.INCONCLUSIVE, Status.GRADER_ERROR})
"""Failures that say nothing of the submission: its checks are not measured, rather than failed."""

FAILURE_WORDS: Mapping[Status, str] = {
    Status.COMPILE_ERROR: "it does not compile",
    Status.LAUNCH_ERROR: "it cannot be launched",
    Status.RUNTIME_ERROR: "it does not run to its end",
    Status.TIMEOUT: "it does not end in time",
    Status.REJECTED: "it was rejected",
    Status.UNSUPPORTED: "this device cannot run it",
    Status.INCONCLUSIVE: "the grading was inconclusive",
    Status.GRADER_ERROR: "the grader failed",
}


def judge_checks(
    exercise: Exercise, cases: Sequence[CaseResult], metrics: Sequence[MetricValue], device: DeviceInfo
) -> tuple[CheckResult, ...]:
    """Judge every check of the spec, in its order; `correctness` comes from the cases, everything else from the metrics."""
    values = {metric.name: metric for metric in (*metrics, measure_correctness(cases))}
    results: dict[str, CheckResult] = {}
    for check in _prerequisites_first(exercise.checks):
        results[check.name] = _judge(check, values[check.metric], results, device, cases)
    return tuple(results[check.name] for check in exercise.checks)


def judge_failure(
    exercise: Exercise, failure: Failure, metrics: Sequence[MetricValue], device: DeviceInfo | None
) -> tuple[CheckResult, ...]:
    """The checks of a submission that did not compile or run: `correctness` fails, and nothing else could be judged."""
    values = {metric.name: metric for metric in metrics}
    return tuple(_after_failure(check, failure, values[check.metric], device) for check in exercise.checks)


def find_open(exercise: Exercise, metrics: Sequence[MetricValue], device: DeviceInfo) -> tuple[str, ...]:
    """The metrics of the checks whose threshold lies within the metric's interval: more measurements may decide them."""
    values = {metric.name: metric for metric in metrics}
    graded = ((check, values.get(check.metric)) for check in exercise.checks)
    return tuple(dict.fromkeys(check.metric for check, metric in graded if metric and _is_open(metric, _threshold(check, device))))


def earned_fraction(value: float, threshold: Threshold) -> float:
    """Part of the points that a value earns, 0 to 1: all from the threshold on, and linear down to `zero_at` before it."""
    full = _full_mark(threshold)
    if value == full or (value > full) == (threshold.at_least is not None):
        return 1.0
    if threshold.zero_at is None or threshold.zero_at == full:
        return 0.0
    return max(0.0, (value - threshold.zero_at) / (full - threshold.zero_at))


def _prerequisites_first(checks: Sequence[CheckSpec]) -> list[CheckSpec]:
    """The checks in an order in which each follows those that it requires; spec.read has refused circles."""
    by_name = {check.name: check for check in checks}
    ordered: dict[str, CheckSpec] = {}

    def visit(check: CheckSpec) -> None:
        for name in check.requires:
            visit(by_name[name])
        ordered.setdefault(check.name, check)

    for check in checks:
        visit(check)
    return list(ordered.values())


def _judge(
    check: CheckSpec, metric: MetricValue, judged: Mapping[str, CheckResult], device: DeviceInfo, cases: Sequence[CaseResult]
) -> CheckResult:
    required = [judged[name] for name in check.requires]
    unknown = [result.headline or result.title for result in required if result.status is CheckStatus.NOT_MEASURED]
    missed = [result.headline or result.title for result in required if result.status not in (CheckStatus.PASSED, CheckStatus.NOT_MEASURED)]
    if metric.value is None and metric.name in LACKING.get(device.kind, {}):
        return _result(check, CheckStatus.NOT_MEASURED, metric, device, message=metric.reason or "")
    if missed:
        return _result(check, CheckStatus.SKIPPED, metric, device, message=f"{_and(missed)} must pass first")
    if unknown:
        return _result(check, CheckStatus.NOT_MEASURED, metric, device, message=f"{_and(unknown)} could not be judged")
    if metric.value is None:
        return _result(check, CheckStatus.NOT_MEASURED, metric, device, message=metric.reason or "")
    return _compare(check, metric, metric.value, device, cases)


def _compare(
    check: CheckSpec, metric: MetricValue, value: float, device: DeviceInfo, cases: Sequence[CaseResult]
) -> CheckResult:
    threshold = _threshold(check, device)
    in_doubt = _is_open(metric, threshold)
    fraction = 1.0 if in_doubt else earned_fraction(value, threshold)
    status = CheckStatus.PASSED if fraction == 1 else CheckStatus.PARTIAL if fraction > 0 else CheckStatus.FAILED
    if check.metric == CORRECTNESS:
        message = _describe_cases(cases)
    elif in_doubt:
        message = _describe_doubt(check, metric, value, device)
    else:
        verdict = "reaches" if status is CheckStatus.PASSED else "misses"
        noun = METRICS[check.metric].noun
        message = f"{noun} {format_value(check.metric, value)} {verdict} the goal {_format_threshold(check, device)}"
    return _result(check, status, metric, device, message=message, points=round(fraction * check.points, 2))


def _after_failure(check: CheckSpec, failure: Failure, metric: MetricValue, device: DeviceInfo | None) -> CheckResult:
    if device and check.metric in LACKING.get(device.kind, {}):
        return _result(check, CheckStatus.NOT_MEASURED, metric, device, message=metric.reason or "")
    if failure.status in _NOT_THE_STUDENTS:
        return _result(check, CheckStatus.NOT_MEASURED, metric, device, message=FAILURE_WORDS[failure.status])
    words = FAILURE_WORDS.get(failure.status, str(failure.status))
    if check.metric == CORRECTNESS:
        return _result(check, CheckStatus.FAILED, metric, device, message=words)
    return _result(check, CheckStatus.SKIPPED, metric, device, message=words)


def _result(
    check: CheckSpec, status: CheckStatus, metric: MetricValue, device: DeviceInfo | None, *, message: str, points: float = 0.0
) -> CheckResult:
    return CheckResult(
        name=check.name,
        title=f"{check.title} (bonus)" if check.bonus else check.title,
        status=status,
        points=points,
        max_points=check.points,
        metric=check.metric,
        value=metric.value,
        threshold=_format_threshold(check, device),
        unit=METRICS[check.metric].unit,
        source=metric.source,
        message=message,
        headline=f"{check.headline} (bonus)" if check.headline and check.bonus else check.headline,
    )


def _full_mark(threshold: Threshold) -> float:
    full = threshold.at_least if threshold.at_least is not None else threshold.at_most
    assert full is not None  # spec.read lets no other threshold through
    return full


def _is_open(metric: MetricValue, threshold: Threshold) -> bool:
    """Whether the threshold lies within the interval of the measured value."""
    return metric.interval is not None and metric.interval[0] < _full_mark(threshold) < metric.interval[1]


def _threshold(check: CheckSpec, device: DeviceInfo | None) -> Threshold:
    own = (check.overrides or {}).get(device.id) if device else None
    return own or check.threshold


def _format_threshold(check: CheckSpec, device: DeviceInfo | None) -> str:
    threshold = _threshold(check, device)
    if threshold.at_least is not None:
        figure, sign = format_value(check.metric, threshold.at_least), ">="
        return f"== {figure}" if METRICS[check.metric].is_fraction and threshold.at_least == 1 else f"{sign} {figure}"
    figure = format_value(check.metric, threshold.at_most or 0.0)
    return f"<= {figure}" if threshold.at_most else f"== {figure}"


def _describe_doubt(check: CheckSpec, metric: MetricValue, value: float, device: DeviceInfo) -> str:
    low, high = (format_value(check.metric, end) for end in metric.interval or (value, value))
    return (
        f"{METRICS[check.metric].noun} {format_value(check.metric, value)} ({low} to {high}) cannot be told from the goal"
        f" {_format_threshold(check, device)}: the benefit of the doubt"
    )


def _describe_cases(cases: Sequence[CaseResult]) -> str:
    wrong = [case.name for case in cases if not case.passed]
    if not wrong:
        return f"all {len(cases)} cases are right"
    shown = ", ".join(wrong[:3]) + (", ..." if len(wrong) > 3 else "")
    return f"{len(wrong)} of {len(cases)} cases: {shown}"


def _and(titles: Sequence[str]) -> str:
    return " and ".join(titles)
