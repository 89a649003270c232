"""Match the arguments of a launch line with the parameters of its kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import numpy as np

from grader.cpp.cursor import LanguageError, error_at, obstacle_at, quote
from grader.cpp.expressions import Expression
from grader.cpp.lexer import Position
from grader.cpp.types import NUMPY_NAMES, element_of, normal_integer_type
from grader.records import (
    BufferArgument,
    DeviceBuffer,
    Kernel,
    KernelParameter,
    Obstacle,
    ScalarArgument,
)
from grader.spec.launch_lines import LaunchLine

POINTER_BYTES = 8
_ANY_BUFFER = {"void", "char", "unsigned char", "std::byte"}
_POINTER = re.compile(r"(?:\*|\(\*\)\s*(?:\[\d*\])+)\s*\Z")
_QUALIFIER = re.compile(r"\b(?:const|volatile)\b")


def bind_arguments(
    launch: LaunchLine,
    kernel: Kernel,
    *,
    buffers: Mapping[str, DeviceBuffer],
    evaluate: Callable[[Expression], int],
) -> tuple[BufferArgument | ScalarArgument, ...]:
    """The kernel's arguments in order; LanguageError where their number, kind, type or size does
    not fit the parameters."""
    if len(launch.arguments) != len(kernel.parameters):
        raise _wrong_count(launch, kernel)
    bound: list[BufferArgument | ScalarArgument] = []
    for number, (argument, parameter) in enumerate(
        zip(launch.arguments, kernel.parameters, strict=True), start=1
    ):
        buffer = buffers.get(argument.bare_name) if argument.bare_name is not None else None
        if buffer is not None:
            bound.append(_bind_buffer(buffer, parameter, argument.position, number))
        else:
            bound.append(_bind_integer(evaluate, argument, parameter, number))
    return tuple(bound)


def element_dtype(pointer: str) -> str | None:
    """NumPy's name of the elements that a C++ pointer type points to; None for types that take any
    buffer or are not known.

    Vectors (`float4*`) and rows (`float (*) [4]`) are taken apart.
    """
    words = _QUALIFIER.sub(" ", _POINTER.sub("", pointer)).split()
    name = normal_integer_type(words)
    return None if name in _ANY_BUFFER else element_of(name)


def _bind_buffer(
    buffer: DeviceBuffer, parameter: KernelParameter, position: Position, number: int
) -> BufferArgument:
    what = f"argument {number} is the buffer {quote(buffer.name)}"
    if parameter.is_pointer is False or parameter.size_bytes != POINTER_BYTES:
        message = (
            f"{what}, but the kernel's parameter is no pointer"
            f" ({parameter.type or f'{parameter.size_bytes} bytes'})"
        )
        advice = "Put the arguments in the order of the kernel's parameters."
        raise error_at(position, message, advice)
    wanted = element_dtype(parameter.type) if parameter.type is not None else None
    if wanted is not None and wanted != buffer.dtype:
        message = f"{what} of {buffer.dtype}, but the kernel's parameter is {parameter.type}"
        advice = f"Give a buffer of {wanted}, or correct the parameter's type."
        raise error_at(position, message, advice)
    return BufferArgument(buffer.name)


def _bind_integer(
    evaluate: Callable[[Expression], int],
    argument: Expression,
    parameter: KernelParameter,
    number: int,
) -> ScalarArgument:
    value = evaluate(argument)
    _check_takes_integers(argument, parameter, number)
    bits = 8 * parameter.size_bytes
    smallest, largest = (
        (0, 1) if parameter.type == "bool" else (-(1 << (bits - 1)), (1 << bits) - 1)
    )
    if not smallest <= value <= largest:
        raise obstacle_at(
            argument.position,
            Obstacle.ARGUMENT_TOO_WIDE,
            number=number,
            value=value,
            size_bytes=parameter.size_bytes,
            type=parameter.type or "integer",
        )
    return ScalarArgument(value, parameter.size_bytes)


def _check_takes_integers(argument: Expression, parameter: KernelParameter, number: int) -> None:
    given = (
        f"argument {number} is the integer {quote(argument.text)}, but the kernel's parameter is"
    )
    if parameter.type is None:
        if parameter.size_bytes not in (1, 2, 4, 8):
            message = f"{given} a structure of {parameter.size_bytes} bytes"
            raise error_at(
                argument.position,
                message,
                "Only buffers and integers can be given; take the parameter apart.",
            )
        return
    if parameter.is_pointer:
        advice = (
            "Give a buffer's name there, and the arguments in the order of the kernel's parameters."
        )
        raise error_at(argument.position, f"{given} a pointer ({parameter.type})", advice)
    dtype = NUMPY_NAMES.get(normal_integer_type(_QUALIFIER.sub(" ", parameter.type).split()))
    if dtype is None or np.dtype(dtype).kind not in "iub":
        advice = (
            f"A launch line cannot give a {parameter.type}: make it a constant in the kernel, or an"
            " integer parameter."
        )
        raise error_at(argument.position, f"{given} {parameter.type}", advice)


def _wrong_count(launch: LaunchLine, kernel: Kernel) -> LanguageError:
    wanted, got = len(kernel.parameters), len(launch.arguments)
    types = [parameter.type or "" for parameter in kernel.parameters]
    shown = f" ({', '.join(types)})" if all(types) and types else ""
    position = launch.arguments[wanted].position if got > wanted else launch.kernel.position
    message = (
        f"{kernel.name} takes {wanted} argument{'' if wanted == 1 else 's'}{shown}, but {got}"
        f" {'is' if got == 1 else 'are'} given"
    )
    advice = "Give one argument for each parameter of the kernel, in the same order."
    return error_at(position, message, advice)
