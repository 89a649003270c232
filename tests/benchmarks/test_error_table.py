"""Errors by family, and intervals made of them."""

from __future__ import annotations

from math import exp

import pytest
from error_table import Row, calibrate, count_covered, format_families, quantile


def make_rows(family: str, errors: list[float], bound: str = "latency") -> list[Row]:
    return [
        Row("kernels", family, "kernels", f"{family}/{index}", "n", 1.0, exp(error), bound)
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


def test_an_interval_is_as_wide_as_the_errors_of_its_bound() -> None:
    rows = [
        *make_rows("copies", [0.01 * number for number in range(1, 11)], "DRAM"),
        *make_rows("sorts", [0.5], "latency"),
    ]
    width = calibrate(rows)
    assert width("DRAM") == pytest.approx(0.09)
    assert width("latency") == width("never seen") == pytest.approx(0.1)


def test_what_is_inside_an_interval_is_told_by_other_families() -> None:
    alike = [0.01] * 10
    assert count_covered([*make_rows("a", alike), *make_rows("b", alike)]) == 20
    apart = [*make_rows("a", alike), *make_rows("b", [0.3] * 10)]
    assert count_covered(apart) == 10
