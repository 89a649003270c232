"""The values of a plan's names during its resolution: buffers, sizes, constants, and the variables
that it declares."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TypeVar

import numpy as np

from grader.cpp.cursor import LanguageError, did_you_mean, error_at, problem_at, quote
from grader.cpp.declarations import assigns, read_constants
from grader.cpp.evaluation import cast_to, describe, is_true, normal_type
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Position
from grader.cpp.tree import Address, Group, Real, Value
from grader.cpp.types import CPP_NAMES, NUMPY_NAMES
from grader.records import DeviceBuffer, Obstacle
from grader.spec.statements import Declaration
from grader.submission.scalars import NO_SCALARS, Scalar, value_of_scalar

_SIGNED = re.compile(r"int(?P<bits>\d+)")
T = TypeVar("T")
NO_TYPES: Mapping[str, str] = MappingProxyType({})
_AUTO, _SIZE_TYPE = "auto", "long long"


class Scope:
    """The values of names. A size goes before a constant of the same name. `types` are types that
    the compiler knows under another name; `source` is the submission's text."""

    def __init__(
        self,
        *,
        constants: Mapping[str, Value],
        sizes: Mapping[str, int],
        scalars: Mapping[str, Scalar] = NO_SCALARS,
        types: Mapping[str, str] = NO_TYPES,
        source: str = "",
    ) -> None:
        self.types, self.source = types, source
        self.buffers: dict[str, DeviceBuffer] = {}
        self._scalars = dict(scalars)
        numbers = {name: value_of_scalar(scalar) for name, scalar in scalars.items()}
        self._values: dict[str, Value] = {**numbers, **constants, **sizes}
        self._declared: dict[str, str] = dict.fromkeys(sizes, _SIZE_TYPE)
        self._undo: list[dict[str, tuple[Value | None, str | None]]] = []

    @property
    def values(self) -> frozenset[str]:
        """The names with a numeric value."""
        return frozenset(
            name for name, each in self._values.items() if isinstance(each, int | Real)
        )

    @property
    def scalars(self) -> Mapping[str, Scalar]:
        """Numbers that are given beside the launch lines, as far as none has changed."""
        return self._scalars

    def add_buffer(self, buffer: DeviceBuffer) -> None:
        """Make a buffer's name the name of its address."""
        self.buffers[buffer.name] = buffer
        self._values.setdefault(buffer.name, address_of(buffer))

    def is_taken(self, name: str) -> str | None:
        """The kind of an existing name, in a word."""
        if name in self.buffers:
            return "buffer"
        return "size" if name in self._values else None

    # --- values -----------------------------------------------------------------------------------

    def evaluate(self, expression: Expression) -> int:
        """The integer value of an expression; LanguageError suggests a near name for an unknown
        one."""
        self._check_names(expression)
        return expression.evaluate(self._values)

    def value_of(self, expression: Expression) -> Value:
        """The value of any kind; LanguageError as of `evaluate`."""
        self._check_names(expression)
        return expression.value(self._values)

    def value_named(self, name: str, position: Position) -> Value:
        """The value of a name; LanguageError if it has none."""
        if name not in self._values:
            raise self._unknown(name, position)
        return self._values[name]

    def holds(self, condition: Expression) -> bool:
        """Whether a condition is true; LanguageError as of `evaluate`."""
        return is_true(self.value_of(condition), condition.position)

    def _check_names(self, expression: Expression) -> None:
        unknown = min(expression.names - self._values.keys(), key=expression.place_of, default=None)
        if unknown is not None:
            raise self._unknown(unknown, expression.place_of(unknown))

    def _unknown(self, name: str, position: Position) -> LanguageError:
        if assigns(self.source, name):
            message = (
                f"{quote(name)} is not known here: a launch line sees constants, not the variables"
                " of the code"
            )
            advice = f"Make {name} a constexpr of the file, or give its value here."
            return error_at(position, message, advice)
        known = sorted(self._values)
        near = did_you_mean(name, {*known, *read_constants(self.source)})
        advice = f"Names that are known: {', '.join(known)}."
        return error_at(position, f"{quote(name)} is not known here{near}", advice)

    # --- variables --------------------------------------------------------------------------------

    @contextmanager
    def block(self) -> Iterator[None]:
        """Variables that are declared from here on are gone at the end."""
        self._undo.append({})
        try:
            yield
        finally:
            for name, (value, type_) in self._undo.pop().items():
                _put_back(self._values, name, value)
                _put_back(self._declared, name, type_)

    def declare(self, variable: Declaration) -> None:
        """A variable of its own type from here on to the end of the block."""
        name, position = variable.name, variable.position
        if self._undo and name not in self._undo[-1]:
            self._undo[-1][name] = self._values.get(name), self._declared.get(name)
        elif not self._undo and name in self._values:
            message = f"{quote(name)} is already the name of something else"
            raise error_at(position, message, "Give the variable another name.")
        value: Value = 0
        if variable.value is not None:
            position, value = variable.value.position, self.value_of(variable.value)
        type_ = " ".join(re.findall(r"\w+|\*", variable.type.replace("constexpr", " ")))
        if _AUTO in type_:
            type_ = _type_of(value)
        self._values[name] = _converted(value, type_, name, position)
        self._declared[name] = type_
        self._scalars.pop(name, None)

    def assign(self, name: str, value: Value, position: Position) -> None:
        """Give a variable, a size or a buffer's name another value."""
        now = self._values.get(name)
        if now is None:
            raise self._unknown(name, position)
        type_ = self._declared.get(name) or _type_of(now)
        self._values[name] = _converted(value, type_, name, position)
        self._scalars.pop(name, None)

    def swap(self, left: Expression, right: Expression) -> None:
        """Swap the values of two names: pointers into equal buffers, or numbers."""
        one, other = self.value_of(left), self.value_of(right)
        if isinstance(one, Address) and isinstance(other, Address):
            first, second = self.buffers[one.buffer], self.buffers[other.buffer]
            if first.dtype != second.dtype:
                message = (
                    f"{quote(left.text)} holds {first.dtype}, and {quote(right.text)}"
                    f" {second.dtype}: only equal buffers can be swapped"
                )
                raise error_at(left.position, message)
            if first.size_bytes != second.size_bytes:
                raise problem_at(
                    left.position,
                    Obstacle.UNEQUAL_SWAP,
                    left=quote(left.text),
                    left_bytes=first.size_bytes,
                    right=quote(right.text),
                    right_bytes=second.size_bytes,
                )
        elif type(one) is not type(other):
            message = f"std::swap takes two of a kind, not {describe(one)} and {describe(other)}"
            raise error_at(left.position, message)
        self.assign(str(left.bare_name), other, left.position)
        self.assign(str(right.bare_name), one, right.position)


