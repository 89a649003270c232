"""Texture and surface objects: the records that the runtime reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np

from grader.emulator.layouts.blocks import words


class Texels:
    """Element types of textures; FRACTIONS: integers that read as fractions of their maximum."""

    UNSIGNED_8, SIGNED_8, UNSIGNED_16, SIGNED_16, HALVES, WORDS = range(6)
    UNSIGNED_8_FRACTIONS, SIGNED_8_FRACTIONS = 6, 7
    UNSIGNED_16_FRACTIONS, SIGNED_16_FRACTIONS = 8, 9


class Edge:
    """Behaviour of reads outside of a texture, in the driver's numbering."""

    WRAP, CLAMP, MIRROR, BORDER = range(4)


class TextureForm:
    """An instruction that reads a texture. DIMENSIONS: mask of the number of coordinates. ARRAY: a
    layer follows the coordinates. FETCH: coordinates are integers. GATHER: it reads a component of
    four neighbours; COMPONENT_SHIFT: position of that component's number. CUBE: three coordinates
    are a direction, which chooses one of the six faces of a layer.
    """

    DIMENSIONS = 3
    ARRAY = 4
    FETCH = 8
    GATHER = 16
    COMPONENT_SHIFT = 5
    CUBE = 128


class SurfaceForm:
    """The same for surfaces. An access outside of the surface ends the launch (TRAP), reads zero
    and writes nothing (IGNORE), or otherwise uses the nearest element."""

    DIMENSIONS = 3
    ARRAY = 4
    TRAP = 8
    IGNORE = 16


TEXTURE = np.dtype(
    [
        ("first", "u8"),  # address of its first texel, in the window of global memory
        ("extents", "u4", 3),  # texels along x, y and z; 1 for absent axes
        ("row_texels", "u4"),  # from the start of a row to the start of the next row
        *words("layers", "dimensions", "channels"),
        ("texels", "u4"),  # see Texels
        ("texel_bytes", "u4"),
        ("edge", "u4"),  # see Edge
        *words("layered", "linear", "normalized"),
        ("fetched", "u4"),  # whether it is linear memory
        ("surface", "u4"),
    ],
    align=True,
)
"""A texture or surface object. Its elements are an array whose last axis is the fastest; only the
rows of linear memory may have gaps between them."""


@dataclass(frozen=True)
class TextureObject:
    """A texture or surface object of a launch. `extents` starts with the fastest axis and omits
    layers; the other fields are those of TEXTURE."""

    first: int
    extents: tuple[int, ...]
    channels: int
    texels: int
    texel_bytes: int
    edge: int = Edge.CLAMP
    layers: int = 0
    linear: bool = False
    normalized: bool = False
    fetched: bool = False
    surface: bool = False


_COPIED = {field.name for field in fields(TextureObject)} - {"extents", "layers"}
NO_TEXTURES = np.zeros(0, dtype=TEXTURE)


def texture_records(objects: Sequence[TextureObject]) -> np.ndarray:
    """The TEXTURE records of a launch, in the order of their handles."""
    records = np.zeros(len(objects), dtype=TEXTURE)
    for record, each in zip(records, objects, strict=True):
        for name in _COPIED:
            record[name] = getattr(each, name)
        record["extents"] = (*each.extents, 1, 1, 1)[:3]
        record["row_texels"] = each.extents[0]
        record["dimensions"] = len(each.extents)
        record["layers"], record["layered"] = max(1, each.layers), each.layers > 0
    return records
