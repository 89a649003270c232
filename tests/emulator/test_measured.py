"""Corrections of modelled times by similar measured launches."""

from __future__ import annotations

from math import exp, log

import numpy as np
import pytest

from grader.emulator.timing.intervals import UNKNOWN, Interval
from grader.emulator.timing.kinds import LaunchKind
from grader.emulator.timing.measured import Measured, describe, read_measured
from tests.emulator.test_kinds import PLAIN

WIDE = {UNKNOWN: Interval(0.5, 2.0, 100)}
HERE, FAR = np.zeros(2), np.array([5.0, 0.0])


def measured(*errors: tuple[str, float]) -> Measured:
    """Kernels with these errors, all at HERE."""
    traits = np.zeros((len(errors), 2))
    names = [name for name, _ in errors]
    return Measured(traits, np.array([error for _, error in errors]), names, WIDE, (2.0, 1.5))


def test_similar_kernels_correct_a_time_and_narrow_its_interval() -> None:
    known = measured(*((f"k{number}", 0.2) for number in range(8)))
    found = known.correct("any", HERE)
    assert found.factor == pytest.approx(exp(0.2 * 8 / 8.3))
    assert found.support == 8
    assert found.low < found.factor < found.high < 1.3 * found.low


def test_without_similar_kernels_the_kind_decides() -> None:
    found = measured(*((f"k{number}", 0.2) for number in range(8))).correct("any", FAR)
    assert found.factor == pytest.approx(1.0)
    assert log(found.high) == pytest.approx(2.0 * log(2.0) / 1.645, rel=0.01)


def test_kernels_that_differ_widen_the_interval() -> None:
    both = (
        measured(*((f"k{number}", error * (-1) ** number) for number in range(8)))
        for error in (0.01, 0.3)
    )
    ratios = [found.high / found.low for found in (each.correct("any", HERE) for each in both)]
    assert ratios[1] > 1.1 * ratios[0]


def test_a_kernel_that_did_other_work_does_not_move_its_neighbours() -> None:
    alike = [(f"k{number}", 0.02) for number in range(7)]
    found = measured(*alike, ("other", 3.0)).correct("any", HERE)
    assert found.factor == pytest.approx(measured(*alike).correct("any", HERE).factor, abs=0.01)


def test_a_kernel_counts_once_however_often_it_was_measured() -> None:
    found = measured(*(("k", 0.2) for _ in range(50))).correct("any", HERE)
    assert found.support == 1


def test_a_kernel_can_be_left_out() -> None:
    known = measured(("a", 0.5), ("b", 0.0))
    assert known.estimate("any", HERE, "a")[0] == 0.0 < known.estimate("any", HERE)[0]


def test_traits_are_numbers_of_the_order_of_one() -> None:
    traits = describe(PLAIN)
    known = read_measured()
    assert traits.shape == known.traits.shape[1:]
    assert np.abs(known.traits).max() <= 4
    assert np.isfinite(traits).all()


def test_the_table_holds_kernels_of_every_exercise_with_a_time() -> None:
    known = read_measured()
    exercises = {name.partition("/")[0] for name in known.kernels}
    assert {"transpose", "gemm_tiled", "reduction", "scan", "sort", "kernels"} <= exercises
    assert all(0.5 < width < 3.0 for width in known.widths)


def test_a_padded_transpose_has_a_narrow_interval() -> None:
    """Its own measured time is left out."""
    known = read_measured()
    name = "transpose/truth/transpose_padded"
    index = known.kernels.index(name)
    centre, deviation, support = known.estimate(
        LaunchKind.DRAM.value, known.traits[index], without=name
    )
    assert support > 1.0
    assert known.widths[True] * deviation < 0.05
    assert abs(known.errors[index] - centre) < known.widths[True] * deviation
