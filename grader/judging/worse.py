"""Counters of two runs of a submission: the worse of both is graded, so that counters and times
belong to the same behaviour.

The first run executes all blocks, at the sizes for counting; the second run is the timed run. A
metric that depends on the size is converted to the sizes of the first run: conflicts in proportion
to shared accesses, and a metric relative to another program in proportion to that program's value.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.judging.evidence import CountedRun
from grader.judging.uncounted import uncounted_metrics
from grader.judging.values import count_metrics
from grader.metrics import METRICS, Across, Better
from grader.records import MetricValue
from grader.spec.exercise import ComparedWith, Exercise


def take_worse(
    metrics: Sequence[MetricValue], runs: Sequence[CountedRun], relative: Mapping[str, ComparedWith]
) -> tuple[MetricValue, ...]:
    """The metrics of the first run, with the second run's value where it is worse, and without a
    value where the counters of the second run miss data. `relative`: the programs that the goals
    of metrics are relative to."""
    if len(runs) < 2:
        return tuple(metrics)
    first, second = runs
    expressed = _express(second, first, relative)
    uncounted = uncounted_metrics(second.execution.launches)
    return tuple(
        replace(metric, value=None, source=None, reason=uncounted[metric.name])
        if metric.name in uncounted
        else _worse(metric, expressed.get(metric.name), second.sizes)
        for metric in metrics
    )


def relative_metrics(exercise: Exercise) -> dict[str, ComparedWith]:
    """The metrics whose goals are relative to another program's value."""
    return {
        check.metric: check.threshold.relative_to
        for check in exercise.checks
        if check.threshold.relative_to is not None
    }


def _express(
    run: CountedRun, first: CountedRun, relative: Mapping[str, ComparedWith]
) -> dict[str, float]:
    """The counted metrics of a run, converted to the sizes of the first run."""
    found: dict[str, float] = {}
    for name, value in count_metrics(run.execution).items():
        across, factor = METRICS[name].across, None
        if across is not Across.AS_IT_IS and name in relative:
            there, here = (_value_of_other(each, relative[name], name) for each in (first, run))
            factor = _ratio(there, here)
        if factor is None and across is Across.BY_SHARED_ACCESSES:
            factor = _ratio(_shared_accesses(first), _shared_accesses(run))
        if value is not None and factor is not None:
            found[name] = float(round(value * factor))  # of a count: whole numbers stay whole
        elif value is not None and across is not Across.BY_OTHER_PROGRAM:
            found[name] = value
    return found


def _ratio(value: float | None, by: float | None) -> float | None:
    return value / by if value and by else None


def _shared_accesses(run: CountedRun) -> int:
    return sum(launch.counters.shared_instructions for launch in run.execution.launches)


def _value_of_other(run: CountedRun, compared_with: ComparedWith, name: str) -> float | None:
    other = run.others.get(compared_with)
    return (
        None
        if other is None or other.execution is None
        else count_metrics(other.execution).get(name)
    )


def _worse(metric: MetricValue, value: float | None, sizes: Mapping[str, int]) -> MetricValue:
    if value is None or metric.value is None:
        return metric
    is_worse = (
        value < metric.value
        if METRICS[metric.name].better is Better.HIGHER
        else value > metric.value
    )
    return replace(metric, value=value, sizes=dict(sizes)) if is_worse else metric
