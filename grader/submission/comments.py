"""Find the `//` comments of a C++ source text, and leave out what only looks like one inside strings and block comments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_PIECES = re.compile(
    r"""
      (?P<comment> // (?: \\\r?\n | [^\n] )*+ )                           # goes on where a backslash ends the line
    | /\* .*? (?: \*/ | \Z )
    | \b (?: u8 | [uUL] )? R " (?P<mark> [^()\\\s]{0,16} ) \( .*? (?: \) (?P=mark) " | \Z )
    | " (?: \\. | [^"\\\n] )*+ "?
    | \b [0-9] [0-9A-Za-z_.']*                                            # 1'000 holds no character literal
    | ' (?: \\. | [^'\\\n] )*+ '?
    | \b [A-Za-z_] \w*
    """,
    re.VERBOSE | re.DOTALL,
)


@dataclass(frozen=True)
class Comment:
    """A `//` comment: `text` is what follows the slashes, and starts at `line` and `column` (1-based).

    `own_line`: nothing but white space stands before it.
    """

    text: str
    line: int
    column: int
    own_line: bool


def find_comments(source: str) -> Iterator[Comment]:
    """All `//` comments in order."""
    line, counted = 1, 0
    for match in _PIECES.finditer(source):
        if match["comment"] is None:
            continue
        start = match.start()
        line += source.count("\n", counted, start)
        counted = start
        line_start = source.rfind("\n", 0, start) + 1
        before = source[line_start:start]
        yield Comment(match["comment"][2:].rstrip("\r"), line, len(before) + 3, not before.strip())
