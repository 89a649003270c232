"""Products of matrices on tensor cores, and the matrices that warps move for them, against the
published rules in exact arithmetic.

An H200 agreed with the rule in a million tiles of each form; see cpp/tensor/tensor.cpp.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tests.support.assembler import build, launch
from tests.support.fragments import WARPS, gather, run_file, spread
from tests.support.tensor_sums import dot

BEFORE = 24
"""Number of bits below the largest exponent at which an A100 truncates addends."""

FILES = {"half": "tensor_half", "bfloat": "tensor_bfloat", "tf32": "tensor_tf32"}
FORMS = [
    ("half_16", 16),
    ("half_8", 8),
    ("half_16_to_half", 16),
    ("half_8_to_half", 8),
    ("bfloat_16", 16),
    ("bfloat_8", 8),
    ("tf32_8", 8),
    ("tf32_4", 4),
]


@pytest.mark.parametrize("values", ["normal", "edges"])
@pytest.mark.parametrize(("form", "k"), FORMS)
def test_multiplies_as_published(form: str, k: int, values: str) -> None:
    kind = form.partition("_")[0]
    to_half = form.endswith("_to_half")
    result = "half" if to_half else "single"
    before, after = run_file(FILES[kind])
    left, right = ("a", "b") if values == "normal" else ("e", "f")
    third = {("normal", False): "c", ("edges", False): "g", ("normal", True): "h"}
    bits = 32 if kind == "tf32" else 16
    a = spread(before[left][: WARPS * 16 * k], 16, k, element_bits=bits)
    b = spread(before[right][: WARPS * 8 * k], 8, k, element_bits=bits)
    if kind == "tf32":
        a, b = a >> 13, b >> 13
    codes = np.uint16 if to_half else np.uint32
    c = gather(before[third.get((values, to_half), "k")].view(codes), halves=to_half)
    found = gather(after.outputs[f"{form}_{values}"].view(codes), halves=to_half)
    for warp, row, column in np.ndindex(2, 16, 8):
        factors = (a[warp, row].tolist(), b[warp, column].tolist())
        expected = dot(*factors, int(c[warp, row, column]), (kind, kind), result)
        assert found[warp, row, column] == expected, (warp, row, column)


def test_an_a100_adds_half_of_a_row_after_the_other() -> None:
    before, after = run_file("tensor_half", "a100")
    a = spread(before["a"], 16, 16, element_bits=16)
    b = spread(before["b"], 8, 16, element_bits=16)
    c = gather(before["c"].view(np.uint32))
    found = gather(after.outputs["half_16_normal"].view(np.uint32))
    for row, column in np.ndindex(16, 8):
        expected = int(c[0, row, column])
        for half in (slice(0, 8), slice(8, 16)):
            factors = (a[0, row, half].tolist(), b[0, column, half].tolist())
            expected = dot(*factors, expected, ("half", "half"), "single", BEFORE)
        assert found[0, row, column] == expected, (row, column)


@pytest.mark.parametrize("values", ["random", "edges"])
@pytest.mark.parametrize(
    ("form", "height", "saturates"),
    [
        ("s8_s8_32", 16, False),
        ("s8_u8_32", 16, True),
        ("u8_s8_32", 16, False),
        ("u8_u8_32", 16, True),
        ("s8_s8_16", 16, True),
        ("u8_u8_16", 16, False),
        ("s8_s8_8", 8, True),
        ("u8_s8_8", 8, False),
    ],
)
def test_multiplies_bytes(form: str, height: int, saturates: bool, values: str) -> None:
    left, right, last = form.split("_")
    k = max(16, int(last))
    before, after = run_file("tensor_bytes")
    a = spread(before["a"][: WARPS * height * k // 4], height, k, element_bits=8)
    b = spread(before["b"][: WARPS * 8 * k // 4], 8, k, element_bits=8)
    kinds = {"s8": np.int8, "u8": np.uint8}
    a, b = a.view(kinds[left]).astype(np.int64), b.view(kinds[right]).astype(np.int64)
    c = gather(before["c" if values == "random" else "e"][: WARPS * height * 8])
    exact = c + np.einsum("wrk,wnk->wrn", a, b)
    expected = np.clip(exact, -(2**31), 2**31 - 1) if saturates else exact.astype(np.int32)
    np.testing.assert_array_equal(gather(after.outputs[f"{form}_{values}"]), expected)


def fused(a: float, b: float, c: float) -> float:
    """a * b + c rounded once, without infinities and NaNs."""
    exact = Fraction(a) * Fraction(b) + Fraction(c)
    return float(exact) if exact else a * b + c


@pytest.mark.parametrize(("height", "k"), [(8, 4), (16, 4), (16, 8), (16, 16)])
def test_multiplies_doubles(height: int, k: int) -> None:
    before, after = run_file("tensor_doubles")
    a = spread(before["a"][: WARPS * height * k], height, k, element_bits=64).view(float)
    b = spread(before["b"][: WARPS * 8 * k], 8, k, element_bits=64).view(float)
    c = gather(before["c"][: WARPS * height * 8])
    found = gather(after.outputs[f"double_{height}_{k}_normal"])
    for warp, row, column in np.ndindex(2, height, 8):
        expected = c[warp, row, column]
        for left, right in zip(a[warp, row], b[warp, column], strict=True):
            expected = fused(left, right, expected)
        assert found[warp, row, column] == expected, (warp, row, column)


def test_of_nans_of_doubles_the_second_comes_before_the_third_and_the_first() -> None:
    """As on an H200: NaNs of B take precedence, then those of the sum so far."""
    before, after = run_file("tensor_doubles")
    a = spread(before["e"][: WARPS * 32], 8, 4, element_bits=64)
    b = spread(before["f"][: WARPS * 32], 8, 4, element_bits=64)
    found = gather(after.outputs["double_8_4_edges"]).view(np.uint64)

    def is_nan(code: int) -> bool:
        return code & (1 << 63) - 1 > 0x7FF << 52

    seen = 0
    for warp, row, column in np.ndindex(WARPS, 8, 8):
        left, right = int(a[warp, row, 3]), int(b[warp, column, 3])
        if is_nan(right):
            assert found[warp, row, column] == right | 1 << 51
            seen += 1
        elif is_nan(left) and not any(is_nan(int(code)) for code in b[warp, column]):
            assert is_nan(int(found[warp, row, column]))
    assert seen > 0


def rows_of(registers: np.ndarray) -> np.ndarray:
    """Matrices (n, 8, 8) of halves from registers (n, 32)."""
    return registers.astype(np.uint32).view(np.uint16).reshape(-1, 8, 8)


def test_loads_matrices() -> None:
    before, after = run_file("tensor_matrices")
    s, lanes = before["a"], np.arange(32)
    for n, stride in enumerate((8, 16, 64, 72)):
        found = rows_of(after.outputs["loaded"].reshape(4, 14, 32)[n])
        rows = np.array([s[lane * stride :][:8] for lane in lanes]).reshape(4, 8, 8)
        backwards = np.array([s[(31 - lane) * stride :][:8] for lane in lanes]).reshape(4, 8, 8)
        twice = np.array([s[lane // 2 * stride :][:8] for lane in lanes]).reshape(4, 8, 8)
        flip = (0, 2, 1)
        expected = [rows[:1], rows[:1].transpose(flip), rows[:2]]
        expected += [backwards[:2].transpose(flip), twice, rows.transpose(flip)]
        np.testing.assert_array_equal(found, np.concatenate(expected))


def test_stores_matrices() -> None:
    before, after = run_file("tensor_matrices")
    matrices = before["a"][:256].reshape(4, 8, 8)
    for n, (count, stride) in enumerate(((1, 8), (1, 8), (2, 16), (2, 16), (4, 64), (4, 64))):
        expected = np.arange(2048, dtype=np.uint16)
        stored = matrices.transpose(0, 2, 1) if n % 2 else matrices
        for row in range(8 * count):
            expected[row * stride :][:8] = stored[row // 8, row % 8]
        np.testing.assert_array_equal(after.outputs["stored"].reshape(6, 2048)[n], expected)


def test_transposes_a_matrix() -> None:
    before, after = run_file("tensor_matrices")
    expected = before["a"][:64].reshape(1, 8, 8).transpose(0, 2, 1)
    np.testing.assert_array_equal(rows_of(after.outputs["moved"]), expected)


def test_counts_a_wavefront_for_the_fullest_bank_of_each_matrix() -> None:
    """As Nsight Compute counts on an H200: matrices do not share wavefronts, even for equal
    rows."""
    text = """
        LDC R1, c[0x0][0x28]
        S2R R0, SR_LANEID
        IMAD.SHL.U32 R2, R0, STRIDE, RZ
        LDSM.16.M88.4 R4, [R2+0x400]
        STSM.16.M88.2 [R2+0x400], R4
        EXIT
    """
    for stride, wavefronts in ((0x10, 1), (0x20, 2), (0x40, 4), (0x80, 8), (0, 1)):
        kernel = build(text.replace("STRIDE", hex(stride)), shared_bytes=8192)
        run = launch(kernel, {})
        load, store = run.at_line(5), run.at_line(6)
        assert (load.passes, load.passes_ideal) == (4 * wavefronts, 4)
        assert (store.passes, store.passes_ideal) == (2 * wavefronts, 2)


def test_wants_whole_warps() -> None:
    kernel = build("HMMA.16816.F32 R4, R8, R12, R4\nEXIT")
    run = launch(kernel, {}, block=(31, 1, 1), check=False)
    assert run.outcome.fault is not None
