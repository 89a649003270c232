"""float32 arithmetic: each operation rounds once; denormals are kept unless `.FTZ`; NaN results are
canonical."""

from __future__ import annotations

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.native.tools import Value
from grader.emulator.opcodes.integer import combine
from grader.emulator.opcodes.intrinsics import (
    CANONICAL_NAN,
    canonical,
    float_compare,
    inside_bars,
    intrinsic,
)
from grader.emulator.opcodes.row import Opcode, row
from grader.emulator.opcodes.small_floats import (
    ROUNDINGS,
    SINGLE,
    Rounding,
    add_to_odd,
    flush,
    is_tiny,
    round_to_single,
    rounding_of,
    saturate,
)
from grader.emulator.operands import Operand
from grader.emulator.timing.pipes import FLOAT32

_ONE = 0x3F800000


def fadd(e: Emitter, i: Decoded) -> None:
    """d = a + b"""
    target, *operands = i.operands
    a, b = _sources(e, i, operands)
    if rounding_of(i) is Rounding.NEAREST:
        _set_result(e, i, target, e.b.fadd(a, b))
    else:
        _set_result(e, i, target, _sum(e, i, e.b.fpext(a, e.double), e.b.fpext(b, e.double)))


def fmul(e: Emitter, i: Decoded) -> None:
    """d = a * b"""
    target, *operands = i.operands
    a, b = _sources(e, i, operands)
    product = e.b.fmul(e.b.fpext(a, e.double), e.b.fpext(b, e.double))
    nearest = rounding_of(i) is Rounding.NEAREST
    result = e.b.fmul(a, b) if nearest else round_to_single(e, product, rounding_of(i))
    _set_result(e, i, target, _flush_tiny(e, i, result, product) if i.has("FTZ") else result)


def ffma(e: Emitter, i: Decoded) -> None:
    """d = a * b + c, rounded once"""
    target, *operands = i.operands
    a, b, c = _sources(e, i, operands)
    product, addend = (
        e.b.fmul(e.b.fpext(a, e.double), e.b.fpext(b, e.double)),
        e.b.fpext(c, e.double),
    )
    nearest = rounding_of(i) is Rounding.NEAREST
    result = intrinsic(e, "fma", [a, b, c]) if nearest else _sum(e, i, product, addend)
    _set_result(
        e,
        i,
        target,
        _flush_tiny(e, i, result, add_to_odd(e, product, addend)) if i.has("FTZ") else result,
    )


def _sources(e: Emitter, i: Decoded, operands: list[Operand]) -> list[Value]:
    values = [e.f32(operand) for operand in operands]
    return [flush(e, value) for value in values] if i.has("FTZ") else values


def _sum(e: Emitter, i: Decoded, left: Value, right: Value) -> Value:
    """A float32 sum of two exact float64, rounded as the modifier says. Opposite numbers add up to
    -0 only towards minus infinity."""
    mode = rounding_of(i)
    total = add_to_odd(e, left, right)
    if mode is Rounding.DOWN:
        zero = e.b.fcmp_ordered("==", total, e.b.bitcast(e.const64(0), e.double))
        signs = e.b.or_(e.b.bitcast(left, e.double_word), e.b.bitcast(right, e.double_word))
        signed_zero = e.b.bitcast(e.b.and_(signs, e.const64(1 << 63)), e.double)
        total = e.b.select(zero, signed_zero, total)
    return round_to_single(e, total, mode)


def _flush_tiny(e: Emitter, i: Decoded, result: Value, exact: Value) -> Value:
    """`.FTZ` on a result, whose rounding as a denormal does not count. `exact` is float64."""
    sign = e.b.and_(e.b.bitcast(result, e.word), e.const(0x80000000))
    return e.b.select(is_tiny(e, exact, SINGLE, rounding_of(i)), e.b.bitcast(sign, e.real), result)


def _set_result(e: Emitter, i: Decoded, target: Operand, value: Value) -> None:
    """Write a rounded result, flushed and clamped as the modifiers say."""
    result = canonical(e, value)
    if i.has("FTZ"):
        result = flush(e, result)
    e.set(target, saturate(e, result) if i.has("SAT") else result)


