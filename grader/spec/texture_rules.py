"""Buffers that a spec binds to texture or surface objects: their fields, and rules beyond the JSON
schema.

As for `spec.semantics`, the functions take parts of the sound copy: a None or missing value has
already been reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from grader.records import Addressing, Role, TensorMap, Texture
from grader.records.requests import MOST_AXES
from grader.spec.schema import Json, Problem, fields

_MOST_AXES = 3
_PLANE = 2
_BLENDED = ("float16", "float32")
_REPEATED = (Addressing.WRAP, Addressing.MIRROR)
UNIT_BYTES = 16
_ELEMENTS = {"bfloat16": "uint16", "tfloat32": "float32"}
"""By a name for elements that NumPy has no type for, the type of a buffer that holds them."""
_FLOATS = ("float16", "float32", "float64", "bfloat16", "tfloat32")


def read_texture(buffer: Json) -> Texture | None:
    """How a buffer of a sound spec is bound; None if it is not."""
    if "surface" in buffer:
        surface = fields(buffer, "surface")
        return Texture(surface.get("channels", 1), surface.get("layered", False), surface=True)
    if "texture" not in buffer:
        return None
    texture = fields(buffer, "texture")
    return Texture(
        channels=texture.get("channels", 1),
        layered=texture.get("layered", False),
        linear=texture.get("filter") == "linear",
        addressing=Addressing(texture.get("address", Addressing.CLAMP)),
        normalized=texture.get("normalized", False),
        fractions=texture.get("fractions", False),
        fetched=texture.get("fetch", False),
    )


def texture_problems(buffer: Json, path: str) -> Iterator[Problem]:
    """The mistakes of how the buffer at a path is bound."""
    if "texture" in buffer and "surface" in buffer:
        yield Problem(f"{path}.surface", "a buffer is bound to one object: a texture or a surface")
        return
    name = "surface" if "surface" in buffer else "texture"
    if not buffer.get(name) and buffer.get(name) != {}:
        return
    sound = {key: value for key, value in buffer[name].items() if value is not None}
    texture, path = read_texture({name: sound}), f"{path}.{name}"
    assert texture is not None
    if name == "texture" and buffer.get("role") == Role.OUTPUT:
        yield Problem(
            path,
            "kernels only read textures: give the buffer the role input, or bind it to a surface",
        )
    if buffer.get("dtype") == "float64":
        yield Problem(path, "there are no objects of float64 elements")
    yield from _shape_problems(texture, buffer.get("shape") or [], path)
    if texture.linear and buffer.get("dtype") not in (*_BLENDED, None) and not texture.fractions:
        yield Problem(f"{path}.filter", "only floating-point elements, or fractions, are blended")
    if texture.fractions and buffer.get("dtype") not in ("uint8", None):
        yield Problem(f"{path}.fractions", "only uint8 elements are read as fractions")
    if texture.addressing in _REPEATED and not texture.normalized:
        message = f"{texture.addressing} is for normalized coordinates: the hardware clamps others"
        yield Problem(f"{path}.address", message)


def _shape_problems(texture: Texture, shape: Sequence[str | None], path: str) -> Iterator[Problem]:
    if not shape:
        return
    last = shape[-1]
    if texture.channels > 1 and last is not None and last.strip() != str(texture.channels):
        message = f"the last extent of the shape must be {texture.channels}"
        yield Problem(f"{path}.channels", message)
    axes = len(shape) - (texture.channels > 1) - texture.layered
    most = _PLANE if texture.layered else _MOST_AXES
    if not 1 <= axes <= most:
        yield Problem(
            path,
            f"beside channels and layers the shape must have 1 to {most} extents, and has {axes}",
        )
    if texture.layered and texture.surface and axes != _PLANE:
        yield Problem(f"{path}.layered", "layers of a surface have two extents")
    if texture.fetched and (axes != 1 or texture.layered or texture.linear or texture.normalized):
        yield Problem(
            f"{path}.fetch",
            "linear memory has one extent, and neither layers, a filter nor normalized coordinates",
        )


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
