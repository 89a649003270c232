"""Evaluates times that were measured in rounds, or modelled: medians with intervals, the metrics
that follow from them, and signs of a disturbed measurement.

There is no assumption about the distribution of times. Drift of the clocks cancels in the ratio of
two programs of the same round, so a comparison of programs is the median of the ratios, never the
ratio of the medians.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce
from math import exp, hypot, log
from operator import add
from statistics import median

from grader.messages.doubt import describe_unsure
from grader.messages.times import (
    describe_clock,
    describe_spread,
    describe_throttling,
    name_arithmetic_limit,
    name_memory_limit,
    reject_time,
)
from grader.metrics import COMPARABLE, METRICS, Better
from grader.records import (
    SUBMISSION,
    ClockState,
    DeviceInfo,
    Estimate,
    Execution,
    Failure,
    Modelled,
    TimedPlan,
    Timing,
    Traffic,
)
from grader.spec.exercise import ComparedWith, Exercise

NAIVE, REFERENCE = "naive", "reference"
"""Values of `Program.label` and `Timing.plan` for the programs that are timed beside the
SUBMISSION."""

CHECKPOINTS = (50, 150, 450)
"""Numbers of rounds after which the checks are tested: a measurement ends at the first test that
leaves no check open, or at the last test."""
CONFIDENCE = 0.99
"""Of all tests at a threshold together."""
CHECKPOINT_ERROR = (1 - CONFIDENCE) / len(CHECKPOINTS)
"""The error probability of each test: all tests together must not exceed 1 - CONFIDENCE
(Bonferroni)."""

FLOOR_SLACK = 0.9
"""A median below this part of the physical floor is impossible; clocks and peaks are known to this
accuracy."""
MAX_CLOCK_CHANGE = 0.15
"""Largest change of the SM clock within a measurement, as a part of the highest clock."""
MAX_BASELINE_SPREAD = 0.05
"""Widest interval of the naive baseline's median, as a part of the median: a wider interval of the
grader's own kernel means that other work disturbs the machine."""

LABELS = {ComparedWith.BASELINE: NAIVE, ComparedWith.REFERENCE: REFERENCE}
"""Labels of the programs that thresholds are relative to."""

_ORDINARY_REASONS = frozenset(
    {"gpu_idle", "applications_clocks", "display_clock", "sync_boost", "sw_power_cap"}
)
"""Limits of the clock in a GPU's normal operation. A software power cap holds the clock of a busy
GPU steady; where it does not, MAX_CLOCK_CHANGE detects it."""
TRANSFERS_DOUBT = 0.15
"""Uncertainty of the time of copies and fills, in both directions, as a part of it."""
MOST_DOUBT = 0.25
"""A time, or a ratio of two times, whose interval reaches further in one direction, as a part of
it, does not decide a goal inside the interval."""


def estimate_median(samples: Sequence[float], *, error: float = CHECKPOINT_ERROR) -> Estimate:
    """The median of at least one sample, with its distribution-free interval.

    The interval reaches from the k-th smallest to the k-th largest sample; it misses the true
    median with a probability of 2 P(Binomial(n, 1/2) < k), and k is the largest number that keeps
    this below `error`. Below 10 samples there is no such k at CHECKPOINT_ERROR; the interval
    contains all samples then.
    """
    ordered = sorted(samples)
    rank = _rank(len(ordered), error)
    return Estimate(median(ordered), ordered[rank - 1], ordered[-rank])


def make_timing(plan: str, samples_ms: Sequence[float]) -> Timing:
    """The record of a program's samples, in the order of the rounds."""
    estimate = estimate_median(samples_ms)
    return Timing(plan, estimate.value, (estimate.low, estimate.high), tuple(samples_ms))


def estimate_metrics(
    timings: Sequence[Timing], sizes: Mapping[str, int], exercise: Exercise, device: DeviceInfo
) -> dict[str, Estimate]:
    """Every time metric that follows from the timings, which were taken at these sizes.

    The n-th sample of each program belongs to round n. A program without later rounds has fewer
    samples.
    """
    taken = {timing.plan: timing for timing in timings}
    own, naive = taken.get(SUBMISSION), taken.get(NAIVE)
    if own is None:
        return {}
    flops = exercise.useful_flops
    plan = TimedPlan(
        _estimate(own),
        exercise.useful_bytes.evaluate(sizes),
        None if flops is None else flops.evaluate(sizes),
        device.peak_bandwidth_gbps,
        exercise.peak_tflops(device),
        naive_time_ms=None if naive is None else _estimate(naive),
        speedup=None if naive is None else _estimate_speedup(naive, own),
    )
    read = {name: row.time(plan) for name, row in METRICS.items() if row.time}
    return {name: estimate for name, estimate in read.items() if estimate is not None}


