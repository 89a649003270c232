"""Draws a program's timeline as inline SVG: a lane per stream, a bar per kernel, copy and fill."""

from __future__ import annotations

from collections.abc import Sequence

from markupsafe import Markup

from grader.metrics import format_value
from grader.records.timeline import ActivityKind, TimelineEntry
from grader.report.html.pages import render_drawing
from grader.report.plot import format_short
from grader.report.program_trace import name_stream
from grader.report.text import clean_line

WIDTH, LABEL, LANE, HEAD = 1000, 150, 22, 20
"""In pixels, as in `templates/timeline.svg`."""
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
    length = WIDTH - LABEL - 40
    lanes = sorted(set(map(_lane, shown)))
    tops = {lane: HEAD + LANE * number for number, lane in enumerate(lanes)}
    parts = [tick / _TICKS for tick in range(_TICKS + 1)]
    return render_drawing(
        "timeline.svg",
        width=WIDTH,
        height=HEAD + LANE * len(lanes) + 4,
        ticks=[(LABEL + length * part, format_value("time_ms", end_ms * part)) for part in parts],
        lanes=[(y, _name(lane, lanes)) for lane, y in tops.items()],
        bars=[_bar(entry, tops[_lane(entry)], length / end_ms) for entry in shown],
    )


def _lane(entry: TimelineEntry) -> Lane:
    return entry.process, entry.device, -1 if entry.stream is None else entry.stream


def _name(lane: Lane, lanes: Sequence[Lane]) -> str:
    process, device, stream = lane
    name = name_stream(None if stream < 0 else stream)
    several = len({each[:2] for each in lanes}) > 1
    return f"{process + 1}.{device} {name}" if several else name


def _bar(entry: TimelineEntry, y: int, scale: float) -> tuple[str, float, int, float, str]:
    """Style, left and top edges, length, and the text under the pointer."""
    size = f", {format_short(entry.bytes)}B" if entry.bytes is not None else ""
    time = format_value("time_ms", entry.ms)
    tip = clean_line(f"{entry.name}{size}: {time} from {entry.start_ms:.4g} ms")
    start, length = LABEL + entry.start_ms * scale, max(0.5, entry.ms * scale)
    return _STYLES[entry.kind], start, y, length, tip
