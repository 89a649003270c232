"""Intervals of modelled times: sums, ratios, the benefit of the doubt, and what is not judged."""

from __future__ import annotations

from dataclasses import replace
from math import hypot, log

import pytest

from grader.judging.timing import compare_modelled, is_known, model_timing
from grader.records import Bound, CheckStatus, Execution, Modelled, Score, Status
from grader.spec.exercise import CheckSpec, ComparedWith, Threshold
from tests.support.factories import make_execution, make_exercise, make_modelled, make_timed

DRAM, STORES = (0.92, 1.08), (0.65, 1.4)
SPEEDUP = CheckSpec(
    "speedup", "Speedup", "speedup_over_naive", 10, Threshold(at_least=3.0, zero_at=1.0)
)


def modelled(time_ms: float, kind: str, low: float, high: float) -> Modelled:
    ends = (low * time_ms, high * time_ms)
    return Modelled(time_ms, 0.0, (Bound("latency", 0.9, ""),), 1, 1, kind=kind, interval_ms=ends)


def judged(score: Score, name: str) -> tuple[CheckStatus, float]:
    check = next(check for check in score.checks if check.name == name)
    return check.status, check.points


def test_the_intervals_of_a_plan_s_launches_add_up() -> None:
    (launch,) = make_execution().launches
    first, second = (
        modelled(1.0, "few warps that wait", 0.9, 1.2),
        modelled(3.0, "scattered stores", 0.5, 1.5),
    )
    plan = Execution((replace(launch, modelled=first), replace(launch, modelled=second)))
    timing = model_timing("submission", plan)
    assert timing is not None
    assert (timing.median_ms, timing.interval_ms, timing.kind) == (
        4.0,
        (2.4, 5.7),
        "scattered stores",
    )
    assert model_timing("submission", Execution((launch,))) is None


def test_the_errors_of_a_ratio_are_independent() -> None:
    own = make_modelled(1.0, "bound by DRAM", DRAM)
    found = compare_modelled(make_modelled(4.0, "bound by DRAM", DRAM), own)
    assert found.value == 4.0
    assert log(found.high / 4.0) == pytest.approx(hypot(log(1.08), log(0.92)))
    assert 4 * 0.92 / 1.08 < found.low < 4 * 0.92


@pytest.mark.parametrize(
    ("factors", "known"),
    [(DRAM, True), ((0.75, 1.25), True), ((0.74, 1.0), False), ((1.0, 1.26), False)],
)
def test_a_time_is_judged_where_its_interval_is_narrow(
    factors: tuple[float, float], known: bool
) -> None:
    assert is_known(make_modelled(1.0, "warps that wait", factors)) is known


@pytest.mark.parametrize(
    ("time_ms", "status", "points"),
    [
        (0.19, CheckStatus.PASSED, 25),
        (0.215, CheckStatus.PASSED, 25),
        (0.22, CheckStatus.PARTIAL, 20.5),
    ],
)
def test_a_goal_within_the_interval_is_reached(
    time_ms: float, status: CheckStatus, points: float
) -> None:
    """80 % of the peak are 0.2002 ms."""
    score = make_timed(make_modelled(time_ms, "bound by DRAM", DRAM))
    (check,) = (each for each in score.checks if each.metric == "bandwidth_fraction")
    assert check.status is status
    assert check.points == pytest.approx(points, abs=0.5)
    assert check.in_doubt == ("the benefit of the doubt" in check.message) == (time_ms < 0.217)


def test_the_points_of_a_time_that_is_hardly_known_are_pending() -> None:
    score = make_timed(make_modelled(0.2, "scattered stores", STORES))
    (check,) = (each for each in score.checks if each.metric == "bandwidth_fraction")
    assert (check.status, check.points) == (CheckStatus.NOT_MEASURED, 0)
    assert check.message == (
        "the model does not know this kind of kernel well: its time (scattered stores) may be"
        " 35 % less or 40 % more"
    )
    assert (score.status, score.score, score.judged_points) == (Status.INCONCLUSIVE, 75, 75)
    assert score.timings[0].median_ms == 0.2


@pytest.mark.parametrize(
    ("time_ms", "status"), [(0.1, CheckStatus.PASSED), (0.4, CheckStatus.FAILED)]
)
def test_a_time_that_is_hardly_known_is_judged_far_from_the_goal(
    time_ms: float, status: CheckStatus
) -> None:
    score = make_timed(make_modelled(time_ms, "scattered stores", STORES))
    (check,) = (each for each in score.checks if each.metric == "bandwidth_fraction")
    assert check.status is status


def test_a_speedup_over_a_kernel_that_is_hardly_known_is_not_judged() -> None:
    exercise = replace(make_exercise(), checks=(*make_exercise().checks, SPEEDUP))
    own = make_modelled(0.19, "bound by DRAM", DRAM)
    naive = make_modelled(0.6, "scattered stores", STORES, plan="naive")
    score = make_timed(own, naive, exercise=exercise)
    assert judged(score, "speedup") == (CheckStatus.NOT_MEASURED, 0)
    message = score.checks[-1].message
    assert "the time of the naive program (scattered stores) may be 35 % less" in message
    assert "DRAM" not in message
    assert judged(score, "bandwidth_fraction")[0] is CheckStatus.PASSED


def test_a_goal_relative_to_a_kernel_that_is_hardly_known_is_not_judged() -> None:
    goal = Threshold(at_least=2.0, relative_to=ComparedWith.BASELINE)
    check = CheckSpec("rate", "Bandwidth", "bandwidth_gbps", 10, goal)
    exercise = replace(make_exercise(), checks=(*make_exercise().checks, check))
    own = make_modelled(0.19, "bound by DRAM", DRAM)
    naive = make_modelled(0.4, "scattered stores", STORES, plan="naive")
    score = make_timed(own, naive, exercise=exercise)
    assert judged(score, "rate") == (CheckStatus.NOT_MEASURED, 0)
    assert "the model does not know this kind of kernel well" in score.checks[-1].message