def estimate_other(
    compared_with: ComparedWith, timings: Sequence[Timing], own: Mapping[str, Estimate]
) -> dict[str, Estimate]:
    """The time metrics of the baseline or the reference, from the submission's `own`; none where it
    was not timed.

    Each is the submission's metric times the median of the rounds' ratios, and its interval
    contains the whole uncertainty of that ratio.
    """
    taken = {timing.plan: timing for timing in timings}
    other = taken.get(LABELS[compared_with])
    if other is None or SUBMISSION not in taken:
        return {}
    ratio = _estimate_speedup(other, taken[SUBMISSION])
    return {
        name: (
            ratio.scaled(estimate.value)
            if METRICS[name].better is Better.LOWER
            else ratio.inverse(estimate.value)
        )
        for name, estimate in own.items()
        if name in COMPARABLE
    }


def find_unsure(
    estimates: Mapping[str, Estimate],
    timings: Sequence[Timing],
    compared_with: ComparedWith | None = None,
) -> dict[str, str]:
    """The metrics for which a goal within the interval is not judged, with the reasons: they follow
    from modelled times with a wide interval.

    `estimates` are the submission's, or the result of `estimate_other` with this `compared_with`.
    """
    taken = {timing.plan: timing for timing in timings if timing.kind is not None}
    other = taken.get(NAIVE if compared_with is None else LABELS[compared_with])
    own = taken.get(SUBMISSION)
    if own is None:
        return {}
    found = {}
    for name, estimate in estimates.items():
        ratio = METRICS[name].needs_naive
        if not is_known_ratio(estimate if ratio else estimates["time_ms"]):
            compared = ratio or compared_with is not None
            of = [own, other] if compared and other is not None else [own]
            unsure = [timing for timing in of if not is_known(timing)]
            found[name] = describe_unsure(unsure or of)
    return found


def check_floor(
    timings: Sequence[Timing], sizes: Mapping[str, int], exercise: Exercise, device: DeviceInfo
) -> Failure | None:
    """The failure of a submission whose median time is below the physical limit of the GPU's memory
    or arithmetic; a modelled time fails where its whole interval is below."""
    timing = next(timing for timing in timings if timing.plan == SUBMISSION)
    time_ms = timing.median_ms if timing.kind is None else timing.interval_ms[1]
    moved_bytes = exercise.useful_bytes.evaluate(sizes)
    floors_ms = {
        name_memory_limit(device.peak_bandwidth_gbps): (
            moved_bytes / device.peak_bandwidth_gbps / 1e6
        )
    }
    peak_tflops = exercise.peak_tflops(device)
    if exercise.useful_flops is not None and peak_tflops is not None:
        flops = exercise.useful_flops.evaluate(sizes)
        floors_ms[name_arithmetic_limit(peak_tflops)] = flops / peak_tflops / 1e9
    limit, floor_ms = max(floors_ms.items(), key=lambda item: item[1])
    return None if time_ms >= FLOOR_SLACK * floor_ms else reject_time(time_ms, floor_ms, limit)


def find_disturbance(timings: Sequence[Timing], clocks: ClockState) -> str | None:
    """The reason why a measurement is unfit for a verdict; None if there is none."""
    reasons = [reason for reason in clocks.throttled if reason not in _ORDINARY_REASONS]
    if reasons:
        return describe_throttling(reasons)
    low, high = clocks.sm_mhz or (0, 0)
    if high - low > MAX_CLOCK_CHANGE * high:
        return describe_clock(low, high)
    for timing in timings:
        spread = (timing.interval_ms[1] - timing.interval_ms[0]) / timing.median_ms
        if timing.plan == NAIVE and spread > MAX_BASELINE_SPREAD:
            return describe_spread(spread)
    return None


