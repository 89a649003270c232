"""Find the comments of a C++ source text, and leave out what only looks like one inside strings and
other comments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cpp.lexer import Kind, read_tokens


@dataclass(frozen=True)
class Comment:
    """A `//` comment, or one line of a block comment: `text` is what follows `opening`, and starts
    at `line` and `column` (1-based).

    `own_line`: nothing but white space stands before a `//` comment. `opening` is `//`, `/*`, or
    empty in the further lines of a block.
    """

    text: str
    line: int
    column: int
    own_line: bool
    opening: str = "//"


def find_comments(source: str) -> Iterator[Comment]:
    """All comments in order; of block comments each line that is not blank."""
    line, counted, line_start = 1, 0, 0
    for kind, text, start in read_tokens(source):
        if kind not in (Kind.COMMENT, Kind.BLOCK):
            continue
        line += source.count("\n", counted, start)
        line_start = max(line_start, source.rfind("\n", counted, start) + 1)
        counted = start
        column = start - line_start + 3
        if kind is Kind.COMMENT:
            before = source[line_start:start]
            yield Comment(text[2:].rstrip("\r"), line, column, not before.strip())
        else:
            yield from _lines_of_block(text, line, column)


def _lines_of_block(block: str, line: int, column: int) -> Iterator[Comment]:
    for index, text in enumerate(block[2:].removesuffix("*/").split("\n")):
        if text.strip():
            yield Comment(
                text.rstrip(), line + index, 1 if index else column, False, "" if index else "/*"
            )
