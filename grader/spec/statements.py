"""The syntax tree of a plan's program: launches, and the host's statements between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from grader.cpp.expressions import Expression
from grader.spec.launch_lines import KernelName, LaunchLine, ScratchBuffer, Written


@dataclass(frozen=True)
class Declaration(Written):
    """`int d = 1`, `float *p = a`, `dim3 grid(n)`; `auto` takes the type of the value."""

    type: str
    name: str
    value: Expression | None


@dataclass(frozen=True)
class Assignment(Written):
    """`d *= 2`: the operator is without the `=`, and None for `=`."""

    name: str
    operator: str | None
    value: Expression


@dataclass(frozen=True)
class Swap(Written):
    """`std::swap(a, b)` of two names."""

    left: Expression
    right: Expression


@dataclass(frozen=True)
class CopyCall(Written):
    """`cudaMemcpy` in the device, and `cudaMemcpyToSymbol` or `...FromSymbol`: then `symbol` is the
    variable's name, and `to_symbol` the direction. `size` None: all bytes, as many as both have."""

    target: Expression | None
    source: Expression | None
    size: Expression | None
    symbol: str | None = None
    offset: Expression | None = None


@dataclass(frozen=True)
class FillCall(Written):
    """`cudaMemset(target, value, size)`."""

    target: Expression
    value: Expression
    size: Expression


@dataclass(frozen=True)
class Permission(Written):
    """`cudaFuncSetAttribute(kernel, ...)`: without effect, since the grader itself sets the
    attributes that a launch needs."""

    kernel: KernelName


@dataclass(frozen=True)
class Leave(Written):
    """`break` or `continue`, whichever `text` is."""


@dataclass(frozen=True)
class Block(Written):
    """Statements in braces."""

    body: tuple[Statement, ...]


@dataclass(frozen=True)
class Loop(Written):
    """`for (start; condition; step) body` and `while (condition) body`; `do body while (condition)`
    asks only behind the body."""

    start: tuple[Statement, ...]
    condition: Expression | None
    step: tuple[Statement, ...]
    body: tuple[Statement, ...]
    asks_first: bool = True


@dataclass(frozen=True)
class Branch(Written):
    """`if (condition) body else otherwise`."""

    condition: Expression
    body: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


Statement = (
    LaunchLine
    | Declaration
    | Assignment
    | Swap
    | CopyCall
    | FillCall
    | Permission
    | Leave
    | Block
    | Loop
    | Branch
)


@dataclass(frozen=True)
class Plan:
    """Statements in order, and the scratch buffers that they use. `lines` are the texts of its
    launch lines."""

    statements: tuple[Statement, ...]
    scratch: tuple[ScratchBuffer, ...] = ()
    lines: tuple[str, ...] = ()

    @cached_property
    def every(self) -> tuple[Statement, ...]:
        """All statements, also nested ones, in the order of the text."""
        return tuple(_walk(self.statements))

    @property
    def launches(self) -> tuple[LaunchLine, ...]:
        """The launches as they are written, each once."""
        return tuple(each for each in self.every if isinstance(each, LaunchLine))

    @property
    def variables(self) -> frozenset[str]:
        """The names that the plan declares, scratch buffers aside."""
        return frozenset(each.name for each in self.every if isinstance(each, Declaration))

    @property
    def names(self) -> frozenset[str]:
        """Every name that the plan uses and does not declare: buffers, sizes and constants."""
        of_statements = (
            expression.names for each in self.every for expression in expressions_of(each)
        )
        of_scratch = (expression.names for buffer in self.scratch for expression in buffer.shape)
        return frozenset[str]().union(*of_statements, *of_scratch) - self.variables


def _walk(statements: Sequence[Statement]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        match statement:
            case Block(body=body):
                yield from _walk(body)
            case Loop(start=start, step=step, body=body):
                yield from _walk((*start, *body, *step))
            case Branch(body=body, otherwise=otherwise):
                yield from _walk((*body, *otherwise))


def expressions_of(statement: Statement) -> tuple[Expression, ...]:
    """The expressions of a statement itself, not of those within it."""
    given: tuple[Expression | None, ...] = ()
    match statement:
        case LaunchLine():
            given = statement.expressions
        case Declaration(value=value) | Assignment(value=value):
            given = (value,)
        case Swap(left=left, right=right):
            given = (left, right)
        case CopyCall(target=target, source=source, size=size, offset=offset):
            given = (target, source, size, offset)
        case FillCall(target=target, value=value, size=size):
            given = (target, value, size)
        case Permission(kernel=kernel):
            given = kernel.template_expressions
        case Loop(condition=condition) | Branch(condition=condition):
            given = (condition,)
    return tuple(each for each in given if each is not None)
