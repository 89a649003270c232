"""How a buffer is bound to a texture or a surface object."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Addressing(StrEnum):
    """What a texture answers beside its edges: the nearest texel, zero, or that of a repeated or
    mirrored picture (CUDA C++ Programming Guide, "Texture Object API")."""

    CLAMP = "clamp"
    BORDER = "border"
    WRAP = "wrap"
    MIRROR = "mirror"


@dataclass(frozen=True)
class Texture:
    """A texture object, or a surface object (`surface`), that reaches a buffer's elements. The
    last extent of the buffer's shape are the `channels`, where these are more than one; the first
    one are the layers, where it is `layered`.

    `linear`: it blends neighbours. `normalized`: coordinates of 0 to 1 are the whole picture.
    `fractions`: integers of 8 or 16 bits are read as 0 to 1 (signed ones as -1 to 1). `fetched`:
    it lies in linear memory, for `tex1Dfetch`.
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
