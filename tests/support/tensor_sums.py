"""Sums of products as tensor cores make them, in exact arithmetic: what the emulated ones are
compared with."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

PLACES = 25
"""Bits below the largest exponent at which an H100 cuts off what it adds."""
FORMATS = {"half": (5, 10), "bfloat": (8, 7), "tf32": (8, 10), "single": (8, 23)} | {
    "e4m3": (4, 3),
    "e5m2": (5, 2),
}
"""Bits of exponent and of fraction."""

Part = tuple[int, Fraction]
"""An exponent, and the value."""


def take_apart(code: int, kind: str) -> Part | str:
    """A number's exponent (that of the least normal number for smaller ones) and value; "nan", "inf"
    or "-inf"."""
    exponent_bits, fraction_bits = FORMATS[kind]
    bias = (1 << exponent_bits - 1) - 1
    fraction = code & (1 << fraction_bits) - 1
    biased = code >> fraction_bits & (1 << exponent_bits) - 1
    sign = -1 if code >> fraction_bits + exponent_bits else 1
    if kind == "e4m3" and code & 0x7F == 0x7F:
        return "nan"
    if kind != "e4m3" and biased == (1 << exponent_bits) - 1:
        return "nan" if fraction else "inf" if sign > 0 else "-inf"
    significand = fraction | (1 << fraction_bits if biased else 0)
    exponent = max(biased, 1) - bias
    return exponent, sign * significand * Fraction(2) ** (exponent - fraction_bits)


def special_sum(terms: list[tuple[Part | str, ...]]) -> str | None:
    """What infinities and NaNs among the terms make of a sum of products."""
    seen = set()
    for factors in terms:
        if "nan" in factors:
            return "nan"
        if any(isinstance(factor, str) for factor in factors):
            signs = [float(f) if isinstance(f, str) else float(np.sign(f[1])) for f in factors]
            seen.add(str(math.prod(signs)))
    if "nan" in seen or len(seen) > 1:
        return "nan"
    return seen.pop() if seen else None


def add_exactly(terms: list[tuple[Part, ...]], *, lowest: int, places: int) -> Fraction:
    """The sum of products, each of which is cut off below the largest exponent."""
    products = [
        (sum(part[0] for part in factors), math.prod(part[1] for part in factors))
        for factors in terms
    ]
    top = max([lowest, *(exponent for exponent, value in products if value)])
    unit = Fraction(2) ** (top - places)
    return sum((int(value / unit) * unit for _, value in products), Fraction(0))


def to_code(value: Fraction, kind: str) -> int:
    """A float32, cut off, or the nearest half; zeros are positive."""
    exponent_bits, fraction_bits = FORMATS[kind]
    bias = (1 << exponent_bits - 1) - 1
    magnitude, exponent = abs(value), 1 - bias
    while magnitude >= Fraction(2) ** (exponent + 1):
        exponent += 1
    steps = magnitude / Fraction(2) ** (exponent - fraction_bits)
    whole = round(steps) if kind == "half" else int(steps)
    code = min(
        (exponent + bias - 1 << fraction_bits) + whole, (1 << exponent_bits) - 1 << fraction_bits
    )
    return code | (value < 0) << exponent_bits + fraction_bits if code else 0


SPECIAL_CODES = {
    "single": {"nan": 0x7FFFFFFF, "inf": 0x7F800000, "-inf": 0xFF800000},
    "half": {"nan": 0x7FFF, "inf": 0x7C00, "-inf": 0xFC00},
}


def dot(
    a: list[int], b: list[int], c: int, kinds: tuple[str, str], result: str, places: int = PLACES
) -> int:
    """The code of an element of D. `kinds` are those of A and of B."""
    left, right = kinds
    terms: list[tuple[Part | str, ...]] = [
        (take_apart(x, left), take_apart(y, right)) for x, y in zip(a, b, strict=True)
    ]
    terms.append((take_apart(c, result),))
    special = special_sum(terms)
    if special:
        return SPECIAL_CODES[result][special]
    lowest = (4 if result == "half" else -108) - places
    exact = add_exactly(terms, lowest=lowest, places=places)  # type: ignore[arg-type]
    return to_code(exact, result)
