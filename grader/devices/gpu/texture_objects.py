"""Texture objects on a GPU, which PyCUDA does not make: CUDA arrays with copies of buffers, bound
through the driver (CUDA Driver API, "Texture Object Management").

The layout of an array is known to the hardware alone, so a texture needs a copy; inputs do not
change.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from grader.devices.parameter_space import tensor_layout
from grader.errors import GraderError
from grader.records import Addressing, DeviceBuffer, TensorMap, Texture

_FORMATS = {
    "uint8": 0x01,
    "uint16": 0x02,
    "uint32": 0x03,
    "int8": 0x08,
    "int16": 0x09,
    "int32": 0x0A,
    "float16": 0x10,
    "float32": 0x20,
}
_ADDRESSING = {
    Addressing.WRAP: 0,
    Addressing.CLAMP: 1,
    Addressing.MIRROR: 2,
    Addressing.BORDER: 3,
}
_OF_ARRAY, _OF_LINEAR_MEMORY = 0, 2
_AS_INTEGERS, _NORMALIZED = 1, 2
_LAYERED, _GATHERED = 1, 8
_PLANE = 2
_ON_DEVICE, _IN_ARRAY = 2, 3
_FLOATS = ("float16", "float32")
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


class _ArrayDescriptor(ctypes.Structure):
    """CUDA_ARRAY3D_DESCRIPTOR."""

    _fields_: ClassVar = [
        *((name, ctypes.c_size_t) for name in ("width", "height", "depth")),
        *((name, ctypes.c_uint) for name in ("format", "channels", "flags")),
    ]


class _End(ctypes.Structure):
    """A half of CUDA_MEMCPY3D: the source or the target of a copy."""

    _fields_: ClassVar = [
        *((name, ctypes.c_size_t) for name in ("x_bytes", "y", "z", "level")),
        ("kind", ctypes.c_uint),
        ("host", ctypes.c_void_p),
        ("device", ctypes.c_uint64),
        ("array", ctypes.c_void_p),
        ("reserved", ctypes.c_void_p),
        ("pitch", ctypes.c_size_t),
        ("height", ctypes.c_size_t),
    ]


class _Copy(ctypes.Structure):
    """CUDA_MEMCPY3D."""

    _fields_: ClassVar = [
        ("source", _End),
        ("target", _End),
        *((name, ctypes.c_size_t) for name in ("width_bytes", "height", "depth")),
    ]


class _LinearMemory(ctypes.Structure):
    _fields_: ClassVar = [
        ("address", ctypes.c_uint64),
        ("format", ctypes.c_uint),
        ("channels", ctypes.c_uint),
        ("size_bytes", ctypes.c_size_t),
    ]


class _Place(ctypes.Union):
    _fields_: ClassVar = [
        ("array", ctypes.c_void_p),
        ("linear", _LinearMemory),
        ("reserved", ctypes.c_int * 32),
    ]


class _Resource(ctypes.Structure):
    """CUDA_RESOURCE_DESC."""

    _fields_: ClassVar = [("kind", ctypes.c_uint), ("place", _Place), ("flags", ctypes.c_uint)]


class _Description(ctypes.Structure):
    """CUDA_TEXTURE_DESC."""

    _fields_: ClassVar = [
        ("addressing", ctypes.c_uint * 3),
        ("filter", ctypes.c_uint),
        ("flags", ctypes.c_uint),
        ("anisotropy", ctypes.c_uint),
        ("level_filter", ctypes.c_uint),
        *((name, ctypes.c_float) for name in ("bias", "least_level", "most_level")),
        ("border", ctypes.c_float * 4),
        ("reserved", ctypes.c_int * 12),
    ]


class TextureObjects:
    """The texture objects of buffers, whose contents are at these addresses and do not change;
    `handles` are by the buffers' names. Raises GraderError for a buffer that cannot be bound.

    `driver` is libcuda; a context is current.
    """

    def __init__(
        self,
        buffers: Sequence[DeviceBuffer],
        addresses: Mapping[str, int],
        driver: Any,  # noqa: ANN401
    ) -> None:
        self._driver = driver
        self._arrays: list[ctypes.c_void_p] = []
        self.handles: dict[str, int] = {}
        for buffer in buffers:
            if buffer.texture is None:
                continue
            if buffer.texture.surface:
                raise GraderError(
                    f"the buffer {buffer.name} is a surface, which is not bound on a GPU",
                    "Use the emulated device: --device emulated.",
                )
            self.handles[buffer.name] = self._bind(buffer, buffer.texture, addresses[buffer.name])

    def free(self) -> None:
        """Destroy the objects and their arrays, if the context still exists."""
        for handle in self.handles.values():
            self._driver.cuTexObjectDestroy(ctypes.c_uint64(handle))
        for array in self._arrays:
            self._driver.cuArrayDestroy(array)
        self.handles, self._arrays = {}, []

    def __del__(self) -> None:
        self.free()

    def _bind(self, buffer: DeviceBuffer, texture: Texture, address: int) -> int:
        resource = _Resource()
        if texture.fetched:
            resource.kind = _OF_LINEAR_MEMORY
            resource.place.linear = _LinearMemory(
                address, _FORMATS[buffer.dtype], texture.channels, buffer.size_bytes
            )
        else:
            resource.kind = _OF_ARRAY
            resource.place.array = self._make_array(buffer, texture, address)
        description = _describe(buffer, texture)
        handle = ctypes.c_uint64()
        self._call(
            "cuTexObjectCreate",
            ctypes.byref(handle),
            ctypes.byref(resource),
            ctypes.byref(description),
            None,
        )
        return handle.value

    def _make_array(self, buffer: DeviceBuffer, texture: Texture, address: int) -> ctypes.c_void_p:
        extents = list(texture.extents(buffer.shape))
        layers = extents.pop() if texture.layered else 0
        width, height, depth = (*extents, 0, 0)[:3]
        gathers = len(extents) == _PLANE and not texture.layered
        array = ctypes.c_void_p()
        descriptor = _ArrayDescriptor(
            width,
            height,
            layers or depth,
            _FORMATS[buffer.dtype],
            texture.channels,
            _LAYERED * (layers > 0) | _GATHERED * gathers,
        )
        self._call("cuArray3DCreate_v2", ctypes.byref(array), ctypes.byref(descriptor))
        self._arrays.append(array)
        row_bytes = width * texture.channels * np.dtype(buffer.dtype).itemsize
        rows, slices = max(1, height), max(1, layers, depth)
        copy = _Copy(width_bytes=row_bytes, height=rows, depth=slices)
        copy.source = _End(kind=_ON_DEVICE, device=address, pitch=row_bytes, height=rows)
        copy.target = _End(kind=_IN_ARRAY, array=array)
        self._call("cuMemcpy3D_v2", ctypes.byref(copy))
        return array

    def _call(self, function: str, *arguments: Any) -> None:  # noqa: ANN401
        code = getattr(self._driver, function)(*arguments)
        if code != 0:
            raise GraderError(f"CUDA cannot bind a texture: {function} gives {code}")


def _describe(buffer: DeviceBuffer, texture: Texture) -> _Description:
    integers = buffer.dtype not in _FLOATS and not texture.fractions
    return _Description(
        addressing=(ctypes.c_uint * 3)(*[_ADDRESSING[texture.addressing]] * 3),
        filter=int(texture.linear),
        flags=_AS_INTEGERS * integers | _NORMALIZED * texture.normalized,
    )


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
    storage = ctypes.create_string_buffer(_MAP_BYTES + _ALIGNMENT)
    place = ctypes.addressof(storage) + -ctypes.addressof(storage) % _ALIGNMENT
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
