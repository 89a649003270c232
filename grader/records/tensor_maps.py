"""How a buffer is bound to a tensor map."""

from __future__ import annotations

from dataclasses import dataclass

MOST_AXES = 5


@dataclass(frozen=True)
class TensorMap:
    """A tensor map (CUtensorMap) of a buffer: copies of boxes of it are asked for by their corner
    (CUDA Driver API, `cuTensorMapEncodeTiled`).

    `box` and `steps` have a number for each extent of the buffer's shape, in its order: the
    elements that a box spans, and between how many one is taken. `swizzle_bytes`: within so many
    bytes chunks of 16 change places, 0 for none. `element`: what the elements are, where NumPy has
    no such type. `fills_with_nan`: what a box has outside of the tensor is no number, else zero.
    """

    box: tuple[int, ...]
    steps: tuple[int, ...]
    swizzle_bytes: int = 0
    element: str | None = None
    fills_with_nan: bool = False
