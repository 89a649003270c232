"""Tensor maps on a GPU, which PyCUDA does not make (CUDA Driver API, `cuTensorMapEncodeTiled`)."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence

from grader.devices.tensor_layouts import tensor_layout
from grader.errors import GraderError
from grader.records import DeviceBuffer, TensorMap

_MAP_BYTES, _ALIGNMENT = 128, 64
_ELEMENTS = {
    name: number
    for number, names in enumerate(
        (
            *(("bool", "int8", "uint8"), ("int16", "uint16"), ("uint32",), ("int32",)),
            *(("uint64",), ("int64",), ("float16",), ("float32",), ("float64",), ("bfloat16",)),
            *(("float32, denormals flushed",), ("tfloat32",)),
        )
    )
    for name in names
}
"""By element, the number of a CUtensorMapDataType."""


def tensor_maps(
    buffers: Sequence[DeviceBuffer], addresses: Mapping[str, int], driver: ctypes.CDLL
) -> dict[str, bytes]:
    """The tensor maps of buffers, by name. Raises GraderError where CUDA makes no map."""
    return {
        buffer.name: _encode(buffer, buffer.tensor_map, addresses[buffer.name], driver)
        for buffer in buffers
        if buffer.tensor_map is not None
    }


def _encode(buffer: DeviceBuffer, map_: TensorMap, address: int, driver: ctypes.CDLL) -> bytes:
    layout = tensor_layout(buffer, map_)
    encode = getattr(driver, "cuTensorMapEncodeTiled", None)
    if encode is None:
        raise GraderError(
            "this driver cannot make tensor maps", "Install a driver for CUDA 12 or later."
        )
    room = ctypes.create_string_buffer(_MAP_BYTES + _ALIGNMENT)
    place = ctypes.addressof(room) + -ctypes.addressof(room) % _ALIGNMENT
    none = 0  # no interleaving, and no larger reads for L2
    code = encode(
        ctypes.c_void_p(place),
        _ELEMENTS[layout.element],
        len(layout.extents),
        ctypes.c_void_p(address),
        _array(ctypes.c_uint64, layout.extents),
        _array(ctypes.c_uint64, layout.strides),
        _array(ctypes.c_uint32, layout.box),
        _array(ctypes.c_uint32, layout.steps),
        none,
        layout.swizzle,
        none,
        int(layout.fills_with_nan),
    )
    if code != 0:
        raise GraderError(f"CUDA cannot make a tensor map of {buffer.name}: it gives {code}")
    return ctypes.string_at(place, _MAP_BYTES)


def _array(
    kind: type[ctypes.c_uint32 | ctypes.c_uint64], numbers: Sequence[int]
) -> ctypes.Array[ctypes.c_uint32] | ctypes.Array[ctypes.c_uint64]:
    return (kind * max(1, len(numbers)))(*numbers)
