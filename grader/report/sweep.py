"""A sweep over sizes as tables, as JSON, and as panels of a plot."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

from rich.console import Console
from rich.table import Table
from rich.text import Text

from grader.records import SUBMISSION, Counters, Source
from grader.report.ending import write_ending
from grader.report.plot import Panel
from grader.report.terminal import Page

C_LOOP, NUMPY = "CPU (C loop, one core)", "CPU (NumPy)"
"""The programs that run on the processor."""


@dataclass(frozen=True)
class SweepRow:
    """One program at one point. `right` is None where its outputs were not compared; missing
    figures are None.

    `note` gives the reason in words. `source` belongs to the time, or to the counters where there
    is no time. With a modelled time, `blocks_run` of `blocks` were executed; the counters of the
    others are estimated. The speed-ups compare the program with the naive kernel, the C loop and
    NumPy.
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
    speedup_over_naive: float | None = None
    speedup_over_cpu: float | None = None
    speedup_over_numpy: float | None = None
    blocks_run: int | None = None
    blocks: int | None = None

    @property
    def is_sampled(self) -> bool:
        """Whether the counters are estimated from a sample of the blocks."""
        return self.blocks_run is not None and self.blocks_run != self.blocks


@dataclass(frozen=True)
class SweepPoint:
    """All programs at the same sizes. `useful_bytes` are the bytes that the task must move."""

    sizes: Mapping[str, int]
    useful_bytes: int
    rows: tuple[SweepRow, ...]


