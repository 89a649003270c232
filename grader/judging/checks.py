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
from dataclasses import dataclass, field

from grader.judging.timing import LABELS, NAIVE, RATIO_METRICS
from grader.judging.values import LACKING, NOT_SHIPPED, Others, measure_correctness
from grader.metrics import METRICS, TIMED, format_value
from grader.records import (
    SUBMISSION,
    CaseResult,
    CheckResult,
    CheckStatus,
    DeviceInfo,
    Failure,
    FindingKind,
    MetricValue,
    PartResult,
    Source,
    Status,
)
from grader.spec.exercise import CheckSpec, Exercise, Threshold, Yardstick

CORRECTNESS = "correctness"
SANITIZED = "sanitized"

LEAST_CREDIT = 0.01
"""The part of a check's points below which partial credit is none: 0.01 of 25 points is no step on
the way."""

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


_OWNERS = {Yardstick.BASELINE: "the baseline", Yardstick.REFERENCE: "the reference"}


@dataclass(frozen=True)
class _Goal:
    """A check's threshold on one device; `other` is the value that a relative one is a multiple of,
    as far as it is known."""

    metric: str
    threshold: Threshold
    other: MetricValue | None = None

    @property
    def figures(self) -> Threshold | None:
        """The threshold in the metric's own unit; None while the other program's value is not
        known."""
        if self.threshold.relative_to is None:
            return self.threshold
        return (
            None
            if self.other is None or self.other.value is None
            else self.threshold.scaled(self.other.value)
        )

    def is_open(self, metric: MetricValue) -> bool:
        """Whether a measured value cannot be told from the full mark: a timed ratio has its whole
        doubt in the other's interval."""
        if self.threshold.relative_to is None:
            return (
                metric.interval is not None
                and metric.interval[0] < self.threshold.full_mark < metric.interval[1]
            )
        if metric.value is None or self.other is None or self.other.interval is None:
            return False
        low, high = self.other.interval
        return self.threshold.full_mark * low < metric.value < self.threshold.full_mark * high

    def __str__(self) -> str:
        full = self.threshold.full_mark
        sign = ">=" if self.threshold.at_least is not None else "<="
        if self.threshold.relative_to is not None:
            owner = _OWNERS[self.threshold.relative_to]
            known = self.other is not None and self.other.value is not None
            return f"{sign} {full:g} x " + (
                f"{owner}'s {self.known_value}" if known else f"that of {owner}"
            )
        is_whole = METRICS[self.metric].is_fraction and full == 1
        exactly = is_whole if self.threshold.at_least is not None else full == 0
        return f"{'==' if exactly else sign} {format_value(self.metric, full)}"

    @property
    def known_value(self) -> str:
        """The other program's value for people."""
        return (
            ""
            if self.other is None or self.other.value is None
            else format_value(self.metric, self.other.value)
        )


@dataclass(frozen=True)
class _Evidence:
    """What checks are judged by: the metrics by name, the cases of the exercise itself, its parts,
    and what other programs reach."""

    exercise: Exercise
    device: DeviceInfo | None
    values: Mapping[str, MetricValue]
    cases: Sequence[CaseResult] = ()
    parts: Mapping[str, PartResult] = field(default_factory=dict)
    others: Others = field(default_factory=dict)

    def part_of(self, check: CheckSpec) -> PartResult | None:
        """The part that a check judges, None for the exercise itself."""
        return (
            None
            if check.part is None
            else self.parts.get(check.part, PartResult(check.part, absent="it did not run"))
        )

    def cases_of(self, check: CheckSpec) -> Sequence[CaseResult]:
        part = self.part_of(check)
        return self.cases if part is None else part.cases

    def metric_of(self, check: CheckSpec) -> MetricValue:
        return (
            self.values[check.metric]
            if check.part is None
            else measure_correctness(self.cases_of(check))
        )

    def goal_of(self, check: CheckSpec) -> _Goal:
        threshold = check.threshold_on(self.device)
        if threshold.relative_to is None:
            return _Goal(check.metric, threshold)
        return _Goal(
            check.metric, threshold, self.others.get(threshold.relative_to, {}).get(check.metric)
        )

    def lacks(self, check: CheckSpec) -> str | None:
        """Why this device, or this installation, cannot judge the check whatever the submission
        does; None where it can."""
        if (
            check.threshold_on(self.device).relative_to is Yardstick.REFERENCE
            and self.exercise.reference_source is None
        ):
            return NOT_SHIPPED
        lacking = LACKING.get(self.device.kind, {}) if self.device else {}
        return lacking.get(check.metric) if self.metric_of(check).value is None else None


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
    evidence = _Evidence(
        exercise, device, values, cases, {part.part: part for part in parts}, others or {}
    )
    results: dict[str, CheckResult] = {}
    for check in _prerequisites_first(exercise.checks):
        results[check.name] = _judge(check, results, evidence)
    return tuple(results[check.name] for check in exercise.checks)


