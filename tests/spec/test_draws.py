"""What is drawn from the seed: hidden cases and input data."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
import pytest

from grader.errors import SpecError
from grader.records import DeviceBuffer, Role
from grader.spec.draws import (
    LONG,
    POOL,
    WINDOW,
    device_buffers,
    draw_array,
    draw_cases,
    gather_in_memory,
    make_inputs,
)
from grader.spec.exercise import Case, Exercise, Initialisation
from grader.spec.reader import read_exercise

from .test_reader import SPEC, write_exercise


@pytest.fixture
def exercise(tmp_path: Path) -> Exercise:
    return read_exercise(write_exercise(tmp_path))


def exercise_with(root: Path, *, dtype: str, init: str) -> Exercise:
    buffers = [
        SPEC["buffers"][0],
        {"name": "x", "dtype": dtype, "shape": ["n", "m"], "role": "input", "init": init},
    ]
    return read_exercise(write_exercise(root, {**SPEC, "buffers": buffers}))


def test_public_cases_come_first_as_they_are(exercise: Exercise) -> None:
    cases = draw_cases(exercise, 1)
    assert cases[:1] == exercise.public_cases
    assert [(case.name, case.hidden) for case in cases] == [
        ("small", False),
        ("drawn", True),
        ("fixed", True),
    ]


def test_cases_are_the_same_for_the_same_seed(exercise: Exercise) -> None:
    assert draw_cases(exercise, 5) == draw_cases(exercise, 5)


def test_cases_differ_between_seeds_and_stay_in_range(exercise: Exercise) -> None:
    drawn = [draw_cases(exercise, seed)[1].sizes for seed in range(60)]
    assert {sizes["n"] for sizes in drawn} == set(range(2, 10))
    assert {sizes["m"] for sizes in drawn} == {3, 5, 7}


def test_inputs_are_the_same_for_the_same_seed_and_differ_for_another(exercise: Exercise) -> None:
    case = Case("c", {"n": 30, "m": 40}, True)
    [once, again, other] = [make_inputs(exercise, case, seed)["x"] for seed in (3, 3, 4)]
    assert np.array_equal(once, again)
    assert np.mean(once == other) < 0.01


def test_inputs_differ_between_cases(exercise: Exercise) -> None:
    [one, other] = [
        make_inputs(exercise, Case(name, {"n": 30, "m": 40}, True), 3)["x"] for name in ("a", "b")
    ]
    assert np.mean(one == other) < 0.01


def test_inputs_are_contiguous_finite_and_of_the_spec_s_dtype(exercise: Exercise) -> None:
    inputs = make_inputs(exercise, Case("c", {"n": 7, "m": 9}, False), 0)
    assert list(inputs) == ["x"]
    assert (inputs["x"].shape, inputs["x"].dtype, inputs["x"].flags.c_contiguous) == (
        (7, 9),
        np.float32,
        True,
    )
    assert np.isfinite(inputs["x"]).all()


def test_normal_inputs_show_a_wrong_index(exercise: Exercise) -> None:
    array = make_inputs(exercise, Case("c", {"n": 100, "m": 100}, False), 0)["x"]
    assert len(np.unique(array)) > 9_990
    assert np.mean(array == array.T) < 0.02  # the diagonal, and hardly more


def test_the_case_s_initialisation_wins(exercise: Exercise) -> None:
    [public, *_] = draw_cases(exercise, 0)
    assert np.array_equal(
        make_inputs(exercise, public, 0)["x"], np.arange(20, dtype=np.float32).reshape(4, 5)
    )


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_small_integers_are_small_integers(tmp_path: Path, dtype: str) -> None:
    array = make_inputs(
        exercise_with(tmp_path, dtype=dtype, init="small_integers"),
        Case("c", {"n": 50, "m": 50}, False),
        0,
    )["x"]
    assert array.dtype == dtype
    assert set(array.ravel().tolist()) == set(range(-8, 9))


def test_a_permutation_holds_each_index_once_in_random_order(tmp_path: Path) -> None:
    exercise = exercise_with(tmp_path, dtype="int32", init="permutation")
    array = make_inputs(exercise, Case("c", {"n": 50, "m": 50}, False), 0)["x"].ravel()
    assert array.dtype == np.int32
    assert sorted(array.tolist()) == list(range(2500))
    assert np.mean(array == np.arange(2500)) < 0.01


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "uint32"])
def test_neighbours_differ_even_where_the_index_is_beyond_the_type(
    tmp_path: Path, dtype: str
) -> None:
    array = make_inputs(
        exercise_with(tmp_path, dtype=dtype, init="index"),
        Case("c", {"n": 100, "m": 100}, False),
        0,
    )["x"].ravel()
    assert np.isfinite(array).all()
    assert (array[1:] != array[:-1]).all()
    assert array[:2000].tolist() == list(range(2000))


def test_device_buffers_have_the_shapes_of_the_sizes(exercise: Exercise) -> None:
    assert device_buffers(exercise, {"n": 3, "m": 4}) == (
        DeviceBuffer("y", "float32", (3, 4), Role.OUTPUT),
        DeviceBuffer("x", "float32", (3, 4), Role.INPUT),
    )


def test_a_shape_that_is_empty_at_some_size_is_the_exercise_s_mistake(tmp_path: Path) -> None:
    buffers = [{**SPEC["buffers"][0], "shape": ["n - 3"]}, SPEC["buffers"][1]]
    exercise = read_exercise(write_exercise(tmp_path, {**SPEC, "buffers": buffers}))
    with pytest.raises(SpecError, match=r"\$\.buffers \(y\): the shape is \(-1,\) where n = 2"):
        device_buffers(exercise, {"n": 2, "m": 4})


# --- long rows ------------------------------------------------------------------------------------

LONG_CASE = Case("c", {"n": 1500, "m": 1000}, False)


def test_a_long_row_holds_normal_deviates(exercise: Exercise) -> None:
    row = make_inputs(exercise, LONG_CASE, 0)["x"].ravel()
    assert len(row) > LONG
    assert np.isfinite(row).all()
    moments = [float(np.mean(row.astype(np.float64) ** power)) for power in (1, 2, 3, 4)]
    assert moments == pytest.approx([0, 1, 0, 3], abs=0.03)
    assert len(np.unique(row)) > 0.9 * len(row)


def test_a_long_row_never_repeats_itself(exercise: Exercise) -> None:
    """Neither does it at a distance that one could know: no window is like another one, nor like
    what differs between them."""
    row = make_inputs(exercise, LONG_CASE, 0)["x"].ravel()
    windows = row[: len(row) // WINDOW * WINDOW].reshape(-1, WINDOW)
    assert len(np.unique(windows, axis=0)) == len(windows)
    assert np.abs(np.corrcoef(windows) - np.eye(len(windows))).max() < 0.1
    for distance in (1, 1000, WINDOW, POOL):
        assert abs(np.corrcoef(row[distance:], row[:-distance])[0, 1]) < 0.01


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_long_rows_of_every_type(tmp_path: Path, dtype: str) -> None:
    made = exercise_with(tmp_path, dtype=dtype, init="normal")
    once, again, other = (make_inputs(made, LONG_CASE, seed)["x"] for seed in (1, 1, 2))
    assert (once.dtype, once.shape) == (np.dtype(dtype), (1500, 1000))
    assert np.array_equal(once, again)
    assert np.mean(once == other) < 0.01


def test_inputs_lie_where_the_caller_wants_them(exercise: Exercise) -> None:
    pieces: list[int] = []

    def gather(given: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
        array = gather_in_memory(
            (pieces.append(len(piece)) or piece for piece in given), shape, dtype
        )
        return array.view()

    gathered = make_inputs(exercise, LONG_CASE, 0, gather=gather)["x"]
    assert np.array_equal(gathered, make_inputs(exercise, LONG_CASE, 0)["x"])
    assert (sum(pieces), len(pieces) > 1) == (gathered.size, True)


@pytest.mark.parametrize(
    ("init", "dtype", "holds"),
    [
        ("uniform", "float32", lambda x: (x >= 0).all() and (x < 1).all() and 0.4 < x.mean() < 0.6),
        ("uniform", "float16", lambda x: (x >= 0).all() and (x < 1).all()),
        ("positive", "float32", lambda x: (x > 0).all() and x.max() > 5 and np.median(x) < 1.5),
        ("positive", "int32", lambda x: x.min() >= 1 and 9_000 < x.max() <= 9_999),
        ("integers", "uint32", lambda x: 9_000 < x.max() <= 9_999),
        ("integers", "uint8", lambda x: x.max() == 255),
        ("integers", "float16", lambda x: x.max() <= 2_048 and (x == np.rint(x)).all()),
        ("sorted", "float32", lambda x: (np.diff(x) >= 0).all() and x[0] < -2 < 2 < x[-1]),
        ("sorted", "int32", lambda x: (np.diff(x) >= 0).all() and x[0] >= 0),
        ("sparse", "float32", lambda x: (x >= 0).all() and 0.05 < (x > 0).mean() < 0.15),
        ("constant", "float64", lambda x: (x == 1).all()),
    ],
)
def test_every_way_to_fill_is_what_the_schema_says(
    init: str, dtype: str, holds: Callable[[np.ndarray], bool], tmp_path: Path
) -> None:
    task = exercise_with(tmp_path, dtype=dtype, init=init)
    case = Case("long", {"n": 97, "m": 41}, hidden=False)
    drawn = make_inputs(task, case, 3)["x"]
    assert (drawn.dtype, drawn.shape) == (np.dtype(dtype), (97, 41))
    assert holds(drawn.reshape(-1))
    assert np.array_equal(drawn, make_inputs(task, case, 3)["x"])


@pytest.mark.parametrize("init", Initialisation)
def test_a_long_row_is_filled_to_its_end(init: Initialisation) -> None:
    """Rows are made in pieces."""
    drawn = draw_array(init, "float32", (LONG + 5,), seed=1, names=("x",))
    assert drawn.shape == (LONG + 5,)
    assert np.isfinite(drawn).all()
    assert drawn[LONG:].any() or init is Initialisation.SPARSE


def test_a_function_of_the_oracle_fills_an_input_whatever_the_case_says(tmp_path: Path) -> None:
    buffers = [
        SPEC["buffers"][0],
        {"name": "x", "dtype": "int32", "shape": ["n"], "role": "input", "function": "steps"},
    ]
    folder = write_exercise(tmp_path, {**SPEC, "buffers": buffers})
    oracle = folder / "oracle.py"
    own = "import numpy as np\ndef steps(rng, shape, sizes):\n    return {}\n"
    text = oracle.read_text()
    oracle.write_text(text + own.format("np.arange(shape[0]) * sizes['m'] + rng.integers(2)"))
    task = read_exercise(folder)
    case = Case("some", {"n": 9, "m": 4}, hidden=False, init=Initialisation.CONSTANT)
    drawn = [make_inputs(task, case, seed)["x"] for seed in range(20)]
    assert all(each.dtype == np.int32 and (np.diff(each) == 4).all() for each in drawn)
    assert {int(each[0]) for each in drawn} == {0, 1}
    for wrong, complaint in (
        ("np.arange(3)", r"must return an array of the shape \(9,\), got the shape \(3,\)"),
        ("np.full(shape, 0.5)", "values that int32 does not hold"),
        ("1 / 0", "ZeroDivisionError"),
    ):
        oracle.write_text(text + own.format(wrong))
        with pytest.raises(SpecError, match=complaint):
            make_inputs(task, case, 1)
    oracle.write_text(text)
    with pytest.raises(SpecError, match=r"there is no function steps\(rng, shape, sizes\)"):
        read_exercise(folder)
