"""Thresholds, partial credit, overrides and prerequisites."""

from __future__ import annotations

from dataclasses import replace

import pytest

from grader.judging.checks import earned_fraction, find_open, judge_checks, judge_failure
from grader.judging.values import missing_metrics
from grader.metrics import METRICS
from grader.records import CheckResult, CheckStatus, DeviceInfo, Failure, MetricValue, Source, Status
from grader.spec.model import CheckSpec, Threshold
from judging.factories import BANDWIDTH, CHECKS, CONFLICTS, CORRECTNESS, GPU, H100, STORES, make_case, make_exercise

RIGHT = (make_case(),)
WRONG = (make_case(), make_case("ragged", passed=False), make_case("primes", passed=False, hidden=True))


def metrics_with(**values: float) -> tuple[MetricValue, ...]:
    return tuple(
        MetricValue(name, values[name], METRICS[name].unit, Source.COUNTED)
        if name in values
        else MetricValue(name, None, METRICS[name].unit, None, "not asked for")
        for name in METRICS
        if name != "correctness"
    )


def judge(*checks: CheckSpec, device: DeviceInfo = GPU, cases: tuple = RIGHT, **values: float) -> dict[str, CheckResult]:
    results = judge_checks(make_exercise(checks), cases, metrics_with(**values), device)
    assert [result.name for result in results] == [check.name for check in checks]
    return {result.name: result for result in results}


@pytest.mark.parametrize(
    ("value", "threshold", "fraction"),
    [
        (0.8, Threshold(at_least=0.8), 1.0),
        (0.9, Threshold(at_least=0.8, zero_at=0.4), 1.0),
        (0.6, Threshold(at_least=0.8, zero_at=0.4), 0.5),
        (0.4, Threshold(at_least=0.8, zero_at=0.4), 0.0),
        (0.1, Threshold(at_least=0.8, zero_at=0.4), 0.0),
        (0.79, Threshold(at_least=0.8), 0.0),
        (0, Threshold(at_most=0), 1.0),
        (1, Threshold(at_most=0), 0.0),
        (25, Threshold(at_most=0, zero_at=100), 0.75),
        (3, Threshold(at_most=10, zero_at=100), 1.0),
        (1000, Threshold(at_most=10, zero_at=100), 0.0),
    ],
)
def test_credit_is_linear_between_zero_and_the_threshold(value: float, threshold: Threshold, fraction: float) -> None:
    assert earned_fraction(value, threshold) == pytest.approx(fraction)


def test_partial_credit_gives_rounded_points() -> None:
    result = judge(CORRECTNESS, STORES, global_store_efficiency=0.5)["global_store_efficiency"]
    assert (result.status, result.points) == (CheckStatus.PARTIAL, 10.84)
    assert result.message == "store efficiency 50 % misses the goal >= 99 %"
    assert result.threshold == ">= 99 %"


def test_a_count_passes_at_zero_and_fails_above() -> None:
    passed = judge(CORRECTNESS, CONFLICTS, shared_bank_conflicts=0)["shared_bank_conflicts"]
    failed = judge(CORRECTNESS, CONFLICTS, shared_bank_conflicts=4063232)["shared_bank_conflicts"]
    assert (passed.status, passed.points, passed.threshold) == (CheckStatus.PASSED, 25, "== 0")
    assert (failed.status, failed.points) == (CheckStatus.FAILED, 0)
    assert failed.message == "count 4,063,232 misses the goal == 0"


def test_wrong_cases_fail_correctness_and_skip_what_requires_it() -> None:
    results = judge(*CHECKS, cases=WRONG, shared_bank_conflicts=0, global_store_efficiency=1, bandwidth_fraction=0.9)
    assert results["correctness"].status is CheckStatus.FAILED
    assert results["correctness"].points == 0
    assert results["correctness"].message == "2 of 3 cases: ragged, primes"
    assert results["shared_bank_conflicts"].status is CheckStatus.SKIPPED
    assert results["shared_bank_conflicts"].message == "Correctness must pass first"


def test_correctness_may_give_partial_credit_if_the_spec_says_so() -> None:
    lenient = replace(CORRECTNESS, threshold=Threshold(at_least=1, zero_at=0))
    result = judge(lenient, cases=WRONG)["correctness"]
    assert (result.status, result.points) == (CheckStatus.PARTIAL, 8.33)


def test_a_skipped_prerequisite_skips_too_whatever_the_order() -> None:
    late = replace(BANDWIDTH, requires=("shared_bank_conflicts",))
    results = judge(late, CONFLICTS, CORRECTNESS, cases=WRONG, shared_bank_conflicts=0, bandwidth_fraction=0.9)
    assert results["bandwidth_fraction"].status is CheckStatus.SKIPPED
    assert results["bandwidth_fraction"].message == "Bank conflicts must pass first"


