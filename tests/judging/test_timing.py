"""Intervals that hold what they promise, metrics from timings, the physical floor, and what
disturbs a measurement."""

from __future__ import annotations

import math
from dataclasses import replace
from random import Random

import pytest

from grader.cpp.expressions import parse_expression
from grader.judging.timing import (
    CHECKPOINT_ERROR,
    CHECKPOINTS,
    Estimate,
    check_floor,
    estimate_median,
    estimate_metrics,
    find_disturbance,
    make_timing,
    merge_clocks,
)
from grader.records import ClockState, Status, Timing
from grader.spec.exercise import Units
from tests.support.factories import GPU, make_exercise

SIZES = {"rows": 8192, "cols": 8192}
FLOOR_MS = 2 * 8192 * 8192 * 4 / 3352e6


@pytest.mark.parametrize(
    ("count", "error", "ranks"),
    [
        # Two-sided ranks of the median's interval, as tables of order statistics have them.
        (10, 0.05, (2, 9)),
        (25, 0.05, (8, 18)),
        (25, 0.01, (6, 20)),
        (50, 0.05, (18, 33)),
        (100, 0.05, (40, 61)),
        (100, 0.01, (37, 64)),
        (5, 0.01, (1, 5)),  # too few for any interval: all of them
        (1, 0.01, (1, 1)),
    ],
)
def test_the_interval_is_that_of_the_tables(
    count: int, error: float, ranks: tuple[int, int]
) -> None:
    numbers = [float(i) for i in range(1, count + 1)]
    Random(3).shuffle(numbers)
    estimate = estimate_median(numbers, error=error)
    assert estimate == Estimate((count + 1) / 2, *map(float, ranks))


@pytest.mark.parametrize("count", CHECKPOINTS)
def test_the_interval_misses_the_true_median_as_rarely_as_it_says(count: int) -> None:
    """For a lopsided distribution: exponential, whose median is ln 2."""
    rng, trials = Random(count), 100_000 // count
    missed = 0
    for _ in range(trials):
        estimate = estimate_median([rng.expovariate(1.0) for _ in range(count)])
        missed += not estimate.low <= math.log(2) <= estimate.high
    assert missed / trials <= CHECKPOINT_ERROR + 3 * math.sqrt(CHECKPOINT_ERROR / trials)


def test_metrics_follow_from_medians_and_ratios_of_rounds() -> None:
    submission, naive = (
        make_timing("submission", [0.20, 0.30, 0.25]),
        make_timing("naive", [1.20, 1.50, 1.00]),
    )
    found = estimate_metrics([naive, submission], SIZES, make_exercise(), GPU)
    assert found["time_ms"] == Estimate(0.25, 0.20, 0.30)
    assert found["naive_time_ms"].value == 1.20
    assert found["speedup_over_naive"].value == pytest.approx(5.0)  # of 6, 5 and 4; not 1.2 / 0.25
    assert found["bandwidth_fraction"].value == pytest.approx(FLOOR_MS / 0.25)
    assert found["bandwidth_fraction"].low == pytest.approx(FLOOR_MS / 0.30)
    assert found["bandwidth_gbps"].high == pytest.approx(3352 * FLOOR_MS / 0.20)
    assert "gflops" not in found


def test_a_program_that_was_left_out_later_is_compared_in_its_rounds() -> None:
    submission, naive = (
        make_timing("submission", [0.2, 0.4, 0.1, 0.1, 0.1]),
        make_timing("naive", [1.0, 2.0]),
    )
    assert estimate_metrics([submission, naive], SIZES, make_exercise(), GPU)[
        "speedup_over_naive"
    ].value == pytest.approx(5.0)


def test_without_the_submission_there_is_nothing_to_tell() -> None:
    assert estimate_metrics([make_timing("naive", [1.0])], SIZES, make_exercise(), GPU) == {}


def test_faster_than_the_memory_is_rejected() -> None:
    failure = check_floor(
        [make_timing("submission", [0.8 * FLOOR_MS])], SIZES, make_exercise(), GPU
    )
    assert failure is not None
    assert failure.status is Status.REJECTED
    assert (
        failure.message
        == "Faster than the memory allows (3,352 GB/s): 0.1281 ms, where the task cannot take less"
        " than 0.1602 ms."
    )


def test_a_measured_time_is_judged_by_its_median() -> None:
    samples = [0.8 * FLOOR_MS, 0.8 * FLOOR_MS, 2 * FLOOR_MS]
    timing = make_timing("submission", samples)
    assert check_floor([timing], SIZES, make_exercise(), GPU) is not None


