"""The syntax tree of an expression, and the values that it can have."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from grader.cpp.lexer import Position


@dataclass(frozen=True)
class Real:
    """A floating-point value: a float (4 bytes), to which it is rounded, or a double (8)."""

    value: float
    size_bytes: int


@dataclass(frozen=True)
class Address:
    """A place in a device buffer. `element` is the C++ type that its pointer points to, of
    `element_bytes`."""

    buffer: str
    element: str
    element_bytes: int
    offset_bytes: int = 0


@dataclass(frozen=True)
class Group:
    """Values in braces, or a `dim3(...)`; `type` is the name before the braces, if any."""

    type: str | None
    items: tuple[Value, ...]


Value = int | Real | Address | Group
"""The value of an expression. Integers have 64 bits."""


@dataclass(frozen=True)
class Number:
    """An integer literal."""

    value: int


@dataclass(frozen=True)
class RealNumber:
    """A floating-point literal."""

    value: Real


@dataclass(frozen=True)
class Name:
    """A name whose value is given at evaluation; also `ns::N`, and `sizeof(T)` of a type that is
    not known here."""

    name: str
    position: Position


@dataclass(frozen=True)
class Unary:
    """`+`, `-`, `!`, `~`, or `&` for an address."""

    operator: str
    operand: Node
    position: Position


@dataclass(frozen=True)
class Step:
    """An operator of a chain and its right operand."""

    operator: str
    operand: Node
    position: Position


@dataclass(frozen=True)
class Chain:
    """Operators of equal precedence, left to right: `first - a + b`. A list, so that a long sum is
    not a deep tree."""

    first: Node
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class Choice:
    """`condition ? first : second`."""

    condition: Node
    first: Node
    second: Node
    position: Position


@dataclass(frozen=True)
class Call:
    """A call of a function in `FUNCTIONS`."""

    function: str
    left: Node
    right: Node
    position: Position


@dataclass(frozen=True)
class Cast:
    """A conversion to another type: `(int)x`, `float(x)`, `reinterpret_cast<float4 *>(x)`."""

    type: str
    operand: Node
    position: Position


@dataclass(frozen=True)
class Index:
    """`base[index]`, of which only the address can be taken."""

    base: Node
    index: Node
    position: Position


@dataclass(frozen=True)
class Braces:
    """`{a, b}` or `Type{a, b}`: a structure; and `dim3(a, b)`."""

    type: str | None
    items: tuple[Node, ...]


Node = Number | RealNumber | Name | Unary | Chain | Choice | Call | Cast | Index | Braces


def names_in(node: Node) -> Iterator[Name]:
    """The names in a tree, from left to right."""
    match node:
        case Name():
            yield node
        case Unary(_, operand) | Cast(_, operand):
            yield from names_in(operand)
        case Chain(first, steps):
            yield from names_in(first)
            for step in steps:
                yield from names_in(step.operand)
        case Choice(condition, first, second):
            for each in (condition, first, second):
                yield from names_in(each)
        case Call(_, left, right) | Index(left, right):
            yield from names_in(left)
            yield from names_in(right)
        case Braces(_, items):
            for each in items:
                yield from names_in(each)
