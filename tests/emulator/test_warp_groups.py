"""Matrix products of warp groups, against the rules in exact arithmetic.

An H200 agreed with them in a million tiles of each form.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.fragments import run_file
from tests.support.tensor_sums import dot

COLUMNS = 16
SMALL_PLACES = 13
"""Number of bits below the largest exponent at which sums of products of 8-bit floats are
truncated, and fraction bits of their float32 sums."""


def rows_of(array: np.ndarray, kind: type) -> np.ndarray:
    """The rows of 32 bytes of a matrix, eight rows at a time, in pieces of 16 bytes."""
    pieces = np.ascontiguousarray(array).view(np.uint8).reshape(-1, 2, 8, 16)
    return pieces.transpose(0, 2, 1, 3).reshape(-1, 32).view(kind)


def rows_of_registers(array: np.ndarray) -> np.ndarray:
    """The rows of A of halves, from four registers of each of 128 threads."""
    words = np.ascontiguousarray(array).view(np.uint16).reshape(2, 2, 4, 8, 4, 2)
    return words.transpose(2, 1, 3, 0, 4, 5).reshape(64, 16)


def sums_of(array: np.ndarray, kind: type) -> np.ndarray:
    """The 64 rows of C or D, from each register's words of 128 threads."""
    together = 4 // np.dtype(kind).itemsize
    values = np.ascontiguousarray(array).view(kind)
    if together == 1:
        return values.reshape(-1, 2, 2, 4, 8, 4).transpose(3, 1, 4, 0, 5, 2).reshape(64, -1)
    return values.reshape(-1, 2, 4, 8, 4, 2).transpose(2, 1, 3, 0, 4, 5).reshape(64, -1)


def sample(shape: tuple[int, int]) -> list[tuple[int, int]]:
    """Some rows of each warp, with all columns."""
    rows, columns = shape
    return [(row, column) for row in range(0, rows, 5) for column in range(columns)]


HALVES = [
    ("single_normal", "a", "b", "c"),
    ("single_edges", "e", "f", "g"),
    ("single_alone", "a", "b", None),
    ("registers_normal", "a", "b", "c"),
    ("registers_edges", "e", "f", "g"),
    ("to_half_normal", "a", "b", "h"),
    ("to_half_edges", "e", "f", "k"),
    ("to_half_alone", "a", "b", None),
    ("negated_normal", "a", "b", "c"),
    ("negated_edges", "e", "f", "g"),
    ("negated_registers_normal", "a", "b", "h"),
    ("negated_registers_edges", "e", "f", "k"),
]


@pytest.mark.parametrize(("form", "left", "right", "third"), HALVES)
def test_multiplies_halves(form: str, left: str, right: str, third: str | None) -> None:
    before, after = run_file("warp_group_half")
    to_half = after.outputs[form].dtype == np.float16
    kind = np.uint16 if to_half else np.uint32
    rows = rows_of_registers if "registers" in form else lambda array: rows_of(array, np.uint16)
    a, b = rows(before[left]), rows_of(before[right], np.uint16)
    if form.startswith("negated_") and "registers" not in form:
        a = a ^ 0x8000
    c = np.zeros((64, COLUMNS), kind) if third is None else sums_of(before[third], kind)
    found = sums_of(after.outputs[form], kind)
    for row, column in sample(found.shape):
        factors = (a[row].tolist(), b[column].tolist())
        result = "half" if to_half else "single"
        expected = dot(*factors, int(c[row, column]), ("half", "half"), result)
        assert found[row, column] == expected, (row, column)


FORMATS = [
    ("bfloat_random", "a", "b", "c", ("bfloat", "bfloat")),
    ("bfloat_edges", "a", "b", "g", ("bfloat", "bfloat")),
    ("tf32_normal", "x", "z", "c", ("tf32", "tf32")),
    ("tf32_edges", "v", "w", "g", ("tf32", "tf32")),
]


@pytest.mark.parametrize(("form", "left", "right", "third", "kinds"), FORMATS)
def test_multiplies_bfloats_and_tf32(
    form: str, left: str, right: str, third: str, kinds: tuple[str, str]
) -> None:
    before, after = run_file("warp_group_formats")
    word = np.uint16 if kinds[0] == "bfloat" else np.uint32
    a, b = rows_of(before[left], word), rows_of(before[right], word)
    if kinds[0] == "tf32":  # B is negated
        a, b = a >> 13, (b >> 13) ^ (1 << 18)
    c, found = (sums_of(array, np.uint32) for array in (before[third], after.outputs[form]))
    for row, column in sample(found.shape):
        factors = (a[row].tolist(), b[column].tolist())
        expected = dot(*factors, int(c[row, column]), kinds, "single")
        assert found[row, column] == expected, (row, column)


