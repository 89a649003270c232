"""Errors by family, and intervals made of them."""

from __future__ import annotations

from math import exp

from error_table import (
    LEAST_HELD,
    NOMINAL,
    Row,
    calibrate,
    choose_level,
    find_covered,
    format_families,
    make_interval,
    quantile,
)

from grader.emulator.timing.intervals import UNKNOWN, Interval


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


def test_what_is_inside_an_interval_is_told_by_other_families() -> None:
    alike = [-0.01] * 10
    assert len(find_covered([*make_rows("a", alike), *make_rows("b", alike)])) == 20
    apart = [*make_rows("a", alike), *make_rows("b", [-0.3] * 10)]
    assert len(find_covered(apart)) == 10


def test_the_level_is_the_one_at_which_the_other_families_intervals_hold_enough() -> None:
    even = [0.01 * number for number in range(40)]
    alike = [*make_rows("a", even), *make_rows("b", even)]
    assert choose_level(alike) == NOMINAL
    wider = [*make_rows("a", even), *make_rows("b", [1.1 * error - 0.06 for error in even])]
    level = choose_level(wider)
    assert level > NOMINAL
    held = LEAST_HELD * len(wider)
    assert len(find_covered(wider, level)) >= held > len(find_covered(wider))
