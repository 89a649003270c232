"""Match the arguments of a launch line with the parameters of its kernel."""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator
from typing import TypeGuard

from grader.cpp.cursor import LanguageError, error_at, problem_at, quote
from grader.cpp.evaluation import NULL, describe, normal_type
from grader.cpp.lexer import symbol_name
from grader.cpp.structures import Layout, Member, find_layout
from grader.cpp.tree import Address, Group, Value
from grader.cpp.types import element_of, normal_integer_type
from grader.records import (
    BufferArgument,
    DeviceBuffer,
    Kernel,
    KernelParameter,
    Obstacle,
    ScalarArgument,
    StructArgument,
)
from grader.spec.launch_lines import LaunchLine
from grader.submission.scalars import QUALIFIER, Place, bind_number, bind_scalar
from grader.submission.scope import Scope

POINTER_BYTES = 8
_OBJECTS = ("unsigned long long", "cudaTextureObject_t", "cudaSurfaceObject_t")
_MAP_BYTES = 128
_ANY_BUFFER = {"void", "char", "unsigned char", "std::byte"}
_POINTER = re.compile(r"(?:\*|\(\*\)\s*(?:\[\d*\])+)\s*\Z")


Argument = BufferArgument | ScalarArgument | StructArgument


def bind_arguments(launch: LaunchLine, kernel: Kernel, scope: Scope) -> tuple[Argument, ...]:
    """The kernel's arguments in order; LanguageError if their number, kind, type or size does
    not fit the parameters."""
    if len(launch.arguments) != len(kernel.parameters):
        raise _wrong_count(launch, kernel)
    bound: list[Argument] = []
    for number, (argument, parameter) in enumerate(
        zip(launch.arguments, kernel.parameters, strict=True), start=1
    ):
        name, place = argument.bare_name or "", Place(number, argument.position)
        if name in scope.scalars:
            bound.append(bind_scalar(name, scope.scalars[name], parameter, place))
            continue
        value = scope.value_of(argument)
        if isinstance(value, Group) and value.type != NULL:
            bound.append(_bind_structure(value, argument.text, parameter, place, scope))
        else:
            bound.append(_bind_value(value, argument.text, parameter, place, scope))
    return tuple(bound)


def _bind_value(
    value: Value, text: str, parameter: KernelParameter, place: Place, scope: Scope
) -> BufferArgument | ScalarArgument:
    """A number, an address or a null pointer as an argument."""
    if isinstance(value, Address):
        return _bind_address(value, scope.buffers[value.buffer], parameter, place)
    if not isinstance(value, Group):
        return bind_number(value, text, parameter, place)
    if value.type != NULL or parameter.is_pointer is False or parameter.size_bytes != POINTER_BYTES:
        what = f"argument {place.number} is {describe(value)}"
        raise error_at(place.position, f"{what}, but the kernel's parameter is {parameter.type}")
    return ScalarArgument(0, POINTER_BYTES)


def _bind_structure(
    group: Group, text: str, parameter: KernelParameter, place: Place, scope: Scope
) -> StructArgument:
    """Values in braces, one per member; omitted members are zero."""
    written = parameter.type or group.type or ""
    type_ = written if "<" in written else normal_type(written)
    layout = find_layout(type_, scope.source)
    what = f"argument {place.number} is {quote(text)}"
    if layout is None or layout.size_bytes != parameter.size_bytes:
        shown = parameter.type or f"of {parameter.size_bytes} bytes"
        message = f"{what}, but how the kernel's parameter ({shown}) is laid out is not known"
        advice = (
            "Braces are for CUDA's vectors (float4) and plain structures of numbers, pointers and"
            ' arrays that the file defines; where the kernel is extern "C", write the type before'
            " them."
        )
        raise error_at(place.position, message, advice)
    parts = []
    for offset, member, value in _place_values(group, layout, type_, (what, place)):
        if value is None:
            message = f"{what}, which leaves out members that {type_} itself gives a value"
            raise error_at(place.position, message, "Write all members in the braces.")
        taken = KernelParameter(offset, member.size_bytes, member.type)
        try:
            parts.append((offset, _bind_value(value, text, taken, place, scope)))
        except LanguageError as error:
            if error.problem is not None:
                raise
            message = f"{error.message} (a member of {type_})"
            raise error_at(place.position, message, error.advice) from error
    return StructArgument(tuple(parts))


