"""How a buffer is bound to a texture, a surface object or a tensor map."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MOST_AXES = 5


class Addressing(StrEnum):
    """The value of a texture beyond its edges: the nearest texel, zero, or the texel of a repeated
    or mirrored picture (CUDA C++ Programming Guide, "Texture Object API")."""

    CLAMP = "clamp"
    BORDER = "border"
    WRAP = "wrap"
    MIRROR = "mirror"


@dataclass(frozen=True)
class Texture:
    """A texture object, or a surface object (`surface`), of a buffer. Where there are several
    `channels`, they are the last extent of the buffer's shape; where it is `layered`, the first
    extent is the number of layers.

    `linear`: it blends neighbours. `normalized`: coordinates of 0 to 1 cover the whole picture.
    `fractions`: integers of 8 or 16 bits are read as 0 to 1 (signed integers as -1 to 1).
    `fetched`: it lies in linear memory, for `tex1Dfetch`.
    """

    channels: int = 1
    layered: bool = False
    linear: bool = False
    addressing: Addressing = Addressing.CLAMP
    normalized: bool = False
    fractions: bool = False
    fetched: bool = False
    surface: bool = False

    def extents(self, shape: tuple[int, ...]) -> tuple[int, ...]:
        """Texels along each axis, the fastest first, of a buffer of this shape; the layers, if it
        has any, last."""
        return tuple(reversed(shape[:-1] if self.channels > 1 else shape))


@dataclass(frozen=True)
class TensorMap:
    """A tensor map (CUtensorMap) of a buffer: a copy names a box by its corner (CUDA Driver API,
    `cuTensorMapEncodeTiled`).

    `box` and `steps` have a number for each extent of the buffer's shape, in its order: the
    elements that a box spans, and the distance between two copied elements. `swizzle_bytes`: within
    this number of bytes, chunks of 16 bytes change places; 0 for none. `element`: the type of the
    elements, where NumPy has no such type. `fills_with_nan`: elements outside of the tensor are
    NaN, else zero.
    """

    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle_bytes: int = 0
    element: str | None = None
    fills_with_nan: bool = False
