"""Binary floating-point formats on bit patterns, by exact fractions rounded once in any mode: the
reference of the tests."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction


class Mode(Enum):
    """Rounding: to nearest even, towards zero, minus infinity, plus infinity."""

    NEAREST = ""
    ZERO = ".RZ"
    DOWN = ".RM"
    UP = ".RP"


@dataclass(frozen=True)
class Format:
    """An IEEE format: bits of the exponent and of the fraction; `nan` is what operations return for
    an invalid one."""

    exponent_bits: int
    fraction_bits: int
    nan: int

    @property
    def sign(self) -> int:
        return 1 << self.exponent_bits + self.fraction_bits

    @property
    def infinity(self) -> int:
        return ((1 << self.exponent_bits) - 1) << self.fraction_bits

    @property
    def bias(self) -> int:
        return (1 << self.exponent_bits - 1) - 1

    @property
    def one(self) -> int:
        return self.bias << self.fraction_bits

    @property
    def smallest_normal(self) -> int:
        return 1 << self.fraction_bits

    def is_nan(self, bits: int) -> bool:
        return bits & ~self.sign > self.infinity

    def is_infinite(self, bits: int) -> bool:
        return bits & ~self.sign == self.infinity

    def flushed(self, bits: int) -> int:
        """A denormal becomes the zero of its sign."""
        return bits & self.sign if bits & ~self.sign < self.smallest_normal else bits

    @functools.cache  # noqa: B019 - the formats are constants, and tests repeat their patterns
    def value(self, bits: int) -> Fraction:
        """The number that a finite pattern stands for."""
        magnitude = bits & ~self.sign
        exponent = max(magnitude >> self.fraction_bits, 1)
        fraction = (
            magnitude - ((exponent - 1) << self.fraction_bits)
            if magnitude >= self.smallest_normal
            else magnitude
        )
        shift = exponent - self.bias - self.fraction_bits
        signed = -fraction if bits & self.sign else fraction
        return Fraction(signed << shift) if shift >= 0 else Fraction(signed, 1 << -shift)

    def real(self, bits: int) -> float:
        """The value as a Python float, for comparisons (infinities and NaN too); only for formats
        up to float64."""
        if self.is_nan(bits):
            return math.nan
        if self.is_infinite(bits):
            return -math.inf if bits & self.sign else math.inf
        return float(self.value(bits))

    def round(self, exact: Fraction, mode: Mode = Mode.NEAREST, *, zero_sign: int = 0) -> int:
        """The pattern next to a number in the direction of the mode. In integers: arithmetic of
        fractions takes ten times as long."""
        over, under = exact.numerator, exact.denominator
        if over == 0:
            return zero_sign
        sign, over = (self.sign, -over) if over < 0 else (0, over)
        exponent = max(_floor_log2(over, under), 1 - self.bias)
        over, under = _scale(over, under, self.fraction_bits - exponent)
        away = mode is (Mode.DOWN if sign else Mode.UP)
        units, rest = divmod(over, under)
        if mode is Mode.NEAREST:
            units += 2 * rest > under or (2 * rest == under and units & 1)
        elif away:
            units += rest > 0
        code = ((exponent + self.bias - 1) << self.fraction_bits) + units
        largest = self.infinity if mode is Mode.NEAREST or away else self.infinity - 1
        return sign | min(code, largest)

    def fma(self, a: int, b: int, c: int, mode: Mode = Mode.NEAREST) -> int:
        """a * b + c, rounded once; every NaN is the format's."""
        if self.is_nan(a) or self.is_nan(b) or self.is_nan(c):
            return self.nan
        product_sign = (a ^ b) & self.sign
        if self.is_infinite(a) or self.is_infinite(b):
            zero_times_infinity = a & ~self.sign == 0 or b & ~self.sign == 0
            opposite = self.is_infinite(c) and c & self.sign != product_sign
            return self.nan if zero_times_infinity or opposite else product_sign | self.infinity
        if self.is_infinite(c):
            return c
        exact = self.value(a) * self.value(b) + self.value(c)
        return self.round(exact, mode, zero_sign=self._zero_sign(a, b, c, product_sign, mode))

    def _zero_sign(self, a: int, b: int, c: int, product_sign: int, mode: Mode) -> int:
        """The sign of a sum that is 0: the addends' common one, else minus only towards minus
        infinity."""
        if product_sign == c & self.sign:
            return product_sign
        return self.sign if mode is Mode.DOWN else 0

    def fma_flushed(self, a: int, b: int, c: int, mode: Mode = Mode.NEAREST) -> int:
        """a * b + c where denormals are zeros of their sign, in the end too: judged by the sum
        rounded with exponents without end."""
        a, b, c = self.flushed(a), self.flushed(b), self.flushed(c)
        rounded = self.fma(a, b, c, mode)
        if any(self.is_nan(each) or self.is_infinite(each) for each in (a, b, c)):
            return rounded
        unbounded = Format(self.exponent_bits + 4, self.fraction_bits, self.nan)
        code = unbounded.round(self.value(a) * self.value(b) + self.value(c), mode)
        return (
            rounded & self.sign
            if abs(unbounded.value(code)) < self.value(self.smallest_normal)
            else rounded
        )

    def add(self, a: int, b: int, mode: Mode = Mode.NEAREST) -> int:
        return self.fma(a, self.one, b, mode)

    def multiply(self, a: int, b: int, mode: Mode = Mode.NEAREST) -> int:
        """a * b: adding a zero of the product's sign changes nothing."""
        return self.fma(a, b, (a ^ b) & self.sign, mode)

    def convert(self, bits: int, other: Format, mode: Mode = Mode.NEAREST) -> int:
        """The pattern in another format; NaNs become that format's."""
        if self.is_nan(bits):
            return other.nan
        sign = other.sign if bits & self.sign else 0
        if self.is_infinite(bits):
            return sign | other.infinity
        return other.round(self.value(bits), mode, zero_sign=sign)

    def minimum(self, a: int, b: int, *, largest: bool = False, nan_wins: bool = False) -> int:
        """The smaller one, or the larger; -0 is less than +0."""
        if self.is_nan(a) or self.is_nan(b):
            if nan_wins or (self.is_nan(a) and self.is_nan(b)):
                return self.nan
            return b if self.is_nan(a) else a
        choose = max if largest else min
        return choose(a, b, key=lambda bits: (self.real(bits), 0 if bits & self.sign else 1))


HALF = Format(5, 10, 0x7FFF)
BFLOAT = Format(8, 7, 0x7FFF)
SINGLE = Format(8, 23, 0x7FFFFFFF)
DOUBLE = Format(11, 52, 0xFFF8000000000000)


def _scale(over: int, under: int, shift: int) -> tuple[int, int]:
    """A fraction times 2 ** shift."""
    return (over << shift, under) if shift >= 0 else (over, under << -shift)


def _floor_log2(over: int, under: int) -> int:
    guess = over.bit_length() - under.bit_length()
    scaled, unit = _scale(over, under, -guess)
    return guess if scaled >= unit else guess - 1


def to_integer(fmt: Format, bits: int, lowest: int, highest: int, how: str, nan: int = 0) -> int:
    """A float rounded to an integer (`TRUNC`, `FLOOR`, `CEIL`, else to nearest even) and
    clamped."""
    if fmt.is_nan(bits):
        return nan
    if fmt.is_infinite(bits):
        return lowest if bits & fmt.sign else highest
    rounded = {"TRUNC": math.trunc, "FLOOR": math.floor, "CEIL": math.ceil}.get(how, round)(
        fmt.value(bits)
    )
    return min(max(rounded, lowest), highest)
