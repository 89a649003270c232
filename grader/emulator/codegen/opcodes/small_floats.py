"""Floating-point formats in IR: reading 16-bit floats, rounding to them in every mode, NaNs,
flushing of denormals.

LLVM itself has float32 and float64. A 16-bit float is held as its code in the low half of a word.
Arithmetic uses a wider type in which every step is exact or rounded to odd, so that the result is
rounded only once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from llvmlite import ir

from grader.emulator.codegen.tools import Value, Values
from grader.emulator.isa.decode import Decoded


class Rounding(StrEnum):
    """The rounding modifiers: to nearest even, towards zero, minus infinity, plus infinity."""

    NEAREST = "RN"
    ZERO = "RZ"
    DOWN = "RM"
    UP = "RP"


ROUNDINGS = "RZ RM RP"
"""The modifiers that nvdisasm prints; it omits rounding to nearest."""


@dataclass(frozen=True)
class SmallFloat:
    """A format: bits of the significand with the hidden bit, exponents of normal numbers, the NaN
    of results. `largest`: the code of all greater values, for formats without rounding to
    infinity."""

    name: str
    precision: int
    lowest_exponent: int
    highest_exponent: int
    nan: int
    one: int
    bits: int = 16
    largest: int | None = None

    @property
    def sign(self) -> int:
        """The sign bit of a code."""
        return 1 << self.bits - 1

    @property
    def bias(self) -> int:
        """Difference between the stored and the real exponent."""
        return 1 - self.lowest_exponent


HALF = SmallFloat("F16", 11, -14, 15, 0x7FFF, 0x3C00)
BFLOAT = SmallFloat("BF16", 8, -126, 127, 0x7FFF, 0x3F80)
SINGLE = SmallFloat("F32", 24, -126, 127, 0x7FFFFFFF, 0x3F800000)
E4M3 = SmallFloat("E4M3", 4, -6, 8, 0x7F, 0x38, bits=8, largest=0x7E)
E5M2 = SmallFloat("E5M2", 3, -14, 15, 0x7F, 0x3C, bits=8, largest=0x7B)
SIGN = 0x8000
"""The sign bit of a 16-bit code."""


@dataclass(frozen=True)
class _Wide:
    """The wider type of a value, with the bits of its stored significand and its exponent bias."""

    integer: ir.Type
    const: Callable[[int], Value]
    bits: int
    fraction_bits: int
    bias: int


def rounding_of(i: Decoded) -> Rounding:
    """The rounding mode of an instruction."""
    return Rounding(i.first_of(ROUNDINGS.split()) or Rounding.NEAREST)


def small_of(i: Decoded) -> SmallFloat:
    """The format of a half instruction: bfloat16 if a modifier names it, otherwise half."""
    return BFLOAT if i.has("BF16_V2") or i.has("BF16") else HALF


def _wide(e: Values, value: Value) -> _Wide:
    if value.type == e.real:
        return _Wide(e.word, e.const, 32, 23, 127)
    return _Wide(e.double_word, e.const64, 64, 52, 1023)


def unpack(e: Values, code: Value, small: SmallFloat) -> Value:
    """The value of a 16-bit code, wide enough for exact products: float32, for bfloat16 float64."""
    if small is BFLOAT:
        return e.b.fpext(e.b.bitcast(e.b.shl(code, e.const(16)), e.real), e.double)
    magnitude = e.b.shl(e.b.and_(code, e.const(0x7FFF)), e.const(13))
    power = e.b.bitcast(e.const((127 + 112) << 23), e.real)
    scaled = e.b.fmul(e.b.bitcast(magnitude, e.real), power)
    special = e.b.icmp_unsigned(">=", magnitude, e.const(0x7C00 << 13))
    bits = e.b.select(special, e.b.or_(magnitude, e.const(0x7F800000)), e.b.bitcast(scaled, e.word))
    sign = e.b.shl(e.b.and_(code, e.const(SIGN)), e.const(16))
    return e.b.bitcast(e.b.or_(bits, sign), e.real)


def round_to(
    e: Values, value: Value, small: SmallFloat, mode: Rounding = Rounding.NEAREST
) -> Value:
    """The code of a float32 or float64, rounded once; NaNs become the format's NaN."""
    wide = _wide(e, value)
    bits = e.b.bitcast(value, wide.integer)
    magnitude = e.b.bitcast(e.b.and_(bits, wide.const((1 << wide.bits - 1) - 1)), value.type)
    top = e.b.and_(bits, wide.const(1 << wide.bits - 1))
    rounded = _round_magnitude(e, magnitude, top, small, mode)
    code = _encode(e, rounded, small)
    sign = e.b.lshr(bits, wide.const(wide.bits - small.bits))
    sign = e.b.and_(e.b.trunc(sign, e.word) if wide.bits == 64 else sign, e.const(small.sign))
    is_nan = e.b.fcmp_unordered("uno", value, value)
    return e.b.select(is_nan, e.const(small.nan), e.b.or_(code, sign))


