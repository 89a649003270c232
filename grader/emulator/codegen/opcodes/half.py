"""Pairs of 16-bit floats, half or (`.BF16_V2`) bfloat16: each operation rounds once, to nearest
even, and keeps denormals.

A register holds two floats; `.H0_H0` and `.H1_H1` use the lower or upper twice. A literal is two
operands, the upper half first.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import replace

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.integer import combine
from grader.emulator.codegen.opcodes.intrinsics import (
    COMPARISONS,
    canonical,
    float_compare,
    inside_bars,
)
from grader.emulator.codegen.opcodes.row import PLAIN, Opcode, row
from grader.emulator.codegen.opcodes.small_floats import (
    HALF,
    SIGN,
    Rounding,
    SmallFloat,
    add_to_odd,
    is_tiny,
    round_to,
    small_of,
    unpack,
)
from grader.emulator.codegen.tools import Value
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Constant, Immediate, Operand, Register
from grader.emulator.timing.pipes import FLOAT32, HEAVY

Halves = tuple[Value, Value]
"""The codes of the lower and the upper float, each in the low half of a word."""

_PARTS = {"": (0, 16), "H1_H0": (0, 16), "H0_H0": (0, 0), "H1_H1": (16, 16), "H0_NH1": (16, 0)}
"""First bits of a source's lower and upper float; `H0_NH1` negates the lower float."""


def hadd2(e: Emitter, i: Decoded) -> None:
    """d = a + b; `.F32`: a float32 sum of the lower halves (conversion of a half); `R1.F32` is
    truncated to half."""
    target, *sources = i.operands
    small = small_of(i)
    if isinstance(sources[0], Register) and sources[0].suffix == "F32":
        _truncate(e, i)
        return
    left, right = _halves(e, sources, small)
    if i.has("F32"):
        e.set(target, canonical(e, e.b.fadd(unpack(e, left[0], HALF), unpack(e, right[0], HALF))))
        return
    one = (e.const(small.one), e.const(small.one))
    codes = [_fused(e, small, *each) for each in zip(left, one, right, strict=True)]
    _set_pair(e, i, target, codes)


def _truncate(e: Emitter, i: Decoded) -> None:
    """Both halves = a float32 rounded towards zero: on sm_75, `R1.F32 - 0` is `cvt.rz.f16.f32`."""
    target, single, zero = i.operands
    minus_zero = isinstance(zero, Register) and zero.is_zero and zero.negated
    if not isinstance(single, Register) or not minus_zero or set(i.modifiers) - {"SAT"}:
        raise e.unsupported("with this operand")
    code = round_to(e, e.f32(replace(single, suffix="")), HALF, Rounding.ZERO)
    _set_pair(e, i, target, [code, code])


def hmul2(e: Emitter, i: Decoded) -> None:
    """d = a * b"""
    target, *sources = i.operands
    small = small_of(i)
    left, right = _halves(e, sources, small)
    pairs = zip(left, right, strict=True)
    _set_pair(e, i, target, [_fused(e, small, *each, e.const(SIGN)) for each in pairs])


def hfma2(e: Emitter, i: Decoded) -> None:
    """d = a * b + c, rounded once; with `.OOB` 0 if a or b is the NaN that marks elements outside
    of a tensor. ptxas writes 32-bit constants as `-RZ * RZ + literal`."""
    target, *sources = i.operands
    small = small_of(i)
    zeros = all(isinstance(each, Register) and each.is_zero for each in sources[:2])
    if zeros and len(sources) == 4 and all(isinstance(each, Immediate) for each in sources[2:]):
        high, low = (_literal_code(e, operand, small) for operand in sources[2:])
        e.set(target, e.const(high << 16 | low))
        return
    triples = list(zip(*_halves(e, sources, small), strict=True))
    codes = [_fused(e, small, *triple) for triple in triples]
    if i.has("OOB"):
        for half, (a, b, _) in enumerate(triples):
            magnitudes = (e.b.and_(code, e.const(SIGN - 1)) for code in (a, b))
            outside = (e.b.icmp_unsigned("==", each, e.const(_OUTSIDE)) for each in magnitudes)
            codes[half] = e.b.select(e.b.or_(*outside), e.const(0), codes[half])
    _set_pair(e, i, target, codes)


_OUTSIDE = 0x7FF7
"""For half and bfloat16, with either sign (observed on an H200)."""


