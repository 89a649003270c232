"""The values of C's literals: integers, floating-point numbers and characters."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.cpp.cursor import problem_at, quote
from grader.cpp.evaluation import LARGEST_VALUE, round_real
from grader.cpp.lexer import Kind, Token
from grader.cpp.tree import Node, Number, RealNumber
from grader.records import Obstacle, Syntax

_LONGEST_LITERAL = 80
_INTEGER = re.compile(
    r"(?P<digits>0[xX][0-9A-Fa-f]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?",
    re.ASCII,
)
_REAL = re.compile(
    r"(?P<digits>(?:[0-9]++\.[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?|[0-9]++[eE][+-]?[0-9]++)(?P<single>[fF]?)",
    re.ASCII,
)


_CHARACTER = re.compile(
    r"'(?:(?P<plain>[^\\'])|\\(?:(?P<octal>[0-7]{1,3})|x(?P<hex>[0-9A-Fa-f]{1,2})|(?P<escape>.)))'"
)
_ESCAPES: Mapping[str, int] = {
    **{letter: ord(letter) for letter in "'\"?\\"},
    **dict(zip("abtnvfr", range(7, 14), strict=True)),
}


def _read_character(token: Token) -> Number:
    """The code of a character of ASCII, which may be an escape: `'a'`, `'\\n'`, `'\\x41'`."""
    match = _CHARACTER.fullmatch(token.text)
    value = None
    if match is not None and match["plain"] is not None:
        value = ord(match["plain"])
    elif match is not None and match["escape"] is not None:
        value = _ESCAPES.get(match["escape"])
    elif match is not None:
        value = int(match["octal"] or match["hex"], 8 if match["octal"] else 16)
    if value is None or value > 127:
        raise problem_at(token.position, Syntax.NOT_A_CHARACTER, text=quote(token.text))
    return Number(value)


def read_literal(token: Token) -> Node:
    """A literal as C reads it: a character, an integer (decimal, hexadecimal, octal or binary, with
    the suffixes u, l and ll), or a floating-point number with or without f."""
    if token.kind is Kind.CHARACTER:
        return _read_character(token)
    text = token.text.replace("'", "")
    real = _REAL.fullmatch(text) if len(text) <= _LONGEST_LITERAL else None
    if real is not None:
        size_bytes = 4 if real["single"] else 8
        return RealNumber(round_real(float(real["digits"]), size_bytes))
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise problem_at(token.position, Syntax.NOT_A_NUMBER, text=quote(token.text))
    digits = match["digits"]
    value = int(digits, _base(digits)) if len(digits) <= _LONGEST_LITERAL else LARGEST_VALUE + 1
    if value > LARGEST_VALUE:
        raise problem_at(token.position, Obstacle.BEYOND_64_BITS)
    return Number(value)


_PREFIXES: Mapping[str, int] = {"0x": 16, "0b": 2}


def _base(digits: str) -> int:
    return _PREFIXES.get(digits[:2].lower(), 8 if digits[0] == "0" else 10)