def _round_magnitude(
    e: Values, magnitude: Value, sign: Value, small: SmallFloat, mode: Rounding
) -> Value:
    """Rounds a value >= 0 to the format's precision; infinity is 2^(highest exponent + 1)."""
    wide = _wide(e, magnitude)

    def power(exponent: int) -> Value:
        return e.b.bitcast(wide.const((exponent + wide.bias) << wide.fraction_bits), magnitude.type)

    infinite = power(small.highest_exponent + 1)
    clamped = e.b.select(e.b.fcmp_ordered("<", magnitude, infinite), magnitude, infinite)
    lowest = power(small.lowest_exponent)
    normal = e.b.select(e.b.fcmp_ordered("<", clamped, lowest), lowest, clamped)
    exponent = e.b.and_(e.b.bitcast(normal, wide.integer), wide.const(-1 << wide.fraction_bits))
    dropped = wide.fraction_bits - small.precision + 1
    # The last place of the magic power of two is the format's last place: its addition rounds
    # there, and its subtraction is exact.
    magic = e.b.bitcast(
        e.b.add(exponent, wide.const(dropped << wide.fraction_bits)), magnitude.type
    )
    rounded = e.b.fsub(e.b.fadd(clamped, magic), magic)
    if mode is Rounding.NEAREST:
        return rounded
    places = wide.const((small.precision - 1) << wide.fraction_bits)
    unit = e.b.bitcast(e.b.sub(exponent, places), magnitude.type)
    lowered = e.b.select(e.b.fcmp_ordered(">", rounded, clamped), e.b.fsub(rounded, unit), rounded)
    raised = e.b.select(e.b.fcmp_ordered("<", rounded, clamped), e.b.fadd(rounded, unit), rounded)
    largest = e.b.fsub(infinite, power(small.highest_exponent + 1 - small.precision))
    every = (2 * wide.bias) << wide.fraction_bits | (1 << wide.fraction_bits) - 1
    finite = e.b.bitcast(wide.const(every), magnitude.type)
    above = e.b.fcmp_ordered(">", clamped, largest)
    overflowed = e.b.and_(above, e.b.fcmp_ordered("<=", magnitude, finite))
    lowered = e.b.select(overflowed, largest, lowered)
    if mode is Rounding.ZERO:
        return lowered
    negative = e.b.icmp_unsigned("!=", sign, wide.const(0))
    down, up = (raised, lowered) if mode is Rounding.DOWN else (lowered, raised)
    return e.b.select(negative, down, up)


def _encode(e: Values, rounded: Value, small: SmallFloat) -> Value:
    """The code of a value >= 0 that is exact in the format."""
    single = rounded if rounded.type == e.real else e.b.fptrunc(rounded, e.real)
    if small is not BFLOAT:
        single = e.b.fmul(single, e.b.bitcast(e.const(small.bias << 23), e.real))
    code = e.b.lshr(e.b.bitcast(single, e.word), e.const(SINGLE.precision - small.precision))
    if small.largest is None:
        return code
    largest = e.const(small.largest)
    return e.b.select(e.b.icmp_unsigned("<", code, largest), code, largest)


