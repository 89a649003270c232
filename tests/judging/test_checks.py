"""Thresholds, partial credit, overrides and prerequisites."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.judging.checks import earned_fraction, judge_checks, judge_failure
from grader.judging.evidence import Evidence, OtherCounts
from grader.judging.goals import find_counted, find_open, find_timed
from grader.judging.timing import REFERENCE, make_timing
from grader.judging.values import collect_metrics, collect_others, missing_metrics
from grader.messages.reasons import NOT_SHIPPED
from grader.metrics import METRICS, MODELLED
from grader.records import (
    SUBMISSION,
    CaseResult,
    CheckResult,
    CheckStatus,
    DeviceInfo,
    Failure,
    MetricValue,
    PartResult,
    Source,
    Status,
)
from grader.spec.exercise import CheckSpec, ComparedWith, Threshold
from grader.spec.statements import Plan
from tests.support.factories import (
    BANDWIDTH,
    CHECKS,
    CONFLICTS,
    CORRECTNESS,
    GPU,
    H100,
    STORES,
    make_case,
    make_execution,
    make_exercise,
)

RIGHT = (make_case(),)
WRONG = (
    make_case(),
    make_case("ragged", passed=False),
    make_case("primes", passed=False, hidden=True),
)


def metrics_with(**values: float) -> tuple[MetricValue, ...]:
    return tuple(
        (
            MetricValue(name, values[name], METRICS[name].unit, Source.COUNTED)
            if name in values
            else MetricValue(name, None, METRICS[name].unit, None, "not asked for")
        )
        for name in METRICS
        if name != "correctness"
    )


def judge(
    *checks: CheckSpec, device: DeviceInfo = GPU, cases: tuple = RIGHT, **values: float
) -> dict[str, CheckResult]:
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
def test_credit_is_linear_between_zero_and_the_threshold(
    value: float, threshold: Threshold, fraction: float
) -> None:
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
    results = judge(
        *CHECKS,
        cases=WRONG,
        shared_bank_conflicts=0,
        global_store_efficiency=1,
        bandwidth_fraction=0.9,
    )
    assert results["correctness"].status is CheckStatus.FAILED
    assert results["correctness"].points == 0
    assert results["correctness"].message == "2 of 3 cases: ragged, primes"
    assert results["shared_bank_conflicts"].status is CheckStatus.SKIPPED
    assert results["shared_bank_conflicts"].message == "Correctness must pass first"


UNVERIFIED = replace(make_case("benchmark", passed=False), unverified="only a part ran")


def test_a_case_that_is_not_verified_leaves_correctness_and_the_rest_unjudged() -> None:
    results = judge(*CHECKS, cases=(*RIGHT, UNVERIFIED), shared_bank_conflicts=0)
    assert results["correctness"].status is CheckStatus.NOT_MEASURED
    assert results["correctness"].message == "only a part ran"
    assert results["shared_bank_conflicts"].status is CheckStatus.NOT_MEASURED
    assert results["shared_bank_conflicts"].message == "Correctness could not be judged"


def test_a_wrong_case_decides_whatever_is_not_verified() -> None:
    results = judge(*CHECKS, cases=(*WRONG, UNVERIFIED), shared_bank_conflicts=0)
    assert results["correctness"].status is CheckStatus.FAILED
    assert results["correctness"].message == "2 of 4 cases: ragged, primes"
    assert results["shared_bank_conflicts"].status is CheckStatus.SKIPPED


def test_a_finding_fails_its_check_where_correctness_is_not_verified() -> None:
    races = CheckSpec(
        "races", "No races", "sanitized", 5, Threshold(at_least=1), requires=("correctness",)
    )
    results = judge(CORRECTNESS, races, cases=(*RIGHT, UNVERIFIED), sanitized=0.5)
    assert results["races"].status is CheckStatus.FAILED


def test_correctness_may_give_partial_credit_if_the_spec_says_so() -> None:
    lenient = replace(CORRECTNESS, threshold=Threshold(at_least=1, zero_at=0))
    result = judge(lenient, cases=WRONG)["correctness"]
    assert (result.status, result.points) == (CheckStatus.PARTIAL, 8.33)


def test_a_skipped_prerequisite_skips_too_whatever_the_order() -> None:
    late = replace(BANDWIDTH, requires=("shared_bank_conflicts",))
    results = judge(
        late, CONFLICTS, CORRECTNESS, cases=WRONG, shared_bank_conflicts=0, bandwidth_fraction=0.9
    )
    assert results["bandwidth_fraction"].status is CheckStatus.SKIPPED
    assert results["bandwidth_fraction"].message == "Bank conflicts must pass first"


def test_a_partial_prerequisite_did_not_pass() -> None:
    conflicts = replace(CONFLICTS, requires=("global_store_efficiency",))
    results = judge(
        CORRECTNESS, STORES, conflicts, global_store_efficiency=0.5, shared_bank_conflicts=0
    )
    assert results["shared_bank_conflicts"].status is CheckStatus.SKIPPED


def test_a_prerequisite_that_was_not_measured_leaves_the_rest_unjudged() -> None:
    results = judge(
        CORRECTNESS,
        BANDWIDTH,
        replace(CONFLICTS, requires=("bandwidth_fraction",)),
        shared_bank_conflicts=0,
    )
    assert results["shared_bank_conflicts"].status is CheckStatus.NOT_MEASURED
    assert results["shared_bank_conflicts"].message == "Performance could not be judged"


def test_a_gpu_may_have_a_threshold_of_its_own() -> None:
    check = replace(BANDWIDTH, overrides={"t4": Threshold(at_least=0.6)})
    assert (
        judge(CORRECTNESS, check, bandwidth_fraction=0.7)["bandwidth_fraction"].status
        is CheckStatus.PARTIAL
    )
    on_t4 = judge(CORRECTNESS, check, device=replace(GPU, id="t4"), bandwidth_fraction=0.7)[
        "bandwidth_fraction"
    ]
    assert (on_t4.status, on_t4.threshold) == (CheckStatus.PASSED, ">= 60 %")


def test_a_gpu_s_threshold_goes_before_that_of_all_gpus() -> None:
    check = replace(
        BANDWIDTH, overrides={"gpu": Threshold(at_least=0.5), "t4": Threshold(at_least=0.6)}
    )
    h100, t4 = replace(GPU, id="h100"), replace(GPU, id="t4")
    assert [check.threshold_on(gpu).at_least for gpu in (h100, t4)] == [0.5, 0.6]
    assert check.threshold_on(replace(h100, kind="emulated")) == check.threshold


@pytest.mark.parametrize(
    "status",
    [
        Status.COMPILE_ERROR,
        Status.LAUNCH_ERROR,
        Status.RUNTIME_ERROR,
        Status.TIMEOUT,
        Status.REJECTED,
    ],
)
def test_the_students_failure_fails_correctness_and_skips_the_rest(status: Status) -> None:
    results = judge_failure(
        make_exercise(), Failure(status, "no"), missing_metrics("no run", H100), H100
    )
    assert [result.status for result in results] == [
        CheckStatus.FAILED,
        CheckStatus.SKIPPED,
        CheckStatus.SKIPPED,
        CheckStatus.SKIPPED,
    ]
    assert all(result.points == 0 for result in results)


@pytest.mark.parametrize("status", [Status.UNSUPPORTED, Status.GRADER_ERROR])
def test_our_failure_leaves_all_points_pending(status: Status) -> None:
    results = judge_failure(
        make_exercise(), Failure(status, "no"), missing_metrics("no run", None), None
    )
    assert {result.status for result in results} == {CheckStatus.NOT_MEASURED}
    assert sum(result.pending_points for result in results) == 100


# --- excluded and pending -------------------------------------------------------------------------


def judge_excluded(*checks: CheckSpec, cases: tuple = RIGHT) -> list[CheckStatus]:
    excluded = frozenset({"bandwidth_fraction"})
    metrics = metrics_with(shared_bank_conflicts=0)
    results = judge_checks(make_exercise(checks), cases, metrics, H100, excluded=excluded)
    return [result.status for result in results]


def test_what_the_instructor_disabled_is_excluded_and_so_is_what_requires_it() -> None:
    after = replace(CONFLICTS, requires=("bandwidth_fraction",))
    for cases in (RIGHT, WRONG):
        assert (
            judge_excluded(CORRECTNESS, BANDWIDTH, after, cases=cases)[1:]
            == [CheckStatus.EXCLUDED] * 2
        )


def test_the_spec_excludes_a_check_on_a_kind_of_device() -> None:
    on_gpu = replace(BANDWIDTH, excluded_on=("emulated",))
    without = judge(CORRECTNESS, on_gpu, device=H100, bandwidth_fraction=0.9)
    assert without["bandwidth_fraction"].status is CheckStatus.EXCLUDED
    assert without["bandwidth_fraction"].pending_points == 0
    assert judge(CORRECTNESS, on_gpu, bandwidth_fraction=0.9)["bandwidth_fraction"].points == 25


def test_an_excluded_check_names_the_cause() -> None:
    """No instructor is behind a limit to GPUs in the spec; a check that requires it follows it."""
    on_gpu = replace(BANDWIDTH, excluded_on=("emulated",))
    after = replace(CONFLICTS, requires=("bandwidth_fraction",))
    limited = judge(CORRECTNESS, on_gpu, after, device=H100, bandwidth_fraction=0.9)
    assert limited["bandwidth_fraction"].message == "only a GPU judges it"
    assert limited["shared_bank_conflicts"].message == "only a GPU judges it"
    metrics = metrics_with(shared_bank_conflicts=0)
    _, disabled = judge_checks(
        make_exercise((CORRECTNESS, BANDWIDTH)), RIGHT, metrics, H100, excluded=MODELLED
    )
    assert disabled.message == "graded without modelled times"


def test_the_points_of_a_check_that_is_not_measured_are_pending_unless_it_is_a_bonus() -> None:
    bonus = replace(STORES, bonus=True)
    results = judge(CORRECTNESS, BANDWIDTH, bonus)
    assert results["bandwidth_fraction"].pending_points == 25
    assert results["global_store_efficiency"].status is CheckStatus.NOT_MEASURED
    assert results["global_store_efficiency"].pending_points == 0


def test_a_failed_prerequisite_loses_points_that_this_device_could_not_judge() -> None:
    result = judge(CORRECTNESS, BANDWIDTH, cases=WRONG)["bandwidth_fraction"]
    assert (result.status, result.pending_points) == (CheckStatus.SKIPPED, 0)


# --- intervals of times that are hardly known -----------------------------------------------------


def judge_unsure(value: float, low: float, high: float, points: float = 25) -> CheckResult:
    """80 % of the peak are asked, and 40 % give no point."""
    check = replace(BANDWIDTH, points=points)
    metrics = tuple(
        replace(each, unsure="hardly known", source=Source.MODELLED)
        if each.name == "bandwidth_fraction"
        else each
        for each in measured(value, low, high)
    )
    return judge_checks(make_exercise((CORRECTNESS, check)), RIGHT, metrics, H100)[1]


@pytest.mark.parametrize(
    ("interval", "status", "points", "pending"),
    [
        ((0.82, 1.5), CheckStatus.PASSED, 25, 0),  # all of it reaches the goal
        ((0.5, 0.9), CheckStatus.NOT_MEASURED, 0, 25),  # the goal is inside
        ((0.1, 0.35), CheckStatus.FAILED, 0, 0),  # below the zero point
        ((0.2, 0.44), CheckStatus.FAILED, 0, 0),  # at best 2.5 points
        ((0.2, 0.6), CheckStatus.FAILED, 0, 12.5),
        ((0.5, 0.7), CheckStatus.PARTIAL, 6.25, 12.5),
        ((0.5, 0.56), CheckStatus.PARTIAL, 6.25, 0),
    ],
)
def test_an_interval_on_one_side_of_the_goal_decides_however_wide_it_is(
    interval: tuple[float, float], status: CheckStatus, points: float, pending: float
) -> None:
    low, high = interval
    result = judge_unsure((low + high) / 2, low, high)
    assert (result.status, result.points) == (status, points)
    assert result.pending_points == pytest.approx(pending)
    assert not result.in_doubt
    assert ("hardly known" in result.message) is (pending > 0)
    assert result.points + result.pending_points <= 25


def test_a_wide_interval_costs_no_honest_submission_more_than_four_points() -> None:
    """Wherever the true value lies in the interval, as a GPU would judge it."""
    for low, high in ((0.3, 0.79), (0.45, 0.6), (0.5, 0.565), (0.41, 0.47)):
        result = judge_unsure((low + high) / 2, low, high)
        for true in (low, (low + high) / 2, high):
            judged = 25 * earned_fraction(true, BANDWIDTH.threshold)
            assert result.points <= judged + 0.005
            assert judged <= result.points + result.pending_points + 4.005


def measured(value: float, low: float, high: float) -> tuple[MetricValue, ...]:
    others = (metric for metric in metrics_with() if metric.name != "bandwidth_fraction")
    return (
        *others,
        MetricValue("bandwidth_fraction", value, "", Source.MEASURED, interval=(low, high)),
    )


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
    assert (result.in_doubt, "the benefit of the doubt" in result.message) == (in_doubt, in_doubt)
    assert find_open(make_exercise((CORRECTNESS, BANDWIDTH)), metrics, GPU) == (
        (SUBMISSION,) if in_doubt else ()
    )


def test_a_doubt_is_told_with_its_interval() -> None:
    result = judge_checks(
        make_exercise((CORRECTNESS, BANDWIDTH)), RIGHT, measured(0.799, 0.795, 0.804), GPU
    )[1]
    assert (
        result.message
        == "bandwidth 79.9 % (79.5 % to 80.4 %) cannot be distinguished from the goal >= 80 %: the benefit"
        " of the doubt"
    )


def test_what_is_counted_is_never_in_doubt() -> None:
    assert (
        find_open(
            make_exercise(), metrics_with(shared_bank_conflicts=0.0, bandwidth_fraction=0.8), GPU
        )
        == ()
    )


# --- relative to another program ------------------------------------------------------------------

SECTORS = CheckSpec(
    "global_load_sectors",
    "Fewer sectors",
    "global_load_sectors",
    25,
    Threshold(at_most=0.5, zero_at=1, relative_to=ComparedWith.BASELINE),
)
AS_FAST = replace(
    BANDWIDTH, threshold=Threshold(at_least=0.8, zero_at=0.4, relative_to=ComparedWith.REFERENCE)
)
SIZES = {"rows": 8192, "cols": 8192}


def judge_sectors(sectors: float, baseline: OtherCounts) -> CheckResult:
    exercise = make_exercise((CORRECTNESS, SECTORS))
    others = collect_others(exercise, H100, counts={ComparedWith.BASELINE: baseline})
    return judge_checks(
        exercise, RIGHT, metrics_with(global_load_sectors=sectors), H100, others=others
    )[1]


@pytest.mark.parametrize(("sectors", "points"), [(200, 25), (300, 12.5), (400, 0), (100, 25)])
def test_a_counter_may_be_judged_by_that_of_the_baseline(sectors: int, points: float) -> None:
    result = judge_sectors(sectors, OtherCounts(make_execution()))  # which has 400 sectors
    assert (result.points, result.value, result.relative_value) == (points, sectors, 400)
    assert result.threshold == "<= 0.5 x the baseline's 400"
    assert (
        result.message
        == f"load sectors {sectors} {'reaches' if points == 25 else 'misses'} the goal"
        f" {result.threshold}"
    )


def test_what_was_not_counted_of_the_baseline_is_told() -> None:
    result = judge_sectors(200, OtherCounts(reason="ncu is not there"))
    assert result.status is CheckStatus.NOT_MEASURED
    assert result.message == "the value of the baseline is not known: ncu is not there"
    assert (result.threshold, result.relative_value) == ("<= 0.5 x that of the baseline", None)


def test_a_check_relative_to_a_reference_that_is_not_shipped_is_pending() -> None:
    exercise = make_exercise((CORRECTNESS, AS_FAST))
    others, metrics = collect_others(exercise, GPU), metrics_with(bandwidth_fraction=0.9)
    result = judge_checks(exercise, RIGHT, metrics, GPU, others=others)[1]
    assert (result.status, result.message) == (CheckStatus.NOT_MEASURED, NOT_SHIPPED)
    assert result.pending_points == 25
    lost = judge_checks(exercise, WRONG, metrics, GPU, others=others)[1]
    assert lost.status is CheckStatus.SKIPPED
    failed = judge_failure(
        exercise, Failure(Status.COMPILE_ERROR, "no"), missing_metrics("no run", GPU), GPU
    )[1]
    assert (failed.status, failed.pending_points) == (CheckStatus.SKIPPED, 0)


def judge_speed(
    own_ms: list[float], reference_ms: list[float]
) -> tuple[CheckResult, tuple[str, ...]]:
    exercise = replace(
        make_exercise((CORRECTNESS, AS_FAST)), reference_source=Path("solutions/transpose.cu")
    )
    timings = (make_timing(SUBMISSION, own_ms), make_timing(REFERENCE, reference_ms))
    metrics = collect_metrics(Evidence(timings=timings), exercise, GPU)
    others = collect_others(exercise, GPU, timings=timings)
    return judge_checks(exercise, RIGHT, metrics, GPU, others=others)[1], find_open(
        exercise, metrics, GPU, others
    )


def test_a_speed_may_be_judged_by_that_of_the_reference() -> None:
    result, still_open = judge_speed([0.4] * 50, [0.2] * 50)
    assert (result.status, result.points) == (CheckStatus.PARTIAL, 6.25)
    assert result.relative_value == pytest.approx(2 * (result.value or 0))
    assert result.threshold.startswith(">= 0.8 x the reference's 80")
    assert still_open == ()


def test_drift_that_both_share_leaves_no_doubt() -> None:
    """The clock falls by half while they are timed: each interval is wide, that of the ratio is
    not."""
    drift = [1 + round_ / 50 for round_ in range(50)]
    result, still_open = judge_speed([0.2 / 0.79 * d for d in drift], [0.2 * d for d in drift])
    assert (result.status, still_open) == (CheckStatus.PARTIAL, ())


def test_a_ratio_within_its_doubt_is_the_students_and_needs_both_programs() -> None:
    noise = [0.9 + 0.2 * (round_ % 7) / 6 for round_ in range(50)]
    result, still_open = judge_speed([0.25 * n for n in noise], [0.2] * 50)
    assert (result.status, result.points) == (CheckStatus.PASSED, 25)
    assert "cannot be distinguished from the goal >= 0.8 x the reference's" in result.message
    assert still_open == (SUBMISSION, REFERENCE)


def test_only_the_programs_that_counters_are_relative_to_are_counted() -> None:
    on_t4 = replace(
        BANDWIDTH,
        name="b",
        metric="global_store_sectors",
        overrides={"t4": SECTORS.threshold},
        threshold=Threshold(at_most=1),
    )
    assert find_counted(make_exercise((CORRECTNESS, AS_FAST, on_t4)), GPU) == {}
    assert find_counted(make_exercise((CORRECTNESS, on_t4)), replace(GPU, id="t4")) == {
        ComparedWith.BASELINE: ("global_store_sectors",)
    }
    by_reference = replace(
        SECTORS, threshold=Threshold(at_most=2, relative_to=ComparedWith.REFERENCE)
    )
    assert find_counted(make_exercise((SECTORS, by_reference)), GPU) == {
        ComparedWith.BASELINE: (SECTORS.metric,)
    }  # the reference is not shipped


# --- parts ----------------------------------------------------------------------------------------

IN_PLACE = CheckSpec(
    "in_place",
    "In place",
    "correctness",
    5,
    Threshold(at_least=1),
    requires=("correctness",),
    bonus=True,
    part="in_place",
)


def judge_part(part: PartResult, cases: tuple[CaseResult, ...] = RIGHT) -> CheckResult:
    return judge_checks(
        make_exercise((CORRECTNESS, IN_PLACE)), cases, metrics_with(), H100, parts=(part,)
    )[1]


def test_a_part_is_judged_by_its_own_cases() -> None:
    assert judge_part(PartResult("in_place", RIGHT)).points == 5
    wrong = judge_part(PartResult("in_place", WRONG))
    assert (wrong.status, wrong.message, wrong.bonus) == (
        CheckStatus.FAILED,
        "2 of 3 cases: ragged, primes",
        True,
    )


@pytest.mark.parametrize(
    ("part", "status", "message"),
    [
        (
            PartResult("in_place", absent="the file has no kernel k"),
            CheckStatus.SKIPPED,
            "the file has no kernel k",
        ),
        (
            PartResult("in_place", RIGHT, Failure(Status.RUNTIME_ERROR, "It broke.")),
            CheckStatus.FAILED,
            "It broke.",
        ),
        (
            PartResult("in_place", (), Failure(Status.UNSUPPORTED, "Not known.")),
            CheckStatus.NOT_MEASURED,
            "Not known.",
        ),
    ],
)
def test_what_ends_a_part_is_told(part: PartResult, status: CheckStatus, message: str) -> None:
    result = judge_part(part)
    assert (result.status, result.message, result.points) == (status, message, 0)


def test_a_part_is_skipped_when_the_exercise_itself_is_wrong_or_does_not_run() -> None:
    assert judge_part(PartResult("in_place", RIGHT), WRONG).status is CheckStatus.SKIPPED
    results = judge_failure(
        make_exercise((CORRECTNESS, IN_PLACE)),
        Failure(Status.TIMEOUT, "no"),
        missing_metrics("no run", H100),
        H100,
    )
    assert [result.status for result in results] == [CheckStatus.FAILED, CheckStatus.SKIPPED]


def test_less_than_a_hundredth_of_the_points_is_none() -> None:
    hardly, little = (
        judge(CORRECTNESS, STORES, global_store_efficiency=0.125 + 0.865 * part)[STORES.name]
        for part in (0.009, 0.011)
    )
    assert (hardly.status, hardly.points) == (CheckStatus.FAILED, 0)
    assert (little.status, little.points) == (CheckStatus.PARTIAL, pytest.approx(0.27, abs=0.01))


def test_what_is_shown_for_comparison_is_timed_although_no_goal_needs_it() -> None:
    exercise = replace(make_exercise(), comparisons={"tiled": Plan((), ())})
    assert find_timed(exercise, H100) == ("naive", "tiled")


def test_a_program_is_timed_if_a_time_is_relative_to_it() -> None:
    threshold = Threshold(at_least=0.8, relative_to=ComparedWith.REFERENCE)
    exercise = replace(
        make_exercise((replace(BANDWIDTH, threshold=threshold),)), reference_source=Path("r.cu")
    )
    assert find_timed(exercise, H100) == ("naive", "reference")
    on_t4 = make_exercise((replace(BANDWIDTH, overrides={"t4": threshold}),))
    on_t4 = replace(on_t4, reference_source=Path("r.cu"))
    assert find_timed(on_t4, H100) == ("naive",)
    assert find_timed(on_t4, replace(H100, id="t4")) == ("naive", "reference")
    by_count = make_exercise((replace(STORES, threshold=threshold),))
    assert find_timed(replace(by_count, reference_source=Path("r.cu")), H100) == ("naive",)


def test_no_point_at_all_is_failed() -> None:
    """0.02 of 0.3 points are 0.01 when rounded; 0.012 of 0.3 points are none."""
    threshold = Threshold(at_least=1, zero_at=0)
    small = replace(CORRECTNESS, points=0.3, threshold=threshold)
    right, wrong = make_case(), make_case(passed=False)
    for share, status in ((2, CheckStatus.PARTIAL), (1, CheckStatus.FAILED)):
        result = judge(small, cases=(*[right] * share, *[wrong] * (80 - share)))["correctness"]
        assert (result.status, bool(result.points)) == (status, status is CheckStatus.PARTIAL)
