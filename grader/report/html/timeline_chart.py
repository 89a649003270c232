"""Draws a program's timeline as inline SVG: a lane per stream, a bar per kernel, copy and fill."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup, escape

from grader.metrics import format_value
from grader.records.timeline import ActivityKind, TimelineEntry
from grader.report.plot import draw_text, format_short
from grader.report.program_trace import name_stream
from grader.report.text import clean_line

WIDTH, LABEL, LANE, HEAD = 1000, 150, 22, 20
MOST_BARS = 2000
_STYLES = {
    ActivityKind.KERNEL: "used",
    ActivityKind.COPY: "column",
    ActivityKind.SET: "copied",
    ActivityKind.HOST_FUNCTION: "hosted",
    ActivityKind.WAIT: "wasted",
}
KEY = (("used", "kernel"), ("column", "copy"), ("copied", "fill"), ("wasted", "the host waits"))
_TICKS = 5
Lane = tuple[int, int, int]
"""Process, device, and stream, -1 for the host."""


def draw_timeline(entries: Sequence[TimelineEntry]) -> Markup:
    """The picture of the first MOST_BARS entries; empty without entries."""
    shown = entries[:MOST_BARS]
    end_ms = max((entry.end_ms for entry in shown), default=0.0)
    if not end_ms:
        return Markup("")
    lanes = {lane: number for number, lane in enumerate(sorted(set(map(_lane, shown))))}
    several = len({lane[:2] for lane in lanes}) > 1
    height = HEAD + LANE * len(lanes) + 4
    body = [*_axis(end_ms, height)]
    for (process, device, stream), number in lanes.items():
        name = name_stream(None if stream < 0 else stream)
        name = f"{process + 1}.{device} {name}" if several else name
        body.append(_text(LABEL - 8, HEAD + LANE * number + 15, name, "end"))
    body += [_bar(entry, lanes[_lane(entry)], end_ms) for entry in shown]
    return Markup(
        '<svg class="chart timeline" role="img" aria-label="timeline"'
        f' viewBox="0 0 {WIDTH} {height}">' + "".join(body) + "</svg>"
    )


def _lane(entry: TimelineEntry) -> Lane:
    return entry.process, entry.device, -1 if entry.stream is None else entry.stream


def _axis(end_ms: float, height: int) -> list[str]:
    """Lines and times."""
    parts = []
    for tick in range(_TICKS + 1):
        x = LABEL + (WIDTH - LABEL - 40) * tick / _TICKS
        parts.append(f'<path class="grid" d="M{x:.1f},{HEAD - 4}V{height}"/>')
        time = format_value("time_ms", end_ms * tick / _TICKS)
        parts.append(_text(x, HEAD - 8, time, "middle"))
    return parts


def _bar(entry: TimelineEntry, lane: int, end_ms: float) -> str:
    scale = (WIDTH - LABEL - 40) / end_ms
    x, width = LABEL + entry.start_ms * scale, max(0.5, entry.ms * scale)
    size = f", {format_short(entry.bytes)}B" if entry.bytes is not None else ""
    time = format_value("time_ms", entry.ms)
    tip = escape(clean_line(f"{entry.name}{size}: {time} from {entry.start_ms:.4g} ms"))
    y, style = HEAD + LANE * lane + 3, _STYLES[entry.kind]
    return (
        f'<rect class="{style}" x="{x:.2f}" y="{y}" width="{width:.2f}" height="{LANE - 6}">'
        f"<title>{tip}</title></rect>"
    )


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return draw_text({"class": "tick", "x": f"{x:.1f}", "y": f"{y:g}", "text-anchor": anchor}, text)
