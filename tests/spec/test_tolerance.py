"""The derived tolerance: float32 in any order of summation passes, anything of lower precision
fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from grader.cpp.expressions import parse_expression
from grader.judging.compare import compare
from grader.spec.exercise import Case, Float32Sum, Initialisation, Tolerance
from grader.spec.tolerance import tolerance_at
from tests.support.factories import make_exercise

TASK = replace(make_exercise(), tolerance=Float32Sum(parse_expression("rows")))
TERMS = (1, 7, 300, 2048, 4096)
SUMS = 512

Kernel = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""From the factors of SUMS x K products to SUMS sums."""


def one_after_another(terms: np.ndarray) -> np.ndarray:
    total = np.zeros(len(terms), dtype=terms.dtype)
    for term in terms.T:
        total = total + term
    return total


def fused(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """A float64 holds the product of two float32 exactly, and its sum with a float32 closely enough
    to count as one rounding."""
    total = np.zeros(len(a), dtype=np.float32)
    for x, y in zip(a.T.astype(np.float64), b.T.astype(np.float64), strict=True):
        total = (total + x * y).astype(np.float32)
    return total


def rounded_to(bits: int) -> Callable[[np.ndarray], np.ndarray]:
    """Round a float32's significand to so many bits, to nearest even: 11 for tf32, 8 for
    bfloat16."""
    drop = np.uint32(24 - bits)

    def rounded(x: np.ndarray) -> np.ndarray:
        words = x.view(np.uint32)
        odd = (words >> drop) & np.uint32(1)
        return ((words + (np.uint32((1 << (23 - bits)) - 1) + odd)) >> drop << drop).view(
            np.float32
        )

    return rounded


def in_half(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    total = np.zeros(len(a), dtype=np.float16)
    for term in (a * b).T:
        total = (total.astype(np.float32) + term).astype(np.float16)
    return total.astype(np.float32)


def with_inputs(change: Callable[[np.ndarray], np.ndarray]) -> Kernel:
    return lambda a, b: fused(change(a), change(b))


FLOAT32: dict[str, Kernel] = {
    "sequential": lambda a, b: one_after_another(a * b),
    "reversed": lambda a, b: one_after_another((a * b)[:, ::-1]),
    "pairwise": lambda a, b: np.ascontiguousarray(a * b).sum(axis=1),
    "fused": fused,
    "in tiles of 32": lambda a, b: one_after_another(
        np.add.reduceat(a * b, np.arange(0, a.shape[1], 32), axis=1)
    ),
    "positive terms first": lambda a, b: one_after_another(
        np.take_along_axis(a * b, np.argsort(a * b < 0, axis=1, kind="stable"), 1)
    ),
    "ascending": lambda a, b: one_after_another(np.sort(a * b, axis=1)),
}
LOWER: dict[str, Kernel] = {
    "tf32 inputs": with_inputs(rounded_to(11)),
    "bfloat16 inputs": with_inputs(rounded_to(8)),
    "half inputs": with_inputs(lambda x: x.astype(np.float16).astype(np.float32)),
    "half accumulation": in_half,
}


def wrong_share(kernel: Kernel, terms: int, init: Initialisation) -> float:
    rng = np.random.default_rng(terms)
    if init is Initialisation.NORMAL:
        a, b = (rng.standard_normal((SUMS, terms), dtype=np.float32) for _ in range(2))
    else:
        a, b = (rng.integers(-8, 9, (SUMS, terms)).astype(np.float32) for _ in range(2))
    expected = np.einsum("ij,ij->i", a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    tolerance = tolerance_at(
        TASK, Case("case", {"rows": terms, "cols": 1}, hidden=False, init=init)
    )
    return compare(expected, kernel(a, b).astype(np.float32), tolerance).wrong_elements / SUMS


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kernel", FLOAT32.values(), ids=FLOAT32)
def test_float32_passes_in_any_order(kernel: Kernel, terms: int) -> None:
    assert wrong_share(kernel, terms, Initialisation.NORMAL) == 0


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kernel", LOWER.values(), ids=LOWER)
def test_lower_precision_gets_most_elements_wrong(kernel: Kernel, terms: int) -> None:
    assert wrong_share(kernel, terms, Initialisation.NORMAL) > (0.9 if terms <= 300 else 0.5)


@pytest.mark.parametrize("terms", TERMS)
@pytest.mark.parametrize("kernel", FLOAT32.values(), ids=FLOAT32)
def test_small_integers_are_exact_in_any_order(kernel: Kernel, terms: int) -> None:
    assert tolerance_at(
        TASK, Case("case", {"rows": terms, "cols": 1}, False, Initialisation.SMALL_INTEGERS)
    ).exact
    assert wrong_share(kernel, terms, Initialisation.SMALL_INTEGERS) == 0


@pytest.mark.parametrize("terms", [2048, 4096])
def test_half_accumulation_of_small_integers_fails(terms: int) -> None:
    assert wrong_share(in_half, terms, Initialisation.SMALL_INTEGERS) > 0.02


def test_small_integers_are_inexact_where_float32_cannot_hold_every_sum() -> None:
    most = (1 << 24) // 64
    for terms, exact in ((most, True), (most + 1, False)):
        case = Case("case", {"rows": terms, "cols": 1}, False, Initialisation.SMALL_INTEGERS)
        assert tolerance_at(TASK, case).exact is exact


def test_a_fixed_tolerance_is_the_same_for_every_case() -> None:
    fixed = Tolerance(absolute=1e-6)
    assert (
        tolerance_at(replace(TASK, tolerance=fixed), Case("case", {"rows": 4096, "cols": 1}, False))
        is fixed
    )
