"""Counters of two runs of a submission: what is graded is the worse of both, so that counters and
times are of one behaviour.

The first run is of all blocks, at the sizes for counting; the second one is the timed run. What
depends on the size is expressed at the sizes of the first: conflicts by shared accesses, and what
is relative to another program by that program.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from grader.judging.values import CountedRun, count_metrics
from grader.metrics import METRICS, Better
from grader.records import Counters, MetricValue
from grader.spec.exercise import Exercise, Yardstick

RATIOS = ("global_load_efficiency", "global_store_efficiency")
CONFLICTS = "shared_bank_conflicts"


def take_worse(
    metrics: Sequence[MetricValue], runs: Sequence[CountedRun], relative: Mapping[str, Yardstick]
) -> tuple[MetricValue, ...]:
    """The metrics of the first run, with the second one's where it does worse. `relative`: what
    metrics' goals are relative to."""
    if len(runs) < 2:
        return tuple(metrics)
    first, second = runs
    expressed = _express(second, first, relative)
    return tuple(_worse(metric, expressed.get(metric.name), second.sizes) for metric in metrics)


def relative_metrics(exercise: Exercise) -> dict[str, Yardstick]:
    """The counted metrics whose goals are relative to another program's."""
    return {
        check.metric: check.threshold.relative_to
        for check in exercise.checks
        if check.threshold.relative_to is not None
    }


def _express(
    run: CountedRun, first: CountedRun, relative: Mapping[str, Yardstick]
) -> dict[str, float]:
    """What a run says of the metrics that are graded, at the sizes of the first."""
    own = count_metrics(run.execution)
    found = {name: own[name] for name in RATIOS}
    accesses, accesses_of_first = (_shared_accesses(each) for each in (run, first))
    if accesses and accesses_of_first:
        found[CONFLICTS] = _times(own[CONFLICTS], accesses_of_first / accesses)
    elif own[CONFLICTS]:
        found[CONFLICTS] = own[CONFLICTS]
    for name, yardstick in relative.items():
        here, there = (_value_of_other(each, yardstick, name) for each in (run, first))
        if name in own and here and there and name not in RATIOS:
            found[name] = _times(own[name], there / here)
    return {name: value for name, value in found.items() if value is not None}


def _times(value: float | None, factor: float) -> float | None:
    """Of a count: whole numbers stay whole."""
    return None if value is None else float(round(value * factor))


def _shared_accesses(run: CountedRun) -> int:
    total = sum((launch.counters for launch in run.execution.launches), Counters())
    return (
        total.shared_load_instructions
        + total.shared_store_instructions
        + total.shared_atomic_instructions
    )


def _value_of_other(run: CountedRun, yardstick: Yardstick, name: str) -> float | None:
    other = run.others.get(yardstick)
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
