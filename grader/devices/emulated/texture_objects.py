"""Texture and surface objects of the emulated device, which access the buffers without a copy, and
tensor maps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from grader.devices.parameter_space import tensor_layout
from grader.emulator import Edge, GlobalMemory, Texels, TextureObject, make_tensor_map
from grader.records import Addressing, DeviceBuffer, Texture

_EDGES: Mapping[Addressing, int] = {
    Addressing.CLAMP: Edge.CLAMP,
    Addressing.BORDER: Edge.BORDER,
    Addressing.WRAP: Edge.WRAP,
    Addressing.MIRROR: Edge.MIRROR,
}
_TEXELS: Mapping[str, tuple[int, int]] = {
    "uint8": (Texels.UNSIGNED_8, Texels.UNSIGNED_8_FRACTIONS),
    "int8": (Texels.SIGNED_8, Texels.SIGNED_8_FRACTIONS),
    "uint16": (Texels.UNSIGNED_16, Texels.UNSIGNED_16_FRACTIONS),
    "int16": (Texels.SIGNED_16, Texels.SIGNED_16_FRACTIONS),
    "float16": (Texels.HALVES, Texels.HALVES),
}
"""By element type the form of its bits, and their form as fractions; other types are words."""


def texture_objects(
    buffers: Sequence[DeviceBuffer], memory: GlobalMemory
) -> dict[str, TextureObject]:
    """The objects of bound buffers, by the buffers' names and in their order."""
    return {
        buffer.name: _make(buffer, buffer.texture, memory)
        for buffer in buffers
        if buffer.texture is not None
    }


def tensor_maps(buffers: Sequence[DeviceBuffer], memory: GlobalMemory) -> dict[str, bytes]:
    """The tensor maps of buffers, by name."""
    return {
        buffer.name: make_tensor_map(
            memory.regions[buffer.name].address, **vars(tensor_layout(buffer, buffer.tensor_map))
        )
        for buffer in buffers
        if buffer.tensor_map is not None
    }


def _make(buffer: DeviceBuffer, texture: Texture, memory: GlobalMemory) -> TextureObject:
    extents = texture.extents(buffer.shape)
    layers = extents[-1] if texture.layered else 0
    plain, fractions = _TEXELS.get(buffer.dtype, (Texels.WORDS, Texels.WORDS))
    return TextureObject(
        first=memory.regions[buffer.name].offset,
        extents=extents[:-1] if texture.layered else extents,
        channels=texture.channels,
        texels=fractions if texture.fractions else plain,
        texel_bytes=texture.channels * np.dtype(buffer.dtype).itemsize,
        edge=_EDGES[texture.addressing],
        layers=layers,
        linear=texture.linear,
        normalized=texture.normalized,
        fetched=texture.fetched,
        surface=texture.surface,
    )
