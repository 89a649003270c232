"""Draws a class's distributions and a submission's roofline as inline SVG, coloured by the page's
style sheet."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from grader.report.html.labels import LETTER_WIDTH, Box, Placed, boxes_along, place_labels, text_box
from grader.report.html.pages import render_drawing
from grader.report.plot import LogAxis, format_short

WIDTH, HEIGHT = 460, 220
LEFT, RIGHT, TOP, BOTTOM = 46, 14, 14, 40
PLOT_WIDTH, PLOT_HEIGHT = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM

MARKS = {
    "submission": "M0,-6.5L6.5,0L0,6.5L-6.5,0z",
    "naive": "M-5,-5h10v10h-10z",
    "reference": "M-5.5,0a5.5,5.5 0 1,0 11,0a5.5,5.5 0 1,0 -11,0",
    "other": "M0,-6L5.5,4.5L-5.5,4.5z",
}
"""SVG paths by the kind of a point; the shapes differ without colour, too."""


@dataclass(frozen=True)
class Marker:
    """A value of interest on a chart's horizontal axis."""

    label: str
    value: float


@dataclass(frozen=True)
class Point:
    """A point of a roofline. `kind` is a key of MARKS; `hollow`: the same program placed by its
    real traffic."""

    label: str
    kind: str
    x: float
    y: float
    hollow: bool = False


@dataclass(frozen=True)
class Roof:
    """`slope` is the bandwidth in GB/s; `ceiling` the peak rate in `y_unit`."""

    slope: float
    ceiling: float
    slope_label: str
    ceiling_label: str
    x_title: str
    y_title: str


def draw_score_histogram(parts: Sequence[float], *, title: str) -> Markup:
    """The number of scores in each tenth of the attainable points; `parts` are 0 to 1, full marks
    have a bar of their own."""
    counts = [0] * 11
    for part in parts:
        counts[10 if part >= 1 else max(0, int(10 * part))] += 1
    tips = [f"{10 * tenth} to under {10 * tenth + 10} %" for tenth in range(10)]
    labels = [*(f"{10 * tenth}" for tenth in range(10)), "full"]
    step = PLOT_WIDTH / 11
    return _draw(
        title=title,
        x_title="per cent of the points, from",
        ticks=[(step * (index + 0.5), label, False) for index, label in enumerate(labels)],
        **_stack(counts, [*tips, "full marks"]),
    )


def draw_log_histogram(
    values: Sequence[float], markers: Sequence[Marker], *, title: str, x_title: str, bins: int = 24
) -> Markup:
    """A histogram over a logarithmic axis, with vertical lines at the markers."""
    everything = [*values, *(marker.value for marker in markers)]
    low, high = min(everything) / 1.15, max(everything) * 1.15
    axis = LogAxis(low, high, PLOT_WIDTH)
    edges = [low * (high / low) ** (index / bins) for index in range(bins + 1)]
    counts = [0] * bins
    for value in values:
        counts[min(bins - 1, int(bins * axis.place(value) / PLOT_WIDTH))] += 1
    tips = [" to ".join(map(format_short, ends)) for ends in itertools.pairwise(edges)]
    ordered = sorted(markers, key=lambda each: each.value)
    return _draw(
        title=title,
        x_title=x_title,
        ticks=[*_ticks_below(axis)],
        markers=[(axis.place(marker.value), marker.label) for marker in ordered],
        **_stack(counts, tips),
    )


def draw_roofline(roof: Roof, points: Sequence[Point], *, title: str) -> Markup:
    """Attained rates below the roof of bandwidth and peak, over logarithmic axes; at least one
    point."""
    ridge, height = roof.ceiling / roof.slope, PLOT_HEIGHT + 60
    xs = [*(point.x for point in points), ridge]
    across = LogAxis(min(xs) / 4, max(xs) * 4, PLOT_WIDTH)
    low = min([roof.ceiling / 30, *(point.y / 2.5 for point in points)])
    up = LogAxis(low, max([roof.ceiling, *(point.y for point in points)]) * 2.2, height)

    def at(x: float, y: float) -> tuple[float, float]:
        return across.place(x), height - up.place(y)

    start = max(across.low, low / roof.slope)
    corners = at(start, start * roof.slope), at(ridge, roof.ceiling), at(across.high, roof.ceiling)
    (x0, y0), (x1, y1), (x2, y2) = corners
    ceiling = text_box(x2 - 4, y2 - 8, roof.ceiling_label, "end")
    along, slope = _place_slope_label(roof.slope_label, *corners[:2], ceiling)
    around = [ceiling, *slope, *boxes_along(x0, y0, x1, y1, 4), *boxes_along(x1, y1, x2, y2, 4)]
    return _draw(
        title=title,
        x_title=roof.x_title,
        y_title=roof.y_title,
        height=height,
        levels=[(height - up.place(tick), format_short(tick)) for tick in up.ticks()],
        ticks=[*_ticks_below(across)],
        roof={
            "path": f"M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}H{x2:.1f}",
            "x": x2 - 4,
            "y": y2 - 8,
            "ceiling": roof.ceiling_label,
            "slope": roof.slope_label,
            "along": along,
        },
        points=_place_points([(point, *at(point.x, point.y)) for point in points], height, around),
    )


