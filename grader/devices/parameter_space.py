"""What every device does with a launch: lay out the kernel's parameters, and say what it ran
with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from grader.devices.gpus import Gpu, theoretical_occupancy
from grader.records import (
    BufferArgument,
    Counters,
    Kernel,
    Launch,
    LaunchResult,
    LineCounters,
    ScalarArgument,
    StructArgument,
)

POINTER_BYTES = 8
NO_OBJECTS: Mapping[str, int] = MappingProxyType({})


def parameter_bytes(kernel: Kernel) -> int:
    """Size of a kernel's parameter space."""
    return max(
        (parameter.offset + parameter.size_bytes for parameter in kernel.parameters), default=0
    )


def pack_parameters(
    kernel: Kernel,
    launch: Launch,
    addresses: Mapping[str, int],
    objects: Mapping[str, int] = NO_OBJECTS,
) -> bytes:
    """The parameter space of a launch: each argument little-endian at its parameter's offset; a
    buffer is its address, or the handle of its texture or surface object."""
    space = bytearray(parameter_bytes(kernel))
    for parameter, argument in zip(kernel.parameters, launch.arguments, strict=True):
        parts = argument.parts if isinstance(argument, StructArgument) else ((0, argument),)
        for offset, part in parts:
            data = _bytes_of(part, addresses, objects)
            first = parameter.offset + offset
            space[first : first + len(data)] = data
    return bytes(space)


def _bytes_of(
    argument: BufferArgument | ScalarArgument,
    addresses: Mapping[str, int],
    objects: Mapping[str, int],
) -> bytes:
    if isinstance(argument, BufferArgument):
        numbers = objects if argument.as_texture else addresses
        number = numbers[argument.buffer] + argument.offset_bytes
        return number.to_bytes(POINTER_BYTES, "little")
    size_bytes = argument.size_bytes
    return (argument.value % (1 << 8 * size_bytes)).to_bytes(size_bytes, "little")


def make_result(
    gpu: Gpu, kernel: Kernel, launch: Launch, counters: Counters, lines: Sequence[LineCounters]
) -> LaunchResult:
    """The record of a launch on this GPU."""
    occupancy = theoretical_occupancy(
        gpu,
        registers=kernel.registers,
        threads=launch.block.volume,
        shared_bytes=kernel.static_shared_bytes + launch.dynamic_shared_bytes,
    )
    return LaunchResult(
        kernel=kernel.name,
        grid=launch.grid,
        block=launch.block,
        registers=kernel.registers,
        static_shared_bytes=kernel.static_shared_bytes,
        dynamic_shared_bytes=launch.dynamic_shared_bytes,
        local_bytes=kernel.local_bytes,
        occupancy=occupancy,
        counters=counters,
        lines=tuple(lines),
    )
