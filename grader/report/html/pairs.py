"""Pairs of submissions side by side, with their shared passages marked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.records import ComparedFile, Comparison, Lines, SimilarPair
from grader.report.html.pages import render_page
from grader.report.shared_code import percent
from grader.report.text import clean_text

MAX_PAIRS = 200
"""Most pairs that are shown side by side; the table has all."""
MAX_LINES = 2000
_SHADES = 4


def format_similar_page(found: Comparison) -> str:
    """The page: a table of the pairs that links to the files side by side."""
    return render_page(
        "similar.html",
        script=True,
        pairs=[(pair, _list_sides(found, pair)) for pair in found.pairs],
        mark=_mark,
        percent=percent,
        files=len(found.files),
        threshold=percent(found.threshold),
        starter=found.starter,
        all_pairs=len(found.files) * (len(found.files) - 1) // 2,
        most=MAX_PAIRS,
    )


def _list_sides(
    found: Comparison, pair: SimilarPair
) -> list[tuple[ComparedFile, float, list[Lines]]]:
    """Both files with their shared parts and passages."""
    left = [passage.left for passage in pair.passages]
    right = [passage.right for passage in pair.passages]
    files = found.files[pair.left], found.files[pair.right]
    return [(files[0], pair.left_shared, left), (files[1], pair.right_shared, right)]


def _mark(text: str, passages: Sequence[Lines]) -> Iterator[tuple[int, str, str]]:
    """Number, text, and the shade of its passage, which is the same in both files."""
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