def _fused(e: Emitter, small: SmallFloat, a: Value, b: Value, c: Value) -> Value:
    """The code of a * b + c: in the wider type, an exact product and a sum rounded to odd."""
    product = e.b.fmul(unpack(e, a, small), unpack(e, b, small))
    exact = add_to_odd(e, product, unpack(e, c, small))
    code = round_to(e, exact, small)
    if not e.instruction.has("FTZ"):
        return code
    tiny = is_tiny(e, exact, small, Rounding.NEAREST)
    return e.b.select(tiny, e.b.and_(code, e.const(SIGN)), code)


def _set_pair(e: Emitter, i: Decoded, target: Operand, codes: list[Value]) -> None:
    low, high = (_clamp(e, i, code) for code in codes)
    e.set(target, e.b.or_(low, e.b.shl(high, e.const(16))))


def _clamp(e: Emitter, i: Decoded, code: Value) -> Value:
    """`.SAT`: clamps to 0 to 1, NaNs become 0; `.RELU`: negative values become 0, NaNs stay."""
    small = small_of(i)
    negative = e.b.icmp_unsigned(">=", code, e.const(SIGN))
    if i.has("RELU"):
        return e.b.select(negative, e.const(0), code)
    if not i.has("SAT"):
        return code
    above = e.b.icmp_unsigned(">", code, e.const(small.one))
    nan = e.b.icmp_unsigned("==", code, e.const(small.nan))
    clamped = e.b.select(above, e.const(small.one), code)
    return e.b.select(e.b.or_(negative, nan), e.const(0), clamped)


def minimum_maximum(e: Emitter, i: Decoded) -> None:
    """d = p ? min(a, b) : max(a, b); a number takes precedence over a NaN, with `.NAN` the NaN
    does; -0 is less than +0; `.XORSIGN` of |a| and |b|, negative if exactly one of a and b is
    negative."""
    target, *sources, choose = i.operands
    small = small_of(i)
    smaller_wanted = e.predicate(choose)
    codes = [
        _pick(e, i, a, b, smaller_wanted) for a, b in zip(*_halves(e, sources, small), strict=True)
    ]
    if i.has("XORSIGN"):
        signs = _halves(e, [inside_bars(e, each) for each in sources], small)
        codes = [_signed_by(e, a, b, code, small) for code, a, b in zip(codes, *signs, strict=True)]
    _set_pair(e, i, target, codes)


def _signed_by(e: Emitter, a: Value, b: Value, code: Value, small: SmallFloat) -> Value:
    nan = e.const(small.nan)
    sign = e.b.and_(e.b.xor(a, b), e.const(SIGN))
    return e.b.select(e.b.icmp_unsigned("==", code, nan), nan, e.b.or_(code, sign))


def _pick(e: Emitter, i: Decoded, a: Value, b: Value, smaller_wanted: Value) -> Value:
    small = small_of(i)
    infinity = (small.highest_exponent - small.lowest_exponent + 2) << (small.precision - 1)
    a_nan, b_nan = (
        e.b.icmp_unsigned(">", e.b.and_(code, e.const(0x7FFF)), e.const(infinity))
        for code in (a, b)
    )
    less = e.b.icmp_signed("<", _order(e, a), _order(e, b))
    chosen = e.b.select(e.b.xor(less, smaller_wanted), b, a)
    nan = e.const(small.nan)
    if i.has("NAN"):
        return e.b.select(e.b.or_(a_nan, b_nan), nan, chosen)
    return e.b.select(a_nan, e.b.select(b_nan, nan, b), e.b.select(b_nan, a, chosen))


def _order(e: Emitter, code: Value) -> Value:
    """An integer that orders codes like their values, with -0 below +0."""
    magnitude = e.b.and_(code, e.const(0x7FFF))
    return e.b.select(e.b.icmp_unsigned(">=", code, e.const(SIGN)), e.b.not_(magnitude), magnitude)


def hsetp2(e: Emitter, i: Decoded) -> None:
    """P = (a cmp b) comb p for the lower halves, Q for the upper halves."""
    first, second, *sources, combined = i.operands
    other = e.predicate(combined)
    low, high = _comparisons(e, i, sources)
    e.set_predicate(first, combine(e, i, low, other))
    e.set_predicate(second, combine(e, i, high, other))


