"""Tasks of every device for a launch: lay out the kernel's parameters and its tensor maps, and
record its resources."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from grader.devices.gpus import Gpu, theoretical_occupancy
from grader.records import (
    BufferArgument,
    Counters,
    DeviceBuffer,
    Kernel,
    Launch,
    LaunchResult,
    LineCounters,
    ScalarArgument,
    StructArgument,
    TensorMap,
)

POINTER_BYTES = 8
NO_OBJECTS: Mapping[str, bytes] = MappingProxyType({})
_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


def parameter_bytes(kernel: Kernel) -> int:
    return max(
        (parameter.offset + parameter.size_bytes for parameter in kernel.parameters), default=0
    )


def pack_parameters(
    kernel: Kernel,
    launch: Launch,
    addresses: Mapping[str, int],
    objects: Mapping[str, bytes] = NO_OBJECTS,
) -> bytes:
    """The parameter space of a launch: each argument little-endian at its parameter's offset; a
    buffer is its address, or the bytes of its texture object, surface object or tensor map."""
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
    objects: Mapping[str, bytes],
) -> bytes:
    if isinstance(argument, ScalarArgument):
        number = argument.value % (1 << 8 * argument.size_bytes)
        return number.to_bytes(argument.size_bytes, "little")
    if argument.as_object:
        return objects[argument.buffer]
    number = addresses[argument.buffer] + argument.offset_bytes
    return number.to_bytes(POINTER_BYTES, "little")


def handle_bytes(handles: Mapping[str, int]) -> dict[str, bytes]:
    """The arguments for texture and surface objects with these handles, as bytes."""
    return {name: handle.to_bytes(POINTER_BYTES, "little") for name, handle in handles.items()}


def make_result(
    gpu: Gpu, kernel: Kernel, launch: Launch, counters: Counters, lines: Sequence[LineCounters]
) -> LaunchResult:
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


@dataclass(frozen=True)
class TensorLayout:
    """A tensor's element type, its extents, the bytes between neighbours along each axis but the
    first, and its boxes. `swizzle` is the number of a CUtensorMapSwizzle."""

    element: str
    extents: tuple[int, ...]
    strides: tuple[int, ...]
    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle: int
    fills_with_nan: bool


def tensor_layout(buffer: DeviceBuffer, map_: TensorMap) -> TensorLayout:
    """The layout of a buffer's elements for its tensor map `map_`."""
    extents = buffer.shape[::-1]
    bytes_below = np.cumprod([np.dtype(buffer.dtype).itemsize, *extents])
    return TensorLayout(
        element=map_.element or buffer.dtype,
        extents=extents,
        strides=tuple(int(each) for each in bytes_below[1:-1]),
        box=map_.box[::-1],
        steps=map_.steps[::-1],
        swizzle=_SWIZZLES[map_.swizzle_bytes],
        fills_with_nan=map_.fills_with_nan,
    )