def address_of(buffer: DeviceBuffer) -> Address:
    """The start of a buffer, as a pointer to its elements."""
    return Address(buffer.name, CPP_NAMES[buffer.dtype], np.dtype(buffer.dtype).itemsize)


def _put_back(mapping: dict[str, T], name: str, before: T | None) -> None:
    if before is None:
        mapping.pop(name, None)
    else:
        mapping[name] = before


def _type_of(value: Value) -> str:
    """The type that `auto` stands for."""
    match value:
        case Real(_, size_bytes):
            return "float" if size_bytes == 4 else "double"
        case Address():
            return f"{value.element}*"
        case Group():
            return value.type or ""
        case _:
            return _SIZE_TYPE


def _converted(value: Value, type_: str, name: str, position: Position) -> Value:
    """The value as a variable of this type holds it."""
    plain = normal_type(type_)
    if plain == "dim3":
        return value if isinstance(value, Group) else Group("dim3", (value,))
    if isinstance(value, Group):
        if plain == value.type:
            return value
        raise error_at(position, f"{describe(value)} is no {quote(type_)}")
    if isinstance(value, Address) != plain.endswith("*"):
        message = f"{describe(value)} cannot be given to {quote(name)}, which is {quote(type_)}"
        raise error_at(position, message)
    kept = cast_to(type_, value, position)
    signed = _SIGNED.fullmatch(NUMPY_NAMES.get(plain, ""))
    if signed and isinstance(value, int) and kept != value and signed["bits"] != "64":
        raise problem_at(
            position, Obstacle.BEYOND_VARIABLE, value=value, name=quote(name), type=type_
        )
    return kept
