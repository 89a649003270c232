"""Metrics from counters, timings and formulas; every one that cannot be had says why."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.cpp.expressions import parse_expression
from grader.judging.evidence import Evidence
from grader.judging.values import collect_metrics, measure_correctness, missing_metrics
from grader.metrics import METRICS, format_value
from grader.records import (
    Act,
    Counters,
    DeviceInfo,
    Execution,
    Faulted,
    LineCounters,
    Lookups,
    MetricValue,
    Observation,
    Source,
    Timing,
    Traffic,
)
from grader.records.predictions import PREDICTIONS
from grader.spec.exercise import Exercise, Units
from tests.support.factories import (
    CLEAN,
    CROOKED_LINES,
    GPU,
    H100,
    make_case,
    make_execution,
    make_exercise,
)

TIMINGS = (
    Timing("submission", 0.194, (0.193, 0.195), (0.193, 0.194, 0.195)),
    Timing("naive", 1.28, (1.27, 1.29), (1.27, 1.28, 1.29)),
)


def collect(
    execution: Execution,
    exercise: Exercise | None = None,
    device: DeviceInfo = H100,
    **found: object,
) -> dict[str, MetricValue]:
    evidence = Evidence(execution=execution, **found)  # type: ignore[arg-type]
    metrics = collect_metrics(evidence, exercise or make_exercise(), device)
    return {metric.name: metric for metric in metrics}


def test_every_metric_is_there_with_a_value_or_a_reason() -> None:
    metrics = collect(make_execution())
    of_kernels = [
        name for name, row in METRICS.items() if not row.is_of_program and name != PREDICTIONS
    ]
    assert list(metrics) == [
        name for name in of_kernels if name not in ("correctness", "sanitized")
    ]
    assert all(
        (metric.value is None) == (metric.reason is not None) == (metric.source is None)
        for metric in metrics.values()
    )


def test_counters_are_summed_over_the_launches() -> None:
    launch = make_execution(CROOKED_LINES).launches[0]
    metrics = collect(Execution((launch, replace(launch, occupancy=0.5))))
    assert metrics["shared_bank_conflicts"].value == 6200
    assert metrics["shared_bank_conflicts"].source is Source.COUNTED
    assert metrics["shared_wavefronts"].value == 6600
    assert metrics["shared_wavefronts_ideal"].value == 400
    assert metrics["global_store_efficiency"].value == 0.125
    assert metrics["global_load_efficiency"].value == 1.0
    assert metrics["global_store_sectors"].value == 6400
    assert metrics["instructions_executed"].value == 814
    assert metrics["occupancy"].value == 0.5


def test_registers_are_the_most_of_all_launches() -> None:
    launch = make_execution(CROOKED_LINES).launches[0]
    metric = collect(Execution((replace(launch, registers=40), replace(launch, registers=32))))[
        "registers_per_thread"
    ]
    assert (metric.value, metric.unit, metric.source) == (40, "registers", Source.COUNTED)
    assert format_value(metric.name, 40) == "40 registers"


def test_atomics_are_graded_as_the_loads_and_stores_that_they_stand_for() -> None:
    """A column read by atomics that return a value, beside one load and one store that are as they
    should be."""
    counters = Counters(
        global_load_requests=1,
        global_load_sectors=4,
        global_load_bytes=128,
        global_store_requests=1,
        global_store_sectors=4,
        global_store_bytes=128,
        global_atomic_requests=2,
        global_atomic_sectors=64,
        global_atomic_bytes=256,
        global_fetch_requests=1,
        global_fetch_sectors=32,
        global_fetch_bytes=128,
    )
    metrics = collect(make_execution((LineCounters(1, counters),)))
    assert metrics["global_load_sectors"].value == 36
    assert metrics["global_load_efficiency"].value == 256 / (32 * 36)
    assert metrics["global_store_sectors"].value == 68
    assert metrics["global_store_efficiency"].value == 384 / (32 * 68)


def test_times_on_the_emulated_device_are_modelled() -> None:
    metrics = collect(
        make_execution(), timings=TIMINGS, traffic=Traffic(9, Lookups(1, 2), Lookups(3, 4))
    )
    for name in (
        "time_ms",
        "speedup_over_naive",
        "bandwidth_fraction",
        "dram_bytes",
        "l1_hit_rate",
        "l2_hit_rate",
    ):
        assert metrics[name].source is Source.MODELLED
    assert metrics["l2_hit_rate"].value == 0.75


def test_times_give_bandwidth_and_speedup() -> None:
    metrics = collect(make_execution(), device=GPU, timings=TIMINGS)
    assert metrics["bandwidth_gbps"].value == pytest.approx(2767, rel=1e-3)
    assert metrics["bandwidth_fraction"].value == pytest.approx(0.8255, rel=1e-3)
    assert metrics["speedup_over_naive"].value == pytest.approx(6.598, rel=1e-3)
    assert metrics["time_ms"].source is Source.MEASURED
    assert metrics["gflops"].reason == "the exercise counts no floating-point operations"


def test_modelled_times_are_labelled_so() -> None:
    metrics = collect(make_execution(), timings=TIMINGS)
    assert metrics["bandwidth_gbps"].source is Source.MODELLED


def test_floating_point_rate() -> None:
    exercise = replace(
        make_exercise(),
        useful_flops=parse_expression("2 * rows * rows * cols"),
        benchmark={"gpu": {"rows": 2048, "cols": 2048}},
    )
    timings = (Timing("submission", 0.402, (0.4, 0.41), ()),)
    metrics = collect(make_execution(), exercise, GPU, timings=timings)
    assert metrics["gflops"].value == pytest.approx(42737, rel=1e-3)
    assert metrics["compute_fraction"].value == pytest.approx(0.639, rel=1e-2)
    assert metrics["speedup_over_naive"].value is None


def test_the_fraction_is_that_of_the_exercise_s_units() -> None:
    exercise = replace(
        make_exercise(),
        useful_flops=parse_expression("2 * rows * rows * cols"),
        benchmark={"gpu": {"rows": 2048, "cols": 2048}},
        units=Units.TENSOR_CORES,
    )
    timings = (Timing("submission", 0.06, (0.059, 0.061), ()),)
    known = replace(GPU, peak_tensor_tflops=989.4)
    metrics = collect(make_execution(), exercise, known, timings=timings)
    assert metrics["compute_fraction"].value == pytest.approx(0.2894, rel=1e-3)
    unknown = collect(make_execution(), exercise, GPU, timings=timings)["compute_fraction"]
    assert unknown.value is None
    assert unknown.reason == "the peak of this GPU's tensor cores is not known"


def test_an_efficiency_without_accesses_has_no_value() -> None:
    lines = (LineCounters(8, Counters(instructions_executed=5)),)
    metrics = collect(make_execution(lines))
    assert (
        metrics["global_store_efficiency"].reason == "the launches store nothing to global memory"
    )


def test_a_run_that_failed_counts_nothing() -> None:
    failed = replace(
        make_execution((LineCounters(8, CLEAN),)), failure=Faulted(Observation(Act.TOO_LONG))
    )
    metrics = collect(failed)
    assert (metrics["shared_wavefronts"].value, metrics["shared_wavefronts"].reason) == (
        None,
        "the benchmark did not run",
    )


def test_correctness_is_the_fraction_of_the_cases() -> None:
    cases = [make_case(), make_case(), make_case(passed=False), make_case()]
    assert measure_correctness(cases).value == 0.75
    assert measure_correctness([]).reason == "no case ran"


def test_correctness_is_unknown_with_a_case_that_is_not_verified_and_no_wrong_one() -> None:
    unverified = replace(make_case(passed=False), unverified="only a part ran")
    known = measure_correctness([make_case(), unverified])
    assert (known.value, known.reason) == (None, "only a part ran")
    assert measure_correctness([make_case(passed=False), unverified]).value == 0


def test_missing_metrics_keep_the_devices_own_reasons() -> None:
    metrics = {metric.name: metric for metric in missing_metrics("it did not compile", H100)}
    assert metrics["shared_wavefronts"].reason == "it did not compile"
    assert metrics["time_ms"].reason == "it did not compile"
    assert set(metrics) == set(METRICS)


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("bandwidth_fraction", 0.8234, "82.3 %"),
        ("bandwidth_fraction", 0.79999, "79.9 %"),
        ("global_load_efficiency", 1 / 6, "16.7 %"),
        ("global_load_efficiency", 0.125, "12.5 %"),
        ("global_load_efficiency", 0.1246, "12.4 %"),
        ("speedup_over_naive", 1.29996, "1.299x"),
        ("instructions_executed", 123456.7, "123,457"),
        ("global_load_efficiency", 1.0, "100 %"),
        ("global_load_efficiency", 0.29, "29 %"),
        ("shared_bank_conflicts", 4063232, "4,063,232"),
        ("shared_bank_conflicts", 0, "0"),
        ("speedup_over_naive", 6.598, "6.598x"),
        ("time_ms", 0.19421, "0.1942 ms"),
        ("bandwidth_gbps", 2765.04, "2,765 GB/s"),
    ],
)
def test_values_read_well_and_never_better_than_they_are(
    name: str, value: float, text: str
) -> None:
    assert format_value(name, value) == text


def test_a_value_never_reads_as_the_goal_that_it_missed() -> None:
    assert format_value("bandwidth_fraction", 0.33328) == "33.3 %"
    assert format_value("bandwidth_fraction", 0.33298, missed=">= 33.3 %") == "33.2 %"