def judge_failure(
    exercise: Exercise, failure: Failure, metrics: Sequence[MetricValue], device: DeviceInfo | None
) -> tuple[CheckResult, ...]:
    """The checks of a submission that did not compile or run: `correctness` fails, and nothing else
    could be judged."""
    evidence = _Evidence(exercise, device, {metric.name: metric for metric in metrics})
    return tuple(_after_failure(check, failure, evidence) for check in exercise.checks)


def find_open(
    exercise: Exercise,
    metrics: Sequence[MetricValue],
    device: DeviceInfo,
    others: Others | None = None,
) -> tuple[str, ...]:
    """The programs of which more measurements may decide a check that the intervals leave open;
    none when none is open."""
    evidence = _Evidence(
        exercise, device, {metric.name: metric for metric in metrics}, others=others or {}
    )
    timed = (
        check
        for check in exercise.checks
        if check.metric in TIMED and check.metric in evidence.values
    )
    still_open = [
        check for check in timed if evidence.goal_of(check).is_open(evidence.values[check.metric])
    ]
    needed = [SUBMISSION] if still_open else []
    for check in still_open:
        yardstick = check.threshold_on(device).relative_to
        needed += (
            [LABELS[yardstick]] if yardstick else [NAIVE] if check.metric in RATIO_METRICS else []
        )
    return tuple(dict.fromkeys(needed))


def find_counted(exercise: Exercise, device: DeviceInfo) -> tuple[Yardstick, ...]:
    """The programs, as far as they are shipped, whose counters some check's threshold on this
    device is relative to."""
    counted = (
        check.threshold_on(device).relative_to
        for check in exercise.checks
        if check.metric not in TIMED
    )
    shipped = (
        each
        for each in counted
        if each is not Yardstick.REFERENCE or exercise.reference_source is not None
    )
    return tuple(dict.fromkeys(each for each in shipped if each is not None))


