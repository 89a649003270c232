"""Pictures of a warp's accesses at the lines that lose most, with their captions, for pages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from markupsafe import Markup

from grader.messages.sizes import list_sizes
from grader.messages.warp_accesses import describe_bank, describe_cost, describe_warp
from grader.records import Memory, WarpAccess
from grader.report.access_layout import busiest_bank
from grader.report.annotation import Annotation
from grader.report.html.warp_charts import draw_actual, draw_ideal
from grader.report.text import clean_line


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