@dataclass(frozen=True)
class Sweep:
    """A submission beside others over sizes. `notes` explain the figures, and the reasons for
    missing figures."""

    exercise: str
    submission: str
    device: str
    points: tuple[SweepPoint, ...]
    notes: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether the submission is right at every point."""
        return all(
            row.right for point in self.points for row in point.rows if row.program == SUBMISSION
        )


_VERDICTS = {True: "✓ right", False: "✗ wrong"}
_STYLES = {True: "green", False: "red"}

_NONE = "–"
_TIMES = {
    "ms": "time_ms",
    "GFLOP/s": "gflops",
    "GB/s": "bandwidth_gbps",
    "× naive": "speedup_over_naive",
    "× C loop": "speedup_over_cpu",
    "× NumPy": "speedup_over_numpy",
}
"""The fields of SweepRow by the titles of their columns."""
_COUNTS = {
    "load %": "global_load_efficiency",
    "store %": "global_store_efficiency",
    "conflicts": "shared_wavefronts_excessive",
    "sectors": "global_sectors",
    "instructions": "instructions_executed",
}
"""The same of Counters."""
_SHARES = ("load %", "store %")
_PANELS = {
    "Time": ("ms", "ms"),
    "Arithmetic rate": ("GFLOP/s", "GFLOP/s"),
    "Bandwidth": ("GB/s", "GB/s"),
    "Speed-up": ("× the naive kernel", "× naive"),
    "Bank conflicts": ("wavefronts beyond the ideal", "conflicts"),
    "Global memory traffic": ("sectors of 32 bytes", "sectors"),
    "Work": ("warp instructions", "instructions"),
}
"""By title the unit, and the column of the figures."""
_MAY_BE_ZERO = ("Bank conflicts",)
"""The panels in which 0 is a usual value."""


def print_sweep(sweep: Sweep, *, console: Console) -> None:
    """Print a block of times for each size, the counters of all sizes, and the notes."""
    page = Page(console)
    times, counts = _present(_TIMES, sweep), _present(_COUNTS, sweep)
    widths = {title: max(len(_cell(row, title)) for row in _rows(sweep)) for title in times}
    for point in sweep.points:
        console.print(_times_table(point, widths, page))
        for row in filter(lambda row: row.note, point.rows):
            console.print(page.text(f"{row.program}: {row.note}"))
        console.print()
    if counts:
        console.print(_counts_table(sweep, counts, page))
        console.print()
    for note in (f"{sweep.submission} on {sweep.device}", *sweep.notes):
        console.print(page.text(note, "dim"))
    _write_ending(sweep, page)


def _write_ending(sweep: Sweep, page: Page) -> None:
    details = "above; --plot FILE.svg draws it, --json FILE writes all of it"
    wrong = [
        (point.sizes, row)
        for point in sweep.points
        for row in point.rows
        if row.program == SUBMISSION and not row.right
    ]
    if not wrong:
        step = f"grade {sweep.exercise} {sweep.submission}"
        count = len(sweep.points)
        places = "1 size" if count == 1 else f"all {count} sizes"
        write_ending(page, f"Result: right at {places}", step, details)
        return
    sizes, row = wrong[0]
    place = ", ".join(f"{name} = {value:,}" for name, value in sizes.items())
    result = f"Result: not right at {len(wrong)} of {len(sweep.points)} sizes"
    write_ending(page, result, f"{place}: {row.note or 'compare the outputs'}", details)


def _present(titles: Iterable[str], sweep: Sweep) -> list[str]:
    """The columns in which any row has a figure."""
    return [title for title in titles if any(_read(row, title) is not None for row in _rows(sweep))]


def _read(row: SweepRow, title: str) -> float | None:
    if title in _TIMES:
        own: float | None = getattr(row, _TIMES[title])
        return own
    value: float | None = getattr(row.counters, _COUNTS[title], None)
    return value if value is None or title not in _SHARES else 100 * value


def _rows(sweep: Sweep) -> list[SweepRow]:
    return [row for point in sweep.points for row in point.rows]


def _times_table(point: SweepPoint, widths: Mapping[str, int], page: Page) -> Table:
    """The times at one size: first the processor's rows, then the kernels', each with the source of
    its times. The columns have equal widths at all sizes."""
    table = _make_table(format_sizes(point.sizes).ljust(len(C_LOOP) + 1), widths, page)
    for rows in _by_kind(point.rows):
        source = next((row.source for row in rows if row.time_ms is not None), None)
        table.add_row(Text(f"{source}:" if source else "without a time:", style="dim"))
        for row in rows:
            table.add_row(_name(row, page), *(page.clean(_cell(row, title)) for title in widths))
    return table


def _by_kind(rows: Sequence[SweepRow]) -> Iterator[list[SweepRow]]:
    """Rows of the processor and rows of kernels that have a time or a note."""
    for of_processor in (True, False):
        some = [row for row in rows if (row.program in (C_LOOP, NUMPY)) is of_processor]
        if any(row.time_ms is not None or row.note for row in some):
            yield some


def _counts_table(sweep: Sweep, titles: Iterable[str], page: Page) -> Table:
    """The counters of every program at every size; `~` marks values that are estimated from a
    sample of the blocks."""
    table = _make_table("counted", dict.fromkeys(titles), page)
    for point in sweep.points:
        table.add_row(Text(f"{format_sizes(point.sizes)}:", style="dim"))
        for row in filter(lambda row: row.counters is not None, point.rows):
            cells = {title: _cell(row, title) for title in titles}
            if row.is_sampled:
                exact = {title for title in cells if title in _SHARES or cells[title] == _NONE}
                cells |= {title: f"~{cells[title]}" for title in cells if title not in exact}
            table.add_row(_name(row, page), *map(page.clean, cells.values()))
    return table


def _make_table(title: str, widths: Mapping[str, int | None], page: Page) -> Table:
    """An empty table; `widths` are the minimum widths of its columns by title."""
    table = page.make_table(framed=False)
    table.add_column(title, no_wrap=True)
    for figure, width in widths.items():
        table.add_column(page.clean(figure), justify="right", overflow="fold", min_width=width)
    return table


def _name(row: SweepRow, page: Page) -> Text:
    name = Text(f" {page.clean(row.program)}")
    if row.right is None:
        return name
    return name + Text(f" {page.clean(_VERDICTS[row.right])}", style=_STYLES[row.right])


def format_sweep(sweep: Sweep) -> str:
    """The sweep as indented JSON of ASCII characters."""
    return json.dumps({"schema_version": 1, **asdict(sweep)}, indent=2, allow_nan=False) + "\n"


def format_sizes(sizes: Mapping[str, int]) -> str:
    """`1,024` where all sizes are the same, else `rows=512,cols=1024`."""
    values = set(sizes.values())
    if len(values) == 1:
        return f"{values.pop():,}"
    return ",".join(f"{name}={size}" for name, size in sizes.items())


def title_plot(sweep: Sweep) -> tuple[str, str]:
    """The title of the sweep's plot, and below it the meaning of its lines and the source of the
    times."""
    programs = dict.fromkeys(row.program for row in _rows(sweep))
    others = [name for name in programs if name != SUBMISSION]
    of_kernels = {
        row.source.value
        for row in _rows(sweep)
        if row.source is not None and row.time_ms is not None and row.program not in (C_LOOP, NUMPY)
    }
    times = f"; times of kernels {' and '.join(sorted(of_kernels))}" if of_kernels else ""
    beside = f" beside {', '.join(others)}" if others else ""
    device = sweep.device.split(" (")[0]
    return (
        f"{sweep.exercise}: {sweep.submission} by size, on {device}",
        f"{SUBMISSION}{beside}{times}",
    )


def make_panels(sweep: Sweep) -> tuple[list[Panel], str]:
    """The panels of the sweep's plot, without panels that have no figure, and the title of their
    common x axis."""
    square = all(len(set(point.sizes.values())) == 1 for point in sweep.points)
    names = ", ".join(sweep.points[0].sizes)
    axis = f"size ({names})" if square else "useful bytes"
    panels = []
    for title, (unit, column) in _PANELS.items():
        series: dict[str, list[tuple[float, float]]] = {}
        for point in sweep.points:
            x = next(iter(point.sizes.values())) if square else point.useful_bytes
            for row in point.rows:
                if (value := _read(row, column)) is not None and (
                    value > 0 or title in _MAY_BE_ZERO
                ):
                    series.setdefault(row.program, []).append((x, value))
        if series:
            ordered = {name: sorted(places) for name, places in series.items()}
            panels.append(Panel(title, unit, ordered))
    return panels, axis


def _cell(row: SweepRow, title: str) -> str:
    """Four significant digits, of a speed-up three."""
    value = _read(row, title)
    if value is None:
        return _NONE
    if title.startswith("×") and value < 1000:
        return f"{value:#.3g}".removesuffix(".") if value >= 0.001 else "< 0.001"
    return f"{value:,.0f}" if value == int(value) or value >= 1000 else f"{value:.4g}"
