"""Results of the corpus's `student_` kernels, in NumPy: ordinary kernels of a course, written like
students write them.

By default, test_corpus.py compares such kernels with an H100's outputs, which agree with these
formulas.
"""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.corpus import Result, find_cases, make_arrays, run_case
from tests.support.exact import HALF

pytestmark = pytest.mark.slow


def run_file(name: str) -> tuple[dict[str, np.ndarray], Result]:
    """The arrays before the run of a kernel file at -O3, and its result."""
    case = next(case for case in find_cases([name]) if case.level == 3)
    return make_arrays(case), run_case(case)


def test_reductions() -> None:
    arrays, result = run_file("student_reductions")
    sums = arrays["a"].reshape(8, 128).sum(axis=1)  # small integers: exact in any order
    y = result.outputs["y"].reshape(5, 8)
    assert (y[:4] == sums).all()
    assert (y[4] == arrays["a"].reshape(2, 8, 64).sum(axis=(0, 2))).all()


def test_scans() -> None:
    arrays, result = run_file("student_scans")
    a, y = arrays["a"].reshape(2, 256), result.outputs["y"].reshape(2, 2, 256)
    inclusive = np.cumsum(a, axis=1, dtype=np.int32)
    assert (y[0] == inclusive).all()
    assert (y[1] == inclusive - a).all()
    assert (result.outputs["z"] == np.cumsum(arrays["b"])).all()


def test_softmax_and_normalisation() -> None:
    arrays, result = run_file("student_softmax")
    rows = arrays["a"].reshape(8, 128).astype(np.float64)
    exponentials = np.exp(rows - rows.max(axis=1, keepdims=True))
    softmax = exponentials / exponentials.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(result.outputs["y"].reshape(8, 128), softmax, rtol=1e-6)
    z = result.outputs["z"].reshape(8, 128)
    normal = (rows - rows.mean(axis=1, keepdims=True)) / np.sqrt(
        rows.var(axis=1, keepdims=True) + 1e-5
    )
    np.testing.assert_allclose(z[4:], normal[4:], rtol=1e-4, atol=1e-5)


def test_stencils() -> None:
    arrays, result = run_file("student_stencils")
    weights = [0.03125, 0.125, 0.21875, 0.25, 0.21875, 0.125, 0.03125]
    np.testing.assert_allclose(
        result.outputs["y"], np.convolve(arrays["a"], weights, "same"), rtol=1e-12, atol=1e-14
    )
    cube = arrays["a"].reshape(12, 12, 12)
    middle = cube[1:-1, 1:-1, 1:-1]
    around = sum(
        np.roll(cube, step, axis)[1:-1, 1:-1, 1:-1] for axis in range(3) for step in (1, -1)
    )
    want = cube.copy()
    want[1:-1, 1:-1, 1:-1] = (around - 6 * middle) / 7
    np.testing.assert_allclose(
        result.outputs["z"].reshape(cube.shape), want, rtol=1e-12, atol=1e-14
    )
    padded = np.pad(arrays["f"].reshape(32, 32), 1, mode="edge")
    blurred = sum(padded[dy : dy + 32, dx : dx + 32] for dy in range(3) for dx in range(3)) / 9
    np.testing.assert_allclose(result.outputs["g"].reshape(32, 32), blurred, rtol=1e-4, atol=1e-5)


def test_histograms() -> None:
    arrays, result = run_file("student_histograms")
    a = arrays["a"]
    assert (result.outputs["h"] == np.bincount(a & 255, minlength=256)).all()
    assert (result.outputs["s"] == np.bincount(a.view(np.uint8), minlength=256)).all()
    assert (result.outputs["w"] == np.bincount(a >> 28, minlength=16)).all()
    assert (
        result.outputs["l"] == [a[a % 16 == bin_].sum(dtype=np.uint64) for bin_ in range(16)]
    ).all()
    assert (result.outputs["m"] == np.bincount(a & 31, minlength=256)).all()


def test_products_split_along_k() -> None:
    arrays, result = run_file("student_gemm_split_k")
    product = arrays["A"].reshape(32, 32) @ arrays["B"].reshape(32, 32)
    for name in ("C", "D"):
        assert (result.outputs[name].reshape(32, 32) == product).all()


