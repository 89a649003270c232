"""float32 arithmetic: each operation rounds once, to nearest even; denormals are kept; NaN results are canonical."""

from __future__ import annotations

import struct

from llvmlite import ir

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.native.tools import Value
from grader.emulator.opcodes.common import CANONICAL_NAN, call_external, canonical, intrinsic
from grader.emulator.opcodes.integer import combine
from grader.emulator.opcodes.row import Opcode, row
from grader.emulator.operands import ZERO_REGISTER, Immediate, Register

_ORDERED = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}


def fadd(e: Emitter, i: Decoded) -> None:
    """d = a + b"""
    target, a, b = i.operands
    e.set(target, canonical(e, e.b.fadd(e.f32(a), e.f32(b))))


def fmul(e: Emitter, i: Decoded) -> None:
    """d = a * b"""
    target, a, b = i.operands
    e.set(target, canonical(e, e.b.fmul(e.f32(a), e.f32(b))))


def ffma(e: Emitter, i: Decoded) -> None:
    """d = a * b + c, rounded once"""
    target, a, b, c = i.operands
    e.set(target, canonical(e, intrinsic(e, "fma", [e.f32(a), e.f32(b), e.f32(c)])))


def fsetp(e: Emitter, i: Decoded) -> None:
    """P = (a cmp b) comb p, Q = (not (a cmp b)) comb p; the `U` forms are true when an operand is NaN."""
    first, second, a, b, combined = i.operands
    left, right = e.f32(a), e.f32(b)
    name = i.modifiers[0]
    if name == "NUM":
        result = e.b.fcmp_ordered("ord", left, right)
    elif name == "NAN":
        result = e.b.fcmp_unordered("uno", left, right)
    elif name in _ORDERED:
        result = e.b.fcmp_ordered(_ORDERED[name], left, right)
    elif name.endswith("U") and name[:-1] in _ORDERED:
        result = e.b.fcmp_unordered(_ORDERED[name[:-1]], left, right)
    else:
        raise e.unsupported("with this comparison")
    e.set_predicate(first, combine(e, i, result, e.predicate(combined)))
    e.set_predicate(second, combine(e, i, e.b.not_(result), e.predicate(combined)))


def fsel(e: Emitter, i: Decoded) -> None:
    """d = p ? a : b, bits unchanged"""
    target, a, b, choose = i.operands
    e.set(target, e.b.select(e.predicate(choose), e.f32(a), e.f32(b)))


def minimum_maximum(e: Emitter, i: Decoded) -> None:
    """d = p ? min(a, b) : max(a, b); a NaN operand loses, and -0 is less than +0."""
    target, a, b, choose = i.operands
    left, right = e.f32(a), e.f32(b)
    smaller, larger = _ordered_pair(e, left, right)
    e.set(target, e.b.select(e.predicate(choose), smaller, larger))


def _ordered_pair(e: Emitter, left: Value, right: Value) -> tuple[Value, Value]:
    left_bits, right_bits = e.b.bitcast(left, e.word), e.b.bitcast(right, e.word)
    equal = e.b.fcmp_ordered("==", left, right)
    less = e.b.fcmp_ordered("<", left, right)
    low = e.b.select(equal, e.b.or_(left_bits, right_bits), e.b.select(less, left_bits, right_bits))
    high = e.b.select(equal, e.b.and_(left_bits, right_bits), e.b.select(less, right_bits, left_bits))
    left_nan = e.b.fcmp_unordered("uno", left, left)
    right_nan = e.b.fcmp_unordered("uno", right, right)
    nan = e.const(CANONICAL_NAN)
    results = []
    for value in (low, high):
        chosen = e.b.select(left_nan, e.b.select(right_nan, nan, right_bits), e.b.select(right_nan, left_bits, value))
        results.append(e.b.bitcast(chosen, e.real))
    return results[0], results[1]


def half_constant(e: Emitter, i: Decoded) -> None:
    """`HFMA2 d, -RZ, RZ, hi, lo`: the idiom that writes a constant of two halves. Other uses are unsupported."""
    target, a, b, high, low = i.operands
    zero = all(isinstance(operand, Register) and operand.index == ZERO_REGISTER for operand in (a, b))
    if not zero or not isinstance(high, Immediate) or not isinstance(low, Immediate):
        raise e.unsupported("half-precision arithmetic")
    e.set(target, e.const(_half_bits(high) << 16 | _half_bits(low)))


