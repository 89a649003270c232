from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from grader.report.plot import COLOURS, HEIGHT, Panel, format_svg

SVG = "{http://www.w3.org/2000/svg}"


def draw(*panels: Panel) -> ElementTree.Element:
    return ElementTree.fromstring(format_svg(panels, title="a <title> & more", x_title="size"))


def test_draws_a_line_for_each_series_and_names_it_in_the_legend() -> None:
    drawn = draw(Panel("Time", "ms", {"naive": [(1, 10), (2, 40)], "mine": [(1, 1), (2, 4)]}))
    lines = [line for line in drawn.iter(f"{SVG}polyline") if " " in (line.get("points") or "")]
    assert len({line.get("stroke") for line in lines}) == 2
    assert {text.text for text in drawn.iter(f"{SVG}text")} >= {
        "naive",
        "mine",
        "Time (ms)",
        "size",
        "a <title> & more",
    }


def test_a_line_looks_alike_in_all_panels() -> None:
    drawn = draw(
        Panel("Time", "ms", {"naive": [(1, 2)], "mine": [(1, 1)]}),
        Panel("Rate", "GB/s", {"mine": [(1, 3)]}),
    )
    strokes = [line.get("stroke") for line in drawn.iter(f"{SVG}polyline")]
    assert strokes == [*COLOURS[:2], COLOURS[1], *COLOURS[:2]]  # first panel, second panel, legend


def test_equal_factors_are_equal_distances() -> None:
    drawn = draw(Panel("Time", "ms", {"mine": [(1, 1), (10, 100), (100, 10000)]}))
    first = next(drawn.iter(f"{SVG}polyline"))
    (x0, y0), (x1, y1), (x2, y2) = (
        (float(x), float(y)) for x, y in re.findall(r"([\d.]+),([\d.]+)", first.get("points") or "")
    )
    assert x1 - x0 == pytest.approx(x2 - x1, abs=0.2)
    assert y0 - y1 == pytest.approx(y1 - y2, abs=0.2)
    assert y2 < y0


def test_the_background_is_light() -> None:
    first = next(draw(Panel("Time", "ms", {"mine": [(1, 1)]})).iter(f"{SVG}rect"))
    assert first.get("fill") == "#ffffff"


def test_a_zero_lies_on_the_lower_edge_and_is_named() -> None:
    drawn = draw(Panel("Bank conflicts", "", {"mine": [(1, 100), (10, 200)], "other": [(1, 0)]}))
    mine, other = (line.get("points") or "" for line in [*drawn.iter(f"{SVG}polyline")][:2])
    assert other.endswith(f",{HEIGHT:.1f}")
    assert all(float(y) < HEIGHT - 20 for y in re.findall(r",([\d.]+)", mine))
    assert "0" in [text.text for text in drawn.iter(f"{SVG}text")]
    only_zeros = draw(Panel("Bank conflicts", "", {"mine": [(1, 0), (10, 0)]}))
    assert [*only_zeros.iter(f"{SVG}polyline")]


def test_a_long_name_makes_room_in_the_legend() -> None:
    short, long = (draw(Panel("Time", "ms", {name: [(1, 1)]})) for name in ("mine", "m" * 60))
    assert int(long.get("width") or 0) > int(short.get("width") or 0) + 150