def test_transposes() -> None:
    arrays, result = run_file("student_transposes")
    a = arrays["a"].reshape(32, 32)
    assert (result.outputs["y"].reshape(32, 32) == a.T).all()
    assert (
        result.outputs["b"].reshape(32, 32) == arrays["a"].view(np.uint8)[:1024].reshape(32, 32).T
    ).all()


def test_asynchronous_copies() -> None:
    arrays, result = run_file("student_pipelines")
    parts = arrays["a"].reshape(4, 4, 128)
    assert (result.outputs["y"].reshape(4, 128) == parts.sum(axis=1)[:, ::-1]).all()
    assert (
        result.outputs["z"].reshape(4, 128) == np.einsum("bki,k->bi", parts, [8, 4, 2, 1])
    ).all()
    assert (result.outputs["w"] == arrays["a"][:128] - arrays["a"][255:127:-1]).all()


def test_sorts_in_local_memory() -> None:
    arrays, result = run_file("student_local_arrays")
    assert (result.outputs["y"] == np.sort(arrays["a"].reshape(64, 8), axis=1).reshape(-1)).all()
    places = (np.arange(16)[:, None] * 13 + np.arange(20)) & 255
    systems = arrays["d"][places].reshape(16, 4, 5)
    solved = np.linalg.solve(systems[:, :, :4], systems[:, :, 4:])[:, :, 0]
    np.testing.assert_allclose(result.outputs["z"].reshape(16, 16)[:, :4], solved, rtol=1e-8)


def test_calls_by_pointers_and_of_virtual_functions() -> None:
    arrays, result = run_file("student_calls")
    a, f = arrays["a"].astype(np.int64), arrays["f"]
    i = np.arange(256)

    def call(which: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        quotient = np.sign(x) * np.sign(y | 1) * (abs(x) // abs(y | 1))
        return np.choose(which, [x + y, x - y, x * y, quotient]).astype(np.int32)

    assert (result.outputs["y"][:256] == call(a & 3, a, i)).all()
    assert (result.outputs["y"][256:512] == call(i // 128 + 1, a, np.full(256, 7))).all()
    area = np.where(
        f > 0, f * f * 3, np.float32(3.14159274) * f * f * 5
    )  # area + 2 area, or area + 4 area
    np.testing.assert_allclose(result.outputs["g"][:256], area, rtol=1e-6)


def test_groups_of_coalesced_threads() -> None:
    arrays, result = run_file("student_groups")
    warps = arrays["a"].reshape(8, 32)
    odd = (warps & 1) == 1
    first = np.array(
        [warp[mask][0] & 0xFF if mask.any() else 0 for warp, mask in zip(warps, odd, strict=True)]
    )
    ranks = np.cumsum(odd, axis=1) - 1
    want = np.where(odd, odd.sum(axis=1, keepdims=True) * 100 + ranks + first[:, None], -1)
    assert (result.outputs["z"][:256].reshape(8, 32) == want).all()
    assert result.outputs["c"][0] == odd.sum()


def test_votes_at_barriers_with_a_number() -> None:
    _, result = run_file("barrier_votes_by_number")
    y = result.outputs["y"].reshape(4, 96)
    assert (y[:3] == [[1], [0], [40]]).all()
    assert (y[3] == [40] * 64 + [5] * 32).all()


def test_flushed_halves() -> None:
    arrays, result = run_file("half_ftz")
    pairs = [
        (int(p), int(q))
        for p, q in zip(arrays["a"].view(np.uint16), arrays["b"].view(np.uint16), strict=True)
    ]
    y = result.outputs["y"].view(np.uint16).reshape(6, 1024)
    assert y[0].tolist() == [HALF.fma_flushed(p, HALF.one, q) for p, q in pairs]
    assert y[1].tolist() == [HALF.fma_flushed(p, q, (p ^ q) & HALF.sign) for p, q in pairs]
    assert y[2].tolist() == [HALF.fma_flushed(p, q, p) for p, q in pairs]
    assert y[5].tolist() == [
        HALF.real(HALF.flushed(p)) < HALF.real(HALF.flushed(q)) for p, q in pairs
    ]
