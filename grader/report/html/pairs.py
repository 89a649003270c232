"""Pairs of submissions side by side, with their shared passages marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from grader.records import Comparison, Lines, SimilarPair
from grader.report.html.pages import render_page
from grader.report.shared_code import percent
from grader.report.text import clean_text

MAX_PAIRS = 200
"""Most pairs that are shown side by side; the table has all."""
MAX_LINES = 2000
_SHADES = 4


@dataclass(frozen=True)
class Side:
    """One file of a pair; `lines`: number, text, and the shade of its passage, which is the same in
    both files."""

    name: str
    shared: str
    lines: tuple[tuple[int, str, str], ...]


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
        starter=found.starter,
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
    return Side(file.name, percent(shared), tuple(_mark(file.text, passages)) if shown else ())


def _mark(text: str, passages: Sequence[Lines]) -> Iterator[tuple[int, str, str]]:
    shades = {
        line: f"s{number % _SHADES}"
        for number, each in enumerate(passages)
        for line in range(each.first, each.last + 1)
    }
    for number, line in enumerate(text.rstrip("\n").split("\n")[:MAX_LINES], 1):
        yield (
            number,
            clean_text(line.rstrip("\r")).replace("\n", " ")[:1000],
            shades.get(number, ""),
        )
