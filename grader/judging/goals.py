"""A check's goal on a device, the values that checks are judged by, and the programs that a score
needs counted and timed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from grader.judging.timing import LABELS, NAIVE
from grader.judging.values import Others, measure_correctness
from grader.messages.reasons import EXCLUDED_ON, PART_NOT_RUN, WITHOUT_MODEL, format_goal
from grader.metrics import METRICS, TIMED
from grader.records import SUBMISSION, CaseResult, DeviceInfo, MetricValue, PartResult
from grader.spec.exercise import CheckSpec, ComparedWith, Exercise, Threshold


@dataclass(frozen=True)
class Goal:
    """A check's threshold on a device; `other` is the value that a relative threshold is a multiple
    of, as far as it is known."""

    metric: str
    threshold: Threshold
    other: MetricValue | None = None

    @property
    def figures(self) -> Threshold | None:
        """The threshold in the metric's unit; None while the other program's value is unknown."""
        if self.threshold.relative_to is None:
            return self.threshold
        return (
            None
            if self.other is None or self.other.value is None
            else self.threshold.scaled(self.other.value)
        )

    def is_open(self, metric: MetricValue) -> bool:
        """Whether the full mark lies inside the interval of a timed value."""
        interval, figures = self.interval_of(metric), self.figures
        if interval is None or figures is None:
            return False
        return interval[0] < figures.full_mark < interval[1]

    def interval_of(self, metric: MetricValue) -> tuple[float, float] | None:
        """The interval of the true value, in the metric's unit. For a goal relative to another
        program, the other program's interval contains the whole uncertainty of the ratio; here it
        is converted to the metric's."""
        if self.threshold.relative_to is None:
            return metric.interval
        if metric.value is None or self.other is None or self.other.interval is None:
            return None
        assert self.other.value is not None  # it has an interval
        low, high = self.other.interval
        return metric.value * self.other.value / high, metric.value * self.other.value / low

    def why_unsure(self, metric: MetricValue) -> str:
        """The reason why a goal within the interval is not judged; empty where it is passed."""
        if self.threshold.relative_to is None:
            return metric.unsure
        return "" if self.other is None else self.other.unsure

    def __str__(self) -> str:
        return format_goal(self.metric, self.threshold, self.other)


@dataclass(frozen=True)
class Grounds:
    """The values that checks are judged by: the metrics by name, the cases of the exercise itself,
    its parts, the metrics of other programs, the metrics that an option excludes, and the
    metrics of each kernel of a whole program."""

    exercise: Exercise
    device: DeviceInfo | None
    values: Mapping[str, MetricValue]
    cases: Sequence[CaseResult] = ()
    parts: Mapping[str, PartResult] = field(default_factory=dict)
    others: Others = field(default_factory=dict)
    excluded: frozenset[str] = frozenset()
    kernels: Mapping[str, Mapping[str, MetricValue]] = field(default_factory=dict)

    def why_excluded(self, check: CheckSpec) -> str | None:
        """The reason why the check leaves the total: an option, the spec's limit to other kinds of
        device, or an excluded check that it requires. None if it counts."""
        kind = "" if self.device is None else self.device.kind
        if check.metric in self.excluded:
            return WITHOUT_MODEL
        if kind in check.excluded_on:
            return EXCLUDED_ON[kind]
        required = [each for each in self.exercise.checks if each.name in check.requires]
        return next(filter(None, map(self.why_excluded, required)), None)

    def part_of(self, check: CheckSpec) -> PartResult | None:
        """The part that a check judges, None for the exercise itself."""
        return (
            None
            if check.part is None
            else self.parts.get(check.part, PartResult(check.part, absent=PART_NOT_RUN))
        )

    def cases_of(self, check: CheckSpec) -> Sequence[CaseResult]:
        part = self.part_of(check)
        return self.cases if part is None else part.cases

    def metric_of(self, check: CheckSpec) -> MetricValue:
        if check.kernel is not None and self.kernels:
            row, reason = METRICS[check.metric], f"the program did not launch {check.kernel}"
            missing = MetricValue(row.name, None, row.unit, None, reason)
            return self.kernels.get(check.kernel, {}).get(check.metric, missing)
        return (
            self.values[check.metric]
            if check.part is None
            else measure_correctness(self.cases_of(check))
        )

    def goal_of(self, check: CheckSpec) -> Goal:
        threshold = check.threshold_on(self.device)
        if threshold.relative_to is None:
            return Goal(check.metric, threshold)
        return Goal(
            check.metric, threshold, self.others.get(threshold.relative_to, {}).get(check.metric)
        )


def find_open(
    exercise: Exercise,
    metrics: Sequence[MetricValue],
    device: DeviceInfo,
    others: Others | None = None,
) -> tuple[str, ...]:
    """The programs whose further measurements may decide an open check; none when no check is
    open."""
    grounds = Grounds(
        exercise, device, {metric.name: metric for metric in metrics}, others=others or {}
    )
    needed = []
    for check in exercise.checks:
        value = grounds.values.get(check.metric)
        if check.metric not in TIMED or value is None or not grounds.goal_of(check).is_open(value):
            continue
        compared_with = check.threshold_on(device).relative_to
        needed.append(SUBMISSION)
        if compared_with is not None:
            needed.append(LABELS[compared_with])
        elif METRICS[check.metric].needs_naive:
            needed.append(NAIVE)
    return tuple(dict.fromkeys(needed))


def find_counted(exercise: Exercise, device: DeviceInfo) -> dict[ComparedWith, tuple[str, ...]]:
    """The shipped programs whose counters a check's threshold on this device is relative to, with
    the metrics of these checks."""
    found: dict[ComparedWith, tuple[str, ...]] = {}
    for metric, compared_with in _list_compared(exercise, device, timed=False):
        found[compared_with] = (*found.get(compared_with, ()), metric)
    return found


def find_timed(exercise: Exercise, device: DeviceInfo) -> tuple[str, ...]:
    """The labels of the programs whose times a score shows or uses for a judgement: the baseline,
    the comparisons, and other programs that a check is relative to.
    """
    relative = (LABELS[each] for _, each in _list_compared(exercise, device, timed=True))
    return tuple(dict.fromkeys((NAIVE, *exercise.comparisons, *relative)))


def _list_compared(
    exercise: Exercise, device: DeviceInfo, *, timed: bool
) -> Iterator[tuple[str, ComparedWith]]:
    """The timed, or counted, metrics whose goals are relative to shipped programs."""
    for check in exercise.checks:
        compared_with = check.threshold_on(device).relative_to
        if compared_with is None or (check.metric in TIMED) is not timed:
            continue
        if compared_with is not ComparedWith.REFERENCE or exercise.reference_source is not None:
            yield check.metric, compared_with
