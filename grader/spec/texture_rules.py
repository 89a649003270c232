"""Buffers that a spec binds to texture or surface objects: their fields, and rules beyond the JSON
schema.

As for `spec.semantics`, the functions take parts of the sound copy: a None or missing value has
already been reported.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.records import Addressing, Role, Texture
from grader.spec.schema import Json, Problem, fields

_MOST_AXES = 3
_PLANE = 2
_BLENDED = ("float16", "float32")
_REPEATED = (Addressing.WRAP, Addressing.MIRROR)


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
    texture, path = read_texture(_without_unsound(buffer, name)), f"{path}.{name}"
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
        yield Problem(
            f"{path}.address",
            f"{texture.addressing} is for normalized coordinates: the hardware clamps others",
        )


def _shape_problems(texture: Texture, shape: Sequence[str | None], path: str) -> Iterator[Problem]:
    if not shape:
        return
    last = shape[-1]
    if texture.channels > 1 and last is not None and last.strip() != str(texture.channels):
        yield Problem(
            f"{path}.channels", f"the last extent of the shape must be {texture.channels}"
        )
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


def _without_unsound(buffer: Json, name: str) -> Json:
    """The buffer with the sound fields of its object."""
    return {name: {key: value for key, value in buffer[name].items() if value is not None}}
