"""Errors by family, and intervals made of them."""

from __future__ import annotations

from dataclasses import replace
from math import exp

import numpy as np
import pytest
from error_table import (
    Row,
    calibrate,
    choose_widths,
    correct_left_out,
    describe_intervals,
    format_families,
    make_interval,
    quantile,
)

from grader.emulator.timing.intervals import UNKNOWN, Interval
from grader.emulator.timing.measured import Measured, Metric


def make_rows(family: str, errors: list[float], kind: str = "waits") -> list[Row]:
    return [
        Row("kernels", family, "kernels", f"{family}/{index}", "n", 1.0, exp(error), "", kind)
        for index, error in enumerate(errors)
    ]


def test_a_quantile_is_one_of_the_numbers() -> None:
    ordered = [float(number) for number in range(1, 11)]
    assert [quantile(ordered, part) for part in (0.0, 0.05, 0.5, 0.9, 0.91, 1.0)] == [
        *(1, 1, 5, 9, 10, 10)
    ]


def test_the_table_has_each_family_and_all_together() -> None:
    rows = [*make_rows("gather", [0.1, -0.1]), *make_rows("copies", [0.0])]
    lines = format_families(rows, {"fitted": rows[:2]})
    assert [line.split()[0] for line in lines] == ["family", "copies", "gather", "all"]
    assert lines[1].split()[2:] == ["0.0%", "0.0%", "0.0%", "0.0%", "+0.0%", "-", "-"]
    assert lines[2].split()[1:3] == ["2", "10.0%"]


def spread(family: str, count: int, kind: str) -> list[Row]:
    """Rows that are too slow by 1 % more each."""
    return make_rows(family, [0.01 * number for number in range(1, count + 1)], kind)


def test_an_interval_leaves_out_as_many_errors_as_its_nominal_share_allows() -> None:
    few, many = (make_interval(spread("copies", count, "DRAM")) for count in (19, 39))
    assert (few.low, few.high, few.times) == (0.826, 1.0, 19)
    assert (many.low, many.high) == (0.683, 1.0)


def test_a_kind_that_too_few_errors_tell_of_has_the_widest_interval() -> None:
    known = [*spread("copies", 6, "DRAM"), *spread("rows", 6, "DRAM")]
    found = calibrate([*known, *make_rows("sorts", [0.5] * 20 + [0.7])])
    assert set(found) == {"DRAM", UNKNOWN}
    assert found["DRAM"] == Interval(0.941, 1.0, 12)
    assert found[UNKNOWN] == Interval(0.496, 1.0, 33)


def measure(rows: list[Row]) -> Measured:
    """The corrections of rows with a trait."""
    return Measured(
        np.array([row.traits for row in rows]),
        np.array([-row.log_error for row in rows]),
        np.zeros(len(rows)),
        [row.kernel for row in rows],
        [row.kind for row in rows],
        calibrate(rows),
        Metric(np.ones(1), near=0.5, noise=0.001),
    )


def test_a_correction_comes_from_other_parts_only() -> None:
    rows = [
        replace(row, traits=(0.0,))
        for row in (*make_rows("a", [0.2, 0.2]), *make_rows("b", [0.0] * 10))
    ]
    by_kernel = correct_left_out(rows, measure(rows), lambda row: row.kernel)
    by_family = correct_left_out(rows, measure(rows), lambda row: row.family)
    assert by_kernel[0][0] < -0.01
    assert by_family[0][0] == pytest.approx(0.0, abs=1e-6)


def test_widths_contain_nine_of_ten_left_out_times() -> None:
    rows = [
        replace(row, traits=(20.0 * number + place,), kind=kind)
        for place, family, kind in ((0, "a", "often"), (6, "b", "often"), (13, "c", "seldom"))
        for number, row in enumerate(make_rows(family, [0.01 * error for error in range(60)]))
    ]
    known = measure(rows)
    known = replace(known, metric=replace(known.metric, widths=choose_widths(rows, known)))
    assert set(known.metric.widths) == {"often", UNKNOWN}
    lines = describe_intervals(rows, known)
    assert [line.partition(":")[0] for line in lines] == [
        "kernel left out",
        "family left out",
        "kernel left out, kind often",
    ]
    for line in (lines[0], lines[2]):
        assert 0.88 <= float(line.partition(": ")[2].partition("%")[0]) / 100 <= 0.95, line
