"""Integer expressions of the launch-line language: parser and evaluation, every error with line and
column.

The language has integers as C writes them, names, `+ - * / %` with C's meaning, parentheses,
`ceil_div`, `min` and `max`. It serves launch lines, macro values and the formulas of a spec.
Nothing here calls Python's `eval`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import assert_never

from grader.cpp.cursor import (
    Cursor,
    LanguageError,
    Position,
    Token,
    TokenKind,
    did_you_mean,
    error_at,
    quote,
    read_tokens,
)
from grader.records import Obstacle

__all__ = [
    "Expression",
    "LanguageError",
    "Position",
    "parse_expression",
    "parse_integer",
    "take_expression",
]

MAX_DEPTH = 64
"""Most nested parentheses, calls and signs; keeps parser and evaluation far from Python's recursion
limit."""

SMALLEST_VALUE = -(1 << 63)
LARGEST_VALUE = (1 << 64) - 1

_ADVICE_FOR_UNKNOWN_FUNCTION = {
    "sizeof": "; write the size in bytes as a number (a float has 4)",
    "dim3": "; dim3(...) stands by itself, as the grid or the block of a launch",
    "ceil": "; write ceil_div(a, b) to divide and round up",
    "cdiv": "; write ceil_div(a, b) to divide and round up",
}


# --- the tree -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Number:
    """An integer literal."""

    value: int
    position: Position


@dataclass(frozen=True)
class Name:
    """A name whose value is given at evaluation."""

    name: str
    position: Position


@dataclass(frozen=True)
class Sign:
    """A unary `+` or `-`."""

    operator: str
    operand: Node
    position: Position


@dataclass(frozen=True)
class Step:
    """One operator of a chain and its right operand."""

    operator: str
    operand: Node
    position: Position


@dataclass(frozen=True)
class Chain:
    """Operators of one precedence, left to right: `first - a + b`. A list, so that a long sum is
    not a deep tree."""

    first: Node
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Call:
    """A call of one of `FUNCTIONS`."""

    function: str
    left: Node
    right: Node
    position: Position


Node = Number | Name | Sign | Chain | Call


@dataclass(frozen=True)
class Expression:
    """A parsed integer expression: its text, where it starts, its tree, and the names that it
    needs."""

    text: str
    position: Position
    tree: Node
    names: frozenset[str]

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value, given the values of the names. LanguageError for an unknown name, a division
        by zero, or a result beyond 64 bits."""
        return _evaluate(self.tree, values)

    @property
    def bare_name(self) -> str | None:
        """The name, where the whole expression is one name and nothing else."""
        return self.tree.name if isinstance(self.tree, Name) else None

    def place_of(self, name: str) -> Position:
        """Where the name is used first; the start of the expression where it is not."""
        return self._places.get(name, self.position)

    @cached_property
    def _places(self) -> dict[str, Position]:
        """Every token's first place: read once, because a line may have thousands of names."""
        tokens = read_tokens(self.text, line=self.position.line, column=self.position.column)
        return {token.text: token.position for token in reversed(tokens)}


# --- parsing --------------------------------------------------------------------------------------


def parse_expression(text: str, *, line: int = 1, column: int = 1) -> Expression:
    """Parse a text that is one expression and nothing else; LanguageError where it is not."""
    cursor = Cursor(text, line=line, column=column)
    expression = take_expression(cursor)
    if cursor.token.kind is not TokenKind.END:
        raise cursor.expected("an operator or the end")
    return expression


def take_expression(cursor: Cursor) -> Expression:
    """Parse the expression that starts at the cursor and leave the cursor after it."""
    start = cursor.index
    tree = _take_sum(cursor, 0)
    tokens = cursor.taken_since(start)
    names = frozenset(
        token.text
        for token, after in zip(tokens, (*tokens[1:], None), strict=True)
        if _is_variable(token, after)
    )
    return Expression(
        cursor.text[tokens[0].start : tokens[-1].end], tokens[0].position, tree, names
    )


def parse_integer(token: Token) -> int:
    """The value of a number token as C reads it: decimal, hexadecimal, octal or binary, with the
    suffixes u, l and ll."""
    match = _INTEGER.fullmatch(token.text)
    if match is None:
        raise error_at(
            token.position, f"{quote(token.text)} is no integer; only integers can be used here"
        )
    digits = match["digits"]
    value = int(digits, _base(digits)) if len(digits) <= _LONGEST_LITERAL else LARGEST_VALUE + 1
    return _in_range(value, token.position)


