"""Draws a class's distributions and a submission's roofline as inline SVG, coloured by the page's
style sheet."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from grader.report.html.labels import LETTER_WIDTH, Box, boxes_along, place_labels, text_box
from grader.report.plot import LogAxis, draw_text, format_short

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
    labels = [f"{10 * tenth}" for tenth in range(10)] + ["full"]
    body = _draw_bars(
        counts,
        [f"{10 * tenth} to under {10 * tenth + 10} %" for tenth in range(10)] + ["full marks"],
    )
    step = PLOT_WIDTH / 11
    body += [
        _text(step * (index + 0.5), PLOT_HEIGHT + 15, label, anchor="middle")
        for index, label in enumerate(labels)
    ]
    return _frame(body, title=title, x_title="per cent of the points, from")


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
    body = _draw_bars(
        counts,
        [
            f"{format_short(edges[index])} to {format_short(edges[index + 1])}"
            for index in range(bins)
        ],
    )
    body += _ticks_below(axis)
    for index, marker in enumerate(sorted(markers, key=lambda each: each.value)):
        x = axis.place(marker.value)
        anchor = "end" if x > PLOT_WIDTH * 0.7 else "start"
        body.append(f'<path class="marker" d="M{x:.1f},0V{PLOT_HEIGHT}"/>')
        body.append(
            _text(
                x + (-5 if anchor == "end" else 5),
                10 + 14 * index,
                marker.label,
                anchor=anchor,
                kind="label",
            )
        )
    return _frame(body, title=title, x_title=x_title)


def draw_roofline(roof: Roof, points: Sequence[Point], *, title: str) -> Markup:
    """Attained rates below the roof of bandwidth and peak, over logarithmic axes; at least one
    point."""
    ridge = roof.ceiling / roof.slope
    xs = [*(point.x for point in points), ridge]
    across = LogAxis(min(xs) / 4, max(xs) * 4, PLOT_WIDTH)
    low = min([roof.ceiling / 30, *(point.y / 2.5 for point in points)])
    up = LogAxis(low, max([roof.ceiling, *(point.y for point in points)]) * 2.2, PLOT_HEIGHT + 60)
    height = PLOT_HEIGHT + 60

    def at(x: float, y: float) -> tuple[float, float]:
        return across.place(x), height - up.place(y)

    body = [_grid_line(height - up.place(tick), format_short(tick)) for tick in up.ticks()]
    body += _ticks_below(across, height)
    start = max(across.low, low / roof.slope)
    (x0, y0), (x1, y1), (x2, y2) = (
        at(start, start * roof.slope),
        at(ridge, roof.ceiling),
        at(across.high, roof.ceiling),
    )
    body.append(f'<path class="roof" d="M{x0:.1f},{y0:.1f}L{x1:.1f},{y1:.1f}H{x2:.1f}"/>')
    ceiling = text_box(x2 - 4, y2 - 8, roof.ceiling_label, "end")
    body.append(_text(x2 - 4, y2 - 8, roof.ceiling_label, anchor="end", kind="note"))
    slope_label, slope = _draw_slope_label(roof.slope_label, (x0, y0), (x1, y1), ceiling)
    body.append(slope_label)
    around = [ceiling, *slope, *boxes_along(x0, y0, x1, y1, 4), *boxes_along(x1, y1, x2, y2, 4)]
    body += _draw_points([(point, *at(point.x, point.y)) for point in points], height, around)
    return _frame(body, title=title, x_title=roof.x_title, y_title=roof.y_title, height=height)


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


def _draw_bars(counts: Sequence[int], tips: Sequence[str]) -> list[str]:
    top = max(1, *counts)
    step = PLOT_WIDTH / len(counts)
    body = [_grid_line(PLOT_HEIGHT * (1 - tick / top), f"{tick:,}") for tick in _count_ticks(top)]
    for index, (count, tip) in enumerate(zip(counts, tips, strict=True)):
        if not count:
            continue
        height = max(1.5, PLOT_HEIGHT * count / top)
        body.append(
            f'<rect class="column" x="{index * step + 1:.1f}" y="{PLOT_HEIGHT - height:.1f}"'
            f' width="{step - 2:.1f}" height="{height:.1f}" rx="1.5"><title>{escape(tip)}:'
            f" {count:,}</title></rect>"
        )
    return body


def _count_ticks(top: int) -> list[int]:
    """At most five round numbers from 0 to `top`."""
    rough = max(1.0, top / 4)
    power = 10 ** math.floor(math.log10(rough))
    step = int(next(digit * power for digit in (1, 2, 5, 10) if digit * power >= rough))
    return list(range(0, top + 1, step))


def _draw_slope_label(
    text: str, start: tuple[float, float], end: tuple[float, float], ceiling: Box
) -> tuple[str, list[Box]]:
    """A text along the slope of the roof and above it, nearer to its start where it would meet the
    ceiling's label; with the box that it covers."""
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
    note = {"class": "note", "text-anchor": "middle", "transform": along}
    return draw_text(note, text), boxes


