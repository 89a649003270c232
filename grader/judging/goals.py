"""A check's goal on one device, and everything that checks are judged by."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from grader.judging.values import Others, measure_correctness
from grader.metrics import METRICS
from grader.records import CaseResult, DeviceInfo, MetricValue, PartResult
from grader.spec.exercise import CheckSpec, Exercise, Threshold, Yardstick
from grader.words.reasons import NOT_SHIPPED, PART_NOT_RUN, format_goal


@dataclass(frozen=True)
class Goal:
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
        return format_goal(self.metric, self.threshold, self.other)


@dataclass(frozen=True)
class Grounds:
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
            else self.parts.get(check.part, PartResult(check.part, absent=PART_NOT_RUN))
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

    def goal_of(self, check: CheckSpec) -> Goal:
        threshold = check.threshold_on(self.device)
        if threshold.relative_to is None:
            return Goal(check.metric, threshold)
        return Goal(
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
        if self.device is None or self.metric_of(check).value is not None:
            return None
        return METRICS[check.metric].lacking.get(self.device.kind)
