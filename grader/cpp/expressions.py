"""Integer expressions of C++ text: parser and evaluation, every error with line and column.

Two dialects share them. The language of launch lines, macros and a spec's formulas has integers as
C writes them, names, `+ - * / %` with C's meaning, parentheses, `ceil_div`, `min` and `max`. What
is read of declarations in code has shifts, but no functions. Nothing here calls Python's `eval`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import assert_never

from grader.cpp.cursor import Cursor, did_you_mean, error_at, quote
from grader.cpp.lexer import Kind, Position, Token
from grader.records import Obstacle

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
    """A parsed integer expression: its text, where it starts, its tree, and the first place of each
    name that it needs."""

    text: str
    position: Position
    tree: Node
    places: Mapping[str, Position] = field(hash=False)

    def evaluate(self, values: Mapping[str, int]) -> int:
        """The value, given the values of the names. LanguageError for an unknown name, a division
        by zero, or a result beyond 64 bits."""
        return _evaluate(self.tree, values)

    @cached_property
    def names(self) -> frozenset[str]:
        """The names whose values it needs."""
        return frozenset(self.places)

    @property
    def bare_name(self) -> str | None:
        """The name, where the whole expression is one name and nothing else."""
        return self.tree.name if isinstance(self.tree, Name) else None

    def place_of(self, name: str) -> Position:
        """Where the name is used first; the start of the expression where it is not."""
        return self.places.get(name, self.position)


# --- parsing --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Dialect:
    """The binary operators from the loosest to the tightest, and whether `FUNCTIONS` can be
    called."""

    levels: tuple[tuple[str, ...], ...]
    calls: bool


_ARITHMETIC = (("+", "-"), ("*", "/", "%"))
PLAN = Dialect(_ARITHMETIC, calls=True)
"""What launch lines, macros and a spec's formulas are written in."""
CODE = Dialect((("<<", ">>"), *_ARITHMETIC), calls=False)
"""What is read of the constants and extents that code declares."""


def parse_expression(
    text: str, *, line: int = 1, column: int = 1, dialect: Dialect = PLAN
) -> Expression:
    """Parse a text that is one expression and nothing else; LanguageError where it is not."""
    cursor = Cursor(text, line=line, column=column, operators=dialect is CODE)
    expression = take_expression(cursor, dialect)
    cursor.expect_end("an operator or the end")
    return expression


def take_expression(cursor: Cursor, dialect: Dialect = PLAN) -> Expression:
    """Parse the expression that starts at the cursor and leave the cursor after it."""
    start = cursor.index
    tree = _take_chain(cursor, dialect, 0, 0)
    tokens = cursor.taken_since(start)
    places: dict[str, Position] = {}
    for token, after in zip(tokens, (*tokens[1:], None), strict=True):
        if token.kind is Kind.NAME and (after is None or after.text != "("):
            places.setdefault(token.text, token.position)
    text = cursor.text[tokens[0].start : tokens[-1].end]
    return Expression(text, tokens[0].position, tree, places)


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


def _take_chain(cursor: Cursor, dialect: Dialect, level: int, depth: int) -> Node:
    """Operands of the next tighter level, joined by the operators of this one."""
    if level == len(dialect.levels):
        return _take_factor(cursor, dialect, depth)
    first = _take_chain(cursor, dialect, level + 1, depth)
    steps = []
    while cursor.at(*dialect.levels[level]):
        operator = cursor.take()
        operand = _take_chain(cursor, dialect, level + 1, depth)
        steps.append(Step(operator.text, operand, operator.position))
    return Chain(first, tuple(steps)) if steps else first


def _take_factor(cursor: Cursor, dialect: Dialect, depth: int) -> Node:
    if depth >= MAX_DEPTH:
        raise error_at(
            cursor.token.position, f"the expression is nested more than {MAX_DEPTH} deep"
        )
    if cursor.at("+", "-"):
        sign = cursor.take()
        return Sign(sign.text, _take_factor(cursor, dialect, depth + 1), sign.position)
    if cursor.accept("("):
        inner = _take_chain(cursor, dialect, 0, depth + 1)
        cursor.expect(")")
        return inner
    token = cursor.token
    if token.kind is Kind.NUMBER:
        cursor.take()
        return Number(parse_integer(token), token.position)
    if token.kind is Kind.NAME:
        return _take_name(cursor, dialect, depth)
    raise cursor.expected("a number or a name")


def _take_name(cursor: Cursor, dialect: Dialect, depth: int) -> Node:
    token = cursor.take()
    if not cursor.at("("):
        return Name(token.text, token.position)
    if not dialect.calls or token.text not in FUNCTIONS:
        advice = _ADVICE_FOR_UNKNOWN_FUNCTION.get(token.text, "")
        raise error_at(
            token.position,
            f"{quote(token.text)} cannot be called here; the functions are"
            f" {', '.join(FUNCTIONS)}{advice}",
        )
    cursor.expect("(")
    arguments = cursor.take_list(lambda: _take_chain(cursor, dialect, 0, depth + 1))
    if len(arguments) != 2:
        raise error_at(token.position, f"{token.text} takes 2 arguments, got {len(arguments)}")
    return Call(token.text, *arguments, token.position)


# --- evaluation -----------------------------------------------------------------------------------


def _divide(a: int, b: int) -> int:
    """C's `/`: truncates towards zero (C11 6.5.5)."""
    quotient = abs(a) // abs(b)
    return quotient if (a < 0) == (b < 0) else -quotient


def _shift_count(bits: int) -> int:
    """C defines shifts by less than the operand's width only (C11 6.5.7)."""
    if not 0 <= bits < 64:
        raise OverflowError
    return bits


OPERATORS: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": _divide,
    "%": lambda a, b: a - b * _divide(a, b),
    "<<": lambda a, b: a << _shift_count(b),
    ">>": lambda a, b: a >> _shift_count(b),
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
    except OverflowError:
        raise error_at(position, "a shift by no number of bits from 0 to 63") from None


def _in_range(value: int, position: Position) -> int:
    if not SMALLEST_VALUE <= value <= LARGEST_VALUE:
        raise error_at(position, "the value does not fit 64 bits", obstacle=Obstacle.BEYOND_64_BITS)
    return value
