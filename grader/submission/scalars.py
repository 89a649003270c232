"""Makes kernel arguments of integers and floating-point numbers, at the width of the parameter."""

from __future__ import annotations

import math
import re
import sys
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np

from grader.cpp.cursor import LanguageError, error_at, obstacle_at, quote
from grader.cpp.lexer import Position
from grader.cpp.types import NUMPY_NAMES, normal_integer_type
from grader.records import KernelParameter, Obstacle, ScalarArgument

Scalar = int | float | np.generic
"""What a name may stand for that is given beside the launch lines: a number of Python, which takes
the width of the parameter, or one of NumPy, which keeps its type."""

NO_SCALARS: Mapping[str, Scalar] = MappingProxyType({})
SIZES = (1, 2, 4, 8)
QUALIFIER = re.compile(r"\b(?:const|volatile)\b")


class Place(NamedTuple):
    """Which argument of a launch it is, from 1 on, and where that is written."""

    number: int
    position: Position


def bind_integer(value: int, text: str, parameter: KernelParameter, place: Place) -> ScalarArgument:
    """The value of the expression `text` as an argument. LanguageError where the parameter takes no
    integer, or none that large."""
    advice = (
        f"A launch line cannot give a {parameter.type}: make it a constant in the kernel, or an"
        " integer parameter."
    )
    _check_takes(f"the integer {quote(text)}", parameter, place, "iub", advice)
    bits = 8 * parameter.size_bytes
    smallest, largest = (
        (0, 1) if parameter.type == "bool" else (-(1 << (bits - 1)), (1 << bits) - 1)
    )
    if not smallest <= value <= largest:
        raise obstacle_at(
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
    """A named number as an argument; a floating-point one is given by its bits. LanguageError where
    the parameter is of another kind or width."""
    kinds, example = ("f", "2, not 2.0") if _is_floating(value) else ("iub", "2.0, not 2")
    words = f"the {value.dtype if isinstance(value, np.generic) else type(value).__name__}"
    words = f"{words} {quote(name)}"
    _check_takes(
        words, parameter, place, kinds, f"Give a number of the parameter's kind: {example}."
    )
    if isinstance(value, np.generic):
        if value.dtype.itemsize != parameter.size_bytes:
            advice = "A number of NumPy keeps its type: give one of Python, or of the other type."
            raise _too_wide(words, parameter, place, advice)
        return ScalarArgument(int.from_bytes(value.tobytes(), sys.byteorder), parameter.size_bytes)
    if isinstance(value, int):
        return bind_integer(int(value), name, parameter, place)
    with np.errstate(over="ignore"):
        taken = np.array(value, dtype=f"<f{parameter.size_bytes}")
    if math.isfinite(value) and not np.isfinite(taken):
        raise _too_wide(str(value), parameter, place, "Use a wider parameter, such as double.")
    return ScalarArgument(int.from_bytes(taken.tobytes(), "little"), parameter.size_bytes)


def _is_floating(value: Scalar) -> bool:
    return value.dtype.kind == "f" if isinstance(value, np.generic) else isinstance(value, float)


def _check_takes(
    words: str, parameter: KernelParameter, place: Place, kinds: str, advice: str
) -> None:
    """LanguageError for a parameter that is known to be none of NumPy's `kinds` of types; `advice`
    is for one that is a value of another kind."""
    given = f"argument {place.number} is {words}, but the kernel's parameter is"
    if parameter.type is None:
        if parameter.size_bytes not in (SIZES if kinds == "iub" else SIZES[1:]):
            message = f"{given} a structure of {parameter.size_bytes} bytes"
            raise error_at(
                place.position,
                message,
                "Only buffers and integers can be given; take the parameter apart.",
            )
        return
    if parameter.is_pointer:
        advice = (
            "Give a buffer's name there, and the arguments in the order of the kernel's parameters."
        )
        raise error_at(place.position, f"{given} a pointer ({parameter.type})", advice)
    dtype = NUMPY_NAMES.get(normal_integer_type(QUALIFIER.sub(" ", parameter.type).split()))
    if dtype is None or np.dtype(dtype).kind not in kinds:
        raise error_at(place.position, f"{given} {parameter.type}", advice)


def _too_wide(what: str, parameter: KernelParameter, place: Place, advice: str) -> LanguageError:
    message = (
        f"argument {place.number} is {what}, which does not fit the parameter's"
        f" {parameter.size_bytes} bytes ({parameter.type or 'integer'})"
    )
    return error_at(place.position, message, advice)