def fsetp(e: Emitter, i: Decoded) -> None:
    """P = (a cmp b) comb p, Q = (not (a cmp b)) comb p; the `U` forms are true when an operand is
    NaN."""
    first, second, a, b, combined = i.operands
    left, right = _sources(e, i, [a, b])
    result, other = float_compare(e, i, left, right), e.predicate(combined)
    e.set_predicate(first, combine(e, i, result, other))
    e.set_predicate(second, combine(e, i, e.b.not_(result), other))


def fset(e: Emitter, i: Decoded) -> None:
    """d = (a cmp b) comb p, `.BF` as 1.0 or 0.0, else as ones or zeros."""
    target, a, b, combined = i.operands
    left, right = _sources(e, i, [a, b])
    result = combine(e, i, float_compare(e, i, left, right), e.predicate(combined))
    e.set(target, e.b.select(result, e.const(_ONE if i.has("BF") else -1), e.const(0)))


def fsel(e: Emitter, i: Decoded) -> None:
    """d = p ? a : b, bits unchanged"""
    target, a, b, choose = i.operands
    e.set(target, e.b.select(e.predicate(choose), e.f32(a), e.f32(b)))


def minimum_maximum(e: Emitter, i: Decoded) -> None:
    """d = p ? min(a, b) : max(a, b); a NaN operand loses, with `.NAN` it wins, and -0 is less than
    +0; `.XORSIGN` of |a| and |b|, negative where one of a and b is."""
    target, a, b, choose = i.operands
    left, right = _sources(e, i, [a, b])
    smaller, larger = _ordered_pair(e, i, left, right)
    result = e.b.select(e.predicate(choose), smaller, larger)
    e.set(target, _signed_by(e, a, b, result) if i.has("XORSIGN") else result)


def _signed_by(e: Emitter, a: Operand, b: Operand, magnitude: Value) -> Value:
    signs = (e.i32(inside_bars(e, operand)) for operand in (a, b))
    sign = e.b.and_(e.b.xor(*signs), e.const(0x80000000))
    signed = e.b.bitcast(e.b.or_(e.b.bitcast(magnitude, e.word), sign), e.real)
    return canonical(e, signed)


def _ordered_pair(e: Emitter, i: Decoded, left: Value, right: Value) -> tuple[Value, Value]:
    left_bits, right_bits = e.b.bitcast(left, e.word), e.b.bitcast(right, e.word)
    equal = e.b.fcmp_ordered("==", left, right)
    less = e.b.fcmp_ordered("<", left, right)
    low = e.b.select(equal, e.b.or_(left_bits, right_bits), e.b.select(less, left_bits, right_bits))
    high = e.b.select(
        equal, e.b.and_(left_bits, right_bits), e.b.select(less, right_bits, left_bits)
    )
    left_nan = e.b.fcmp_unordered("uno", left, left)
    right_nan = e.b.fcmp_unordered("uno", right, right)
    nan = e.const(CANONICAL_NAN)
    results = []
    for value in (low, high):
        if i.has("NAN"):
            chosen = e.b.select(e.b.or_(left_nan, right_nan), nan, value)
        else:
            chosen = e.b.select(
                left_nan,
                e.b.select(right_nan, nan, right_bits),
                e.b.select(right_nan, left_bits, value),
            )
        results.append(e.b.bitcast(chosen, e.real))
    return results[0], results[1]


_COMPARISONS = "LT LE GT GE EQ NE LTU LEU GTU GEU EQU NEU NUM NAN AND OR XOR FTZ"

FLOATING: dict[str, Opcode] = {
    "FADD": row(fadd, f"FTZ SAT {ROUNDINGS}", pipe=FLOAT32),
    "FMUL": row(fmul, f"FTZ SAT {ROUNDINGS}", pipe=FLOAT32),
    "FFMA": row(ffma, f"FTZ SAT {ROUNDINGS}", pipe=FLOAT32),
    "FSETP": row(fsetp, _COMPARISONS),
    "FSET": row(fset, f"{_COMPARISONS} BF"),
    "FSEL": row(fsel),
    "FMNMX": row(minimum_maximum, "FTZ NAN XORSIGN"),
}