def _draw_points(
    places: Sequence[tuple[Point, float, float]], height: float, around: Sequence[Box]
) -> list[str]:
    """The points and their labels, with a line where a label stands apart from its point."""
    ordered = sorted(places, key=lambda place: (place[0].hollow, place[2]))
    labels = place_labels(
        [(x, y, point.label) for point, x, y in ordered],
        within=Box(0, 0, PLOT_WIDTH, height),
        around=around,
        size=14,
    )
    body = []
    for (point, x, y), label in zip(ordered, labels, strict=True):
        kind = f"point {point.kind}" + (" hollow" if point.hollow else "")
        if label.moved:
            there = f"{label.x:.1f},{label.middle:.1f}"
            body.append(f'<path class="grid" d="M{x:.1f},{y:.1f}L{there}"/>')
        body.append(
            f'<path class="{kind}" d="{MARKS[point.kind]}" transform="translate({x:.1f},{y:.1f})"/>'
        )
        body.append(_text(label.x, label.baseline, point.label, anchor=label.anchor, kind="label"))
    return body


def _ticks_below(axis: LogAxis, height: float = PLOT_HEIGHT) -> list[str]:
    body, last = [], -math.inf
    for tick in axis.ticks():
        x = axis.place(tick)
        body.append(f'<path class="grid" d="M{x:.1f},0V{height}"/>')
        if x - last > 30:
            body.append(_text(x, height + 15, format_short(tick), anchor="middle"))
            last = x
    return body


def _grid_line(y: float, label: str) -> str:
    return f'<path class="grid" d="M0,{y:.1f}H{PLOT_WIDTH}"/>' + _text(
        -7, y + 4, label, anchor="end"
    )


def _frame(
    body: Sequence[str], *, title: str, x_title: str, y_title: str = "", height: float = PLOT_HEIGHT
) -> Markup:
    left = LEFT + (14 if y_title else 0)
    whole_width, whole_height = WIDTH + (left - LEFT), TOP + height + BOTTOM
    parts = [
        (
            f'<svg class="chart" role="img" aria-label="{escape(title)}" viewBox="0 0 {whole_width}'
            f' {whole_height:g}">'
        ),
        f'<g transform="translate({left},{TOP})">',
        *body,
        f'<path class="axis" d="M0,{height}H{PLOT_WIDTH}"/>',
        _text(PLOT_WIDTH / 2, height + 33, x_title, anchor="middle", kind="note"),
    ]
    if y_title:
        turned = f"translate(-46,{height / 2:g}) rotate(-90)"
        note = {"class": "note", "text-anchor": "middle", "transform": turned}
        parts.append(draw_text(note, y_title))
    return Markup("".join([*parts, "</g></svg>"]))


def _text(x: float, y: float, text: str, *, anchor: str = "start", kind: str = "tick") -> str:
    place = {"x": f"{x:.1f}", "y": f"{y:.1f}", "text-anchor": anchor}
    return draw_text({"class": kind, **place}, text)