def round_to_single(e: Values, value: Value, mode: Rounding) -> Value:
    """A float64 value (exact, or rounded to odd) as float32. NaNs stay NaNs with any payload."""
    if mode is Rounding.NEAREST:
        return e.b.fptrunc(value, e.real)
    sign = e.b.and_(e.b.bitcast(value, e.double_word), e.const64(1 << 63))
    magnitude = e.b.bitcast(e.b.xor(e.b.bitcast(value, e.double_word), sign), e.double)
    rounded = e.b.bitcast(_round_magnitude(e, magnitude, sign, SINGLE, mode), e.double_word)
    signed = e.b.bitcast(e.b.or_(rounded, sign), e.double)
    return e.b.fptrunc(e.b.select(e.b.fcmp_unordered("uno", value, value), value, signed), e.real)


def flush(e: Values, value: Value) -> Value:
    """`.FTZ`: a denormal float32 becomes the zero of its sign."""
    bits = e.b.bitcast(value, e.word)
    denormal = e.b.icmp_unsigned("<", e.b.and_(bits, e.const(0x7FFFFFFF)), e.const(0x00800000))
    return e.b.bitcast(e.b.select(denormal, e.b.and_(bits, e.const(0x80000000)), bits), e.real)


def is_tiny(e: Values, exact: Value, small: SmallFloat, mode: Rounding) -> Value:
    """Whether `.FTZ` flushes a result: rounded with unbounded exponents, it stays below the
    smallest normal number.

    Observed for halves on an H100; its recorded float32 results agree. `exact` is of the wider
    type, exact or rounded to odd.
    """
    wide = _wide(e, exact)
    bits = e.b.bitcast(exact, wide.integer)
    magnitude = e.b.and_(bits, wide.const((1 << wide.bits - 1) - 1))
    smallest = (small.lowest_exponent + wide.bias) << wide.fraction_bits
    half_unit = 1 << wide.fraction_bits - small.precision
    kept = wide.const(smallest - half_unit if mode is Rounding.NEAREST else smallest)
    if mode in (Rounding.DOWN, Rounding.UP):
        negative = e.b.icmp_signed("<", bits, wide.const(0))
        outwards = wide.const(smallest - 2 * half_unit + 1)
        ends = (outwards, kept) if mode is Rounding.DOWN else (kept, outwards)
        kept = e.b.select(negative, *ends)
    return e.b.icmp_unsigned("<", magnitude, kept)


def saturate(e: Values, value: Value) -> Value:
    """`.SAT`: clamps a float32 to 0 to 1; NaNs and -0 become 0."""
    zero, one = (e.b.bitcast(e.const(bits), e.real) for bits in (0, 0x3F800000))
    positive = e.b.select(e.b.fcmp_ordered(">", value, zero), value, zero)
    return e.b.select(e.b.fcmp_ordered("<", positive, one), positive, one)


def add_to_odd(e: Values, left: Value, right: Value) -> Value:
    """left + right; an inexact sum becomes the neighbour with an odd last place, so that a later
    rounding gives the correctly rounded sum."""
    wide = _wide(e, left)
    total = e.b.fadd(left, right)
    share = e.b.fsub(total, left)
    error = e.b.fadd(e.b.fsub(left, e.b.fsub(total, share)), e.b.fsub(right, share))
    bits = e.b.bitcast(total, wide.integer)
    outwards = e.b.icmp_signed(">=", e.b.xor(bits, e.b.bitcast(error, wide.integer)), wide.const(0))
    step = e.b.select(outwards, wide.const(1), wide.const(-1))
    even = e.b.icmp_unsigned("==", e.b.and_(bits, wide.const(1)), wide.const(0))
    zero = e.b.bitcast(wide.const(0), left.type)
    inexact = e.b.and_(even, e.b.fcmp_ordered("!=", error, zero))
    return e.b.bitcast(e.b.select(inexact, e.b.add(bits, step), bits), left.type)
