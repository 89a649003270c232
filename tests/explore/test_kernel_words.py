"""What a command line says of sizes, scalars, inputs and outputs, and how it can be wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from grader.errors import UsageError
from grader.explore.kernel_words import (
    Use,
    check_given,
    find_uses,
    parse_maps,
    parse_scalars,
    parse_sizes,
    read_inputs,
    read_outputs,
)

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
        ("normal", "SHAPE is missing, and there are several sizes: n, m"),
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


# --- what may be left out -------------------------------------------------------------------------

PULL = """\
#define BLOCK 128
// scratch: float pulled[n]
// launch: pull<<<ceil_div(n, BLOCK), BLOCK>>>(places, masses, pulled, n, 2)
// launch: add<<<ceil_div(n, BLOCK), BLOCK>>>(total, pulled, masses, ids, real)
template <typename T> __device__ float weigh(T* p);
__global__ __launch_bounds__(BLOCK) void pull(const float2* __restrict__ places,
                                              double const* masses, float* pulled, int n, int k);
template <class Real>
__global__ void add(float total[], const float* pulled, double* masses,
                    const unsigned int* const ids, Real* real) {}
"""


@pytest.fixture
def uses(tmp_path: Path) -> dict[str, Use]:
    path = tmp_path / "pull.cu"
    path.write_text(PULL)
    return find_uses(path)


def test_launch_lines_say_types_and_who_writes(uses: dict[str, Use]) -> None:
    assert {
        name: (
            use.parameter.dtype,
            use.parameter.lanes,
            use.parameter.is_pointer,
            use.parameter.is_const,
        )
        for name, use in uses.items()
    } == {
        "places": ("float32", 2, True, True),
        "masses": ("float64", 1, True, False),
        "n": ("int32", 1, False, False),
        "total": ("float32", 1, True, False),
        "ids": ("uint32", 1, True, True),
        "real": (None, 1, True, False),
    }


def test_a_type_is_that_of_the_parameter_and_a_shape_the_only_size(uses: dict[str, Use]) -> None:
    words = ["places=normal", "masses=normal", "ids=index", "real=index", "ids2=permutation"]
    read = read_inputs(words, {"n": 5}, seed=1, uses=uses)
    assert {name: (array.dtype.name, array.shape) for name, array in read.items()} == {
        "places": ("float32", (5, 2)),
        "masses": ("float64", (5,)),
        "ids": ("uint32", (5,)),
        "real": ("float32", (5,)),
        "ids2": ("int32", (5,)),
    }
    assert read_inputs(["ids=index:3:int8"], {}, seed=1, uses=uses)["ids"].dtype == np.int8
    outputs = read_outputs(["total", "real=double"], {"n": 5}, seed=1, uses=uses)
    assert outputs == {"total": ("float32", (5,)), "real": ("float64", (5,))}


@pytest.mark.parametrize(
    ("word", "sizes", "message"),
    [
        ("real", {"n": 5}, "--output real: TYPE is missing"),
        ("total", {}, "--output total: SHAPE is missing"),
        ("total", SIZES, "--output total: SHAPE is missing, and there are several sizes: n, m"),
        ("total", {"n": 0}, "--output total: the shape is \\(0,\\)"),
        ("total=", {"n": 5}, "--output total=: there is no NAME="),
    ],
)
def test_an_output_that_nothing_describes(
    uses: dict[str, Use], word: str, sizes: dict[str, int], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        read_outputs([word], sizes, seed=1, uses=uses)


@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ({"n": 5}, "--input places=normal --output masses --input ids=index --output real=TYPE"),
        (SIZES, "--input places=normal:n,m --output masses=float64:n,m"),
        ({}, "--input places=normal:SHAPE --output masses=float64:SHAPE"),
    ],
)
def test_arrays_that_are_not_given_are_named_with_their_options(
    uses: dict[str, Use], sizes: dict[str, int], options: str
) -> None:
    with pytest.raises(UsageError, match="in line 3 pull takes 'places' as") as caught:
        check_given(uses, {"n", "total"}, sizes)
    assert f"Add {options}" in caught.value.advice
    check_given(uses, {"n", "total", "places", "masses", "ids", "real"}, sizes)


def test_a_file_with_wrong_launch_lines_says_nothing(tmp_path: Path) -> None:
    (tmp_path / "wrong.cu").write_text("// launch: k<<<1>>>()\n__global__ void k() {}\n")
    assert find_uses(tmp_path / "wrong.cu") == {}


def test_a_map_has_a_box_and_the_fields_of_a_spec() -> None:
    assert parse_maps(["x=8,2*n:swizzle=64:fill=nan", "y=4:steps=2:element=bfloat16"], SIZES) == {
        "x": {"box": (8, 8), "swizzle": 64, "fill": "nan"},
        "y": {"box": (4,), "steps": (2,), "element": "bfloat16"},
    }


@pytest.mark.parametrize(
    ("word", "message"),
    [
        ("x=", "--tensor-map x=: there is no NAME="),
        ("x=8,k", "the shape '8,k': 'k' is not known"),
        ("x=8:nan", "'nan' is no FIELD=VALUE"),
        ("x=8:steps=two", "the shape 'two': 'two' is not known"),
    ],
)
def test_what_is_no_map_is_told(word: str, message: str) -> None:
    with pytest.raises(UsageError) as refused:
        parse_maps([word], SIZES)
    assert message in str(refused.value)
