"""What kernels are run with, from Python: wrong arguments are named before anything runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from grader.errors import UsageError
from grader.explore.kernel_data import read_data
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


def test_numbers_that_have_parts_are_given_by_their_parts() -> None:
    pairs = np.dtype([("weight", "f4"), ("count", "i4")])
    for dtype, advice in (("c8", 'view("float32")'), ("c16", "a double2*"), (pairs, "uint8")):
        with pytest.raises(UsageError) as refused:
            read_data(**GIVEN | {"inputs": {"x": np.zeros(3, dtype)}})
        assert advice in refused.value.advice


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
