"""Finds the comments of a C++ source text; comment signs inside strings and other comments do not
count."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cpp.lexer import Kind, Token, read_tokens


@dataclass(frozen=True)
class Comment:
    """A `//` comment, or a line of a block comment: `text` follows `opening`, and starts at `line`
    and `column` (1-based).

    `own_line`: only white space stands before a `//` comment. `opening` is `//`, `/*`, or empty in
    the further lines of a block.
    """

    text: str
    line: int
    column: int
    own_line: bool
    opening: str = "//"


def find_comments(source: str) -> Iterator[Comment]:
    """All comments in order; of block comments each line that is not blank."""
    blank = True  # nothing but white space has been seen of this line
    for token in read_tokens(source):
        if token.kind is Kind.COMMENT:
            yield Comment(token.text[2:].rstrip("\r"), token.line, token.column + 2, blank)
        elif token.kind is Kind.BLOCK:
            yield from _lines_of_block(token)
        blank = token.kind in (Kind.NEWLINE, Kind.SPLICE) or (blank and token.kind is Kind.SPACE)


def _lines_of_block(block: Token) -> Iterator[Comment]:
    for index, text in enumerate(block.text[2:].removesuffix("*/").split("\n")):
        if text.strip():
            column, opening = (1, "") if index else (block.column + 2, "/*")
            yield Comment(text.rstrip(), block.line + index, column, False, opening)
