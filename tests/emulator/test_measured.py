"""Corrections of modelled times by similar measured launches."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from grader.emulator.timing.intervals import ELSEWHERE, UNKNOWN, Interval, read_intervals
from grader.emulator.timing.kinds import LaunchKind
from grader.emulator.timing.measured import Measured, Metric, correct, describe, read_measured
from tests.emulator.test_kinds import PLAIN

KIND = "any kind"
WIDE = {UNKNOWN: Interval(0.5, 2.0, 100)}
HERE, NEAR, FAR = np.zeros(2), np.array([0.1, 0.0]), np.array([50.0, 0.0])
METRIC = Metric(np.ones(2), near=0.5, noise=0.01)


def measured(*rows: tuple[str, float, np.ndarray], doubts: tuple[float, ...] = ()) -> Measured:
    """Kernels with these errors at these places."""
    names, errors, places = zip(*rows, strict=True)
    doubted = np.array(doubts or np.zeros(len(rows)))
    kinds = [KIND] * len(rows)
    return Measured(np.array(places), np.array(errors), doubted, names, kinds, WIDE, METRIC)


def ratio(known: Measured, place: np.ndarray) -> float:
    found = known.correct(KIND, place)
    return found.high / found.low


def test_similar_kernels_correct_a_time_and_narrow_its_interval() -> None:
    known = measured(("a", 0.2, HERE), ("b", 0.2, NEAR))
    found = known.correct(KIND, NEAR / 2)
    assert found.factor == pytest.approx(exp(0.2), rel=0.01)
    assert found.low < found.factor < found.high
    assert ratio(known, NEAR / 2) < 0.5 * ratio(known, FAR)


def test_far_from_all_kernels_the_kind_decides() -> None:
    found = measured(("a", 0.2, HERE)).correct(KIND, FAR)
    assert found.factor == pytest.approx(1.0, abs=0.01)
    assert log(found.high) == pytest.approx(log(2.0), rel=0.01)


def test_a_kind_without_a_row_has_no_correction_and_the_widest_interval() -> None:
    found = measured(("a", 0.2, HERE)).correct("clusters", HERE)
    assert (found.factor, found.low, found.high) == (1.0, 0.5, 2.0)


def test_the_nearer_kernel_counts_more() -> None:
    known = measured(("a", 0.2, HERE), ("b", -0.2, np.array([1.0, 0.0])))
    assert known.estimate(KIND, NEAR)[0] > 0.05


def test_traits_count_by_their_scales() -> None:
    metric = Metric(np.array([1.0, 100.0]), near=0.5, noise=0.01)
    one = np.array([[0.0, 0.0]])
    known = Measured(one, np.array([0.2]), np.zeros(1), ["a"], [KIND], WIDE, metric)
    assert known.estimate(KIND, np.array([0.1, 0.0]))[0] > 0.15
    assert known.estimate(KIND, np.array([0.0, 0.1]))[0] < 0.05


def test_a_doubted_kernel_counts_for_the_same_launch() -> None:
    rows = (("a", 0.02, HERE), ("b", 0.02, NEAR), ("other", 0.2, np.array([0.0, 0.2])))
    known = measured(*rows, doubts=(0.0, 0.0, 0.2))
    assert known.estimate(KIND, rows[2][2])[0] == pytest.approx(0.2, abs=0.02)
    assert known.estimate(KIND, np.array([0.0, 0.3]))[0] < 0.1


def test_of_the_same_launch_the_row_without_doubt_counts() -> None:
    known = measured(("a", 0.02, HERE), ("b", 0.3, HERE), doubts=(0.0, 0.3))
    assert known.estimate(KIND, HERE)[0] == pytest.approx(0.02, abs=0.02)


def test_a_small_error_of_a_narrow_kind_is_not_enlarged_for_a_wide_kind() -> None:
    kinds = {"narrow": Interval(0.95, 1.05, 100), UNKNOWN: Interval(0.5, 2.0, 100)}
    names, zero = ["a", "far"], np.zeros(2)
    places, errors = np.array([HERE, FAR]), np.array([0.05, 0.0])
    known = Measured(places, errors, zero, names, ["narrow", KIND], kinds, METRIC)
    assert known.estimate(KIND, NEAR)[0] <= 0.05


def test_a_doubted_kernel_does_not_move_its_neighbours() -> None:
    rows = (("a", 0.02, HERE), ("b", 0.02, NEAR), ("other", 3.0, np.array([0.0, 0.2])))
    place = np.array([0.0, 0.1])
    moved = measured(*rows).estimate(KIND, place)[0]
    doubted = measured(*rows, doubts=(0.0, 0.0, 3.0)).estimate(KIND, place)[0]
    assert doubted == pytest.approx(0.02, abs=0.01)
    assert moved > 0.1


def test_a_kernel_can_be_left_out() -> None:
    known = measured(("a", 0.5, HERE), ("a", 0.5, NEAR), ("b", 0.0, NEAR))
    assert known.estimate(KIND, HERE, {"a"})[0] == pytest.approx(0.0, abs=1e-9)
    assert known.estimate(KIND, HERE)[0] > 0.1


def test_traits_are_numbers_of_the_order_of_one() -> None:
    traits = describe(PLAIN)
    known = read_measured()
    assert traits.shape == known.traits.shape[1:]
    assert np.abs(known.traits / known.metric.scales).max() <= 4
    assert np.isfinite(traits).all()


def test_the_table_holds_kernels_of_every_exercise_with_a_time() -> None:
    known = read_measured()
    exercises = {name.partition("/")[0] for name in known.kernels}
    assert {"transpose", "gemm_tiled", "reduction", "scan", "sort", "kernels"} <= exercises
    assert set(known.kinds) <= set(LaunchKind)
    assert all(1.0 < width < 5.0 for width in known.metric.widths.values())


def test_transposes_have_narrow_intervals_that_contain_most_times() -> None:
    """The measured times of a kernel are left out of its own correction."""
    known, inside = read_measured(), []
    for index, name in enumerate(known.kernels):
        if not name.startswith("transpose/truth/") or known.kinds[index] != LaunchKind.DRAM:
            continue
        traits = known.traits[index] / known.metric.scales
        centre, deviation = known.estimate(LaunchKind.DRAM.value, traits, {name})
        half = deviation * known.metric.width_of(LaunchKind.DRAM.value)
        assert half < 0.06
        inside.append(abs(known.errors[index] - centre) < half)
    assert len(inside) >= 8
    assert np.mean(inside) >= 0.75


def test_a_gpu_without_measured_times_has_the_wider_interval_of_the_kind() -> None:
    here, elsewhere = (correct(LaunchKind.DRAM, PLAIN, measured=each) for each in (True, False))
    kind = read_intervals()[LaunchKind.DRAM]
    assert here.high < elsewhere.high == kind.high**ELSEWHERE
    assert elsewhere.factor == 1.0
