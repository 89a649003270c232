"""A submission's source with what each of its lines did."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from grader.records import Counters, Finding, SourceLine
from grader.report.text import clean_line, clean_text

MAX_LINES = 4000
MAX_WIDTH = 1000
_POOR = 0.9
"""Of the bytes that an access moves, the useful part below which it is marked."""


@dataclass(frozen=True)
class Column:
    """A counter beside the source: `worse` says in words what is wrong with a line's value, or
    nothing."""

    title: str
    meaning: str
    value: Callable[[Counters], int]
    worse: Callable[[Counters], str]


@dataclass(frozen=True)
class Cell:
    """A value as shown; `kind` shades it by its share of the column's largest, or marks it."""

    text: str
    kind: str = ""
    tip: str = ""


@dataclass(frozen=True)
class Line:
    """One source line with a cell per column; `hit`: a finding names it."""

    number: int
    text: str
    cells: tuple[Cell, ...]
    hit: bool


def _explain_loads(counters: Counters) -> str:
    return _explain_efficiency(counters.global_load_efficiency)


def _explain_stores(counters: Counters) -> str:
    return _explain_efficiency(counters.global_store_efficiency)


def _explain_efficiency(efficiency: float | None) -> str:
    return (
        f"{100 * efficiency:.3g} % of the moved bytes are useful"
        if efficiency is not None and efficiency < _POOR
        else ""
    )


def _explain_conflicts(counters: Counters) -> str:
    return (
        f"{counters.shared_wavefronts:,} wavefronts, {counters.shared_wavefronts_ideal:,} would do"
    )


COLUMNS = (
    Column(
        "Instructions",
        "warp instructions executed",
        lambda c: c.instructions_executed,
        lambda c: "",
    ),
    Column(
        "Load sectors",
        "32-byte sectors that global loads and atomics asked for",
        lambda c: c.global_reads.sectors,
        _explain_loads,
    ),
    Column(
        "Store sectors",
        "32-byte sectors that global stores and atomics wrote",
        lambda c: c.global_writes.sectors,
        _explain_stores,
    ),
    Column(
        "Shared wavefronts",
        "passes that shared-memory accesses took",
        lambda c: c.shared_wavefronts,
        lambda c: "",
    ),
    Column(
        "Bank conflicts",
        "wavefronts beyond the ideal number",
        lambda c: c.shared_wavefronts_excessive,
        _explain_conflicts,
    ),
)


def used_columns(lines: Sequence[SourceLine]) -> tuple[Column, ...]:
    """The columns in which some line has a value."""
    return tuple(column for column in COLUMNS if any(column.value(line.counters) for line in lines))


def annotate(
    text: str | None,
    lines: Sequence[SourceLine],
    findings: Sequence[Finding],
    columns: Sequence[Column],
) -> list[Line]:
    """Every line of the source, or where it is not at hand the lines that the score holds."""
    counters = {line.line: line.counters for line in lines if line.line is not None}
    texts: Mapping[int, str] = (
        dict(enumerate(text.split("\n"), 1))
        if text is not None
        else {line.line: line.text for line in lines if line.line is not None}
    )
    hits = {number for finding in findings for number in (finding.line, finding.other_line)}
    largest = [
        max((column.value(each) for each in counters.values()), default=0) for column in columns
    ]
    return [
        Line(
            number, _show(line), _make_cells(counters.get(number), columns, largest), number in hits
        )
        for number, line in list(texts.items())[:MAX_LINES]
        if number < len(texts) or line  # no empty line after the last newline
    ]


def _make_cells(
    counters: Counters | None, columns: Sequence[Column], largest: Sequence[int]
) -> tuple[Cell, ...]:
    if counters is None:
        return (Cell(""),) * len(columns)
    return tuple(
        _make_cell(column, counters, most) for column, most in zip(columns, largest, strict=True)
    )


def _make_cell(column: Column, counters: Counters, largest: int) -> Cell:
    value = column.value(counters)
    if not value:
        return Cell("")
    tip = column.worse(counters)
    share = value / largest
    shade = "h3" if share > 0.5 else "h2" if share > 0.1 else "h1"
    return Cell(f"{value:,}", f"{shade} worse" if tip else shade, tip)


def _show(line: str) -> str:
    cleaned = clean_text(line.rstrip("\r")).replace("\n", " ")
    return cleaned if len(cleaned) <= MAX_WIDTH else cleaned[:MAX_WIDTH] + " …"


def describe_place(finding: Finding) -> str:
    """Where a finding was made: `block (1, 0, 0), thread (3, 0, 0)`."""
    parts = (
        f"kernel {finding.kernel}" if finding.kernel else "",
        f"block {finding.block}" if finding.block else "",
        f"thread {finding.thread}" if finding.thread else "",
        (
            f"{finding.buffer} + {finding.offset_bytes:,} bytes"
            if finding.buffer and finding.offset_bytes is not None
            else ""
        ),
    )
    return clean_line(", ".join(part for part in parts if part))