def test_faster_than_the_arithmetic_is_rejected() -> None:
    exercise = replace(make_exercise(), useful_flops=parse_expression("2 * rows * rows * cols"))
    floor_ms = 2 * 8192**3 / 66.9e9
    assert check_floor([make_timing("submission", [0.95 * floor_ms])], SIZES, exercise, GPU) is None
    failure = check_floor([make_timing("submission", [0.85 * floor_ms])], SIZES, exercise, GPU)
    assert failure is not None
    assert failure.message.startswith("Faster than the arithmetic units allow (66.9 TFLOP/s)")


def test_the_arithmetic_of_tensor_cores_has_a_floor_of_its_own() -> None:
    exercise = replace(
        make_exercise(),
        useful_flops=parse_expression("2 * rows * rows * cols"),
        units=Units.TENSOR_CORES,
    )
    faster_than_floats = [make_timing("submission", [0.2 * 2 * 8192**3 / 66.9e9])]
    assert check_floor(faster_than_floats, SIZES, exercise, TENSOR_GPU) is None
    assert check_floor(faster_than_floats, SIZES, exercise, GPU) is None, "nobody knows its peak"
    too_fast = [make_timing("submission", [0.85 * 2 * 8192**3 / 989.4e9])]
    failure = check_floor(too_fast, SIZES, exercise, TENSOR_GPU)
    assert failure is not None
    assert failure.message.startswith("Faster than the arithmetic units allow (989.4 TFLOP/s)")


def test_a_copy_at_the_full_peak_is_believed() -> None:
    assert check_floor([make_timing("submission", [FLOOR_MS])], SIZES, make_exercise(), GPU) is None


TENSOR_GPU = replace(GPU, peak_tensor_tflops=989.4)
CALM = (make_timing("submission", [0.2] * 25), make_timing("naive", [1.3, 1.31] * 12))


@pytest.mark.parametrize(
    ("clocks", "words"),
    [
        (ClockState(), None),
        (ClockState(sm_mhz=(1755, 1980)), None),
        (ClockState(sm_mhz=(1980, 1980), throttled=("sw_power_cap",)), None),
        (ClockState(sm_mhz=(1410, 1980)), "the GPU's clock moved between 1,410 and 1,980 MHz"),
        (
            ClockState(throttled=("gpu_idle", "hw_slowdown")),
            "the GPU was slowed down (hw slowdown)",
        ),
        (
            ClockState(throttled=("hw_power_brake_slowdown",)),
            "the GPU was slowed down (hw power brake slowdown)",
        ),
    ],
)
def test_what_disturbs_a_measurement(clocks: ClockState, words: str | None) -> None:
    assert find_disturbance(CALM, clocks) == words


def test_a_restless_baseline_disturbs_and_a_restless_submission_does_not() -> None:
    restless = [1.0, 1.2] * 12
    assert find_disturbance([make_timing("submission", restless)], ClockState()) is None
    assert "something else uses the GPU" in (
        find_disturbance([make_timing("naive", restless)], ClockState()) or ""
    )


def test_the_spread_of_a_baseline_is_relative_to_its_median() -> None:
    calm = [99.0, 101.0] * 12
    assert find_disturbance([make_timing("naive", calm)], ClockState()) is None


def test_clocks_of_several_stretches_are_one_state() -> None:
    one = ClockState(sm_mhz=(1900, 1980), temperature_c=40, throttled=("gpu_idle",))
    other = ClockState(
        sm_mhz=(1950, 1990),
        memory_mhz=(2619, 2619),
        temperature_c=44,
        throttled=("sw_power_cap", "gpu_idle"),
    )
    assert merge_clocks([one, other]) == ClockState(
        (1900, 1990), (2619, 2619), 44, ("gpu_idle", "sw_power_cap")
    )
    assert merge_clocks([ClockState()]) == ClockState()


def test_a_modelled_time_is_too_fast_where_all_of_its_interval_is() -> None:
    def modelled(longest_ms: float) -> Timing:
        interval = (0.5 * FLOOR_MS, longest_ms)
        return Timing("submission", 0.8 * FLOOR_MS, interval, (), "bound by DRAM")

    assert check_floor([modelled(FLOOR_MS)], SIZES, make_exercise(), GPU) is None
    assert check_floor([modelled(0.85 * FLOOR_MS)], SIZES, make_exercise(), GPU) is not None