def hset2(e: Emitter, i: Decoded) -> None:
    """Each half of d = (a cmp b) comb p; `.BF` as 1.0 or 0.0, otherwise as all ones or zeros."""
    target, *sources, combined = i.operands
    other = e.predicate(combined)
    true = small_of(i).one if i.has("BF") else 0xFFFF
    low, high = (
        e.b.select(combine(e, i, result, other), e.const(true), e.const(0))
        for result in _comparisons(e, i, sources)
    )
    e.set(target, e.b.or_(low, e.b.shl(high, e.const(16))))


def _comparisons(e: Emitter, i: Decoded, sources: list[Operand]) -> list[Value]:
    small = small_of(i)
    left, right = _halves(e, sources, small)
    return [
        float_compare(e, i, unpack(e, a, small), unpack(e, b, small))
        for a, b in zip(left, right, strict=True)
    ]


def _halves(e: Emitter, operands: list[Operand], small: SmallFloat) -> list[Halves]:
    """Source operands as pairs of codes, with `-`, `|x|` and `.FTZ` applied to each half."""
    pairs = list(_each_pair(e, operands, small))
    if not e.instruction.has("FTZ"):
        return pairs
    return [(_flush(e, low), _flush(e, high)) for low, high in pairs]


def _flush(e: Emitter, code: Value) -> Value:
    """`.FTZ` of a half: a denormal becomes the zero of its sign. bfloat16 does not have it."""
    magnitude = e.b.and_(code, e.const(SIGN - 1))
    denormal = e.b.icmp_unsigned("<", magnitude, e.const(1 << HALF.precision - 1))
    return e.b.select(denormal, e.b.and_(code, e.const(SIGN)), code)


def _each_pair(e: Emitter, operands: list[Operand], small: SmallFloat) -> Iterator[Halves]:
    waiting = list(operands)
    while waiting:
        operand = waiting.pop(0)
        if isinstance(operand, Immediate):
            if not waiting:
                raise e.unsupported("with one literal")
            high, low = (_literal_code(e, literal, small) for literal in (operand, waiting.pop(0)))
            yield e.const(low), e.const(high)
        elif (
            isinstance(operand, Register | Constant)
            and operand.suffix in _PARTS
            and not operand.inverted
        ):
            yield _register_halves(e, operand)
        else:
            raise e.unsupported("with this operand")


def _register_halves(e: Emitter, operand: Register | Constant) -> Halves:
    word = e.i32(replace(operand, suffix="", negated=False, absolute=False))
    halves = []
    for place, shift in enumerate(_PARTS[operand.suffix]):
        code = e.b.and_(word, e.const(0xFFFF)) if shift == 0 else e.b.lshr(word, e.const(16))
        code = e.b.and_(code, e.const(0x7FFF)) if operand.absolute else code
        negated = operand.negated != (operand.suffix == "H0_NH1" and place == 0)
        halves.append(e.b.xor(code, e.const(SIGN)) if negated else code)
    return halves[0], halves[1]


def _literal_code(e: Emitter, operand: Operand, small: SmallFloat) -> int:
    """The code of a decimal literal, but not of a NaN: nvdisasm omits its payload."""
    if not isinstance(operand, Immediate):
        raise e.unsupported("with one literal")
    value = operand.real if operand.real is not None else float(operand.bits or 0)
    largest = 2.0 ** (small.highest_exponent + 1)
    if value != value or largest <= abs(value) < math.inf:
        raise e.unsupported(f"with the literal {value}")
    if small is HALF:
        return int.from_bytes(struct.pack("<e", value), "little")
    return int.from_bytes(struct.pack("<f", value), "little") >> 16


_ARITHMETIC = "BF16_V2 FTZ SAT RELU"
_COMPARISONS = f"{COMPARISONS} FTZ BF16_V2"

HALVES: dict[str, Opcode] = {
    "HADD2": row(hadd2, f"{_ARITHMETIC} F32", pipe=HEAVY),
    "HMUL2": row(hmul2, _ARITHMETIC, pipe=HEAVY),
    "HFMA2": row(hfma2, f"{_ARITHMETIC} MMA OOB", pipe={PLAIN: HEAVY, "MMA": FLOAT32}),
    "HMNMX2": row(minimum_maximum, "BF16_V2 FTZ NAN XORSIGN"),
    "HSETP2": row(hsetp2, _COMPARISONS),
    "HSET2": row(hset2, f"{_COMPARISONS} BF"),
}