_Placed = tuple[int, Member, Value | None]


def _place_values(
    group: Group, layout: Layout, type_: str, where: tuple[str, Place], start: int = 0
) -> Iterator[_Placed]:
    """The numbers and pointers of a structure with their offsets and values. None: the member is
    omitted and has an initial value in the structure's definition."""
    values = deque(group.items)
    yield from _take_values(values, layout, where, start)
    if values:
        what, place = where
        count = len(group.items)
        message = f"{what}: {count} values in braces are {len(values)} too many for {type_}"
        raise error_at(place.position, message)


def _take_values(
    values: deque[Value], layout: Layout, where: tuple[str, Place], start: int
) -> Iterator[_Placed]:
    """Takes as many values as the members need. As in C++, the braces of an inner structure or
    array may be left out."""
    for member in layout.members:
        offset = start + member.offset
        if not values:
            if member.initialised:
                yield offset, member, None
        elif member.inner is None:
            yield offset, member, values.popleft()
        elif _is_of_type(value := values[0], member.type):
            values.popleft()
            yield from _place_values(value, member.inner, member.type, where, offset)
        else:
            yield from _take_values(values, member.inner, where, offset)


def _is_of_type(value: Value, type_: str) -> TypeGuard[Group]:
    """Whether braces hold the values of a structure or array of this type."""
    if not isinstance(value, Group) or value.type == NULL:
        return False
    return value.type is None or symbol_name(value.type.rsplit("::", 1)[-1].strip()) == type_


def element_dtype(pointer: str) -> str | None:
    """NumPy's name of the elements that a C++ pointer type points to; None for types that take any
    buffer or are not known.

    Vectors (`float4*`) and rows (`float (*) [4]`) are taken apart.
    """
    words = QUALIFIER.sub(" ", _POINTER.sub("", pointer)).split()
    name = normal_integer_type(words)
    return None if name in _ANY_BUFFER else element_of(name)


def _bind_address(
    address: Address, buffer: DeviceBuffer, parameter: KernelParameter, place: Place
) -> BufferArgument:
    number, position = place
    what = f"argument {number} is the buffer {quote(buffer.name)}"
    if buffer.texture is not None and not parameter.is_pointer and _takes_object(parameter):
        return BufferArgument(buffer.name, as_object=True)
    takes_map = parameter.size_bytes == _MAP_BYTES and not parameter.is_pointer
    if buffer.tensor_map is not None and takes_map:
        return BufferArgument(buffer.name, as_object=True)
    if buffer.texture is not None and buffer.texture.surface:
        message = f"{what}, which is a surface, but the kernel's parameter is {parameter.type}"
        raise error_at(position, message, "Take it as a cudaSurfaceObject_t.")
    if parameter.is_pointer is False or parameter.size_bytes != POINTER_BYTES:
        message = (
            f"{what}, but the kernel's parameter is no pointer"
            f" ({parameter.type or f'{parameter.size_bytes} bytes'})"
        )
        advice = "Put the arguments in the order of the kernel's parameters."
        if "CUtensorMap" in (parameter.type or ""):
            advice = "Give the buffer a tensor map: the field tensor_map of an exercise's spec."
        raise error_at(position, message, advice)
    wanted = element_dtype(parameter.type) if parameter.type is not None else None
    given = None if address.element in _ANY_BUFFER else element_of(address.element)
    if wanted is not None and given is not None and wanted != given:
        message = f"{what} of {given}, but the kernel's parameter is {parameter.type}"
        advice = f"Give a buffer of {wanted}, or correct the parameter's type."
        raise error_at(position, message, advice)
    if not 0 <= address.offset_bytes <= buffer.size_bytes:
        raise problem_at(
            position,
            Obstacle.OUTSIDE_BUFFER,
            what=what,
            offset=address.offset_bytes,
            size_bytes=buffer.size_bytes,
        )
    return BufferArgument(buffer.name, offset_bytes=address.offset_bytes)


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