@pytest.mark.parametrize("result", ["single", "half"])
@pytest.mark.parametrize("left", ["e4m3", "e5m2"])
@pytest.mark.parametrize("right", ["e4m3", "e5m2"])
def test_multiplies_floats_of_8_bits(left: str, right: str, result: str) -> None:
    before, after = run_file("warp_group_formats")
    form = f"{left}_{right}_to_{result}"
    if form not in after.outputs:
        assert left != right
        return
    kind = np.uint16 if result == "half" else np.uint32
    a, b = rows_of(before["p"], np.uint8), rows_of(before["q"], np.uint8)
    c = sums_of(before["h" if result == "half" else "c"], kind)
    found = sums_of(after.outputs[form], kind)
    for row, column in sample(found.shape):
        factors = (a[row].tolist(), b[column].tolist())
        expected = dot(*factors, int(c[row, column]), (left, right), result, SMALL_PLACES)
        if result == "single" and expected != 0x7FFFFFFF:
            expected &= -1 << 23 - SMALL_PLACES
        assert found[row, column] == expected, (row, column)


@pytest.mark.parametrize("values", ["random", "edges"])
@pytest.mark.parametrize("limited", ["", "_limited"])
@pytest.mark.parametrize("right", ["s8", "u8"])
@pytest.mark.parametrize("left", ["s8", "u8"])
def test_multiplies_bytes(left: str, right: str, limited: str, values: str) -> None:
    before, after = run_file("warp_group_bytes")
    kinds = {"s8": np.int8, "u8": np.uint8}
    a = rows_of(before["a"], kinds[left]).astype(np.int64)
    b = rows_of(before["b"], kinds[right]).astype(np.int64)
    exact = sums_of(before["c" if values == "random" else "e"], np.int32) + a @ b.T
    expected = np.clip(exact, -(2**31), 2**31 - 1) if limited else exact.astype(np.int32)
    found = sums_of(after.outputs[f"{left}_{right}{limited}_{values}"], np.int32)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("values", ["random", "edges"])
def test_counts_bits_that_both_have(values: str) -> None:
    before, after = run_file("warp_group_bytes")
    a, b = rows_of(before["a"], np.uint8), rows_of(before["b"], np.uint8)
    common = np.unpackbits(a, axis=1).astype(np.int64) @ np.unpackbits(b, axis=1).T
    exact = sums_of(before["c" if values == "random" else "e"], np.int32) + common
    found = sums_of(after.outputs[f"bits_{values}"], np.int32)
    np.testing.assert_array_equal(found, exact.astype(np.int32))


PLACES = [
    (0, 16, ((0, 128, 256, 0), (32, 2048, 1024, 0), (1280, 4096, 1040, 2), (2944, 144, 1152, 7))),
    (3, 32, ((0, 8192, 256, 0), (32, 2048, 1024, 0), (1280, 4096, 1040, 2), (2944, 144, 1152, 7))),
    (2, 64, ((0, 8192, 512, 0), (32, 2048, 1024, 0), (1280, 4096, 1040, 2), (2944, 144, 1152, 7))),
    (
        1,
        128,
        ((0, 8192, 1024, 0), (32, 2048, 1024, 0), (1280, 4096, 1040, 2), (2944, 144, 1152, 7)),
    ),
]
WINDOW = 0x400
"""Start of the array in the window of shared memory."""


def place_of(row: int, k: int, width: int, place: tuple[int, ...], *, transposed: bool) -> int:
    """Byte offset of an element (PTX ISA, "Asynchronous Warpgroup Level Matrix Shared Memory
    Layout")."""
    start, leading, stride, base = place
    if width == 16 and not transposed:
        at = row // 8 * stride + row % 8 * 16 + k // 8 * leading + k % 8 * 2
    elif width == 16:
        at = row // 8 * stride + row % 8 * 2 + k // 8 * leading + k % 8 * 16
    elif not transposed:
        at = row // 8 * stride + row % 8 * width + k * 2
    else:
        at = row * 2 // width * leading + row * 2 % width + k // 8 * stride + k % 8 * width
    address = WINDOW + start + at
    return (address ^ ((address >> 7) - base & width // 16 - 1) << 4) - WINDOW


@pytest.mark.parametrize(
    ("way", "left", "right"),
    [
        ("plain", False, False),
        ("transposed", True, True),
        ("right", False, True),
        ("left", True, False),
    ],
)
def test_reads_matrices_in_all_layouts(way: str, left: bool, right: bool) -> None:
    before, after = run_file("warp_group_layouts")
    words = before["a"].astype(np.float64)
    for _, width, places in PLACES:
        for number, place in enumerate(places):
            a, b = (
                np.array(
                    [
                        [
                            words[place_of(row, k, width, place, transposed=transposed) // 2]
                            for k in range(16)
                        ]
                        for row in range(rows)
                    ]
                )
                for rows, transposed in ((64, left), (32, right))
            )
            found = sums_of(after.outputs[f"{way}_layout_{width}_{number}"], np.float32)
            np.testing.assert_allclose(found, a @ b.T, rtol=0, atol=1e-4)


def test_groups_of_warps_hand_tiles_to_each_other() -> None:
    before, after = run_file("warp_group_pipeline")
    a, b = before["a"].reshape(128, 256), before["b"].reshape(64, 256)
    expected = a.astype(np.float64) @ b.astype(np.float64).T
    found = after.outputs["c"].reshape(128, 64)
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-3)
