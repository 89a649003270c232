"""float32 on bit patterns, by exact fractions rounded once: the reference of the floating-point tests."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

INF = 0x7F800000
SIGN = 0x80000000
NAN = 0x7FFFFFFF
"""The canonical NaN: what float32 arithmetic of NVIDIA GPUs returns."""

ZERO_EXPONENT = 127
FRACTION_BITS = 23
LOWEST_EXPONENT = -126


def bits_of(value: float) -> int:
    """The bits of a float32; the value must be one already."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


def value_of(bits: int) -> float:
    """The value of a float32, exactly."""
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def is_nan(bits: int) -> bool:
    return bits & ~SIGN > INF


def is_infinite(bits: int) -> bool:
    return bits & ~SIGN == INF


def fma(a: int, b: int, c: int) -> int:
    """a * b + c, rounded once, to nearest even; NaNs are canonical."""
    if is_nan(a) or is_nan(b) or is_nan(c):
        return NAN
    product_sign = (a ^ b) & SIGN
    if is_infinite(a) or is_infinite(b):
        zero_times_infinity = a & ~SIGN == 0 or b & ~SIGN == 0
        opposite = is_infinite(c) and c & SIGN != product_sign
        return NAN if zero_times_infinity or opposite else product_sign | INF
    if is_infinite(c):
        return c
    exact = Fraction(value_of(a)) * Fraction(value_of(b)) + Fraction(value_of(c))
    both_negative = product_sign & c & SIGN
    return round_fraction(exact, zero_sign=both_negative if exact_zero(a, b, c) else 0)


def exact_zero(a: int, b: int, c: int) -> bool:
    """Whether product and addend are zeros themselves, so that the sum of two negative ones keeps the sign."""
    return c & ~SIGN == 0 and (a & ~SIGN == 0 or b & ~SIGN == 0)


def round_fraction(exact: Fraction, *, zero_sign: int = 0, up: bool = False) -> int:
    """The float32 next to a number: to nearest even, or with `up` the smallest that is not below it."""
    if exact == 0:
        return zero_sign
    sign = SIGN if exact < 0 else 0
    magnitude = abs(exact)
    exponent = max(_floor_log2(magnitude), LOWEST_EXPONENT)
    scaled = magnitude / Fraction(2) ** (exponent - FRACTION_BITS)
    units = (math.floor(scaled) if sign else math.ceil(scaled)) if up else round(scaled)
    return sign | min(((exponent + ZERO_EXPONENT - 1) << FRACTION_BITS) + units, INF)


def _floor_log2(value: Fraction) -> int:
    guess = value.numerator.bit_length() - value.denominator.bit_length()
    return guess if Fraction(2) ** guess <= value else guess - 1


def float_to_int(bits: int, lowest: int, highest: int) -> int:
    """Truncated towards zero and saturated; NaN gives 0 (PTX ISA, `cvt`)."""
    if is_nan(bits):
        return 0
    if is_infinite(bits):
        return lowest if bits & SIGN else highest
    return min(max(math.trunc(value_of(bits)), lowest), highest)
