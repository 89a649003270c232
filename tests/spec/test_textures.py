"""Buffers that a spec binds to texture and surface objects."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from grader.records import Addressing, Role, Texture
from grader.spec.draws import device_buffers
from grader.spec.reader import read_exercise
from tests.spec.test_reader import SPEC, problems_of, write_exercise

PICTURE: dict[str, Any] = {
    "name": "picture",
    "dtype": "uint8",
    "shape": ["n", "m", "4"],
    "role": "input",
    "init": "index",
}


def write_with(root: Path, **changed: Any) -> Path:  # noqa: ANN401 - JSON of any form
    """An exercise with a further buffer: the picture, with these fields."""
    spec = copy.deepcopy(SPEC)
    spec["buffers"].append({**PICTURE, **changed})
    return write_exercise(root, spec)


def test_reads_a_texture(tmp_path: Path) -> None:
    texture = {
        "channels": 4,
        "filter": "linear",
        "fractions": True,
        "normalized": True,
        "address": "wrap",
    }
    exercise = read_exercise(write_with(tmp_path, texture=texture))
    made = device_buffers(exercise, {"n": 3, "m": 5})[-1]
    assert made.texture == Texture(
        channels=4, linear=True, fractions=True, normalized=True, addressing=Addressing.WRAP
    )
    assert made.texture.extents(made.shape) == (5, 3)


def test_reads_a_surface(tmp_path: Path) -> None:
    folder = write_with(tmp_path, surface={"channels": 4}, role="output", init="index")
    assert ("$.buffers[2].init", "an output is not filled, but in a part: leave init out") in (
        problems_of(folder)
    )
    spec = copy.deepcopy(SPEC)
    spec["buffers"][0] |= {"surface": {}}
    exercise = read_exercise(write_exercise(tmp_path / "other", spec))
    assert exercise.buffers[0].texture == Texture(surface=True)
    assert exercise.buffers[0].role is Role.OUTPUT


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"texture": {}, "surface": {}}, ".surface", "bound to one object: a texture or a surface"),
    (
        {"texture": {"channels": 4, "filter": "linear"}},
        ".texture.filter",
        "only floating-point elements, or fractions, are blended",
    ),
    (
        {"texture": {"channels": 4, "address": "mirror"}},
        ".texture.address",
        "mirror is for normalized coordinates: the hardware clamps others",
    ),
    ({"texture": {"channels": 2}}, ".texture.channels", "the last extent of the shape must be 2"),
    ({"texture": {"channels": 3}}, ".texture.channels", "must be one of 1, 2, 4, got 3"),
    ({"texture": {"layers": 4}}, ".texture.layers", "there is no field 'layers'"),
    (
        {"texture": {"layered": True}, "shape": ["n"], "dtype": "uint32"},
        ".texture",
        "beside channels and layers the shape must have 1 to 2 extents, and has 0",
    ),
    (
        {"surface": {"layered": True}, "shape": ["n", "m"]},
        ".surface.layered",
        "layers of a surface have two extents",
    ),
    (
        {"texture": {"fetch": True, "channels": 4}},
        ".texture.fetch",
        "linear memory has one extent",
    ),
    (
        {"texture": {"fractions": True}, "dtype": "int32"},
        ".texture.fractions",
        "only uint8 elements are read as fractions",
    ),
    ({"surface": {}, "dtype": "float64"}, ".surface", "there are no objects of float64 elements"),
    (
        {"texture": {"channels": 4}, "role": "output"},
        ".texture",
        "kernels only read textures",
    ),
]


@pytest.mark.parametrize(
    ("changed", "path", "words"), MISTAKES, ids=[words for *_, words in MISTAKES]
)
def test_a_mistake_is_told_at_its_path(
    tmp_path: Path, changed: dict[str, Any], path: str, words: str
) -> None:
    found = problems_of(write_with(tmp_path, **changed))
    assert any(at == f"$.buffers[2]{path}" and words in message for at, message in found), found
