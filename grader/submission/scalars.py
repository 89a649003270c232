"""Makes kernel arguments of integers, floating-point numbers and structures, at the width of the
parameter."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from grader.cpp.cursor import LanguageError, error_at, problem_at, quote
from grader.cpp.evaluation import describe
from grader.cpp.lexer import Position
from grader.cpp.tree import Real, Value
from grader.cpp.types import NUMPY_NAMES, normal_integer_type
from grader.records import KernelParameter, Obstacle, ScalarArgument

Scalar = int | float | np.generic
"""The value of a name given beside the launch lines: a Python number, which takes the width of the
parameter, or a NumPy number, which keeps its type."""

NO_SCALARS: Mapping[str, Scalar] = MappingProxyType({})
SIZES = (1, 2, 4, 8)
QUALIFIER = re.compile(r"\b(?:const|volatile)\b")


class Place(NamedTuple):
    """The number of an argument of a launch, from 1 on, and its position."""

    number: int
    position: Position


def value_of_scalar(scalar: Scalar) -> Value:
    """The scalar as a value in expressions."""
    if isinstance(scalar, np.generic):
        if scalar.dtype.kind == "f":
            return Real(float(scalar), 8 if scalar.dtype.itemsize == 8 else 4)
        return int(scalar)
    return Real(scalar, 8) if isinstance(scalar, float) else int(scalar)


def bind_number(
    value: int | Real, text: str, parameter: KernelParameter, place: Place
) -> ScalarArgument:
    """The value of the expression `text` as an argument. An integer may be given for a
    floating-point parameter, as in C++; never the reverse, which loses digits. LanguageError if the
    parameter takes no such number, or is too small for it."""
    if isinstance(value, Real):
        what = f"{describe(value)}, {quote(text)}"
        _check_takes(what, parameter, place, "f", "Write (int)(...) around it, if that is meant.")
        return _bind_real(value.value, parameter, place)
    advice = "Write a structure's members in braces: {1, 2.0f}."
    _check_takes(f"the integer {quote(text)}", parameter, place, "iubf", advice)
    dtype = _dtype_of(parameter)
    if dtype is not None and dtype.kind == "f":
        return _bind_real(float(value), parameter, place)
    bits = 8 * parameter.size_bytes
    smallest, largest = (
        (0, 1) if parameter.type == "bool" else (-(1 << (bits - 1)), (1 << bits) - 1)
    )
    if not smallest <= value <= largest:
        raise problem_at(
            place.position,
            Obstacle.ARGUMENT_TOO_WIDE,
            number=place.number,
            value=value,
            size_bytes=parameter.size_bytes,
            type=parameter.type or "integer",
        )
    return ScalarArgument(value, parameter.size_bytes)


def bind_scalar(
    name: str, value: Scalar, parameter: KernelParameter, place: Place
) -> ScalarArgument:
    """A named number as an argument; a floating-point number is given by its bits. LanguageError if
    the parameter has another kind or width."""
    dtype = value.dtype if isinstance(value, np.generic) else None
    floating = isinstance(value, float) if dtype is None else dtype.kind == "f"
    kinds, example = ("f", "2, not 2.0") if floating else ("iub", "2.0, not 2")
    words = f"the {dtype or type(value).__name__} {quote(name)}"
    _check_takes(
        words, parameter, place, kinds, f"Give a number of the parameter's kind: {example}."
    )
    if isinstance(value, np.generic):
        if value.dtype.itemsize != parameter.size_bytes:
            advice = "A number of NumPy keeps its type: give one of Python, or of the other type."
            raise _too_wide(words, parameter, place, advice)
        return ScalarArgument(int.from_bytes(value.tobytes(), sys.byteorder), parameter.size_bytes)
    if isinstance(value, int):
        return bind_number(int(value), name, parameter, place)
    return _bind_real(value, parameter, place)


def _bind_real(value: float, parameter: KernelParameter, place: Place) -> ScalarArgument:
    with np.errstate(over="ignore"):
        taken = np.array(value, dtype=f"<f{parameter.size_bytes}")
    if math.isfinite(value) and not np.isfinite(taken):
        raise _too_wide(str(value), parameter, place, "Use a wider parameter, such as double.")
    return ScalarArgument(int.from_bytes(taken.tobytes(), "little"), parameter.size_bytes)


def _dtype_of(parameter: KernelParameter) -> np.dtype | None:
    """NumPy's type of a parameter that is a number, as far as its type is known."""
    words = QUALIFIER.sub(" ", parameter.type or "").split()
    name = NUMPY_NAMES.get(normal_integer_type(words)) if words else None
    return None if name is None else np.dtype(name)


def _check_takes(
    words: str, parameter: KernelParameter, place: Place, kinds: str, advice: str
) -> None:
    """LanguageError for a parameter that is known not to have one of NumPy's `kinds` of types;
    `advice` is for a parameter of another kind."""
    given = f"argument {place.number} is {words}, but the kernel's parameter is"
    if parameter.type is None:
        if parameter.size_bytes not in (SIZES[1:] if kinds == "f" else SIZES):
            message = f"{given} a structure of {parameter.size_bytes} bytes"
            raise error_at(place.position, message, "Write its members in braces: Type{1, 2.0f}.")
        return
    if parameter.is_pointer:
        advice = (
            "Give a buffer's name there, and the arguments in the order of the kernel's parameters."
        )
        raise error_at(place.position, f"{given} a pointer ({parameter.type})", advice)
    dtype = _dtype_of(parameter)
    if dtype is None or dtype.kind not in kinds:
        raise error_at(place.position, f"{given} {parameter.type}", advice)


def _too_wide(what: str, parameter: KernelParameter, place: Place, advice: str) -> LanguageError:
    message = (
        f"argument {place.number} is {what}, which does not fit the parameter's"
        f" {parameter.size_bytes} bytes ({parameter.type or 'integer'})"
    )
    return error_at(place.position, message, advice)
