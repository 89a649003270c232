"""The launch language in CUDA C++ for a host program, which has the sizes as variables of 64 bits,
the submission's macros, and functions ceil_div, min and max of 64 bits."""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import assert_never

from grader.cpp.evaluation import normal_type
from grader.cpp.expressions import Expression
from grader.cpp.structures import Layout, find_layout
from grader.cpp.tree import (
    Braces,
    Call,
    Cast,
    Chain,
    Choice,
    Index,
    Name,
    Node,
    Number,
    RealNumber,
    Unary,
    Value,
)
from grader.cpp.types import CPP_NAMES
from grader.records import DeviceBuffer, Kernel, KernelParameter
from grader.spec.launch_lines import LaunchLine
from grader.spec.statements import (
    Assignment,
    Block,
    Branch,
    CopyCall,
    Declaration,
    FillCall,
    Loop,
    Permission,
    Statement,
    Swap,
)
from grader.submission.names import normalise_type

ANY_POINTER = "AnyPointer"
"""The host program's class for a buffer whose parameter has an unknown type."""
_INT_LIMIT = 1 << 31
_ANONYMOUS = "(anonymous namespace)::"


@dataclass(frozen=True)
class Scope:
    """The meaning of a launch line's names in the host program. `taken`: the program's own names,
    which hide the submission's. `source`: the submission's text, for its structures. `kernels`: the
    kernel of each launch line."""

    macros: Mapping[str, Value]
    buffers: Mapping[str, DeviceBuffer]
    taken: frozenset[str]
    source: str = ""
    kernels: Mapping[LaunchLine, Kernel] = field(default_factory=dict)

    def text(self, expression: Expression) -> str:
        """The expression in C++."""
        return format_expression(expression, self.macros)


def format_launch(launch: LaunchLine, kernel: Kernel, scope: Scope) -> list[str]:
    """The statements of one launch, without the check of its error."""
    name = _name_kernel(launch, kernel, scope)
    arguments = [
        _format_argument(*pair, scope)
        for pair in zip(launch.arguments, kernel.parameters, strict=True)
    ]
    configuration = [_format_dim3(extents, scope) for extents in (launch.grid, launch.block)]
    lines = []
    if launch.shared_bytes is not None:
        size = scope.text(launch.shared_bytes)
        configuration.append(size)
        lines.append("// More than 48 KB of dynamic shared memory needs permission.")
        lines.append(
            f"CHECK(cudaFuncSetAttribute({name}, cudaFuncAttributeMaxDynamicSharedMemorySize,"
            f" static_cast<int>({size})));"
        )
    lines.append(f"{name}<<<{', '.join(configuration)}>>>({', '.join(arguments)});")
    return lines


def format_statement(statement: Statement, scope: Scope) -> list[str]:
    """The lines of a statement, with checks of CUDA's errors."""
    match statement:
        case LaunchLine():
            of_launch = format_launch(statement, scope.kernels[statement], scope)
            return [*of_launch, "CHECK(cudaGetLastError());"]
        case Block(body=body):
            return ["{", *_indented(body, scope), "}"]
        case Loop():
            return _format_loop(statement, scope)
        case Branch(condition=condition, body=body, otherwise=otherwise):
            lines = [f"if ({scope.text(condition)}) {{"]
            lines += _indented(body, scope)
            if otherwise:
                lines += ["} else {", *_indented(otherwise, scope)]
            return [*lines, "}"]
        case Permission():
            return []
    return [f"{_format_simple(statement, scope)};"]


def _indented(statements: Sequence[Statement], scope: Scope) -> list[str]:
    lines = (line for each in statements for line in format_statement(each, scope))
    return [f"    {line}" for line in lines]


