"""Pictures of a warp's accesses at the lines that lose most, with their captions, for pages."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup

from grader.messages.sizes import list_sizes
from grader.messages.warp_accesses import (
    describe_bank,
    describe_cost,
    describe_lanes,
    describe_warp,
)
from grader.records import Memory, WarpAccess
from grader.report.access_layout import (
    BANKS,
    ROW_WORDS,
    SECTOR_WORDS,
    WORD_BYTES,
    Lanes,
    Row,
    actual_rows,
    busiest_bank,
    ideal_rows,
)
from grader.report.annotation import Annotation
from grader.report.html.pages import render_drawing
from grader.report.text import clean_line

CELL, LABEL, HEAD, FOOT, SECTOR_GAP = 14, 24, 18, 20, 6
"""In pixels, as in `templates/warp.svg`."""


@dataclass(frozen=True)
class _Cell:
    """Neighbouring words with the same lanes; `words` is the text under the pointer."""

    x: int
    width: int
    sign: str
    words: str


@dataclass(frozen=True)
class _Drawn:
    """A row of a picture. `sectors`: the left edge of each sector of a line, and the words of it
    that lanes request; None for a sector that is not moved."""

    number: int
    y: int
    kind: str
    sectors: Sequence[tuple[int, int | None]]
    cells: Sequence[_Cell]


def draw_actual(access: WarpAccess) -> Markup:
    """The access as executed."""
    lost_from = access.passes_ideal if access.memory is Memory.SHARED else None
    return _draw(access, actual_rows(access), tips=True, lost_from=lost_from)


def draw_ideal(access: WarpAccess) -> Markup:
    """The same words, laid side by side."""
    return _draw(access, ideal_rows(access), tips=False, lost_from=None)


def _draw(access: WarpAccess, rows: Sequence[Row], *, tips: bool, lost_from: int | None) -> Markup:
    memory, bottom = access.memory, HEAD + CELL * len(rows)
    drawn = [
        _Drawn(
            row.number,
            HEAD + CELL * index,
            "used" if lost_from is None or index < lost_from else "lost",
            [*_sectors(row)] if memory is Memory.GLOBAL else (),
            [*_cells(row, access)],
        )
        for index, row in enumerate(rows)
    ]
    return render_drawing(
        "warp.svg",
        width=_x(memory, ROW_WORDS - 1) + CELL + 2,
        height=bottom + (FOOT if tips else 2),
        tips=tips,
        heads=[*_heads(memory)],
        grid=_grid(bottom) if memory is Memory.SHARED else "",
        rows=drawn,
    )


def _heads(memory: Memory) -> Iterator[tuple[int, str]]:
    """Numbers of banks, or of sectors, with their places."""
    for place in range(0, BANKS, SECTOR_WORDS):
        sector = f"sector {place // SECTOR_WORDS}"
        yield _x(memory, place), f"bank {place}" if memory is Memory.SHARED else sector


def _grid(bottom: int) -> str:
    """The path of the lines between cells."""
    lines = [f"M{LABEL + CELL * bank},{HEAD}V{bottom}" for bank in range(BANKS + 1)]
    lines += [f"M{LABEL},{y}H{LABEL + CELL * BANKS}" for y in range(HEAD, bottom + 1, CELL)]
    return "".join(lines)


def _sectors(row: Row) -> Iterator[tuple[int, int | None]]:
    for start in range(0, ROW_WORDS, SECTOR_WORDS):
        used = sum(bool(lanes) for lanes in row.lanes[start : start + SECTOR_WORDS])
        yield _x(Memory.GLOBAL, start), used if row.moved[start] else None


def _cells(row: Row, access: WarpAccess) -> Iterator[_Cell]:
    """Neighbouring words with the same lanes; a sector ends them."""
    place, shared = 0, access.memory is Memory.SHARED
    groups = groupby(enumerate(row.lanes), key=lambda each: (each[1], each[0] // SECTOR_WORDS))
    for (lanes, _), words in groups:
        count = len([*words])
        if lanes:
            where = f"bank {place}" if shared else f"sector {place // SECTOR_WORDS}"
            yield _Cell(
                _x(access.memory, place),
                _width(access, count, lanes),
                str(lanes[0]) if len(lanes) == 1 else f"{len(lanes)}×",
                clean_line(f"{describe_lanes(access, lanes)}, {where}"),
            )
        place += count


def _width(access: WarpAccess, words: int, lanes: Lanes) -> int:
    """The width of a cell: of a word of global memory, the part that lanes request."""
    width = CELL * words - 1
    if access.memory is Memory.SHARED or access.width_bytes >= WORD_BYTES:
        return width
    starts = {access.addresses[lane] for lane in lanes}
    asked = min(WORD_BYTES, access.width_bytes * len(starts))
    return max(3, width * asked // WORD_BYTES)


def _x(memory: Memory, place: int) -> int:
    gap = SECTOR_GAP * (place // SECTOR_WORDS) if memory is Memory.GLOBAL else 0
    return LABEL + CELL * place + gap


@dataclass(frozen=True)
class WarpFigure:
    """`ideal` is None where no smaller number is possible. `first`: the first figure of its
    line."""

    line: int
    text: str
    cost: str
    words: str
    warp: str
    executed: str
    actual: Markup
    would_do: str
    ideal: Markup | None
    shown: bool
    first: bool


@dataclass(frozen=True)
class WarpFigures:
    """All figures of a source, and the sizes of the run, in words."""

    figures: tuple[WarpFigure, ...]
    sizes: str


def make_figures(annotation: Annotation, lost: Collection[WarpAccess] = ()) -> WarpFigures:
    """A figure of each access of a source; the figures of accesses that cost points (`lost`) are
    open at once, or else the first figure."""
    texts = {line.number: line.text for line in annotation.lines}
    shown = lost or annotation.accesses[:1]
    figures = (
        _make_figure(
            access,
            clean_line(texts.get(access.line, "")),
            shown=access in shown,
            first=access.line not in {each.line for each in annotation.accesses[:index]},
        )
        for index, access in enumerate(annotation.accesses)
    )
    return WarpFigures(tuple(figures), list_sizes(annotation.sizes))


def _make_figure(access: WarpAccess, text: str, *, shown: bool, first: bool) -> WarpFigure:
    words = describe_bank(access, *busiest_bank(access)) if access.memory is Memory.SHARED else ""
    fewer = access.passes_ideal < access.passes
    return WarpFigure(
        line=access.line,
        text=text,
        cost=_sentence(describe_cost(access)),
        words=_sentence(words),
        warp=_sentence(describe_warp(access)),
        executed=_count(access.passes, access),
        actual=draw_actual(access),
        would_do=_count(access.passes_ideal, access),
        ideal=draw_ideal(access) if fewer else None,
        shown=shown,
        first=first,
    )


def _sentence(words: str) -> str:
    return clean_line(f"{words[0].upper()}{words[1:]}.") if words else ""


def _count(number: int, access: WarpAccess) -> str:
    unit = "wavefront" if access.memory is Memory.SHARED else "sector"
    return f"{number} {unit}{'' if number == 1 else 's'}"
