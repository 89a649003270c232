"""The metrics of a score: from exact counters, timings, the exercise's formulas and the device's
peaks. The row of a metric reads it (grader.metrics).

A metric that is not available is None with a reason, never a guess and never left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from grader.judging.evidence import Checked, Evidence, OtherCounts
from grader.judging.timing import estimate_metrics, estimate_other, find_unsure
from grader.judging.uncounted import uncounted_metrics
from grader.messages.reasons import NO_PEAK, NOT_SHIPPED
from grader.metrics import CHECKED_CASES, COMPARABLE, CORRECTNESS, METRICS, Metric
from grader.records import (
    CaseResult,
    Counters,
    DeviceInfo,
    Estimate,
    Execution,
    LaunchResult,
    Lookups,
    MeasuredProgram,
    MetricValue,
    RunCounts,
    Source,
    Timing,
    Traffic,
)
from grader.records.predictions import PREDICTIONS
from grader.records.program_metrics import HOST_FINDINGS
from grader.spec.exercise import ComparedWith, Exercise

TIMED_ON = "gpu"
"""The device kind whose benchmark sizes are timed, on the emulated device too; counting uses the
device's own sizes."""

Others = Mapping[ComparedWith, Mapping[str, MetricValue]]
"""The metrics of the programs that thresholds are relative to, by name."""


def collect_metrics(
    evidence: Evidence, exercise: Exercise, device: DeviceInfo
) -> tuple[MetricValue, ...]:
    """Every metric of METRICS except the fractions of cases, in that order; times are of plans at
    the sizes that a GPU is timed at.

    Counters are sums over the launches of the plan, and so is the traffic, which varies from run to
    run. Without a complete run, the counters are missing for `evidence.missing_reason`.
    """
    run = evidence.execution
    ran = run is not None and run.failure is None and bool(run.launches)
    known = _read_counts(run.launches) if run is not None and ran else {}
    if run is not None and ran:  # which a GPU does not tell
        known |= _leave_uncounted(run, evidence.lines_from or run)
    if evidence.timings:
        sizes = exercise.benchmark[TIMED_ON]
        times = estimate_metrics(evidence.timings, sizes, exercise, device)
        known |= _read_times(times, device, find_unsure(times, evidence.timings))
        known |= _explain_flops(exercise, device)
    known |= _read_traffic(evidence.traffic, device)
    if evidence.measured is not None:
        known |= _read_program(evidence.measured, device)
    reason = (evidence.untimed or "it was not timed") if ran else evidence.missing_reason
    return tuple(
        known.get(name) or _miss(row, device, reason)
        for name, row in rows_of(exercise).items()
        if name not in (CORRECTNESS, CHECKED_CASES, PREDICTIONS)
    )


def rows_of(exercise: Exercise) -> dict[str, Metric]:
    """The metrics of an exercise's scores."""
    whole = exercise.program is not None
    return {
        name: row
        for name, row in METRICS.items()
        if (whole or not row.is_of_program) and (exercise.questions or name != PREDICTIONS)
    }


def collect_by_kernel(execution: Execution | None) -> dict[str, dict[str, MetricValue]]:
    """The counted metrics of each kernel of a program, by the kernel's name and the metric's."""
    kernels: dict[str, list[LaunchResult]] = {}
    for launch in execution.launches if execution else ():
        kernels.setdefault(launch.kernel.partition("(")[0], []).append(launch)
    return {kernel: _read_counts(launches) for kernel, launches in kernels.items()}


def collect_others(
    exercise: Exercise,
    device: DeviceInfo,
    *,
    timings: Sequence[Timing] = (),
    counts: Mapping[ComparedWith, OtherCounts] | None = None,
) -> Others:
    """Every metric of COMPARABLE of the baseline and of the reference, as far as they were timed
    and counted."""
    sizes = exercise.benchmark.get(TIMED_ON)
    own = estimate_metrics(timings, sizes, exercise, device) if timings and sizes else {}
    found = {}
    for each in ComparedWith:
        times = estimate_other(each, timings, own)
        found[each] = _collect_other(
            (counts or {}).get(each, OtherCounts()),
            _read_times(times, device, find_unsure(times, timings, each)),
            device,
            absent=each is ComparedWith.REFERENCE and exercise.reference_source is None,
        )
    return found


def _collect_other(
    counts: OtherCounts, times: Mapping[str, MetricValue], device: DeviceInfo, *, absent: bool
) -> dict[str, MetricValue]:
    known: dict[str, MetricValue] = {}
    if counts.execution is not None:
        known |= _read_counts(counts.execution.launches)
        known |= _leave_uncounted(counts.execution, counts.execution)
    known |= times

    def miss(row: Metric) -> MetricValue:
        if absent:
            return _without_value(row, NOT_SHIPPED)
        return _miss(row, device, "it was not timed" if row.time else counts.reason)

    return {
        name: known.get(name) or miss(row) for name, row in METRICS.items() if name in COMPARABLE
    }


