"""The special-function unit, and the check that guards float32 division.

The unit's tables are not public. Its functions here are correctly rounded, so they lie within the
documented error of the hardware's (CUDA C++ Programming Guide, "Mathematical Functions"; PTX ISA,
the `.approx` instructions) and may differ in last bits. Division and square root correct a quotient
from it and round it correctly, whatever its last bits were.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.native.tools import LANES_F32, Value
from grader.emulator.opcodes.convert import read_float
from grader.emulator.opcodes.intrinsics import canonical, intrinsic
from grader.emulator.opcodes.row import Opcode, row
from grader.emulator.opcodes.small_floats import BFLOAT, HALF, flush, round_to
from grader.emulator.operands import Immediate
from grader.emulator.timing.pipes import SPECIAL_UNIT

Function = Callable[[Emitter, Value], Value]
"""float64 lanes -> float64 lanes."""


def special_function(e: Emitter, i: Decoded) -> None:
    """d = f(a), of a float32 with denormals flushed before and after, of a half or bfloat16, or of
    a float64's upper word."""
    target, operand = i.operands
    name = next((name for name in i.modifiers if name in _FUNCTIONS or name in _UPPER_WORDS), "")
    if not name:
        raise e.unsupported()
    if name in _UPPER_WORDS:
        # A literal is printed as the float64 that it is the upper word of.
        word = (
            e.const(operand.float64_bits() >> 32)
            if isinstance(operand, Immediate)
            else e.i32(operand)
        )
        e.set(target, _of_upper_word(e, _UPPER_WORDS[name], word))
        return
    kind = next((kind for kind in ("F16", "BF16") if i.has(kind)), "F32")
    value = read_float(e, operand, kind)
    if kind == "F32" and name != "TANH":
        value = flush(e, value)
    wide = e.b.fpext(value, e.double) if value.type == LANES_F32 else value
    result = _FUNCTIONS[name](e, wide)
    if kind != "F32":
        e.set(target, round_to(e, result, HALF if kind == "F16" else BFLOAT))
        return
    single = canonical(e, e.b.fptrunc(result, e.real))
    e.set(target, single if name == "TANH" else flush(e, single))


def _constant(e: Emitter, value: float) -> Value:
    return e.b.bitcast(e.const64(int.from_bytes(struct.pack("<d", value), "little")), e.double)


def _reciprocal(e: Emitter, value: Value) -> Value:
    return e.b.fdiv(_constant(e, 1.0), value)


def _square_root(e: Emitter, value: Value) -> Value:
    return intrinsic(e, "sqrt", [value])


def _reciprocal_root(e: Emitter, value: Value) -> Value:
    return _reciprocal(e, _square_root(e, value))


def _library(name: str) -> Function:
    return lambda e, value: intrinsic(e, name, [value])


def _turns(quadrants: int) -> Function:
    """sin(2 pi x), moved by quarters of a turn; x is reduced without error, so that zeros and ones
    are exact."""

    def emit(e: Emitter, value: Value) -> Value:
        fraction = e.b.fsub(value, intrinsic(e, "roundeven", [value]))
        quarter = intrinsic(e, "roundeven", [e.b.fmul(fraction, _constant(e, 4.0))])
        rest = e.b.fsub(fraction, e.b.fmul(quarter, _constant(e, 0.25)))
        angle = e.b.fmul(rest, _constant(e, 2 * math.pi))
        sine, cosine = intrinsic(e, "sin", [angle]), intrinsic(e, "cos", [angle])
        index = e.b.fptosi(
            e.b.select(e.b.fcmp_ordered("ord", quarter, quarter), quarter, _constant(e, 0.0)),
            e.word,
        )
        index = e.b.and_(e.b.add(index, e.const(quadrants)), e.const(3))
        odd = e.b.icmp_unsigned("!=", e.b.and_(index, e.const(1)), e.const(0))
        negative = e.b.icmp_unsigned(">=", index, e.const(2))
        magnitude = e.b.select(odd, cosine, sine)
        sign = e.b.select(negative, e.const64(1 << 63), e.const64(0))
        result = e.b.bitcast(e.b.xor(e.b.bitcast(magnitude, e.double_word), sign), e.double)
        if quadrants:
            return result
        return e.b.select(
            e.b.fcmp_ordered("==", value, _constant(e, 0.0)), value, result
        )  # the sine of -0 is -0

    return emit


def _of_upper_word(e: Emitter, function: Function, word: Value) -> Value:
    """The upper word of f(x), for the float64 x of this upper word and a lower word of 0; denormals
    are flushed."""
    denormal = e.b.icmp_unsigned("<", e.b.and_(word, e.const(0x7FFFFFFF)), e.const(0x00100000))
    word = e.b.select(denormal, e.b.and_(word, e.const(0x80000000)), word)
    value = e.b.bitcast(e.join(e.const(0), word), e.double)
    result = function(e, value)
    bits = e.b.add(e.b.bitcast(result, e.double_word), e.const64(1 << 31))
    upper = e.b.trunc(e.b.lshr(bits, e.const64(32)), e.word)
    tiny = e.b.icmp_unsigned("<", e.b.and_(upper, e.const(0x7FFFFFFF)), e.const(0x00100000))
    upper = e.b.select(tiny, e.b.and_(upper, e.const(0x80000000)), upper)
    return e.b.select(e.b.fcmp_unordered("uno", result, result), e.const(0x7FFFFFFF), upper)


_FUNCTIONS: dict[str, Function] = {
    "RCP": _reciprocal,
    "RSQ": _reciprocal_root,
    "SQRT": _square_root,
    "EX2": _library("exp2"),
    "LG2": _library("log2"),
    "SIN": _turns(0),
    "COS": _turns(1),
    "TANH": _library("tanh"),
}
_UPPER_WORDS: dict[str, Function] = {"RCP64H": _reciprocal, "RSQ64H": _reciprocal_root}


def check_division(e: Emitter, i: Decoded) -> None:
    """P = a / b needs the slow way: an operand is special, or a step of the fast way could leave
    the normal range."""
    target, a, b = i.operands
    dividend, divisor = (_exponent(e, e.f32(operand)) for operand in (a, b))
    difference = e.b.sub(dividend, divisor)
    slow = _outside(e, divisor, 1, 252)
    slow = e.b.or_(slow, _outside(e, dividend, 25, 254))
    e.set_predicate(target, e.b.or_(slow, _outside(e, difference, -125, 125)))


def _exponent(e: Emitter, value: Value) -> Value:
    return e.b.and_(e.b.lshr(e.b.bitcast(value, e.word), e.const(23)), e.const(255))


def _outside(e: Emitter, value: Value, lowest: int, highest: int) -> Value:
    return e.b.or_(
        e.b.icmp_signed("<", value, e.const(lowest)), e.b.icmp_signed(">", value, e.const(highest))
    )


SPECIAL: dict[str, Opcode] = {
    "MUFU": row(
        special_function,
        " ".join([*_FUNCTIONS, *_UPPER_WORDS, "F16 BF16"]),
        approximate=True,
        pipe=SPECIAL_UNIT,
    ),
    "FCHK": row(check_division, pipe=SPECIAL_UNIT),
}
