"""What every device does with a launch: lay out the kernel's parameters, and say what it ran
with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from grader.devices.gpus import Gpu, theoretical_occupancy
from grader.records import BufferArgument, Counters, Kernel, Launch, LaunchResult, LineCounters

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
        if isinstance(argument, BufferArgument):
            numbers = objects if argument.as_texture else addresses
            number, size_bytes = numbers[argument.buffer], POINTER_BYTES
        else:
            number, size_bytes = (
                argument.value % (1 << 8 * argument.size_bytes),
                argument.size_bytes,
            )
        space[parameter.offset : parameter.offset + size_bytes] = number.to_bytes(
            size_bytes, "little"
        )
    return bytes(space)


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
