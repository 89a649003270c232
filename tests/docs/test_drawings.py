"""The drawings of the handouts are those of their data, and the generator refuses wrong data."""

from __future__ import annotations

import json
import runpy
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.docs.pages import HANDOUTS, ROOT

DRAWINGS = runpy.run_path(str(ROOT / "docs" / "drawings.py"))
DATA = [path.with_name("drawing.json") for path in HANDOUTS]
SVG = "{http://www.w3.org/2000/svg}"


def draw(cells: list[str]) -> list[str]:
    """The texts of a panel's picture."""
    text = DRAWINGS["draw"]({"title": "t", "rows": [[{"title": "p", "cells": cells}]]})
    return [node.text or "" for node in ElementTree.fromstring(text).iter(f"{SVG}text")]


@pytest.mark.parametrize(
    "data", [path for path in DATA if path.exists()], ids=lambda path: path.parent.name
)
def test_a_drawing_is_that_of_its_data_and_is_shown(data: Path) -> None:
    picture = data.with_name("drawing.svg").read_text(encoding="utf-8")
    assert picture == DRAWINGS["draw"](json.loads(data.read_text(encoding="utf-8")))
    assert "prefers-color-scheme:dark" in picture
    assert "](drawing.svg)" in data.with_name("README.md").read_text(encoding="utf-8")


def test_cells_have_texts_and_gaps() -> None:
    assert draw(["t0:1 . … _ bank_0"]) == ["p", "t0", "…", "bank 0"]


def test_a_colour_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(ValueError, match="t0:9: colours are 1 to 8"):
        draw(["t0:9"])


def test_bars_begin_at_zero() -> None:
    svg = DRAWINGS["draw_bars"]("Rates", "", {"one": (1.0, "1", 1), "four": (4.0, "4", 2)})
    widths = [
        float(node.attrib["width"])
        for node in ElementTree.fromstring(svg).iter(f"{SVG}rect")
        if "box" in node.attrib["class"]
    ]
    assert widths[1] == pytest.approx(4 * widths[0], rel=0.01)
