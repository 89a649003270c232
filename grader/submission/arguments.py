"""Match the arguments of a launch line with the parameters of its kernel."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from grader.cpp.cursor import LanguageError, error_at, quote
from grader.cpp.expressions import Expression
from grader.cpp.types import element_of, normal_integer_type
from grader.records import (
    BufferArgument,
    DeviceBuffer,
    Kernel,
    KernelParameter,
    ScalarArgument,
)
from grader.spec.launch_lines import LaunchLine
from grader.submission.scalars import (
    NO_SCALARS,
    QUALIFIER,
    Place,
    Scalar,
    bind_integer,
    bind_scalar,
)

POINTER_BYTES = 8
_OBJECTS = ("unsigned long long", "cudaTextureObject_t", "cudaSurfaceObject_t")
_ANY_BUFFER = {"void", "char", "unsigned char", "std::byte"}
_POINTER = re.compile(r"(?:\*|\(\*\)\s*(?:\[\d*\])+)\s*\Z")


def bind_arguments(
    launch: LaunchLine,
    kernel: Kernel,
    *,
    buffers: Mapping[str, DeviceBuffer],
    evaluate: Callable[[Expression], int],
    scalars: Mapping[str, Scalar] = NO_SCALARS,
) -> tuple[BufferArgument | ScalarArgument, ...]:
    """The kernel's arguments in order; LanguageError where their number, kind, type or size does
    not fit the parameters."""
    if len(launch.arguments) != len(kernel.parameters):
        raise _wrong_count(launch, kernel)
    bound: list[BufferArgument | ScalarArgument] = []
    for number, (argument, parameter) in enumerate(
        zip(launch.arguments, kernel.parameters, strict=True), start=1
    ):
        name, place = argument.bare_name or "", Place(number, argument.position)
        if name in buffers:
            bound.append(_bind_buffer(buffers[name], parameter, place))
        elif name in scalars:
            bound.append(bind_scalar(name, scalars[name], parameter, place))
        else:
            bound.append(bind_integer(evaluate(argument), argument.text, parameter, place))
    return tuple(bound)


def element_dtype(pointer: str) -> str | None:
    """NumPy's name of the elements that a C++ pointer type points to; None for types that take any
    buffer or are not known.

    Vectors (`float4*`) and rows (`float (*) [4]`) are taken apart.
    """
    words = QUALIFIER.sub(" ", _POINTER.sub("", pointer)).split()
    name = normal_integer_type(words)
    return None if name in _ANY_BUFFER else element_of(name)


def _bind_buffer(buffer: DeviceBuffer, parameter: KernelParameter, place: Place) -> BufferArgument:
    number, position = place
    what = f"argument {number} is the buffer {quote(buffer.name)}"
    if buffer.texture is not None and not parameter.is_pointer and _takes_object(parameter):
        return BufferArgument(buffer.name, as_texture=True)
    if buffer.texture is not None and buffer.texture.surface:
        message = f"{what}, which is a surface, but the kernel's parameter is {parameter.type}"
        raise error_at(position, message, "Take it as a cudaSurfaceObject_t.")
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


def _takes_object(parameter: KernelParameter) -> bool:
    """Whether a parameter may be a cudaTextureObject_t or cudaSurfaceObject_t."""
    return parameter.size_bytes == POINTER_BYTES and parameter.type in (None, *_OBJECTS)


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