def test_a_partial_prerequisite_did_not_pass() -> None:
    conflicts = replace(CONFLICTS, requires=("global_store_efficiency",))
    results = judge(CORRECTNESS, STORES, conflicts, global_store_efficiency=0.5, shared_bank_conflicts=0)
    assert results["shared_bank_conflicts"].status is CheckStatus.SKIPPED


def test_what_a_device_cannot_measure_is_not_measured_even_when_a_case_is_wrong() -> None:
    exercise = make_exercise(CHECKS)
    metrics = missing_metrics("the benchmark did not run", H100)
    for cases in (RIGHT, WRONG):
        results = {result.name: result for result in judge_checks(exercise, cases, metrics, H100)}
        assert results["bandwidth_fraction"].status is CheckStatus.NOT_MEASURED
        assert "does not model time" in results["bandwidth_fraction"].message


def test_a_prerequisite_that_was_not_measured_leaves_the_rest_unjudged() -> None:
    results = judge(CORRECTNESS, BANDWIDTH, replace(CONFLICTS, requires=("bandwidth_fraction",)), shared_bank_conflicts=0)
    assert results["shared_bank_conflicts"].status is CheckStatus.NOT_MEASURED
    assert results["shared_bank_conflicts"].message == "Performance could not be judged"


def test_a_gpu_may_have_a_threshold_of_its_own() -> None:
    check = replace(BANDWIDTH, overrides={"t4": Threshold(at_least=0.6)})
    assert judge(CORRECTNESS, check, bandwidth_fraction=0.7)["bandwidth_fraction"].status is CheckStatus.PARTIAL
    on_t4 = judge(CORRECTNESS, check, device=replace(GPU, id="t4"), bandwidth_fraction=0.7)["bandwidth_fraction"]
    assert (on_t4.status, on_t4.threshold) == (CheckStatus.PASSED, ">= 60 %")


@pytest.mark.parametrize("status", [Status.COMPILE_ERROR, Status.LAUNCH_ERROR, Status.RUNTIME_ERROR, Status.TIMEOUT, Status.REJECTED])
def test_the_students_failure_fails_correctness_and_skips_the_rest(status: Status) -> None:
    results = judge_failure(make_exercise(), Failure(status, "no"), missing_metrics("no run", H100), H100)
    assert [result.status for result in results] == [
        CheckStatus.FAILED, CheckStatus.SKIPPED, CheckStatus.SKIPPED, CheckStatus.NOT_MEASURED,
    ]  # fmt: skip
    assert all(result.points == 0 for result in results)


@pytest.mark.parametrize("status", [Status.UNSUPPORTED, Status.INCONCLUSIVE, Status.GRADER_ERROR])
def test_our_failure_judges_nothing(status: Status) -> None:
    results = judge_failure(make_exercise(), Failure(status, "no"), missing_metrics("no run", None), None)
    assert {result.status for result in results} == {CheckStatus.NOT_MEASURED}


def measured(value: float, low: float, high: float) -> tuple[MetricValue, ...]:
    others = (metric for metric in metrics_with() if metric.name != "bandwidth_fraction")
    return (*others, MetricValue("bandwidth_fraction", value, "", Source.MEASURED, interval=(low, high)))


@pytest.mark.parametrize(
    ("value", "low", "high", "points"),
    [
        (0.82, 0.81, 0.83, 25),
        (0.60, 0.59, 0.61, 12.5),
        (0.799, 0.798, 0.801, 25),  # the goal of 80 % lies within: it may be reached
        (0.801, 0.799, 0.802, 25),
        (0.799, 0.798, 0.800, 24.94),  # at its end it does not
    ],
)
def test_the_benefit_of_the_doubt(value: float, low: float, high: float, points: float) -> None:
    metrics = measured(value, low, high)
    result = judge_checks(make_exercise((CORRECTNESS, BANDWIDTH)), RIGHT, metrics, GPU)[1]
    assert result.points == points
    in_doubt = low < 0.8 < high
    assert ("the benefit of the doubt" in result.message) == in_doubt
    assert find_open(make_exercise((CORRECTNESS, BANDWIDTH)), metrics, GPU) == (("bandwidth_fraction",) if in_doubt else ())


def test_a_doubt_is_told_with_its_interval() -> None:
    result = judge_checks(make_exercise((CORRECTNESS, BANDWIDTH)), RIGHT, measured(0.799, 0.795, 0.804), GPU)[1]
    assert result.message == "bandwidth 79.9 % (79.5 % to 80.4 %) cannot be told from the goal >= 80 %: the benefit of the doubt"


def test_what_is_counted_is_never_in_doubt() -> None:
    assert find_open(make_exercise(), metrics_with(shared_bank_conflicts=0.0, bandwidth_fraction=0.8), GPU) == ()