def find_timed(exercise: Exercise, device: DeviceInfo) -> tuple[str, ...]:
    """The labels of the programs whose times a score shows or judges by: the baseline's, the
    comparisons', and others that a check is relative to.
    """
    timed = (
        check.threshold_on(device).relative_to for check in exercise.checks if check.metric in TIMED
    )
    shipped = (
        each
        for each in timed
        if each is not Yardstick.REFERENCE or exercise.reference_source is not None
    )
    return tuple(
        dict.fromkeys(
            (NAIVE, *exercise.comparisons, *(LABELS[each] for each in shipped if each is not None))
        )
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


def _judge(check: CheckSpec, judged: Mapping[str, CheckResult], evidence: _Evidence) -> CheckResult:
    """The reasons why a check cannot be judged, in their order, and then the comparison."""
    required = [judged[name] for name in check.requires]
    unknown = [
        result.headline or result.title
        for result in required
        if result.status is CheckStatus.NOT_MEASURED
    ]
    missed = [
        result.headline or result.title
        for result in required
        if result.status not in (CheckStatus.PASSED, CheckStatus.NOT_MEASURED)
    ]
    metric, part, goal = evidence.metric_of(check), evidence.part_of(check), evidence.goal_of(check)
    if (lacking := evidence.lacks(check)) is not None:
        return _result(check, CheckStatus.NOT_MEASURED, evidence, message=lacking)
    if part is not None and part.absent is not None:
        return _result(check, CheckStatus.SKIPPED, evidence, message=part.absent)
    found = check.metric == SANITIZED and metric.value is not None and metric.value < 1
    if missed and not found:
        return _result(
            check, CheckStatus.SKIPPED, evidence, message=f"{_and(missed)} must pass first"
        )
    if unknown:
        return _result(
            check,
            CheckStatus.NOT_MEASURED,
            evidence,
            message=f"{_and(unknown)} could not be judged",
        )
    if part is not None and part.failure is not None:
        ours = not part.failure.status.has_points
        return _result(
            check,
            CheckStatus.NOT_MEASURED if ours else CheckStatus.FAILED,
            evidence,
            message=part.failure.message,
        )
    if metric.value is None:
        return _result(check, CheckStatus.NOT_MEASURED, evidence, message=metric.reason or "")
    if goal.figures is None:
        return _result(check, CheckStatus.NOT_MEASURED, evidence, message=_describe_missing(goal))
    return _compare(check, metric, metric.value, goal.figures, evidence)


def _compare(
    check: CheckSpec, metric: MetricValue, value: float, figures: Threshold, evidence: _Evidence
) -> CheckResult:
    goal = evidence.goal_of(check)
    in_doubt = goal.is_open(metric)
    fraction = 1.0 if in_doubt else earned_fraction(value, figures)
    fraction = fraction if fraction >= LEAST_CREDIT else 0.0
    status = (
        CheckStatus.PASSED
        if fraction == 1
        else CheckStatus.PARTIAL
        if fraction > 0
        else CheckStatus.FAILED
    )
    if check.metric == CORRECTNESS:
        message = _describe_cases(evidence.cases_of(check))
    elif in_doubt:
        message = _describe_doubt(metric, value, goal)
    else:
        verdict = "reaches" if status is CheckStatus.PASSED else "misses"
        message = (
            f"{METRICS[check.metric].noun} {format_value(check.metric, value)} {verdict} the goal"
            f" {goal}{_where(metric)}"
        )
    return _result(
        check,
        status,
        evidence,
        message=message,
        points=round(fraction * check.points, 2),
        in_doubt=in_doubt,
    )


def _after_failure(check: CheckSpec, failure: Failure, evidence: _Evidence) -> CheckResult:
    if (lacking := evidence.lacks(check)) is not None:
        return _result(check, CheckStatus.NOT_MEASURED, evidence, message=lacking)
    if not failure.status.has_points:  # its checks are not measured, rather than failed
        return _result(
            check, CheckStatus.NOT_MEASURED, evidence, message=FAILURE_WORDS[failure.status]
        )
    words = FAILURE_WORDS.get(failure.status, str(failure.status))
    if (check.metric == CORRECTNESS and check.part is None) or (
        check.metric == SANITIZED and _is_told(failure)
    ):
        return _result(check, CheckStatus.FAILED, evidence, message=words)
    return _result(check, CheckStatus.SKIPPED, evidence, message=words)


def _is_told(failure: Failure) -> bool:
    """Whether the failure is something that the checked mode looks for; limits are not."""
    return any(
        finding.kind not in (FindingKind.INSTRUCTION_LIMIT, FindingKind.WALL_LIMIT)
        for finding in failure.findings
    )


def _result(
    check: CheckSpec,
    status: CheckStatus,
    evidence: _Evidence,
    *,
    message: str,
    points: float = 0.0,
    in_doubt: bool = False,
) -> CheckResult:
    metric, goal = evidence.metric_of(check), evidence.goal_of(check)
    return CheckResult(
        name=check.name,
        title=f"{check.title} (bonus)" if check.bonus else check.title,
        status=status,
        points=points,
        max_points=check.points,
        metric=check.metric,
        value=metric.value,
        threshold=str(goal),
        unit=METRICS[check.metric].unit,
        source=metric.source,
        message=message,
        headline=f"{check.headline} (bonus)" if check.headline and check.bonus else check.headline,
        bonus=check.bonus,
        relative_value=goal.other.value if goal.other is not None else None,
        in_doubt=in_doubt,
    )


def _describe_missing(goal: _Goal) -> str:
    """Why the value that a threshold is relative to is not there."""
    assert goal.threshold.relative_to is not None
    reason = goal.other.reason if goal.other is not None else None
    return (
        f"the value of {_OWNERS[goal.threshold.relative_to]} is not known:"
        f" {reason or 'it was not counted'}"
    )


def _describe_doubt(metric: MetricValue, value: float, goal: _Goal) -> str:
    ends = (
        ""
        if goal.threshold.relative_to
        else " ({} to {})".format(
            *(format_value(metric.name, end) for end in metric.interval or ())
        )
    )
    figure = f"{METRICS[metric.name].noun} {format_value(metric.name, value)}{ends}"
    if metric.source is Source.MODELLED:
        return (
            f"{figure} against the goal {goal} is too close to call on a model: the benefit of the"
            " doubt"
        )
    return f"{figure} cannot be told from the goal {goal}: the benefit of the doubt"


def _where(metric: MetricValue) -> str:
    """At which sizes a value was counted, where these are those of the timed run."""
    return (
        ""
        if metric.sizes is None
        else (
            ", at the timed size"
            f" ({', '.join(f'{name} = {size:,}' for name, size in metric.sizes.items())})"
        )
    )


def _describe_cases(cases: Sequence[CaseResult]) -> str:
    wrong = [case.name for case in cases if not case.passed]
    if not wrong:
        return f"all {len(cases)} cases are right"
    shown = ", ".join(wrong[:3]) + (", ..." if len(wrong) > 3 else "")
    return f"{len(wrong)} of {len(cases)} cases: {shown}"


def _and(titles: Sequence[str]) -> str:
    return " and ".join(titles)
