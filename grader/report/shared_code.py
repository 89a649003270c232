"""Pairs of submissions that share code: as a table on a terminal, and as JSON."""

from __future__ import annotations

import json
import math

from rich.console import Console

from grader.records import Comparison, SimilarPair
from grader.report.terminal import Page

_PASSAGES = 4
"""Most passages in a row of the table; the JSON and the page have all."""


def percent(part: float) -> str:
    """A fraction in whole per cent, rounded down: only equal files have 100 %."""
    return f"{math.floor(100 * part + 1e-9)} %"


def format_comparison(found: Comparison) -> str:
    """The comparison as indented JSON; lines are 1-based, both ends included, and similarities 0 to
    1."""
    plain = {
        "schema_version": 1,
        "threshold": found.threshold,
        "starter": found.starter,
        "files": [
            {"name": file.name, "tokens": file.tokens, "own_tokens": file.own_tokens}
            for file in found.files
        ],
        "pairs": [_plain_pair(found, pair) for pair in found.pairs],
    }
    return json.dumps(plain, indent=2) + "\n"


def _plain_pair(found: Comparison, pair: SimilarPair) -> dict[str, object]:
    return {
        "files": [found.files[pair.left].name, found.files[pair.right].name],
        "similarity": round(pair.similarity, 4),
        "shared": [round(pair.left_shared, 4), round(pair.right_shared, 4)],
        "identical": pair.identical,
        "passages": [
            {"lines": [list(passage.left), list(passage.right)], "tokens": passage.tokens}
            for passage in pair.passages
        ],
    }


def print_comparison(found: Comparison, *, console: Console, top: int | None = None) -> None:
    """A row for each pair, the most similar first, with the lines that they share."""
    page = Page(console)
    table = page.make_table("Similar", "First", "Second", "Shared lines", right=("Similar",))
    for pair in found.pairs[:top]:
        names = (
            page.text(f"{found.files[index].name} ({percent(part)})")
            for index, part in _sides(pair)
        )
        table.add_row(page.text(percent(pair.similarity)), *names, page.text(_name_passages(pair)))
    if found.pairs:
        console.print(table)
        console.print()
    console.print(page.text(_summarise(found, top)), soft_wrap=True)


def _sides(pair: SimilarPair) -> tuple[tuple[int, float], tuple[int, float]]:
    return (pair.left, pair.left_shared), (pair.right, pair.right_shared)


def _name_passages(pair: SimilarPair) -> str:
    if pair.identical:
        return "all: the same but for names, numbers and how it is written"
    rest = len(pair.passages) - _PASSAGES
    return ", ".join(_longest(pair)) + (f" and {rest} more" if rest > 0 else "")


def _longest(pair: SimilarPair) -> list[str]:
    chosen = sorted(pair.passages, key=lambda passage: -passage.tokens)[:_PASSAGES]
    return [
        f"{passage.left} = {passage.right}"
        for passage in sorted(chosen, key=lambda passage: passage.left)
    ]


def _summarise(found: Comparison, top: int | None) -> str:
    files = len(found.files)
    hidden = max(0, len(found.pairs) - top) if top is not None else 0
    starter = f"the code of {found.starter} left out" if found.starter else "no starter subtracted"
    more = f" ({hidden} not shown)" if hidden else ""
    pairs = "1 pair" if len(found.pairs) == 1 else f"{len(found.pairs):,} pairs"
    return (
        f"{pairs} of {files * (files - 1) // 2:,} share {percent(found.threshold)} or more{more};"
        f" {files:,} files, {starter}."
    )
