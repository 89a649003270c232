"""The values of C's literals: integers and floating-point numbers."""

from __future__ import annotations

import re
from collections.abc import Mapping

from grader.cpp.cursor import error_at, quote
from grader.cpp.evaluation import LARGEST_VALUE, round_real
from grader.cpp.lexer import Token
from grader.cpp.tree import Node, Number, RealNumber
from grader.records import Obstacle

_LONGEST_LITERAL = 80
_INTEGER = re.compile(
    r"(?P<digits>0[xX][0-9A-Fa-f]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?",
    re.ASCII,
)
_REAL = re.compile(
    r"(?P<digits>(?:[0-9]++\.[0-9]*+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?|[0-9]++[eE][+-]?[0-9]++)(?P<single>[fF]?)",
    re.ASCII,
)


def read_number(token: Token) -> Node:
    """A literal as C reads it: decimal, hexadecimal, octal or binary with the suffixes u, l and ll,
    or a floating-point one with or without f."""
    text = token.text.replace("'", "")
    real = _REAL.fullmatch(text) if len(text) <= _LONGEST_LITERAL else None
    if real is not None:
        size_bytes = 4 if real["single"] else 8
        return RealNumber(round_real(float(real["digits"]), size_bytes), token.position)
    match = _INTEGER.fullmatch(text)
    if match is None:
        raise error_at(token.position, f"{quote(token.text)} is no number as C writes them")
    digits = match["digits"]
    value = int(digits, _base(digits)) if len(digits) <= _LONGEST_LITERAL else LARGEST_VALUE + 1
    if value > LARGEST_VALUE:
        message = "the value does not fit 64 bits"
        raise error_at(token.position, message, obstacle=Obstacle.BEYOND_64_BITS)
    return Number(value, token.position)


_PREFIXES: Mapping[str, int] = {"0x": 16, "0b": 2}


def _base(digits: str) -> int:
    return _PREFIXES.get(digits[:2].lower(), 8 if digits[0] == "0" else 10)
