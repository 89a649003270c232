"""Pairs of submissions side by side, with their shared passages marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.records import Comparison, Lines, SimilarPair
from grader.report.html.pages import render_page
from grader.report.shared_code import percent
from grader.report.text import clean_line, clean_text

MAX_PAIRS = 200
"""Most pairs that are shown side by side; the table has all."""
MAX_LINES = 2000
_SHADES = 4


@dataclass(frozen=True)
class Line:
    """A source line; `kind` is the shade of its passage, the same in both files."""

    number: int
    text: str
    kind: str


@dataclass(frozen=True)
class Side:
    """One file of a pair."""

    name: str
    shared: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Pair:
    """A pair on the page; `anchor` is None where only the table has it."""

    number: int
    similarity: str
    left: Side
    right: Side
    identical: bool
    shown: bool


def format_similar_page(found: Comparison) -> str:
    """The page: a table of the pairs that links to the files side by side."""
    return render_page(
        "similar.html",
        script=True,
        pairs=[_make_pair(found, pair, number) for number, pair in enumerate(found.pairs)],
        files=len(found.files),
        threshold=percent(found.threshold),
        starter=clean_line(found.starter) if found.starter else None,
        all_pairs=len(found.files) * (len(found.files) - 1) // 2,
        most=MAX_PAIRS,
    )


def _make_pair(found: Comparison, pair: SimilarPair, number: int) -> Pair:
    shown = number < MAX_PAIRS
    left = [passage.left for passage in pair.passages]
    right = [passage.right for passage in pair.passages]
    return Pair(
        number,
        percent(pair.similarity),
        _make_side(found, pair.left, pair.left_shared, left, shown=shown),
        _make_side(found, pair.right, pair.right_shared, right, shown=shown),
        pair.identical,
        shown,
    )


def _make_side(
    found: Comparison, index: int, shared: float, passages: Sequence[Lines], *, shown: bool
) -> Side:
    file = found.files[index]
    return Side(
        clean_line(file.name), percent(shared), tuple(_mark(file.text, passages)) if shown else ()
    )


def _mark(text: str, passages: Sequence[Lines]) -> Iterator[Line]:
    shades = {
        line: f"s{number % _SHADES}"
        for number, each in enumerate(passages)
        for line in range(each.first, each.last + 1)
    }
    for number, line in enumerate(text.rstrip("\n").split("\n")[:MAX_LINES], 1):
        yield Line(
            number, clean_text(line.rstrip("\r")).replace("\n", " ")[:1000], shades.get(number, "")
        )
