"""A sweep over sizes as a table, as JSON, and as panels of a plot."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.records import SUBMISSION, Counters, Source
from grader.report.plot import Panel
from grader.report.text import clean_line, fold_to_ascii


@dataclass(frozen=True)
class SweepRow:
    """One program at one point. `right` is None where its outputs were not compared; figures are None where there are none.

    `note` says why, in words.
    """

    program: str
    right: bool | None
    time_ms: float | None = None
    interval_ms: tuple[float, float] | None = None
    gflops: float | None = None
    bandwidth_gbps: float | None = None
    source: Source | None = None
    counters: Counters | None = None
    note: str = ""


@dataclass(frozen=True)
class SweepPoint:
    """All programs at the same sizes. `useful_bytes` is what the task has to move there."""

    sizes: Mapping[str, int]
    useful_bytes: int
    rows: tuple[SweepRow, ...]


@dataclass(frozen=True)
class Sweep:
    """A submission beside others over sizes. `notes` say what the figures are, and what is missing and why."""

    exercise: str
    submission: str
    device: str
    points: tuple[SweepPoint, ...]
    notes: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether the submission is right at every point."""
        return all(row.right for point in self.points for row in point.rows if row.program == SUBMISSION)


_VERDICTS = {True: "✓ right", False: "✗ wrong", None: ""}
_STYLES = {True: "green", False: "red", None: ""}

_Figure = Callable[[SweepRow], float | None]
_TIMES: Mapping[str, _Figure] = {
    "time (ms)": lambda row: row.time_ms,
    "GFLOP/s": lambda row: row.gflops,
    "GB/s": lambda row: row.bandwidth_gbps,
}
_COUNTS: Mapping[str, _Figure] = {
    "load %": lambda row: _percent(row.counters.global_load_efficiency) if row.counters else None,
    "store %": lambda row: _percent(row.counters.global_store_efficiency) if row.counters else None,
    "conflicts": lambda row: row.counters.shared_wavefronts_excessive if row.counters else None,
    "sectors": lambda row: row.counters.global_sectors if row.counters else None,
    "instructions": lambda row: row.counters.instructions_executed if row.counters else None,
}


def print_sweep(sweep: Sweep, *, console: Console) -> None:
    """Print a row for each program and size, and the notes."""
    fold = clean_line if console.encoding.lower().startswith("utf") else lambda line: fold_to_ascii(clean_line(line))
    rows = [row for point in sweep.points for row in point.rows]
    figures = {title: figure for title, figure in {**_TIMES, **_COUNTS}.items() if any(figure(row) is not None for row in rows)}
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("size", no_wrap=True)
    table.add_column("program", no_wrap=True)
    table.add_column("", no_wrap=True)
    for title in figures:
        table.add_column(title, justify="right", overflow="fold")
    for point in sweep.points:
        for index, row in enumerate(point.rows):
            verdict = Text(fold(_VERDICTS[row.right]), style=_STYLES[row.right])
            cells = [_format_figure(figure(row)) for figure in figures.values()]
            table.add_row("" if index else format_sizes(point.sizes), fold(row.program), verdict, *map(fold, cells))
    console.print(table)
    console.print()
    for point in sweep.points:
        for row in filter(lambda row: row.note, point.rows):
            console.print(Text(fold(f"{row.program} at {format_sizes(point.sizes)}: {row.note}")), soft_wrap=True)
    for note in (f"{sweep.submission} on {sweep.device}", *sweep.notes):
        console.print(Text(fold(note), style="dim"), soft_wrap=True)


def format_sweep(sweep: Sweep) -> str:
    """The sweep as indented JSON of ASCII characters."""
    return json.dumps({"schema_version": 1, **asdict(sweep)}, indent=2, allow_nan=False) + "\n"


def format_sizes(sizes: Mapping[str, int]) -> str:
    """`1,024` where all sizes are the same, else `rows=512,cols=1024`."""
    values = set(sizes.values())
    return f"{values.pop():,}" if len(values) == 1 else ",".join(f"{name}={size}" for name, size in sizes.items())


def make_panels(sweep: Sweep) -> tuple[list[Panel], str]:
    """The panels of the sweep's plot, those without any figure left out, and the title of their common x axis."""
    square = all(len(set(point.sizes.values())) == 1 for point in sweep.points)
    names = ", ".join(sweep.points[0].sizes)
    axis = f"size ({names})" if square else "useful bytes"
    wanted = {
        "Time": ("ms", _TIMES["time (ms)"]),
        "Arithmetic rate": ("GFLOP/s", _TIMES["GFLOP/s"]),
        "Bandwidth": ("GB/s", _TIMES["GB/s"]),
        "Global memory traffic": ("sectors of 32 bytes", _COUNTS["sectors"]),
        "Work": ("warp instructions", _COUNTS["instructions"]),
    }
    panels = []
    for title, (unit, figure) in wanted.items():
        series: dict[str, list[tuple[float, float]]] = {}
        for point in sweep.points:
            x = next(iter(point.sizes.values())) if square else point.useful_bytes
            for row in point.rows:
                if value := figure(row):
                    series.setdefault(row.program, []).append((x, value))
        if series:
            panels.append(Panel(title, unit, {name: sorted(places) for name, places in series.items()}))
    return panels, axis


def _percent(fraction: float | None) -> float | None:
    return None if fraction is None else 100 * fraction


def _format_figure(value: float | None) -> str:
    if value is None:
        return "–"
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.4g}"
