"""Pictures of a warp's accesses at the lines that lose most, with their captions, for pages."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from markupsafe import Markup, escape

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
from grader.report.plot import draw_text
from grader.report.text import clean_line

CELL, LABEL, HEAD, FOOT, SECTOR_GAP = 14, 24, 18, 20, 6
DescribeCell = Callable[[Row, int, Lanes], str] | None
"""The text of a cell, by its place in the row and its lanes."""


@dataclass(frozen=True)
class _Cell:
    """Neighbouring words with the same lanes."""

    place: int
    words: int
    lanes: Lanes


def draw_actual(access: WarpAccess) -> Markup:
    """The access as executed."""

    def describe(row: Row, place: int, lanes: Lanes) -> str:
        where = f"bank {place}" if access.memory is Memory.SHARED else f"sector {place // 8}"
        return clean_line(f"{describe_lanes(access, lanes)}, {where}")

    lost_from = access.passes_ideal if access.memory is Memory.SHARED else None
    return _draw(access, actual_rows(access), describe, lost_from=lost_from)


def draw_ideal(access: WarpAccess) -> Markup:
    """The same words, laid side by side."""
    return _draw(access, ideal_rows(access), None, lost_from=None)


def _draw(
    access: WarpAccess, rows: Sequence[Row], describe: DescribeCell, *, lost_from: int | None
) -> Markup:
    width = _x(access.memory, ROW_WORDS - 1) + CELL + 2
    height = HEAD + CELL * len(rows) + (FOOT if describe else 2)
    body = [*_head(access.memory, len(rows))]
    for index, row in enumerate(rows):
        y = HEAD + CELL * index
        body.append(_text(LABEL - 5, y + 11, str(row.number), "end"))
        if access.memory is Memory.GLOBAL:
            body += _sectors(row, y)
        lost = lost_from is not None and index >= lost_from
        for cell in _cells(row):
            body.append(_draw_cell(access, row, cell, y, describe, lost=lost, foot=height - 6))
    label = "executed" if describe else "ideal"
    role = f'role="group" aria-label="{label}, word by word"' if describe else 'aria-hidden="true"'
    return Markup(
        f'<svg class="warp" {role} viewBox="0 0 {width} {height}" width="{width}">'
        + "".join(body)
        + "</svg>"
    )


def _head(memory: Memory, rows: int) -> Iterator[str]:
    """Numbers of banks, or of sectors, and the background of the cells."""
    step = 8 if memory is Memory.SHARED else SECTOR_WORDS
    for place in range(0, BANKS, step):
        x = _x(memory, place)
        label = f"bank {place}" if memory is Memory.SHARED else f"sector {place // SECTOR_WORDS}"
        yield _text(x, HEAD - 6, label, "start")
    if memory is Memory.SHARED:
        bottom = HEAD + CELL * rows
        lines = "".join(f"M{LABEL + CELL * bank},{HEAD}V{bottom}" for bank in range(BANKS + 1))
        lines += "".join(
            f"M{LABEL},{HEAD + CELL * row}H{LABEL + CELL * BANKS}" for row in range(rows + 1)
        )
        yield f'<path class="grid" d="{lines}"/>'


def _sectors(row: Row, y: int) -> Iterator[str]:
    """The sectors of a line: the moved sectors with their used fraction, and the others."""
    for start in range(0, ROW_WORDS, SECTOR_WORDS):
        moved = row.moved[start]
        used = sum(bool(lanes) for lanes in row.lanes[start : start + SECTOR_WORDS])
        kind = "wasted" if moved else "unmoved"
        tip = f"<title>{used} of {SECTOR_WORDS} words asked for</title>" if moved else ""
        yield (
            f'<rect class="{kind}" x="{_x(Memory.GLOBAL, start)}" y="{y + 1}"'
            f' width="{CELL * SECTOR_WORDS}" height="{CELL - 2}">{tip}</rect>'
        )


def _cells(row: Row) -> Iterator[_Cell]:
    """Neighbouring words with the same lanes; a sector ends them."""
    place = 0
    groups = groupby(enumerate(row.lanes), key=lambda each: (each[1], each[0] // SECTOR_WORDS))
    for (lanes, _), words in groups:
        count = len([*words])
        if lanes:
            yield _Cell(place, count, lanes)
        place += count


def _draw_cell(
    access: WarpAccess,
    row: Row,
    cell: _Cell,
    y: int,
    describe: DescribeCell,
    *,
    lost: bool,
    foot: int,
) -> str:
    x, width = _x(access.memory, cell.place), CELL * cell.words - 1
    if access.memory is Memory.GLOBAL and access.width_bytes < WORD_BYTES:
        width = max(3, width * _bytes_asked(access, cell.lanes) // WORD_BYTES)
    kind = "lost" if lost else "used"
    drawn = (
        f'<rect class="{kind}" x="{x + 0.5:g}" y="{y + 1}" width="{width}" height="{CELL - 2}"'
        ' rx="2"/>'
    )
    drawn += _text(x + width / 2, y + 10.5, _sign(cell.lanes), "middle", "sign")
    if describe is None:
        return drawn
    words = describe(row, cell.place, cell.lanes)
    tip = _text(LABEL, foot, words, "start", "tip")
    return f'<g class="cell" tabindex="0" role="img"><title>{escape(words)}</title>{drawn}{tip}</g>'


def _bytes_asked(access: WarpAccess, lanes: Lanes) -> int:
    """Distinct bytes that are read of one word."""
    starts = {access.addresses[lane] for lane in lanes}
    return min(WORD_BYTES, access.width_bytes * len(starts))


def _sign(lanes: Lanes) -> str:
    return str(lanes[0]) if len(lanes) == 1 else f"{len(lanes)}×"


def _x(memory: Memory, place: int) -> int:
    gap = SECTOR_GAP * (place // SECTOR_WORDS) if memory is Memory.GLOBAL else 0
    return LABEL + CELL * place + gap


def _text(x: float, y: float, text: str, anchor: str, kind: str = "tick") -> str:
    return draw_text({"class": kind, "x": f"{x:g}", "y": f"{y:g}", "text-anchor": anchor}, text)


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