def _format_loop(loop: Loop, scope: Scope) -> list[str]:
    """The loop in its own braces, with its initialisation before it."""
    condition = "" if loop.condition is None else scope.text(loop.condition)
    steps = ", ".join(_format_simple(step, scope) for step in loop.step)
    start = f"for (; {condition}; {steps}) {{" if loop.step else f"while ({condition or 'true'}) {{"
    if not loop.asks_first:
        return ["do {", *_indented(loop.body, scope), f"}} while ({condition});"]
    lines = [start, *_indented(loop.body, scope), "}"]
    if not loop.start:
        return lines
    first = _indented(loop.start, scope)
    return ["{", *first, *(f"    {line}" for line in lines), "}"]


def _format_simple(statement: Statement, scope: Scope) -> str:
    """A statement without nested statements, without its semicolon."""
    text = scope.text
    match statement:
        case Declaration(type=type_, name=name, value=value):
            base, stars = type_.rstrip("*"), "*" * type_.count("*")
            return f"{base.strip()} {stars}{name}" + (f" = {text(value)}" if value else "")
        case Assignment(name=name, operator=operator, value=value):
            return f"{name} {operator or ''}= {text(value)}"
        case Swap(left=left, right=right):
            return f"std::swap({text(left)}, {text(right)})"
        case FillCall(target=target, value=value, size=size):
            return f"CHECK(cudaMemset({text(target)}, {text(value)}, {text(size)}))"
        case CopyCall():
            return _format_copy(statement, scope)
    return statement.text


def _format_copy(copy: CopyCall, scope: Scope) -> str:
    given = (copy.target, copy.source, copy.size, copy.offset)
    target, source, size, offset = (None if each is None else scope.text(each) for each in given)
    if copy.symbol is None:
        return f"CHECK(cudaMemcpy({target}, {source}, {size}, cudaMemcpyDeviceToDevice))"
    offset = offset or "0"
    size = size or f"sizeof({copy.symbol}) - {offset}"
    name, other = ("To", source) if target is None else ("From", target)
    places = f"{copy.symbol}, {other}" if target is None else f"{other}, {copy.symbol}"
    return f"CHECK(cudaMemcpy{name}Symbol({places}, {size}, {offset}, cudaMemcpyDeviceToDevice))"


def needs_any_pointer(
    launch: LaunchLine, kernel: Kernel, buffers: Mapping[str, DeviceBuffer]
) -> bool:
    """Whether the launch passes a buffer to a parameter of unknown type."""
    pairs = zip(launch.arguments, kernel.parameters, strict=True)
    return any(
        argument.bare_name in buffers and parameter.type is None for argument, parameter in pairs
    )


def format_expression(expression: Expression, macros: Mapping[str, Value]) -> str:
    """The expression in C++, computed in 64 bits wherever 32 might overflow; unchanged elsewhere.

    No partial result of literals and macros is larger than the product of all of them, each
    increased by 1.
    """
    constants = list(_constants(expression.tree, macros))
    plain = None not in constants and not re.search(r"\+\s*\+|-\s*-", expression.text)
    if plain and math.prod(abs(value or 0) + 1 for value in constants) < _INT_LIMIT:
        return expression.text
    return _widen(expression.tree, macros)


def _format_dim3(extents: Sequence[Expression], scope: Scope) -> str:
    texts = [scope.text(extent) for extent in extents]
    return texts[0] if len(texts) == 1 else f"dim3({', '.join(texts)})"


def _format_argument(argument: Expression, parameter: KernelParameter, scope: Scope) -> str:
    """Casts an address if the parameter's type is not the buffer's, such as float4."""
    text = scope.text(argument)
    if isinstance(argument.tree, Braces):
        return _format_structure(argument.tree, parameter, scope)
    buffer = next((scope.buffers[name] for name in argument.places if name in scope.buffers), None)
    if buffer is None:
        return text
    if parameter.type is None:
        return f"{ANY_POINTER}{{{text}}}"
    element = normalise_type(CPP_NAMES[buffer.dtype])
    pointer = re.sub(
        r"\s*(?:\bconst\b|\bvolatile\b|\b__restrict__\b)", "", normalise_type(parameter.type)
    )
    return text if pointer == f"{element}*" else f"reinterpret_cast<{parameter.type}>({text})"


