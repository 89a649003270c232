"""C++ source as tokens, in one pass: what everybody who looks at a submission's text reads, so that
no text costs more than linear time.

Every character is in exactly one token. Repetitions are possessive, or end at the first place where
they can, so that nothing is tried twice: a token costs its own length. Lines are as they stand: a
backslash at the end of one is a token of its own, or goes on in a `//` comment and a literal.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import NamedTuple


class Kind(StrEnum):
    """What a token is. NEWLINE ends a line, SPLICE is a backslash that lets it go on."""

    SPACE = "space"
    NEWLINE = "newline"
    SPLICE = "splice"
    COMMENT = "comment"
    BLOCK = "block"
    RAW = "raw"
    STRING = "string"
    CHARACTER = "character"
    NUMBER = "number"
    NAME = "name"
    SYMBOL = "symbol"


class Token(NamedTuple):
    """A token and the 0-based offset where it starts."""

    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        """The offset just behind it."""
        return self.start + len(self.text)


_TOKEN = re.compile(
    r"""
      (?P<space> [^\S\n]++ )
    | (?P<newline> \n )
    | (?P<splice> \\ [ \t\f\v\r]*+ \n )                                  # gcc lets white space stand behind the backslash
    | (?P<comment> // (?: \\ \r? \n | [^\n] )*+ )                         # goes on where a backslash ends the line
    | (?P<block> /\* .*? (?: \*/ | \Z ) )
    | (?P<raw> (?: u8 | [uUL] )? R " (?P<mark> [^()\\\s]{0,16}+ ) \( .*? (?: \) (?P=mark) " | \Z ) )
    | (?P<string> (?: u8 | [uUL] )? " (?: \\. | [^"\\\n] )*+ "? )
    | (?P<character> (?: u8 | [uUL] )? ' (?: \\. | [^'\\\n] )*+ '? )
    | (?P<number> \.? [0-9] (?: [eEpP] [+-] | ' (?= [0-9A-Za-z] ) | [0-9A-Za-z_.] )*+ )   # 1'000 holds no character literal
    | (?P<name> (?: [^\W\d] | \$ ) [\w$]*+ )                              # gcc lets names hold dollars
    | (?P<symbol> <<< | >>> | << | >> | -> | \+\+ | -- | && | \|\| | :: | [-+*/%&|^=!<>]= | \#\# | %:%: | . )
    """,
    re.VERBOSE | re.DOTALL,
)
_KINDS = {kind.value: kind for kind in Kind}
_UNSEEN = frozenset({Kind.SPACE, Kind.NEWLINE, Kind.SPLICE, Kind.COMMENT, Kind.BLOCK})


def read_tokens(source: str) -> Iterator[Token]:
    """All tokens; joined they are the source."""
    for match in _TOKEN.finditer(source):
        yield Token(_KINDS[match.lastgroup or ""], match.group(), match.start())


def read_code(source: str) -> list[Token]:
    """The tokens that a compiler sees: without white space and comments."""
    return [token for token in read_tokens(source) if token.kind not in _UNSEEN]


def read_code_and_lines(source: str) -> list[Token]:
    """The same, and the ends of lines, which end directives."""
    return [
        token
        for token in read_tokens(source)
        if token.kind is Kind.NEWLINE or token.kind not in _UNSEEN
    ]


def without_comments(source: str) -> str:
    """The source with a space for every comment."""
    return "".join(
        " " if token.kind in (Kind.COMMENT, Kind.BLOCK) else token.text
        for token in read_tokens(source)
    )