def measure_correctness(cases: Sequence[CaseResult]) -> MetricValue:
    """The fraction of the cases that passed; None when none ran, or when a case could not be
    verified and none is wrong."""
    unverified = find_unverified(cases)
    right = sum(case.passed for case in cases) / len(cases) if cases and not unverified else None
    return _measure_cases(CORRECTNESS, right, unverified or "no case ran")


def find_unverified(cases: Sequence[CaseResult]) -> str:
    """The reason why it is unknown whether a submission is right; empty where it is known: a wrong
    case is enough."""
    if any(case.is_wrong for case in cases):
        return ""
    return next((case.unverified for case in cases if case.unverified), "")


def measure_checked(checked: Checked) -> MetricValue:
    """The fraction of the checked cases without a finding; None when no case was checked."""
    return _measure_cases(CHECKED_CASES, checked.clean, checked.reason)


def missing_metrics(
    reason: str, device: DeviceInfo | None, exercise: Exercise | None = None
) -> tuple[MetricValue, ...]:
    """Every metric, of an exercise or of all, as None: for a submission that did not run."""
    rows = (METRICS if exercise is None else rows_of(exercise)).values()
    return tuple(_miss(row, device, reason) for row in rows)


def count_metrics(execution: Execution) -> dict[str, float | None]:
    """The counted metrics of a run by name."""
    return {name: metric.value for name, metric in _read_counts(execution.launches).items()}


def _measure_cases(name: str, part: float | None, reason: str) -> MetricValue:
    row = METRICS[name]
    return _without_value(row, reason) if part is None else _value(row, part, Source.COUNTED)


def _value(
    row: Metric,
    value: float,
    source: Source,
    interval: tuple[float, float] | None = None,
    unsure: str = "",
) -> MetricValue:
    return MetricValue(row.name, value, row.unit, source, None, interval, unsure=unsure)


def _without_value(row: Metric, reason: str | None) -> MetricValue:
    return MetricValue(row.name, None, row.unit, None, reason)


def _miss(row: Metric, device: DeviceInfo | None, reason: str) -> MetricValue:
    """No value: for the device's reason, where this kind of device never has a value."""
    return _without_value(row, row.lacking.get(device.kind, reason) if device else reason)


# --- read by the rows -----------------------------------------------------------------------------


def _read_counts(launches: Sequence[LaunchResult]) -> dict[str, MetricValue]:
    total = sum((launch.counters for launch in launches), Counters())
    run = RunCounts(tuple(launches), total)
    return {
        name: _figure(row.count(run), Source.COUNTED, row)
        for name, row in METRICS.items()
        if row.count
    }


def _leave_uncounted(run: Execution, emulated: Execution) -> dict[str, MetricValue]:
    reasons = uncounted_metrics(run.launches, emulated.launches)
    return {name: _without_value(METRICS[name], reason) for name, reason in reasons.items()}


def _read_traffic(traffic: Traffic, device: DeviceInfo) -> dict[str, MetricValue]:
    """The known figures. A plan without requests to a cache has no hit rate there."""
    source = _source_of_times(device)
    found = {name: (row.traffic(traffic), row) for name, row in METRICS.items() if row.traffic}
    return {
        name: _figure(moved.hit_rate if isinstance(moved, Lookups) else moved, source, row)
        for name, (moved, row) in found.items()
        if moved is not None
    }


def _read_program(measured: MeasuredProgram, device: DeviceInfo) -> dict[str, MetricValue]:
    found = {}
    for name, row in METRICS.items():
        if row.program is None:
            continue
        value, source = row.program(measured), _source_of_times(device)
        if isinstance(value, Estimate):
            found[name] = _value(row, value.value, source, (value.low, value.high))
        else:
            source = Source.COUNTED if name == HOST_FINDINGS else source
            found[name] = _figure(value, source, row)
        if value is None and measured.missing:
            found[name] = _without_value(row, measured.missing)
    return found


def _figure(value: float | None, source: Source, row: Metric) -> MetricValue:
    return _without_value(row, row.undefined) if value is None else _value(row, value, source)


def _read_times(
    estimates: Mapping[str, Estimate], device: DeviceInfo, unsure: Mapping[str, str]
) -> dict[str, MetricValue]:
    """Their values with intervals, and why some are `unsure`."""
    source = _source_of_times(device)
    return {
        name: _value(METRICS[name], each.value, source, (each.low, each.high), unsure.get(name, ""))
        for name, each in estimates.items()
    }


def _explain_flops(exercise: Exercise, device: DeviceInfo) -> dict[str, MetricValue]:
    """The reasons why there is no arithmetic rate (the exercise counts no operations), or no
    fraction of the peak (the peak is unknown)."""
    if exercise.useful_flops is not None:
        name = "compute_fraction"
        unknown = exercise.peak_tflops(device) is None
        return {name: _without_value(METRICS[name], NO_PEAK)} if unknown else {}
    return {
        name: _without_value(row, row.undefined) for name, row in METRICS.items() if row.needs_flops
    }


def _source_of_times(device: DeviceInfo) -> Source:
    return Source.MODELLED if device.kind == "emulated" else Source.MEASURED