_LONGEST_LITERAL = 80
_INTEGER = re.compile(
    r"(?P<digits>0[xX][0-9A-Fa-f]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)(?:[uU](?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU]?)?",
    re.ASCII,
)


def _base(digits: str) -> int:
    if digits[:2] in ("0x", "0X"):
        return 16
    if digits[:2] in ("0b", "0B"):
        return 2
    return 8 if digits[0] == "0" else 10


def _is_variable(token: Token, after: Token | None) -> bool:
    return token.kind is TokenKind.NAME and not (after is not None and after.text == "(")


def _take_sum(cursor: Cursor, depth: int) -> Node:
    return _take_chain(cursor, depth, _take_product, ("+", "-"))


def _take_product(cursor: Cursor, depth: int) -> Node:
    return _take_chain(cursor, depth, _take_factor, ("*", "/", "%"))


def _take_chain(
    cursor: Cursor,
    depth: int,
    take_operand: Callable[[Cursor, int], Node],
    operators: tuple[str, ...],
) -> Node:
    first = take_operand(cursor, depth)
    steps = []
    while cursor.at(*operators):
        operator = cursor.take()
        steps.append(Step(operator.text, take_operand(cursor, depth), operator.position))
    return Chain(first, tuple(steps)) if steps else first


def _take_factor(cursor: Cursor, depth: int) -> Node:
    if depth >= MAX_DEPTH:
        raise error_at(
            cursor.token.position, f"the expression is nested more than {MAX_DEPTH} deep"
        )
    if cursor.at("+", "-"):
        sign = cursor.take()
        return Sign(sign.text, _take_factor(cursor, depth + 1), sign.position)
    if cursor.accept("("):
        inner = _take_sum(cursor, depth + 1)
        cursor.expect(")")
        return inner
    token = cursor.token
    if token.kind is TokenKind.NUMBER:
        cursor.take()
        return Number(parse_integer(token), token.position)
    if token.kind is TokenKind.NAME:
        return _take_name(cursor, depth)
    raise cursor.expected("a number or a name")


def _take_name(cursor: Cursor, depth: int) -> Node:
    token = cursor.take()
    if not cursor.at("("):
        return Name(token.text, token.position)
    if token.text not in FUNCTIONS:
        advice = _ADVICE_FOR_UNKNOWN_FUNCTION.get(token.text, "")
        raise error_at(
            token.position,
            f"{quote(token.text)} cannot be called here; the functions are"
            f" {', '.join(FUNCTIONS)}{advice}",
        )
    cursor.expect("(")
    arguments = cursor.take_list(lambda: _take_sum(cursor, depth + 1))
    if len(arguments) != 2:
        raise error_at(token.position, f"{token.text} takes 2 arguments, got {len(arguments)}")
    return Call(token.text, *arguments, token.position)


# --- evaluation -----------------------------------------------------------------------------------


def _divide(a: int, b: int) -> int:
    """C's `/`: truncates towards zero (C11 6.5.5)."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
}

FUNCTIONS: dict[str, Callable[[int, int], int]] = {
    "ceil_div": lambda a, b: -(-a // b),
    "min": lambda a, b: min(a, b),
    "max": lambda a, b: max(a, b),
}


def _evaluate(node: Node, values: Mapping[str, int]) -> int:
    match node:
        case Number(value):
            return value
        case Name(name, position):
            return _in_range(_value_of(name, values, position), position)
        case Sign(operator, operand, position):
            value = _evaluate(operand, values)
            return _in_range(-value if operator == "-" else value, position)
        case Chain(first, steps):
            result = _evaluate(first, values)
            for step in steps:
                result = _apply(
                    OPERATORS[step.operator], result, _evaluate(step.operand, values), step.position
                )
            return result
        case Call(function, left, right, position):
            return _apply(
                FUNCTIONS[function], _evaluate(left, values), _evaluate(right, values), position
            )
    assert_never(node)


def _value_of(name: str, values: Mapping[str, int], position: Position) -> int:
    if name not in values:
        raise error_at(position, f"{quote(name)} is not known here{did_you_mean(name, values)}")
    return values[name]


def _apply(function: Callable[[int, int], int], left: int, right: int, position: Position) -> int:
    try:
        return _in_range(function(left, right), position)
    except ZeroDivisionError:
        raise error_at(position, "division by zero", obstacle=Obstacle.DIVISION_BY_ZERO) from None


def _in_range(value: int, position: Position) -> int:
    if not SMALLEST_VALUE <= value <= LARGEST_VALUE:
        raise error_at(position, "the value does not fit 64 bits", obstacle=Obstacle.BEYOND_64_BITS)
    return value
