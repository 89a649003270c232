"""The metrics of a score: from exact counters, timings, the exercise's formulas and the device's
peaks.

A metric that could not be had is None with a reason, never a guess and never left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from grader.judging.timing import Estimate, estimate_metrics, estimate_other
from grader.metrics import COMPARABLE, METRICS, TIMED
from grader.records import (
    CaseResult,
    Counters,
    DeviceInfo,
    Execution,
    Finding,
    LaunchResult,
    MetricValue,
    Source,
    Timing,
    Traffic,
)
from grader.spec.exercise import Exercise, Yardstick

LACKING: Mapping[str, Mapping[str, str]] = {
    "gpu": {
        "dram_bytes": "only Nsight Compute counts the traffic between L2 and DRAM, and it did not",
        **dict.fromkeys(
            ("l1_hit_rate", "l2_hit_rate"),
            "only Nsight Compute counts what a cache holds, and it did not",
        ),
    },
    "emulated": {"l2_hit_rate": "the timing model simulates no L2 cache"},
}
"""Per device kind, the metrics that it cannot give whatever the submission does, and why."""


TIMED_ON = "gpu"
"""Whose benchmark sizes times are of: those of a GPU, on the emulated device too, which counts at
its own."""

_NO_TRAFFIC = Traffic()

NOT_SHIPPED = "the reference is not shipped with this exercise"

Others = Mapping[Yardstick, Mapping[str, MetricValue]]
"""The metrics of the programs that thresholds are relative to, by name."""


@dataclass(frozen=True)
class OtherCounts:
    """What one run of the baseline or the reference counted, or the `reason` why there is
    nothing."""

    execution: Execution | None = None
    reason: str = "it was not counted"


@dataclass(frozen=True)
class CountedRun:
    """One run of the submission whose counters are graded, and what others counted at the same
    sizes."""

    sizes: Mapping[str, int]
    execution: Execution
    others: Mapping[Yardstick, OtherCounts] = field(default_factory=dict)


@dataclass(frozen=True)
class Sanitized:
    """What the checked mode says: `clean` is the fraction of the checked cases without a finding;
    None for `reason`.

    `races` has the first race of each case that had one, by the case's name.
    """

    clean: float | None = None
    findings: tuple[Finding, ...] = ()
    reason: str = "the cases did not run in the checked mode"
    races: Mapping[str, Finding] = field(default_factory=dict)


@dataclass(frozen=True)
class _Figures:
    """A value with its source, and its interval where it was timed; or None with a reason."""

    value: float | None
    source: Source | None = None
    reason: str | None = None
    interval: tuple[float, float] | None = None


def collect_metrics(
    execution: Execution | None,
    benchmark_sizes: Mapping[str, int],
    exercise: Exercise,
    device: DeviceInfo,
    *,
    timings: Sequence[Timing] = (),
    traffic: Traffic = _NO_TRAFFIC,
    missing_reason: str = "the benchmark did not run",
    untimed: str = "",
) -> tuple[MetricValue, ...]:
    """Every metric of METRICS except `correctness` and `sanitized`, in that order; times are of
    plans at `benchmark_sizes`.

    Counters are sums over the launches of the plan; `traffic` is theirs too, and varies from run to
    run. `missing_reason` is given for what a run that did not happen, or did not reach its end,
    would have told, `untimed` for times of one that counted.
    """
    ran = execution is not None and execution.failure is None and bool(execution.launches)
    counted = _count(execution.launches) if execution is not None and ran else {}
    timed = _time(timings, benchmark_sizes, exercise, device) if timings else {}
    counted |= _describe_traffic(traffic, _source_of_times(device))
    lacking = LACKING.get(device.kind, {})
    fallback = (untimed or "it was not timed") if ran else missing_reason

    def find(name: str) -> _Figures:
        return (
            timed.get(name)
            or counted.get(name)
            or _Figures(None, reason=lacking.get(name, fallback))
        )

    return tuple(
        _metric(name, find(name)) for name in METRICS if name not in ("correctness", "sanitized")
    )


def collect_others(
    exercise: Exercise,
    device: DeviceInfo,
    *,
    timings: Sequence[Timing] = (),
    counts: Mapping[Yardstick, OtherCounts] | None = None,
) -> Others:
    """Every metric of COMPARABLE of the baseline and of the reference, as far as they were timed
    and counted."""
    return {
        each: _collect_other(
            each, exercise, device, timings, (counts or {}).get(each, OtherCounts())
        )
        for each in Yardstick
    }


def _collect_other(
    yardstick: Yardstick,
    exercise: Exercise,
    device: DeviceInfo,
    timings: Sequence[Timing],
    counts: OtherCounts,
) -> dict[str, MetricValue]:
    absent = yardstick is Yardstick.REFERENCE and exercise.reference_source is None
    figures = _count(counts.execution.launches) if counts.execution is not None else {}
    if timings:
        own = estimate_metrics(timings, exercise.benchmark[TIMED_ON], exercise, device)
        figures |= _estimated(estimate_other(yardstick, timings, own), device)
    lacking = dict.fromkeys(COMPARABLE, NOT_SHIPPED) if absent else LACKING.get(device.kind, {})

    def find(name: str) -> _Figures:
        reason = "it was not timed" if name in TIMED else counts.reason
        return figures.get(name) or _Figures(None, reason=lacking.get(name, reason))

    return {name: _metric(name, find(name)) for name in METRICS if name in COMPARABLE}


def measure_correctness(cases: Sequence[CaseResult]) -> MetricValue:
    """The fraction of the cases that passed; None when none ran."""
    if not cases:
        return _metric("correctness", _Figures(None, reason="no case ran"))
    return _metric(
        "correctness", _Figures(sum(case.passed for case in cases) / len(cases), Source.COUNTED)
    )


def measure_sanitized(sanitized: Sanitized) -> MetricValue:
    """The fraction of the checked cases in which nothing was found; None when none was checked."""
    if sanitized.clean is None:
        return _metric("sanitized", _Figures(None, reason=sanitized.reason))
    return _metric("sanitized", _Figures(sanitized.clean, Source.COUNTED))


def missing_metrics(reason: str, device: DeviceInfo | None) -> tuple[MetricValue, ...]:
    """Every metric, `correctness` too, as None: for a submission that did not run."""
    lacking = LACKING.get(device.kind, {}) if device else {}
    return tuple(
        _metric(name, _Figures(None, reason=lacking.get(name, reason))) for name in METRICS
    )


def _metric(name: str, figures: _Figures) -> MetricValue:
    return MetricValue(
        name, figures.value, METRICS[name].unit, figures.source, figures.reason, figures.interval
    )


# --- counted --------------------------------------------------------------------------------------

_COUNTED: Mapping[str, Callable[[Counters], float | None]] = {
    "shared_bank_conflicts": lambda c: c.shared_wavefronts_excessive,
    "global_load_efficiency": lambda c: c.global_load_efficiency,
    "global_store_efficiency": lambda c: c.global_store_efficiency,
    "instructions_executed": lambda c: c.instructions_executed,
    "shared_wavefronts": lambda c: c.shared_wavefronts,
    "shared_wavefronts_ideal": lambda c: c.shared_wavefronts_ideal,
    "global_load_sectors": lambda c: c.global_reads.sectors,
    "global_store_sectors": lambda c: c.global_writes.sectors,
}

_UNDEFINED = {
    "global_load_efficiency": "the launches load nothing from global memory",
    "global_store_efficiency": "the launches store nothing to global memory",
}


def count_metrics(execution: Execution) -> dict[str, float | None]:
    """The counted metrics of a run by name."""
    return {name: figures.value for name, figures in _count(execution.launches).items()}


def _count(launches: Sequence[LaunchResult]) -> dict[str, _Figures]:
    total = sum((launch.counters for launch in launches), Counters())
    values = {name: read(total) for name, read in _COUNTED.items()}
    # A plan is as occupied as its least occupied launch.
    values["occupancy"] = min(launch.occupancy for launch in launches)
    return {
        name: (
            _Figures(value, Source.COUNTED)
            if value is not None
            else _Figures(None, reason=_UNDEFINED[name])
        )
        for name, value in values.items()
    }


# --- traffic --------------------------------------------------------------------------------------


def _describe_traffic(traffic: Traffic, source: Source) -> dict[str, _Figures]:
    """What is known of it. A plan that asks a cache for nothing has no hit rate there."""
    found = (
        {} if traffic.dram_bytes is None else {"dram_bytes": _Figures(traffic.dram_bytes, source)}
    )
    for name, lookups in (("l1_hit_rate", traffic.l1), ("l2_hit_rate", traffic.l2)):
        if lookups is not None and lookups.hit_rate is not None:
            found[name] = _Figures(lookups.hit_rate, source)
        elif lookups is not None:
            found[name] = _Figures(None, reason="the launches ask this cache for nothing")
    return found


# --- timed ----------------------------------------------------------------------------------------


def _time(
    timings: Sequence[Timing], sizes: Mapping[str, int], exercise: Exercise, device: DeviceInfo
) -> dict[str, _Figures]:
    found = _estimated(estimate_metrics(timings, sizes, exercise, device), device)
    if exercise.useful_flops is None:
        found |= dict.fromkeys(
            ("gflops", "compute_fraction"),
            _Figures(None, reason="the exercise counts no floating-point operations"),
        )
    return found


def _estimated(estimates: Mapping[str, Estimate], device: DeviceInfo) -> dict[str, _Figures]:
    source = _source_of_times(device)
    return {
        name: _Figures(estimate.value, source, interval=(estimate.low, estimate.high))
        for name, estimate in estimates.items()
    }


def _source_of_times(device: DeviceInfo) -> Source:
    return Source.MODELLED if device.kind == "emulated" else Source.MEASURED