def merge_clocks(states: Sequence[ClockState]) -> ClockState:
    """Combines the states of several parts of a measurement: the widest range, the highest
    temperature, every reason."""
    temperatures = [state.temperature_c for state in states if state.temperature_c is not None]
    return ClockState(
        sm_mhz=_range([state.sm_mhz for state in states]),
        memory_mhz=_range([state.memory_mhz for state in states]),
        temperature_c=max(temperatures, default=None),
        throttled=tuple(dict.fromkeys(reason for state in states for reason in state.throttled)),
    )


# --- estimates ------------------------------------------------------------------------------------


def _rank(count: int, error: float) -> int:
    """The largest k of at least 1 with 2 P(Binomial(count, 1/2) < k) <= error."""
    # choices: C(n, rank); missed: 2 (C(n, 0) + ... + C(n, rank)), in units of 2 ** -n
    rank, choices, missed = 1, count, 2 + 2 * count
    while missed / 2**count <= error:
        rank += 1
        choices = choices * (count - rank + 1) // rank
        missed += 2 * choices
    return rank


def _estimate(timing: Timing) -> Estimate:
    return Estimate(timing.median_ms, *timing.interval_ms)


def _estimate_speedup(naive: Timing, submission: Timing) -> Estimate:
    """From the ratios of the rounds with both programs; from the medians where samples are
    missing."""
    if naive.kind is not None and submission.kind is not None:
        return compare_modelled(naive, submission)
    ratios = [
        slow / fast for slow, fast in zip(naive.samples_ms, submission.samples_ms, strict=False)
    ]
    if ratios:
        return estimate_median(ratios)
    (slow_low, slow_high), (low, high) = naive.interval_ms, submission.interval_ms
    return Estimate(naive.median_ms / submission.median_ms, slow_low / high, slow_high / low)


def _range(ranges: Sequence[tuple[int, int] | None]) -> tuple[int, int] | None:
    known = [each for each in ranges if each is not None]
    return (min(low for low, _ in known), max(high for _, high in known)) if known else None


def modelled_launches(execution: Execution) -> tuple[Modelled, ...]:
    """The modelled time of each launch; empty in a run without a model, or for an unknown GPU."""
    found = tuple(launch.modelled for launch in execution.launches if launch.modelled is not None)
    return found if len(found) == len(execution.launches) else ()


def model_timing(plan: str, execution: Execution) -> Timing | None:
    """The timing of a modelled plan. The intervals of its launches add up, because the model may
    err on all of them in the same direction."""
    launches = modelled_launches(execution)
    if not launches:
        return None
    ends = [each.interval_ms for each in launches if each.interval_ms is not None]
    assert len(ends) == len(launches)  # only scores of earlier versions have none
    longest = max(launches, key=lambda launch: launch.time_ms)
    copied_ms = execution.transfers_ms
    return Timing(
        plan,
        sum(launch.time_ms for launch in launches) + copied_ms,
        (
            sum(low for low, _ in ends) + (1 - TRANSFERS_DOUBT) * copied_ms,
            sum(high for _, high in ends) + (1 + TRANSFERS_DOUBT) * copied_ms,
        ),
        (),
        longest.kind,
    )


def model_traffic(execution: Execution) -> Traffic:
    """The traffic of all launches of a plan."""
    launches = modelled_launches(execution)
    if not launches:
        return Traffic()
    total = reduce(add, (Traffic(launch.dram_bytes, launch.l1, launch.l2) for launch in launches))
    return replace(total, dram_bytes=round(total.dram_bytes or 0))


def compare_modelled(one: Timing, other: Timing) -> Estimate:
    """The time of `one` over the time of `other`. Both are corrected by similar measured launches,
    so what remains of the model's errors counts as independent: the squares of their logarithms
    add up."""
    (low, high), (other_low, other_high) = one.interval_ms, other.interval_ms
    below = hypot(log(one.median_ms / low), log(other_high / other.median_ms))
    above = hypot(log(high / one.median_ms), log(other.median_ms / other_low))
    ratio = one.median_ms / other.median_ms
    return Estimate(ratio, ratio * exp(-below), ratio * exp(above))


def is_known(timing: Timing) -> bool:
    """Whether a goal inside the interval of a modelled time may be judged."""
    return is_known_ratio(Estimate(timing.median_ms, *timing.interval_ms))


def is_known_ratio(ratio: Estimate) -> bool:
    """Whether a goal inside the interval of a ratio of two modelled times may be judged."""
    least, most = (1 - MOST_DOUBT) * ratio.value, (1 + MOST_DOUBT) * ratio.value
    return least <= ratio.low and ratio.high <= most
