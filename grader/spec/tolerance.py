"""The error that a right float32 result may have: from the number of its terms, and from how the
inputs are distributed."""

from __future__ import annotations

import math
from collections.abc import Mapping

from grader.spec.exercise import Case, Initialisation, Task, Tolerance

UNIT_ROUNDOFF = 2.0**-24
"""The largest relative error of a rounding to float32."""
SUM_FACTOR = 32
"""How many roundings of the size of the terms' number the sum may be off; see `tolerance_at`."""
LAST_PLACES = 4
"""Roundings of the expected value itself that are allowed on top: two units in its last place."""
MAX_EXACT_INTEGER = 1 << 24
"""Up to here, float32 holds every integer (24 bits of significand)."""

PRODUCT_DEVIATION: Mapping[Initialisation, float] = {
    Initialisation.NORMAL: 1.0,
    Initialisation.SMALL_INTEGERS: 24.0,
}
"""Standard deviation of the product of two inputs of mean 0: the square of an input's (of the
integers -8 to 8: (17**2 - 1) / 12)."""
LARGEST_PRODUCT: Mapping[Initialisation, int] = {Initialisation.SMALL_INTEGERS: 64}
"""Where the products are integers: the largest product, 8 * 8."""


def tolerance_at(task: Task, case: Case) -> Tolerance:
    """The tolerance of one case, where the task's is a rule.

    For a `Float32Sum` of K products with standard deviation s, it is

        |got - expected| <= 32 * 2**-24 * K * s  +  4 * 2**-24 * |expected|.

    An addition rounds the partial sum S with an error of at most 2**-24 * |S|. In an order that
    does not look at the data, |S| grows as s * sqrt(j), and K errors of random sign add up to well
    below 2 * 2**-24 * K * s (the largest of thousands of sums measured, fused or not). The worst
    order, sorted by value, lets |S| grow as 0.3 * s * j: 26 * 2**-24 * K * s was measured at K =
    4096, less for fewer terms. So 32 holds for any order. The product of two inputs rounded to tf32
    or half (11 bits) is off by about 0.6 * 2**-11 * s, and K of them by sqrt(K) times as much: 150
    / sqrt(K) times the bound, which is 2.4 at K = 4096, so that two elements in three are wrong
    there, and nearly all for fewer terms. Inputs in bfloat16 and sums kept in half are further off
    still.

    Of small integers, K * 64 < 2**24: every partial sum is an integer that float32 holds, so the
    result is exact in any order.
    """
    if isinstance(task.tolerance, Tolerance):
        return task.tolerance
    terms = task.tolerance.terms.evaluate(case.sizes)
    kinds = {
        case.init or buffer.init
        for buffer in task.buffers
        if buffer.init is not None and "int" not in buffer.dtype
    }
    if all(terms * LARGEST_PRODUCT.get(kind, math.inf) <= MAX_EXACT_INTEGER for kind in kinds):
        return Tolerance()
    deviation = max(PRODUCT_DEVIATION[kind] for kind in kinds)
    return Tolerance(SUM_FACTOR * UNIT_ROUNDOFF * terms * deviation, LAST_PLACES * UNIT_ROUNDOFF)