def draw_stacked_bar(parts: Mapping[str, int]) -> Markup:
    """One horizontal bar of parts by their style class; widths are in proportion."""
    total, x, body = max(1, sum(parts.values())), 0.0, []
    for kind, count in parts.items():
        width = 100 * count / total
        if count:
            body.append(f'<rect class="{kind}" x="{x:.3f}" y="0" width="{width:.3f}" height="8"/>')
        x += width
    return Markup(
        '<svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true"'
        ' focusable="false">' + "".join(body) + "</svg>"
    )


# --- pieces ---------------------------------------------------------------------------------------


def _draw(**values: object) -> Markup:
    """The chart with these parts; the template has the sizes above, too."""
    parts = ("levels", "bars", "ticks", "markers", "points")
    usual: dict[str, object] = {"roof": None, "y_title": "", "height": PLOT_HEIGHT}
    usual |= dict.fromkeys(parts, ())
    shift = 14 if "y_title" in values else 0
    return render_drawing("chart.svg", **(usual | values), shift=shift, marks=MARKS)


def _stack(counts: Sequence[int], tips: Sequence[str]) -> dict[str, object]:
    """The grid and the bars of a histogram."""
    top, step = max(1, *counts), PLOT_WIDTH / len(counts)
    levels = [(PLOT_HEIGHT * (1 - tick / top), f"{tick:,}") for tick in _count_ticks(top)]
    bars = [
        (index * step + 1, step - 2, max(1.5, PLOT_HEIGHT * count / top), f"{tip}: {count:,}")
        for index, (count, tip) in enumerate(zip(counts, tips, strict=True))
        if count
    ]
    return {"levels": levels, "bars": bars}


def _count_ticks(top: int) -> list[int]:
    """At most five round numbers from 0 to `top`."""
    rough = max(1.0, top / 4)
    power = 10 ** math.floor(math.log10(rough))
    step = int(next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough))
    return list(range(0, top + 1, step))


def _place_slope_label(
    text: str, start: tuple[float, float], end: tuple[float, float], ceiling: Box
) -> tuple[str, list[Box]]:
    """The place of a text along the slope of the roof and above it, nearer to its start where it
    would meet the ceiling's label; with the boxes that it covers."""
    (x0, y0), (x1, y1) = start, end
    angle = math.atan2(y1 - y0, x1 - x0)
    half = LETTER_WIDTH * len(text) / 2
    for share in (0.5, 0.4, 0.3, 0.2, 0.1):
        x, y = x0 + share * (x1 - x0), y0 + share * (y1 - y0) - 8
        across, down = half * math.cos(angle), half * math.sin(angle)
        boxes = [*boxes_along(x - across, y - down - 4, x + across, y + down - 4, 12)]
        if not any(box.overlaps(ceiling) for box in boxes):
            break
    along = f"translate({x:.1f},{y:.1f}) rotate({math.degrees(angle):.1f})"
    return along, boxes


def _place_points(
    places: Sequence[tuple[Point, float, float]], height: float, around: Sequence[Box]
) -> list[tuple[Point, float, float, Placed]]:
    """The points with the places of their labels, in the order of drawing."""
    ordered = sorted(places, key=lambda place: (place[0].hollow, place[2]))
    labels = place_labels(
        [(x, y, point.label) for point, x, y in ordered],
        within=Box(0, 0, PLOT_WIDTH, height),
        around=around,
        size=14,
    )
    return [(*place, label) for place, label in zip(ordered, labels, strict=True)]


def _ticks_below(axis: LogAxis) -> Iterator[tuple[float, str, bool]]:
    """Place, label, and whether there is a line; no label covers the one before."""
    last = -math.inf
    for tick in axis.ticks():
        x = axis.place(tick)
        is_free = x - last > 30
        yield x, format_short(tick) if is_free else "", True
        last = x if is_free else last
