"""Texture and surface objects: their records, which the runtime reads, and what a launch is told of
them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np


class Texels:
    """What the elements of a texture are: integers that stay integers, halves, words, and integers
    that are read as fractions."""

    UNSIGNED_8, SIGNED_8, UNSIGNED_16, SIGNED_16, HALVES, WORDS = range(6)
    UNSIGNED_8_FRACTIONS, SIGNED_8_FRACTIONS = 6, 7
    UNSIGNED_16_FRACTIONS, SIGNED_16_FRACTIONS = 8, 9


class Edge:
    """What a texture answers beside its edges, in the driver's order."""

    WRAP, CLAMP, MIRROR, BORDER = range(4)


class TextureForm:
    """What tells an instruction that reads a texture from others. DIMENSIONS: a mask of the number
    of coordinates. ARRAY: there is a layer, too. FETCH: coordinates are integers. GATHER: it reads
    one component of four neighbours; COMPONENT_SHIFT: which one.
    """

    DIMENSIONS = 3
    ARRAY = 4
    FETCH = 8
    GATHER = 16
    COMPONENT_SHIFT = 5


class SurfaceForm:
    """Likewise of surfaces; beside the edges a TRAP ends the launch, IGNORE reads zero and writes
    nothing, and else the nearest element is meant."""

    DIMENSIONS = 3
    ARRAY = 4
    TRAP = 8
    IGNORE = 16


TEXTURE = np.dtype(
    [
        ("first", "u8"),  # of its first texel, in the window of global memory
        ("extents", "u4", 3),  # texels along x, y and z; 1 where there is no such axis
        ("layers", "u4"),
        ("dimensions", "u4"),
        ("channels", "u4"),
        ("texels", "u4"),  # see Texels
        ("texel_bytes", "u4"),
        ("edge", "u4"),  # see Edge
        ("layered", "u4"),
        ("linear", "u4"),
        ("normalized", "u4"),
        ("fetched", "u4"),  # it lies in linear memory
        ("surface", "u4"),
    ],
    align=True,
)
"""A texture or surface object. Its elements lie as those of an array do, the last axis fastest."""


@dataclass(frozen=True)
class TextureObject:
    """A texture or surface object of a launch: where its first texel lies in the window of global
    memory, its extents (the fastest axis first, without layers), and the fields of TEXTURE."""

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


def texture_records(objects: Sequence[TextureObject]) -> np.ndarray:
    """The records of a launch's objects, in the order of their handles."""
    records = np.zeros(max(1, len(objects)), dtype=TEXTURE)
    for record, each in zip(records, objects, strict=False):
        for name in ("first", "channels", "texels", "texel_bytes", "edge"):
            record[name] = getattr(each, name)
        for name in ("linear", "normalized", "fetched", "surface"):
            record[name] = getattr(each, name)
        record["extents"] = (*each.extents, 1, 1, 1)[:3]
        record["dimensions"] = len(each.extents)
        record["layers"], record["layered"] = max(1, each.layers), each.layers > 0
    return records
