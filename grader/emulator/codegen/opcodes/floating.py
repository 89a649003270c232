"""float32 arithmetic, rounded once; denormals are kept unless `.FTZ`; NaNs are canonical."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import reduce

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.integer import combine, set_comparison
from grader.emulator.codegen.opcodes.intrinsics import (
    CANONICAL_NAN,
    COMPARISONS,
    canonical,
    float_compare,
    half_code,
    inside_bars,
    intrinsic,
    not_emulated,
)
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.opcodes.small_floats import (
    HALF,
    ROUNDINGS,
    SINGLE,
    Rounding,
    add_to_odd,
    flush,
    is_tiny,
    round_to_single,
    rounding_of,
    saturate,
    unpack,
)
from grader.emulator.codegen.tools import Value
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Immediate, Operand, Register
from grader.emulator.timing.pipes import FLOAT32, FLOAT32_TWICE

_ONE = 0x3F800000
_SCALES = {"D2": 0x3F000000, "D4": 0x3E800000, "D8": 0x3E000000, "M4": 0x40800000, "M8": 0x41000000}
"""Factors of products, by modifier: bits of a float32."""
_PAIRS: dict[str, tuple[int | None, bool]] = {
    "F32": (None, False),
    "F32x2.HI_LO": (0, False),
    "F32x2.LO_HI": (1, False),
    "F32x2.HI_LO.NP": (0, True),
}
"""By the suffix of an operand: the index of the word that is the lower float (None: a single
float), and whether the sign of the upper float flips."""


def fadd(e: Emitter, i: Decoded) -> None:
    """d = a + b; `FADD2` of pairs; for `FHADD`, a is a half, or with `.BF16` a bfloat16"""
    _set_results(e, i, _added)


def fmul(e: Emitter, i: Decoded) -> None:
    """d = a * b; `.D2` to `.D8` divide, `.M4` and `.M8` multiply the product; `FMUL2` of pairs"""
    _set_results(e, i, _multiplied if _SCALES.keys().isdisjoint(i.modifiers) else _scaled_product)


def ffma(e: Emitter, i: Decoded) -> None:
    """d = a * b + c, rounded once; `FFMA2` of pairs; for `FHFMA`, a and b are halves or bfloat16"""
    _set_results(e, i, _multiplied_and_added)


def _set_results(
    e: Emitter, i: Decoded, compute: Callable[[Emitter, Decoded, list[Value]], Value]
) -> None:
    """Writes a rounded result, or both results of a pair, flushed and clamped by the modifiers."""
    target, *operands = i.operands

    def result(sources: list[Operand]) -> Value:
        return _finished(e, i, compute(e, i, _sources(e, i, sources)))

    if not i.base.endswith("2"):
        e.set(target, result(operands))
        return
    low, high = (result([_of_pair(e, each, word) for each in operands]) for word in range(2))
    e.set(target, low)
    e.set(e.upper(target), high)


def _of_pair(e: Emitter, operand: Operand, word: int) -> Operand:
    """The lower (`word` 0) or upper float of a pair operand: `.F32x2.HI_LO`, swapped for `.LO_HI`;
    `.NP` flips the sign of the upper float. `.F32` or a literal is a single float for both."""
    if isinstance(operand, Immediate):
        return operand
    if not isinstance(operand, Register) or operand.suffix not in _PAIRS:
        raise e.unsupported("with this operand")
    first, flips = _PAIRS[operand.suffix]
    place = 0 if first is None or operand.is_zero else first ^ word
    negated = operand.negated ^ (flips and word == 1)
    return replace(operand, suffix="", index=operand.index + place, negated=negated)


def _added(e: Emitter, i: Decoded, sources: list[Value]) -> Value:
    a, b = sources
    if rounding_of(i) is Rounding.NEAREST:
        return e.b.fadd(a, b)
    return _sum(e, i, e.b.fpext(a, e.double), e.b.fpext(b, e.double))


def _multiplied(e: Emitter, i: Decoded, sources: list[Value]) -> Value:
    a, b = sources
    product = e.b.fmul(e.b.fpext(a, e.double), e.b.fpext(b, e.double))
    nearest = rounding_of(i) is Rounding.NEAREST
    result = e.b.fmul(a, b) if nearest else round_to_single(e, product, rounding_of(i))
    return _flush_tiny(e, i, result, product)


def _scaled_product(e: Emitter, i: Decoded, sources: list[Value]) -> Value:
    """a * b, scaled. It is unknown whether the hardware scales a, b, the exact product or the
    rounded product. A launch ends if that makes a difference, at the ends of the range."""
    if rounding_of(i) is not Rounding.NEAREST:
        raise e.unsupported()
    factor = next(bits for name, bits in _SCALES.items() if i.has(name))
    scale = e.b.bitcast(e.const(factor), e.real)
    a, b = sources

    def product(left: Value, right: Value) -> Value:
        return _multiplied(e, i, [left, right])

    exact = e.b.fmul(e.b.fpext(a, e.double), e.b.fpext(b, e.double))
    scaled = e.b.fmul(exact, e.b.fpext(scale, e.double))
    result = _flush_tiny(e, i, e.b.fptrunc(scaled, e.real), scaled)
    others = (
        product(product(a, b), scale),
        product(product(a, scale), b),
        product(a, product(b, scale)),
    )
    apart = [e.mask_of(e.b.fcmp_ordered("!=", result, other)) for other in others]
    differing = e.b.and_(e.mask, reduce(e.b.or_, apart))
    with e.b.if_then(e.some(differing), likely=False):
        not_emulated(e, i)
    return result


def _multiplied_and_added(e: Emitter, i: Decoded, sources: list[Value]) -> Value:
    a, b, c = sources
    product = e.b.fmul(e.b.fpext(a, e.double), e.b.fpext(b, e.double))
    addend = e.b.fpext(c, e.double)
    nearest = rounding_of(i) is Rounding.NEAREST
    result = intrinsic(e, "fma", [a, b, c]) if nearest else _sum(e, i, product, addend)
    if i.has("FTZ"):
        return _flush_tiny(e, i, result, add_to_odd(e, product, addend))
    return result


def _sources(e: Emitter, i: Decoded, operands: list[Operand]) -> list[Value]:
    if i.base in ("FHADD", "FHFMA"):
        *halves, last = operands
        return [*(_from_half(e, i, operand) for operand in halves), e.f32(last)]
    values = [e.f32(operand) for operand in operands]
    return [flush(e, value) for value in values] if i.has("FTZ") else values


def _from_half(e: Emitter, i: Decoded, operand: Operand) -> Value:
    """A half, or a bfloat16, as float32."""
    if not isinstance(operand, Register) or operand.inverted:
        raise e.unsupported("with this operand")
    code = half_code(e, operand)
    if i.has("BF16"):
        return e.b.bitcast(e.b.shl(code, e.const(16)), e.real)
    return unpack(e, code, HALF)


def _sum(e: Emitter, i: Decoded, left: Value, right: Value) -> Value:
    """The float32 sum of two exact float64 values, rounded by the modifier. Opposite numbers give
    -0 only if rounded towards minus infinity."""
    mode = rounding_of(i)
    total = add_to_odd(e, left, right)
    if mode is Rounding.DOWN:
        zero = e.b.fcmp_ordered("==", total, e.b.bitcast(e.const64(0), e.double))
        signs = e.b.or_(e.b.bitcast(left, e.double_word), e.b.bitcast(right, e.double_word))
        signed_zero = e.b.bitcast(e.b.and_(signs, e.const64(1 << 63)), e.double)
        total = e.b.select(zero, signed_zero, total)
    return round_to_single(e, total, mode)


def _flush_tiny(e: Emitter, i: Decoded, result: Value, exact: Value) -> Value:
    """`.FTZ` of a result: the test uses the exact float64 value, before rounding as a denormal."""
    if not i.has("FTZ"):
        return result
    sign = e.b.and_(e.b.bitcast(result, e.word), e.const(0x80000000))
    return e.b.select(is_tiny(e, exact, SINGLE, rounding_of(i)), e.b.bitcast(sign, e.real), result)


def _finished(e: Emitter, i: Decoded, value: Value) -> Value:
    result = canonical(e, value)
    if i.has("FTZ"):
        result = flush(e, result)
    return saturate(e, result) if i.has("SAT") else result


def fsetp(e: Emitter, i: Decoded) -> None:
    """P = (a cmp b) comb p, Q = (not (a cmp b)) comb p; the `U` forms are true for a NaN
    operand."""
    _, _, a, b, combined = i.operands
    left, right = _sources(e, i, [a, b])
    set_comparison(e, i, float_compare(e, i, left, right), combined)


def fset(e: Emitter, i: Decoded) -> None:
    """d = (a cmp b) comb p; `.BF` as 1.0 or 0.0, otherwise as all ones or zeros."""
    target, a, b, combined = i.operands
    left, right = _sources(e, i, [a, b])
    result = combine(e, i, float_compare(e, i, left, right), e.predicate(combined))
    e.set(target, e.b.select(result, e.const(_ONE if i.has("BF") else -1), e.const(0)))


def fsel(e: Emitter, i: Decoded) -> None:
    """d = p ? a : b, bits unchanged"""
    target, a, b, choose = i.operands
    e.set(target, e.b.select(e.predicate(choose), e.f32(a), e.f32(b)))


def minimum_maximum(e: Emitter, i: Decoded) -> None:
    """d = p ? min(a, b) : max(a, b), of two or three operands; a number takes precedence over a
    NaN, with `.NAN` the NaN does; -0 is less than +0; `.XORSIGN` of |a| and |b|, negative if
    exactly one of a and b is negative."""
    target, *operands, choose = i.operands
    result, *others = _sources(e, i, operands)
    for other in others:
        smaller, larger = _ordered_pair(e, i, result, other)
        result = e.b.select(e.predicate(choose), smaller, larger)
    if i.has("XORSIGN"):
        signs = (e.i32(inside_bars(e, operand)) for operand in operands)
        sign = e.b.and_(e.b.xor(*signs), e.const(0x80000000))
        result = canonical(e, e.b.bitcast(e.b.or_(e.b.bitcast(result, e.word), sign), e.real))
    e.set(target, result)


def _ordered_pair(e: Emitter, i: Decoded, left: Value, right: Value) -> tuple[Value, Value]:
    left_bits, right_bits = e.b.bitcast(left, e.word), e.b.bitcast(right, e.word)
    equal = e.b.fcmp_ordered("==", left, right)
    less = e.b.fcmp_ordered("<", left, right)
    low = e.b.select(equal, e.b.or_(left_bits, right_bits), e.b.select(less, left_bits, right_bits))
    both = e.b.and_(left_bits, right_bits)
    high = e.b.select(equal, both, e.b.select(less, right_bits, left_bits))
    left_nan = e.b.fcmp_unordered("uno", left, left)
    right_nan = e.b.fcmp_unordered("uno", right, right)
    nan = e.const(CANONICAL_NAN)
    results = []
    for value in (low, high):
        if i.has("NAN"):
            chosen = e.b.select(e.b.or_(left_nan, right_nan), nan, value)
        else:
            by_right = e.b.select(right_nan, nan, right_bits)
            chosen = e.b.select(left_nan, by_right, e.b.select(right_nan, left_bits, value))
        results.append(e.b.bitcast(chosen, e.real))
    return results[0], results[1]


_COMPARISONS = f"{COMPARISONS} FTZ"
_ARITHMETIC = f"FTZ SAT {ROUNDINGS}"

FLOATING: dict[str, Opcode] = {
    "FADD": row(fadd, _ARITHMETIC, pipe=FLOAT32),
    "FMUL": row(fmul, f"{_ARITHMETIC} {' '.join(_SCALES)}", pipe=FLOAT32),
    "FFMA": row(ffma, _ARITHMETIC, pipe=FLOAT32),
    "FADD2": row(fadd, _ARITHMETIC, pipe=FLOAT32_TWICE),
    "FMUL2": row(fmul, _ARITHMETIC, pipe=FLOAT32_TWICE),
    "FFMA2": row(ffma, _ARITHMETIC, pipe=FLOAT32_TWICE),
    "FHADD": row(fadd, f"BF16 SAT {ROUNDINGS}", pipe=FLOAT32),
    "FHFMA": row(ffma, f"BF16 SAT {ROUNDINGS}", pipe=FLOAT32),
    "UFADD": row(fadd, _ARITHMETIC, uniform=True),
    "UFMUL": row(fmul, _ARITHMETIC, uniform=True),
    "UFFMA": row(ffma, _ARITHMETIC, uniform=True),
    "FSETP": row(fsetp, _COMPARISONS),
    "UFSETP": row(fsetp, _COMPARISONS, uniform=True),
    "FSET": row(fset, f"{_COMPARISONS} BF"),
    "UFSET": row(fset, f"{_COMPARISONS} BF", uniform=True),
    "FSEL": row(fsel),
    "UFSEL": row(fsel, uniform=True),
    "FMNMX": row(minimum_maximum, "FTZ NAN XORSIGN"),
    "FMNMX3": row(minimum_maximum, "FTZ NAN"),
    "UFMNMX": row(minimum_maximum, "FTZ NAN XORSIGN", uniform=True),
}
