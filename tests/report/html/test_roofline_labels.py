"""The labels of a roofline: none covers another one, a point, or the roof, wherever programs lie."""

from __future__ import annotations

import math
import random
import re
from itertools import combinations

import pytest

from grader.report.html.charts import PLOT_WIDTH, Point, Roof, draw_roofline
from grader.report.html.labels import Box, text_box

MEMORY = Roof(3352.0, 3352.0, "the bandwidth of DRAM", "3,352 GB/s", "bytes", "useful GB/s")
TENSOR = Roof(
    3352.0, 989400.0, "3,352 GB/s", "989.4 TFLOP/s (tensor cores)", "operations", "GFLOP/s"
)
FP32 = Roof(3352.0, 66900.0, "3,352 GB/s", "66.9 TFLOP/s (fp32)", "operations", "GFLOP/s")
TEXT = re.compile(
    r'<text class="(?:label|note)" x="([\d.-]+)" y="([\d.-]+)" text-anchor="(\w+)">([^<]*)</text>'
)
MARK = re.compile(
    r'<path class="point[^"]*" d="[^"]*" transform="translate\(([\d.-]+),([\d.-]+)\)"'
)
ROOF = re.compile(r'<path class="roof" d="M([\d.-]+),([\d.-]+)L([\d.-]+),([\d.-]+)H([\d.-]+)"')


def programs(rng: random.Random, roof: Roof) -> list[Point]:
    """A submission, its traffic, and two others, often close to each other."""
    x = 1.0 if roof is MEMORY else 10 ** rng.uniform(-1, 3.5)
    best = min(roof.ceiling, roof.slope * x)
    places = [
        Point(name, kind, x, best * 10 ** -rng.choice([0.02, 0.05, 0.3, 1.2]))
        for name, kind in (
            ("this submission", "submission"),
            ("naive", "naive"),
            ("reference", "reference"),
        )
    ]
    hollow = Point("by DRAM bytes", "submission", x * rng.uniform(0.2, 1), places[0].y, hollow=True)
    return [*rng.sample(places, rng.randint(1, 3)), *([hollow] if rng.random() < 0.8 else [])]


def placed_labels(svg: str) -> list[tuple[str, Box]]:
    """The level texts within the plot; titles of axes lie below and beside it."""
    found = [
        (text, text_box(float(x), float(y), text, anchor))
        for x, y, anchor, text in TEXT.findall(svg)
    ]
    return [each for each in found if each[0] not in ("bytes", "operations")]


def roof_points(svg: str) -> list[tuple[float, float]]:
    """Places along the roof, a pixel apart."""
    match = ROOF.search(svg)
    assert match is not None
    x0, y0, x1, y1, x2 = map(float, match.groups())
    steps = math.ceil(math.hypot(x1 - x0, y1 - y0))
    slope = [(x0 + (x1 - x0) * n / steps, y0 + (y1 - y0) * n / steps) for n in range(steps + 1)]
    return [*slope, *((x1 + n, y1) for n in range(int(x2 - x1)))]


@pytest.mark.parametrize("roof", [MEMORY, FP32, TENSOR], ids=["memory", "fp32", "tensor cores"])
def test_no_label_covers_anything(roof: Roof) -> None:
    rng = random.Random(20)
    for _ in range(40):
        points = programs(rng, roof)
        svg = str(draw_roofline(roof, points, title="Roofline"))
        labels, marks = placed_labels(svg), [(float(x), float(y)) for x, y in MARK.findall(svg)]
        assert len(labels) == len(points) + 1
        for (one, a), (other, b) in combinations(labels, 2):
            assert not a.overlaps(b), (one, other, points)
        for text, box in labels:
            assert not [mark for mark in marks if inside(box, *mark)], (text, points)
            assert not [place for place in roof_points(svg) if inside(box, *place)], (text, points)
            assert box.left >= -1
            assert box.right <= PLOT_WIDTH + 1


def inside(box: Box, x: float, y: float) -> bool:
    return box.left < x < box.right and box.top < y < box.bottom
