"""Draws lines over logarithmic axes as an SVG: panels side by side, one legend, colours that
colour-blind readers can distinguish; and the axes, numbers and elements of all SVG pictures."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

WIDTH, HEIGHT = 300, 240
"""Width and height of a panel's plotting area, in pixels."""
LEFT, RIGHT, TOP, BOTTOM = 62, 14, 76, 48
ZERO = 26
"""Pixels above a panel's zero line."""
LEGEND, SAMPLE, CHARACTER = 190, 62, 6.4
"""Least width of the legend, width beside a name in it, and average width of a name's characters;
in pixels."""

COLOURS = ("#000000", "#e69f00", "#d55e00", "#009e73", "#0072b2", "#cc79a7", "#56b4e9")
"""Okabe and Ito's palette, without the yellow that is hard to see on white."""
DASHES = ("", "6 3", "2 2", "8 3 2 3")
MARKS = (
    "M-3.5,0a3.5,3.5 0 1,0 7,0a3.5,3.5 0 1,0 -7,0",
    "M-3.2,-3.2h6.4v6.4h-6.4z",
    "M0,-4.4L4.2,3.2L-4.2,3.2z",
    "M0,-4.6L4.6,0L0,4.6L-4.6,0z",
)
"""Circle, square, triangle and diamond, as SVG paths."""

Series = Mapping[str, Sequence[tuple[float, float]]]


@dataclass(frozen=True)
class LogAxis:
    """A logarithmic axis from `low` to `high` over `length` pixels."""

    low: float
    high: float
    length: float

    def place(self, value: float) -> float:
        """Pixels from the start of the axis."""
        return self.length * math.log(value / self.low) / math.log(self.high / self.low)

    def ticks(self) -> list[float]:
        """Powers of ten on the axis, at most a few; with 2 and 5 times them where there are fewer
        than three."""
        decades = range(math.floor(math.log10(self.low)) - 1, math.ceil(math.log10(self.high)) + 1)
        coarse, fine = (
            [
                tick
                for decade in decades
                for digit in digits
                if self.low <= (tick := digit * 10.0**decade) <= self.high
            ]
            for digits in ((1,), (1, 2, 5))
        )
        return coarse[:: 1 + len(coarse) // 8] if len(coarse) >= 3 else fine


def format_short(value: float, *, digits: int = 3) -> str:
    """`2048`, `0.05`, `1.5M`, `1e-5`, with this many significant digits."""
    for factor, letter in ((1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= factor:
            return f"{value / factor:.{digits}g}{letter}"
    if value >= 10000:
        return f"{value / 1000:.{digits}g}k"
    return f"{value:.{max(digits, 4) if value >= 1000 else digits}g}"


_QUOTES = {'"': "&#34;", "'": "&#39;"}


@dataclass(frozen=True)
class Panel:
    """A diagram: (x, y) by the name of their line, x positive. Lines of the same name look alike in
    all panels. A y of 0, which no logarithm has, lies on the lower edge, apart from the rest."""

    title: str
    unit: str
    series: Series


def format_svg(panels: Sequence[Panel], *, title: str, x_title: str, subtitle: str = "") -> str:
    """The panels as a picture; at least one panel, each with a line."""
    names = list(dict.fromkeys(name for panel in panels for name in panel.series))
    legend = max(LEGEND, math.ceil(SAMPLE + CHARACTER * max(map(len, names))))
    width = len(panels) * (LEFT + WIDTH + RIGHT) + legend
    height = max(TOP + HEIGHT + BOTTOM, TOP + 24 * len(names) + 10)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}"'
    font = 'font-family="sans-serif" font-size="12" fill="#222"'
    parts = [
        f'{head} viewBox="0 0 {width} {height}" {font}>',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        _text(LEFT, 22, title, size=15, weight="bold"),
        _text(LEFT, 42, subtitle),
    ]
    for index, panel in enumerate(panels):
        left = index * (LEFT + WIDTH + RIGHT) + LEFT
        start = f'<g transform="translate({left},{TOP})">'
        parts += [start, *_draw_panel(panel, names, x_title), "</g>"]
    left = len(panels) * (LEFT + WIDTH + RIGHT) + 8
    start = f'<g transform="translate({left},{TOP + 8})">'
    parts += [start, *_draw_legend(names), "</g>", "</svg>"]
    return "\n".join(parts) + "\n"


def _draw_panel(panel: Panel, names: Sequence[str], x_title: str) -> list[str]:
    points = [point for line in panel.series.values() for point in line]
    x_values = sorted({x for x, _ in points})
    across = _axis(x_values, WIDTH, margin=1.15)
    above = ZERO if any(y == 0 for _, y in points) else 0
    up = _axis([y for _, y in points if y > 0] or [1.0], HEIGHT - above, margin=1.4)
    parts = [_text(0, -10, f"{panel.title} ({panel.unit})", weight="bold")]
    for tick in up.ticks():
        y = HEIGHT - above - up.place(tick)
        parts += [
            f'<path d="M0,{y:.1f}H{WIDTH}" stroke="#e3e3e3"/>',
            _text(-6, y + 4, format_short(tick, digits=4), anchor="end"),
        ]
    if above:
        parts.append(_text(-6, HEIGHT + 4, "0", anchor="end"))
    last = -math.inf
    for tick in x_values:
        x = across.place(tick)
        parts.append(f'<path d="M{x:.1f},0V{HEIGHT}" stroke="#e3e3e3"/>')
        if x - last > 34:  # no label over the one before
            parts.append(_text(x, HEIGHT + 17, format_short(tick, digits=4), anchor="middle"))
            last = x
    parts.append(f'<rect width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#777"/>')
    parts.append(_text(WIDTH / 2, HEIGHT + 36, x_title, anchor="middle"))
    for name, line in panel.series.items():
        places = [
            (across.place(x), HEIGHT - above - up.place(y) if y > 0 else HEIGHT) for x, y in line
        ]
        parts += _draw_line(names.index(name), places)
    return parts


def _draw_line(number: int, places: Sequence[tuple[float, float]]) -> list[str]:
    colour, dash, mark = (each[number % len(each)] for each in (COLOURS, DASHES, MARKS))
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
    line = (
        f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"'
        f' stroke-dasharray="{dash}"/>'
    )
    marks = (
        f'<path d="{mark}" transform="translate({x:.1f},{y:.1f})" fill="{colour}"/>'
        for x, y in places
    )
    return [line, *marks]


def _draw_legend(names: Sequence[str]) -> list[str]:
    parts = []
    for number, name in enumerate(names):
        y = 24 * number
        line, _, mark, _ = _draw_line(number, [(0, y), (17, y), (34, y)])
        parts += [line, mark, _text(42, y + 4, name)]
    return parts


def _axis(values: Sequence[float], length: float, *, margin: float) -> LogAxis:
    return LogAxis(min(values) / margin, max(values) * margin, length)


def _text(
    x: float, y: float, text: str, *, anchor: str = "start", size: int = 12, weight: str = "normal"
) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}"'
        f' font-weight="{weight}">{escape(text, _QUOTES)}</text>'
    )