def _half_bits(operand: Immediate) -> int:
    value = operand.real if operand.real is not None else float(operand.bits or 0)
    return int.from_bytes(struct.pack("<e", value), "little")


def integer_to_float(e: Emitter, i: Decoded) -> None:
    """d = float(a), to nearest even, or with `.RP` towards plus infinity (the start of an integer division)."""
    if i.has("U64"):
        _wide_integer_to_float(e, i)
        return
    source = e.i32(i.operands[1])
    if i.has("U16"):
        source = e.b.and_(source, e.const(0xFFFF))
    exact = (e.b.uitofp if i.has("U32") else e.b.sitofp)(source, e.double)
    nearest = e.b.fptrunc(exact, e.real)
    if i.has("RP"):
        too_small = e.b.fcmp_ordered("<", e.b.fpext(nearest, e.double), exact)
        bits = e.b.bitcast(nearest, e.word)
        away = e.b.select(e.b.icmp_signed(">=", bits, e.const(0)), e.const(1), e.const(-1))
        nearest = e.b.bitcast(e.b.select(too_small, e.b.add(bits, away), bits), e.real)
    e.set(i.operands[0], nearest)


def _wide_integer_to_float(e: Emitter, i: Decoded) -> None:
    """An unsigned 64-bit integer to float32, rounded up: the start of a 64-bit division."""
    if not i.has("RP"):
        raise e.unsupported("with this rounding")
    source = e.i64(i.operands[1])
    nearest = e.b.uitofp(source, e.real)
    back = call_external(e, f"llvm.fptoui.sat.{'i64.f32' if e.uniform else 'v32i64.v32f32'}", e.double_word, [nearest])
    bits = e.b.bitcast(nearest, e.word)
    too_small = e.b.icmp_unsigned("<", back, source)
    e.set(i.operands[0], e.b.select(too_small, e.b.add(bits, e.const(1)), bits))


def float_to_integer(e: Emitter, i: Decoded) -> None:
    """d = int(a), towards zero, saturating; NaN gives 0. Other roundings are unsupported."""
    if not i.has("TRUNC"):
        raise e.unsupported("with this rounding")
    if i.has("U64"):
        suffix = "i64.f32" if e.uniform else "v32i64.v32f32"
        e.set64(i.operands[0], call_external(e, f"llvm.fptoui.sat.{suffix}", e.double_word, [e.f32(i.operands[1])]))
        return
    kind = "fptoui" if i.has("U32") else "fptosi"
    suffix = "i32.f32" if e.uniform else "v32i32.v32f32"
    e.set(i.operands[0], call_external(e, f"llvm.{kind}.sat.{suffix}", e.word, [e.f32(i.operands[1])]))


def reciprocal(e: Emitter, i: Decoded) -> None:
    """d = 1 / a. The hardware's unit is within 1 ulp; here it is rounded, which integer division corrects either way."""
    if not i.has("RCP"):
        raise e.unsupported()
    one = ir.Constant(e.real, [1.0] * 32) if not e.uniform else ir.Constant(e.real, 1.0)
    e.set(i.operands[0], canonical(e, e.b.fdiv(one, e.f32(i.operands[1]))))


_COMPARISONS = "LT LE GT GE EQ NE LTU LEU GTU GEU EQU NEU NUM NAN AND OR XOR"

FLOATING: dict[str, Opcode] = {
    "FADD": row(fadd),
    "FMUL": row(fmul),
    "FFMA": row(ffma),
    "FSETP": row(fsetp, _COMPARISONS),
    "FSEL": row(fsel),
    "FMNMX": row(minimum_maximum),
    "HFMA2": row(half_constant, "MMA"),
    "I2F": row(integer_to_float, "U16 U32 S32 U64 RP"),
    "I2FP": row(integer_to_float, "F32 U32 S32"),
    "F2I": row(float_to_integer, "FTZ U32 S32 U64 TRUNC NTZ"),
    "MUFU": row(reciprocal, "RCP"),
}
