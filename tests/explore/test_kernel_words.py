"""What a command line says of sizes, scalars, inputs and outputs, and how it can be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.errors import UsageError
from grader.explore.kernel_words import parse_scalars, parse_sizes, read_inputs, read_outputs

SIZES = {"n": 4, "m": 3}


def test_sizes_may_use_those_before_them() -> None:
    assert parse_sizes(["n=4", "half=n / 2", "all=ceil_div(n, 3) * half"]) == {
        "n": 4,
        "half": 2,
        "all": 4,
    }


@pytest.mark.parametrize("word", ["n=x", "n=1/0", "n=9999999999999999999999", "n=1.5"])
def test_a_size_is_an_integer(word: str) -> None:
    with pytest.raises(UsageError, match="--size n="):
        parse_sizes([word])


def test_an_index_counts_from_0() -> None:
    array = read_inputs(["x=index:ceil_div(n, 2):int"], SIZES, seed=1)["x"]
    np.testing.assert_array_equal(array, np.array([0, 1], np.int32), strict=True)


@pytest.mark.parametrize("words", [["n"], ["n="], ["=4"], ["n=4", "n=4"]])
def test_a_size_has_one_name(words: list[str]) -> None:
    with pytest.raises(UsageError, match="--size"):
        parse_sizes(words)


@pytest.mark.parametrize(
    ("text", "value"),
    [("2", 2), ("-2", -2), ("0x10", 16), ("007", 7), ("2.0", 2.0), ("1e3", 1000.0), (".5", 0.5)],
)
def test_a_scalar_with_a_point_or_an_exponent_is_a_float(text: str, value: float) -> None:
    (read,) = parse_scalars([f"a={text}"]).values()
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize("text", ["2f", "two", "--1"])
def test_a_scalar_is_a_number(text: str) -> None:
    with pytest.raises(UsageError, match="is no number"):
        parse_scalars([f"a={text}"])


@pytest.mark.parametrize(
    ("text", "dtype", "shape"),
    [
        ("normal:n", "float32", (4,)),
        ("index:n,m", "float32", (4, 3)),
        ("small_integers:2*n:uint8", "uint8", (8,)),
        ("permutation:n", "int32", (4,)),
        ("permutation:n:unsigned", "uint32", (4,)),
        ("normal:n,max(n, m):double", "float64", (4, 4)),
    ],
)
def test_an_input_is_drawn(text: str, dtype: str, shape: tuple[int, ...]) -> None:
    array = read_inputs([f"x={text}"], SIZES, seed=1)["x"]
    assert (array.dtype, array.shape) == (np.dtype(dtype), shape)
    again = read_inputs([f"x={text}", "z=normal:n"], SIZES, seed=1)
    np.testing.assert_array_equal(array, again["x"])
    assert again["z"].tolist() != array.reshape(-1)[:4].tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n", "'n' is no way to fill an array"),
        ("norml:n", "'norml' is no way to fill an array; did you mean 'normal'"),
        ("normal", "SHAPE is missing"),
        ("normal:n:float32:3", "there is something behind TYPE"),
        ("normal:n:flaot32", "'flaot32' is no type; did you mean 'float32'"),
        ("normal:", "the shape is \\(\\)"),
        ("normal::float32", "the shape is \\(\\)"),
        ("normal:n,0", "the shape is \\(4, 0\\)"),
        ("normal:k", "the shape 'k': 'k' is not known here"),
        (
            "normal:99999999999999",
            "this machine has no room for an array of the shape \\(99999999999999,\\)",
        ),
        ("normal:2305843009213693952,4", "this machine has no room for an array"),
        ("none.npy", "the file cannot be read"),
    ],
)
def test_an_input_that_is_none_says_why(text: str, words: str) -> None:
    with pytest.raises(UsageError, match=f"--input x={text}: {words}") as caught:
        read_inputs([f"x={text}"], SIZES, seed=1)
    assert caught.value.advice


def test_an_input_of_a_file_is_what_the_file_holds(tmp_path: Path) -> None:
    held = np.arange(6, dtype=np.int16).reshape(2, 3)
    np.save(tmp_path / "x.npy", held)
    np.testing.assert_array_equal(
        read_inputs([f"x={tmp_path}/x.npy"], SIZES, seed=1)["x"], held, strict=True
    )


def test_files_that_hold_no_array_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    np.savez(tmp_path / "several.npz", a=1)
    (tmp_path / "several.npz").rename(tmp_path / "several.npy")
    (tmp_path / "empty.npy").touch()
    (tmp_path / "text.npy").write_text("1 2 3")
    (tmp_path / "folder.npy").mkdir()
    for path in tmp_path.iterdir():
        with pytest.raises(UsageError, match="--input x="):
            read_inputs([f"x={path}"], SIZES, seed=1)


def test_an_output_holds_nothing_or_something() -> None:
    outputs = read_outputs(["y=int:n", "z=index:m:int64", "w=float16:n,m"], SIZES, seed=1)
    assert (outputs["y"], outputs["w"]) == (("int32", (4,)), ("float16", (4, 3)))
    np.testing.assert_array_equal(outputs["z"], np.arange(3), strict=True)


@pytest.mark.parametrize("text", ["float32", "float32:", "float32:-1", "float32:n:3", "flt:n"])
def test_an_output_needs_a_type_and_a_shape(text: str) -> None:
    with pytest.raises(UsageError, match=f"--output y={text}: "):
        read_outputs([f"y={text}"], SIZES, seed=1)
