"""Buffers that a spec or a run binds to tensor maps: their fields, and the driver's rules for a map
(CUDA Driver API, `cuTensorMapEncodeTiled`).

As for `spec.semantics`, the functions take parts of the sound copy: a None or missing value has
already been reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from grader.cpp.cursor import quote
from grader.records import TensorMap
from grader.records.tensor_maps import MOST_AXES
from grader.spec.schema import Json, Problem, fields

UNIT_BYTES = 16
_ELEMENTS = {"bfloat16": "uint16", "tfloat32": "float32"}
"""By a name for elements that NumPy has no type for, the type of a buffer that holds them."""
_MOST_IN_BOX, _MOST_STEP = 256, 8
_CHOICES: Mapping[str, tuple[object, ...]] = {
    "swizzle": (0, 32, 64, 128),
    "fill": ("zero", "nan"),
    "element": (None, *_ELEMENTS),
}
_FIELDS = ("box", "steps", *_CHOICES)
_FLOATS = ("float16", "float32", "float64", "bfloat16", "tfloat32")


def read_tensor_map(buffer: Json) -> TensorMap | None:
    """The map of a buffer of a sound spec; None if it has none."""
    if "tensor_map" not in buffer:
        return None
    found = fields(buffer, "tensor_map")
    box = tuple(found["box"])
    return TensorMap(
        box=box,
        steps=tuple(found.get("steps", [1] * len(box))),
        swizzle_bytes=found.get("swizzle", 0),
        element=found.get("element"),
        fills_with_nan=found.get("fill") == "nan",
    )


def tensor_map_problems(buffer: Json, path: str) -> Iterator[Problem]:
    """The mistakes of the map of the buffer at a path, except those that depend on the sizes."""
    if not buffer.get("tensor_map"):
        return
    if "texture" in buffer or "surface" in buffer:
        yield Problem(f"{path}.tensor_map", "a buffer is bound to one object: it has a texture")
        return
    shape, dtype = buffer.get("shape"), buffer.get("dtype")
    if shape is None or dtype is None or not sound_box(buffer["tensor_map"]):
        return
    map_ = read_tensor_map(buffer)
    assert map_ is not None
    for message in box_mistakes(map_, dtype, len(shape)):
        yield Problem(f"{path}.tensor_map", message)


def sound_box(found: Json) -> bool:
    """Whether nothing of a map's fields has been complained about."""
    numbers = (*(found.get("box") or [None]), *(found.get("steps", [1]) or [None]))
    return all(each is not None for each in (*numbers, *found.values()))


def field_mistake(given: Mapping[str, object]) -> str | None:
    """The mistakes in the fields of a map that no schema has checked."""
    unknown = [name for name in given if name not in _FIELDS]
    if unknown:
        return f"there is no field {quote(str(unknown[0]))}"
    if "box" not in given:
        return "it needs a box: the elements that it spans along each extent"
    for name, most in (("box", _MOST_IN_BOX), ("steps", _MOST_STEP)):
        numbers = given.get(name, ())
        sound = isinstance(numbers, Sequence) and all(
            isinstance(each, int) and 1 <= each <= most for each in numbers
        )
        if not sound:
            return f"{name} are not integers from 1 to {most}, but {numbers!r}"
    for name, choices in _CHOICES.items():
        if given.get(name, choices[0]) not in choices:
            return f"{name} is none of {', '.join(map(str, choices))}, but {given[name]!r}"
    return None


def box_mistakes(map_: TensorMap, dtype: str, axes: int) -> Iterator[str]:
    """The driver's objections to the map of a buffer with so many axes."""
    if not len(map_.box) == len(map_.steps) == axes:
        yield f"box and steps need a number for each of the {axes} extents of the shape"
        return
    if axes > MOST_AXES:
        yield f"a tensor has {MOST_AXES} extents at most, and the shape has {axes}"
    if map_.element is not None and dtype != _ELEMENTS[map_.element]:
        yield f"elements of {map_.element} are in a buffer of {_ELEMENTS[map_.element]}"
    if map_.fills_with_nan and (map_.element or dtype) not in _FLOATS:
        yield "only boxes of floating-point elements are filled with nan"
    row_bytes = map_.box[-1] * np.dtype(dtype).itemsize
    if row_bytes % UNIT_BYTES:
        yield f"a row of the box has {row_bytes} bytes, which must be a multiple of {UNIT_BYTES}"
    if map_.swizzle_bytes and row_bytes > map_.swizzle_bytes:
        yield (
            f"a row of the box has {row_bytes} bytes, more than the {map_.swizzle_bytes} within"
            " which they are swizzled"
        )


def shape_mistake(dtype: str, shape: Sequence[int]) -> str | None:
    """Why a buffer of this shape can have no map; None if it can."""
    row_bytes = shape[-1] * np.dtype(dtype).itemsize
    if len(shape) > 1 and row_bytes % UNIT_BYTES:
        return (
            f"its rows have {row_bytes} bytes, and those of a buffer with a tensor map need a"
            f" multiple of {UNIT_BYTES}"
        )
    return None
