"""Tensor maps: the 128 bytes that describe a tensor to a kernel (CUtensorMap).

The places of the fields follow from the code that ptxas generates for `tensormap.replace`. The
driver of an H200 writes the same bytes. cpp/memory/tensor_maps.cpp reads them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from grader.emulator.layouts.forms import ElementType

MAP_BYTES = 128
_ELEMENTS = {
    "bool": ElementType.U8,
    "int8": ElementType.U8,
    "uint8": ElementType.U8,
    "int16": ElementType.U16,
    "uint16": ElementType.U16,
    "int32": ElementType.S32,
    "uint32": ElementType.U32,
    "int64": ElementType.S64,
    "uint64": ElementType.U64,
    "float16": ElementType.F16,
    "float32": ElementType.F32,
    "float64": ElementType.F64,
    "bfloat16": ElementType.BF16,
    "tfloat32": ElementType.F32,
}
_BYTES = {
    name: 2 if name == "bfloat16" else 4 if name == "tfloat32" else np.dtype(name).itemsize
    for name in _ELEMENTS
}
_AS_TFLOAT32 = 1 << 16
"""For float32 elements: they are rounded to TF32 on their way to shared memory."""
_KIND, _STRIDES, _HIGH_STRIDES, _EXTENTS, _STEPS = 2, 3, 7, 8, 13
_BOX_BYTE, _SIZE, _ALIGNMENT = 55, 16, 18
"""_SIZE and _ALIGNMENT, the bytes of a box and its required alignment, have no effect here; the
driver writes them, too (observed on an H200)."""


def make_tensor_map(
    address: int,
    element: str,
    *,
    extents: Sequence[int],
    strides: Sequence[int],
    box: Sequence[int],
    steps: Sequence[int],
    swizzle: int,
    fills_with_nan: bool,
) -> bytes:
    """The map of a tensor at an address. Per axis, the fastest first: its extent, the elements that
    a box spans, and the distance between two elements that a box takes. `strides` are in bytes and
    omit the fastest axis."""
    words = np.zeros(MAP_BYTES // 4, dtype="<u4")
    words[0], words[1] = address & 0xFFFFFFFF, address >> 32
    words[_KIND] = (
        (len(extents) - 1) << 4
        | _ELEMENTS[element] << 7
        | swizzle << 13
        | fills_with_nan << 15
        | _AS_TFLOAT32 * (element == "tfloat32")
    )
    for axis, stride in enumerate(strides):
        words[_STRIDES + axis] = stride >> 4 & 0xFFFFFFFF
        words[_HIGH_STRIDES] |= stride >> 36 << 4 * axis
    for axis, (extent, step) in enumerate(zip(extents, steps, strict=True)):
        words[_EXTENTS + axis] = extent - 1
        words[_STEPS] |= (step - 1) << 3 * axis
    taken = [spanned // step for spanned, step in zip(box, steps, strict=True)]
    words[_SIZE] = math.prod(taken) * _BYTES[element]
    words[_ALIGNMENT] = 128 << swizzle if swizzle else 16
    found = words.view(np.uint8)
    found[_BOX_BYTE : _BOX_BYTE + len(box)] = np.array(box) - 1
    return bytes(found)
