"""Conversions between 8-bit floats and wider floats, two values at a time."""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.small_floats import (
    E4M3,
    E5M2,
    HALF,
    SmallFloat,
    round_to,
    unpack,
)
from grader.emulator.codegen.tools import Value
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Operand, Register

EIGHT_BITS = {"E4M3": E4M3, "E5M2": E5M2}
EIGHT_BIT_MODIFIERS = f"{' '.join(EIGHT_BITS)} SATFINITE UNPACK_B PACK_AB_MERGE_C UNPACK_B_MERGE_C"
_FLAGS = {"RELU", *EIGHT_BITS}


def convert_bytes(e: Emitter, i: Decoded) -> None:
    """`.PACK_AB_MERGE_C`: a as the upper byte and b as the lower byte; `.UNPACK_B_MERGE_C`: the
    halves of a as bytes, both beside the upper half of c; `.UNPACK_B`: the lower bytes of a, or the
    upper bytes (`.H1`), as halves."""
    form = {name for name in i.modifiers if name not in _FLAGS}
    if form == {"F16", "UNPACK_B"}:
        _widen(e, i)
        return
    target, *sources, kept = i.operands
    if form == {"SATFINITE", "F32", "PACK_AB_MERGE_C"}:
        high, low = (e.f32(operand) for operand in sources)
    elif form == {"SATFINITE", "F16", "UNPACK_B_MERGE_C"}:
        word = _plain_word(e, *sources)
        high, low = (unpack(e, part, HALF) for part in _parts(e, word, 16))
    else:
        raise e.unsupported("with these formats")
    if not is_zero(kept):
        raise e.unsupported("with a half to keep")
    small = _format(i)
    codes = [rectified(e, i, round_to(e, value, small), small) for value in (high, low)]
    e.set(target, _joined(e, codes, 8))


def rectified(e: Emitter, i: Decoded, code: Value, small: SmallFloat) -> Value:
    """A code; with `.RELU`, 0 for negative codes."""
    if not i.has("RELU"):
        return code
    return e.b.select(e.b.icmp_unsigned(">=", code, e.const(small.sign)), e.const(0), code)


def is_zero(operand: Operand) -> bool:
    """Whether it is RZ without a sign."""
    return isinstance(operand, Register) and operand.is_zero and not operand.negated


def _widen(e: Emitter, i: Decoded) -> None:
    """Converts bytes to halves, exactly. NaNs become the canonical NaN of half, without their sign
    (`__nv_cvt_fp8_to_halfraw` of cuda_fp8.hpp documents it for all GPUs)."""
    target, operand = i.operands
    convert = _HALVES[_format(i).name]
    word = _plain_word(e, operand)
    codes = [convert(e, part) for part in _parts(e, word, 8)]
    e.set(target, _joined(e, [rectified(e, i, code, HALF) for code in codes], 16))


def _half_of_e5m2(e: Emitter, byte: Value) -> Value:
    """E5M2 is the upper byte of a half."""
    code = e.b.shl(byte, e.const(8))
    is_nan = e.b.icmp_unsigned(">", e.b.and_(code, e.const(0x7FFF)), e.const(0x7C00))
    return e.b.select(is_nan, e.const(HALF.nan), code)


def _half_of_e4m3(e: Emitter, byte: Value) -> Value:
    """The bits of E4M3, read as a half, are the value over 2^8: the biases are 7 and 15. E4M3 has
    no infinity, and one NaN per sign."""
    magnitude = e.b.and_(byte, e.const(0x7F))
    sign = e.b.shl(e.b.and_(byte, e.const(0x80)), e.const(8))
    scaled = unpack(e, e.b.or_(e.b.shl(magnitude, e.const(7)), sign), HALF)
    value = e.b.fmul(scaled, e.b.bitcast(e.const((127 + 8) << 23), e.real))
    is_nan = e.b.icmp_unsigned("==", magnitude, e.const(0x7F))
    return e.b.select(is_nan, e.const(HALF.nan), round_to(e, value, HALF))


_HALVES = {"E4M3": _half_of_e4m3, "E5M2": _half_of_e5m2}


def _format(i: Decoded) -> SmallFloat:
    return next(small for name, small in EIGHT_BITS.items() if i.has(name))


def _plain_word(e: Emitter, operand: Operand) -> Value:
    """A word; with `.H1`, its upper half."""
    if not isinstance(operand, Register) or operand.negated or operand.inverted:
        raise e.unsupported("with this operand")
    if operand.suffix == "H1":
        return e.b.lshr(e.i32(replace(operand, suffix="")), e.const(16))
    return e.i32(operand)


def _parts(e: Emitter, word: Value, bits: int) -> list[Value]:
    """The upper and the lower of two parts, `bits` wide, at the low end of a word."""
    mask = e.const((1 << bits) - 1)
    return [e.b.and_(e.b.lshr(word, e.const(shift)), mask) for shift in (bits, 0)]


def _joined(e: Emitter, codes: list[Value], bits: int) -> Value:
    high, low = codes
    return e.b.or_(low, e.b.shl(high, e.const(bits)))