def _format_structure(braces: Braces, parameter: KernelParameter, scope: Scope) -> str:
    """The structure with each member cast to its type: braces do not narrow."""
    type_ = normal_type(parameter.type or braces.type or "")
    layout = find_layout(type_, scope.source)
    values = () if layout is None else _format_members(deque(braces.items), layout, scope)
    return f"{type_}{{{', '.join(values)}}}"


def _format_members(items: deque[Node], layout: Layout, scope: Scope) -> Iterator[str]:
    for member in layout.members:
        if not items:
            return
        if member.inner is None:
            yield f"({member.type})({_widen(items.popleft(), scope.macros)})"
        elif isinstance(inner := items[0], Braces):
            items.popleft()
            values = _format_members(deque(inner.items), member.inner, scope)
            yield f"{{{', '.join(values)}}}"
        else:
            yield from _format_members(items, member.inner, scope)


def _name_kernel(launch: LaunchLine, kernel: Kernel, scope: Scope) -> str:
    """The kernel's whole name, if possible with the launch line's template arguments."""
    base, bracket, rest = kernel.name.replace(_ANONYMOUS, "").partition("<")
    qualified = f"::{base}" if base.split("::")[0] in scope.taken else base
    written = launch.kernel.template_arguments
    if not bracket:
        return qualified
    constant = all(
        each.names <= scope.macros.keys() for each in written or () if isinstance(each, Expression)
    )
    if written and constant and len(written) == rest.count(",") + 1:
        return f"{qualified}<{', '.join(each.text for each in written)}>"
    return f"{qualified}<{rest}"


_BOUNDED = frozenset("+-*/%")
"""Operators whose results are at most the product of their operands, each increased by 1."""


def _constants(node: Node, macros: Mapping[str, Value]) -> Iterator[int | None]:
    """The values of the literals and macros, with which C++ computes in 32 bits. None for
    expressions that they do not bound."""
    match node:
        case Number(value):
            yield value
        case Name(name) if name in macros:
            known = macros[name]
            yield known if isinstance(known, int) else None
        case Unary("+" | "-", operand):
            yield from _constants(operand, macros)
        case Chain(first, steps):
            yield from _constants(first, macros)
            for step in steps:
                yield from _constants(step.operand, macros)
                if step.operator not in _BOUNDED:
                    yield None
        case Call(_, left, right):
            yield from _constants(left, macros)
            yield from _constants(right, macros)
        case Name():
            return
        case _:
            yield None


def _widen(node: Node, macros: Mapping[str, Value]) -> str:
    """The expression with every integer literal and macro made 64 bits wide."""
    match node:
        case Number(value):
            return f"{value}{'LL' if value < 1 << 63 else 'ULL'}"
        case RealNumber(real):
            return f"{real.value!r}{'f' if real.size_bytes == 4 else ''}"
        case Name(name):
            return f"Size({name})" if isinstance(macros.get(name), int) else name
        case Unary(operator, operand):
            return f"{operator}({_widen(operand, macros)})"
        case Chain(first, steps):
            rest = (f" {step.operator} {_widen_operand(step.operand, macros)}" for step in steps)
            return _widen_operand(first, macros) + "".join(rest)
        case Choice(condition, first, second):
            parts = (_widen_operand(each, macros) for each in (condition, first, second))
            return "({} ? {} : {})".format(*parts)
        case Call(function, left, right):
            return f"{function}({_widen(left, macros)}, {_widen(right, macros)})"
        case Cast(type_, operand):
            return f"(({type_})({_widen(operand, macros)}))"
        case Index(base, index):
            return f"{_widen_operand(base, macros)}[{_widen(index, macros)}]"
        case Braces(type_, items):
            values = ", ".join(f"({_widen(item, macros)})" for item in items)
            return f"dim3({values})" if type_ == "dim3" else f"{type_ or ''}{{{values}}}"
    assert_never(node)


def _widen_operand(node: Node, macros: Mapping[str, Value]) -> str:
    text = _widen(node, macros)
    return f"({text})" if isinstance(node, Chain) else text
