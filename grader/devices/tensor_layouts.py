"""The layout of a buffer with a tensor map, in the driver's order: the fastest axis first."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.records import DeviceBuffer, TensorMap

_SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}


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
