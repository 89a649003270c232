"""Buffers that a spec binds to tensor maps."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import pytest

from grader.errors import SpecError
from grader.records import TensorMap
from grader.spec.draws import device_buffers
from grader.spec.reader import read_exercise
from tests.spec.test_reader import SPEC, problems_of, write_exercise

MATRIX: dict[str, Any] = {
    "name": "matrix",
    "dtype": "float32",
    "shape": ["n", "4 * m"],
    "role": "input",
    "init": "normal",
}


def write_with(root: Path, **changed: Any) -> Path:  # noqa: ANN401 - JSON of any form
    """An exercise with a further buffer: the matrix, with these fields."""
    spec = copy.deepcopy(SPEC)
    spec["buffers"].append({**MATRIX, **changed})
    return write_exercise(root, spec)


def test_reads_a_map(tmp_path: Path) -> None:
    fields = {"box": [8, 32], "steps": [2, 1], "swizzle": 128, "fill": "nan", "element": "tfloat32"}
    exercise = read_exercise(write_with(tmp_path, tensor_map=fields))
    made = device_buffers(exercise, {"n": 3, "m": 5})[-1]
    assert made.tensor_map == TensorMap((8, 32), (2, 1), 128, "tfloat32", fills_with_nan=True)


def test_what_is_left_out_is_plain(tmp_path: Path) -> None:
    exercise = read_exercise(write_with(tmp_path, tensor_map={"box": [8, 32]}))
    assert exercise.buffers[-1].tensor_map == TensorMap((8, 32), (1, 1))
    assert exercise.buffers[0].tensor_map is None


def test_rows_that_no_map_can_have_are_told_with_the_sizes(tmp_path: Path) -> None:
    exercise = read_exercise(write_with(tmp_path, shape=["n", "m"], tensor_map={"box": [8, 4]}))
    assert device_buffers(exercise, {"n": 3, "m": 8})[-1].shape == (3, 8)
    with pytest.raises(SpecError, match=r"rows have 20 bytes.*\(3, 5\) where n = 3, m = 5"):
        device_buffers(exercise, {"n": 3, "m": 5})


MISTAKES: list[tuple[dict[str, Any], str, str]] = [
    ({"tensor_map": {}}, ".tensor_map.box", "this field is missing"),
    ({"tensor_map": {"box": [8, 300]}}, ".tensor_map.box[1]", "256"),
    ({"tensor_map": {"box": [8, 32], "swizzle": 16}}, ".tensor_map.swizzle", "0, 32, 64, 128"),
    ({"tensor_map": {"box": [32]}}, ".tensor_map", "a number for each of the 2 extents"),
    ({"tensor_map": {"box": [8, 6]}}, ".tensor_map", "24 bytes, which must be a multiple of 16"),
    ({"tensor_map": {"box": [8, 32], "swizzle": 64}}, ".tensor_map", "128 bytes, more than the 64"),
    (
        {"tensor_map": {"box": [8, 32], "element": "bfloat16"}},
        ".tensor_map",
        "elements of bfloat16 are in a buffer of uint16",
    ),
    (
        {"tensor_map": {"box": [8, 32], "fill": "nan"}, "dtype": "int32", "init": "index"},
        ".tensor_map",
        "only boxes of floating-point elements are filled with nan",
    ),
    (
        {"tensor_map": {"box": [8, 32]}, "texture": {"channels": 1}},
        ".tensor_map",
        "bound to one object",
    ),
]


@pytest.mark.parametrize(("changed", "path", "message"), MISTAKES)
def test_mistakes_have_their_paths(
    changed: dict[str, Any], path: str, message: str, tmp_path: Path
) -> None:
    found = problems_of(write_with(tmp_path, **changed))
    assert any(at == f"$.buffers[2]{path}" and message in told for at, told in found), found
