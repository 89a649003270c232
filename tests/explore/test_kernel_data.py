"""What kernels are run with, from Python and from words: wrong arguments are named before anything
runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.errors import UsageError
from grader.explore.kernel_data import read_data
from grader.explore.kernel_words import parse_scalars, parse_sizes, read_inputs, read_outputs
from grader.records import DeviceBuffer, Role

X = np.zeros(4, dtype=np.float32)
GIVEN: dict[str, Any] = {
    "inputs": {"x": X},
    "outputs": {"y": ("float32", 4)},
    "sizes": {"n": 4},
    "scalars": {"alpha": 2.0},
}


def test_inputs_come_before_outputs_and_empty_outputs_hold_nothing() -> None:
    data = read_data(**GIVEN | {"outputs": {"y": ("int32", (2, 3)), "z": np.ones(2)}})
    assert data.buffers == (
        DeviceBuffer("x", "float32", (4,), Role.INPUT),
        DeviceBuffer("y", "int32", (2, 3), Role.OUTPUT),
        DeviceBuffer("z", "float64", (2,), Role.OUTPUT),
    )
    assert set(data.arrays) == {"x", "z"}
    assert data.names == {"x", "y", "z", "n", "alpha"}


def test_arrays_are_copied_in_row_major_order() -> None:
    columns = np.arange(6, dtype=np.int32).reshape(2, 3).T
    taken = read_data(**GIVEN | {"inputs": {"x": columns}}).arrays["x"]
    assert taken.flags.c_contiguous
    assert not np.shares_memory(taken, columns)
    np.testing.assert_array_equal(taken, columns)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"inputs": {"x": [1, 2]}}, "inputs['x'] is no NumPy array, but list"),
        ({"inputs": {"x": X.astype(complex)}}, "inputs['x'] is of complex128"),
        ({"inputs": {"x": X.astype(">f4")}}, "inputs['x'] is of float32, byte-swapped"),
        ({"inputs": {"x": X[:0]}}, "inputs['x'] has no elements"),
        ({"inputs": {"a-b": X}}, "inputs: 'a-b' is no identifier"),
        ({"inputs": {"min": X}}, "inputs: 'min' is a word of launch lines"),
        ({"sizes": {"x": 1}}, "sizes: 'x' is given twice, in inputs too"),
        ({"sizes": {"n": 1.5}}, "sizes['n'] is no integer, but float"),
        ({"sizes": {"n": True}}, "sizes['n'] is no integer, but bool"),
        ({"sizes": {"n": 1 << 63}}, "sizes['n'] does not fit 64 bits"),
        ({"scalars": {"alpha": "2"}}, "scalars['alpha'] is no number, but str"),
        ({"scalars": {"alpha": np.complex64(2)}}, "scalars['alpha'] is of complex64"),
        ({"outputs": {}}, "outputs: there is no output"),
        ({"outputs": {"y": ("float31", 4)}}, "outputs['y'] is neither an array nor a type"),
        ({"outputs": {"y": (None, 4)}}, "outputs['y'] is neither an array nor a type"),
        ({"outputs": {"y": ("float32", "4")}}, "outputs['y'] is neither an array nor a type"),
        ({"outputs": {"y": ("float32", (4, 0))}}, "outputs['y'] has no elements"),
    ],
)
def test_the_wrong_argument_is_named(given: dict[str, Any], message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_data(**GIVEN | given)
    assert message in str(refused.value)
    assert refused.value.advice


def test_words_of_a_command_line() -> None:
    sizes = parse_sizes(["rows=6", "cols=2*rows"])
    assert sizes == {"rows": 6, "cols": 12}
    assert parse_scalars(["a=2", "b=2.0", "c=1e-3", "d=0x10"]) == {
        "a": 2, "b": 2.0, "c": 1e-3, "d": 16,
    }  # fmt: skip
    inputs = read_inputs(["x=normal:rows,cols", "i=index:ceil_div(cols, 5):int"], sizes, seed=3)
    assert (inputs["x"].shape, inputs["x"].dtype) == ((6, 12), np.float32)
    assert (inputs["i"].tolist(), inputs["i"].dtype) == ([0, 1, 2], np.int32)
    again = read_inputs(["x=normal:rows,cols", "z=normal:rows,cols"], sizes, seed=3)
    assert np.array_equal(again["x"], inputs["x"])
    assert not np.array_equal(again["z"], inputs["x"])
    outputs = read_outputs(["y=float:cols", "z=index:2"], sizes, seed=3)
    assert outputs["y"] == ("float32", (12,))
    assert isinstance(outputs["z"], np.ndarray)


def test_a_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "x.npy"
    np.save(path, X)
    (taken,) = read_inputs([f"x={path}"], {}, seed=0).values()
    np.testing.assert_array_equal(taken, X)
    with pytest.raises(UsageError, match=r"--input x=.*no\.npy: the file cannot be read"):
        read_inputs([f"x={tmp_path / 'no.npy'}"], {}, seed=0)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("x", "--input x: there is no NAME="),
        ("x=normol:n", "'normol' is no way to fill an array; did you mean 'normal'?"),
        ("x=normal", "'normal' is no way to fill an array"),
        ("x=normal:m", "the shape 'm'"),
        ("x=normal:n-4", "the shape is (0,)"),
        ("x=normal:n:flout", "'flout' is no type; did you mean 'float"),
    ],
)
def test_a_wrong_word_is_told(words: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_inputs([words], {"n": 4}, seed=0)
    assert message in str(refused.value)
    assert refused.value.advice
