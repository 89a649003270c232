"""Tensor core products of sparse matrices, of bits, of 4-bit integers and of 8-bit floats, against
the rules in exact arithmetic.

An H200 agreed with the rule for sparse matrices in a million tiles of each form; see
cpp/tensor/sparse.cpp.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.fragments import WARPS, gather, run_file, spread
from tests.support.tensor_sums import dot

# --- half of a matrix ------------------------------------------------------------------------------

FORMATS = {"half": 16, "bfloat": 16, "tf32": 32}
FLOATS = [
    ("half_32_by_0", "a", "b", "c"),
    ("half_32_by_1", "e", "f", "c"),
    *((f"half_16_by_{n}", "a", "b", "c") for n in range(4)),
    ("half_32_to_half_by_0", "a", "b", "h"),
    ("half_16_to_half_by_3", "e", "f", "h"),
    ("bfloat_32_by_1", "s", "z", "c"),
    ("bfloat_16_by_2", "s", "z", "c"),
    ("tf32_16_by_0", "x", "c", "c"),
    ("tf32_16_by_1", "w", "x", "c"),
    *((f"tf32_8_by_{n}", "x", "c", "c") for n in range(4)),
]
"""Forms with A, B and C."""
VALUES = {"a": "normal", "x": "normal", "s": "random", "e": "edges", "w": "edges"}
"""Contents of A."""


def rows_of_b(words: np.ndarray, row: int, count: int, bits: int, selector: int) -> list[int]:
    """The rows of B for the elements of a row of A (PTX ISA, "Sparse matrix storage"), from the
    lanes' metadata words."""
    lane = row % 8 * 4
    fields = 2 * count if bits == 32 else count
    if bits == 8:
        held = [words[lane + row // 8 + 2 * (selector + n)] for n in range(fields // 16)]
        codes = [int(word) >> 2 * n & 3 for word in held for n in range(16)]
    else:
        first = lane + selector * (fields // 8)
        held = [words[first + n] >> 16 * (row // 8) for n in range(fields // 8)]
        codes = [int(word) >> 2 * n & 3 for word in held for n in range(8)]
    if bits == 32:
        return [2 * j + codes[2 * j] // 2 for j in range(count)]
    return [j // 2 * 4 + codes[j] for j in range(count)]


@pytest.mark.parametrize(("form", "left", "right", "third"), FLOATS)
def test_multiplies_half_of_a_matrix_of_floats(
    form: str, left: str, right: str, third: str
) -> None:
    kind, k = form.split("_")[:2]
    bits, count, to_half = FORMATS[kind], int(k) // 2, "to_half" in form
    before, after = run_file("tensor_sparse")
    a = spread(before[left][: WARPS * 16 * count], 16, count, element_bits=bits)
    b = spread(before[right][: WARPS * 16 * count], 8, 2 * count, element_bits=bits)
    if kind == "tf32":
        a, b = a >> 13, b >> 13
    codes = np.uint16 if to_half else np.uint32
    c = gather(before[third].view(codes), halves=to_half)
    found = gather(after.outputs[f"{form}_{VALUES[left]}"].view(codes), halves=to_half)
    words = before["singles" if kind == "tf32" else "places"].reshape(WARPS, 32)
    for warp, row, column in np.ndindex(2, 16, 8):
        meets = rows_of_b(words[warp], row, count, bits, int(form[-1]))
        factors = (a[warp, row].tolist(), b[warp, column][meets].tolist())
        result = "half" if to_half else "single"
        expected = dot(*factors, int(c[warp, row, column]), (kind, kind), result)
        assert found[warp, row, column] == expected, (warp, row, column)


@pytest.mark.parametrize(
    "form", ["s8_u8_64_by_0", "s8_s8_32_by_0", "s8_s8_32_by_1", "u8_s8_32_by_1"]
)
def test_multiplies_half_of_a_matrix_of_bytes(form: str) -> None:
    kinds, count = {"s8": np.int8, "u8": np.uint8}, int(form.split("_")[2]) // 2
    left, right = (kinds[name] for name in form.split("_")[:2])
    before, after = run_file("tensor_sparse")
    a = spread(before["p"][: WARPS * 4 * count], 16, count, element_bits=8).view(left)
    b = spread(before["q"][: WARPS * 4 * count], 8, 2 * count, element_bits=8).view(right)
    c, found = (gather(each) for each in (before["k"], after.outputs[f"{form}_random"]))
    words = before["places"].reshape(WARPS, 32)
    for warp, row, column in np.ndindex(WARPS, 16, 8):
        meets = rows_of_b(words[warp], row, count, 8, int(form[-1]))
        products = a[warp, row].astype(np.int64) * b[warp, column][meets]
        exact = int(c[warp, row, column]) + int(products.sum())
        limited = min(max(exact, -(2**31)), 2**31 - 1)
        wrapped = (exact + 2**31) % 2**32 - 2**31
        assert found[warp, row, column] == (limited if form.startswith("s8_s8") else wrapped)


# --- bits, and four of them ------------------------------------------------------------------------


def in_parts(words: np.ndarray, height: int, k: int, bits: int) -> np.ndarray:
    """The matrices (WARPS, height, k) of numbers with this number of bits."""
    size = height * k * bits // 8
    codes = spread(words[: WARPS * size // 4], height, k * bits // 8, element_bits=8)
    parts = codes[..., None] >> np.arange(0, 8, bits, dtype=np.uint8) & (1 << bits) - 1
    return parts.reshape(WARPS, height, k).astype(np.int64)


@pytest.mark.parametrize("values", ["random", "edges"])
@pytest.mark.parametrize(
    ("form", "height", "k"),
    [
        ("and_256", 16, 256),
        ("and_128", 16, 128),
        ("and_8", 8, 128),
        ("xor_256", 16, 256),
        ("xor_8", 8, 128),
    ],
)
def test_counts_bits(form: str, height: int, k: int, values: str) -> None:
    before, after = run_file("tensor_bits")
    a, b = in_parts(before["a"], height, k, 1), in_parts(before["b"], 8, k, 1)
    both = np.einsum("wrk,wnk->wrn", a, b)
    alone = a.sum(axis=2)[..., None] + b.sum(axis=2)[:, None] - 2 * both
    c = gather(before["c" if values == "random" else "e"][: WARPS * height * 8])
    expected = c + (both if form.startswith("and") else alone)
    found = gather(after.outputs[f"{form}_{values}"])
    np.testing.assert_array_equal(found, expected.astype(np.int32))


@pytest.mark.parametrize("values", ["random", "edges"])
@pytest.mark.parametrize(
    ("form", "height", "k"), [("s4_u4_64", 16, 64), ("s4_s4_32", 16, 32), ("u4_u4_8", 8, 32)]
)
def test_multiplies_integers_of_four_bits(form: str, height: int, k: int, values: str) -> None:
    before, after = run_file("tensor_bits")
    a, b = in_parts(before["a"], height, k, 4), in_parts(before["b"], 8, k, 4)
    a, b = (
        (codes ^ 8) - 8 if kind == "s4" else codes
        for codes, kind in zip((a, b), form.split("_"), strict=False)
    )
    c = gather(before["c" if values == "random" else "e"][: WARPS * height * 8])
    exact = c + np.einsum("wrk,wnk->wrn", a, b)
    limited = np.clip(exact, -(2**31), 2**31 - 1)
    expected = limited if form == "s4_s4_32" else exact.astype(np.int32)
    np.testing.assert_array_equal(gather(after.outputs[f"{form}_{values}"]), expected)


# --- floats of 8 bits ------------------------------------------------------------------------------


@pytest.mark.parametrize("left", ["e4m3", "e5m2"])
@pytest.mark.parametrize("right", ["e4m3", "e5m2"])
def test_multiplies_floats_of_8_bits_as_halves(left: str, right: str) -> None:
    """As on sm_90: the lower two of each four elements, then the upper two, then C."""
    before, after = run_file("tensor_small_floats")
    a = spread(before["a"], 16, 32, element_bits=8)
    b = spread(before["b"], 8, 32, element_bits=8)
    c = gather(before["c"])
    found = gather(after.outputs[f"{left}_{right}_random"].view(np.uint32))
    lower = np.arange(32) % 4 < 2
    for row, column in np.ndindex(16, 8):
        total = 0
        for part in (lower, ~lower):
            factors = (a[0, row][part].tolist(), b[0, column][part].tolist())
            total = dot(*factors, total, (left, right), "single")
        expected = np.uint32(total).view(np.float32) + c[0, row, column]
        code = 0x7FFFFFFF if np.isnan(expected) else int(expected.view(np.uint32))
        assert found[0, row, column] == code, (row, column)
