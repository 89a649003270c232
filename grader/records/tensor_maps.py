"""How a buffer is bound to a tensor map."""

from __future__ import annotations

from dataclasses import dataclass

MOST_AXES = 5


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
