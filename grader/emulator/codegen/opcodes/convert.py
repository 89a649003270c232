"""Conversions among integers and floats, and rounding to integral values."""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.double import rounded_double
from grader.emulator.codegen.opcodes.eight_bits import (
    EIGHT_BIT_MODIFIERS,
    EIGHT_BITS,
    convert_bytes,
    is_zero,
    rectified,
)
from grader.emulator.codegen.opcodes.intrinsics import (
    CANONICAL_NAN,
    QUIET_BIT,
    bit_field,
    canonical,
    clamp,
    f64,
    half_code,
    intrinsic,
    quiet,
    set_f64,
    type_name,
)
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.opcodes.small_floats import (
    BFLOAT,
    HALF,
    ROUNDINGS,
    SINGLE,
    Rounding,
    SmallFloat,
    add_to_odd,
    flush,
    round_to,
    round_to_single,
    rounding_of,
    unpack,
)
from grader.emulator.codegen.tools import Value, call_by_name
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Constant, Operand, Register
from grader.emulator.timing.pipes import SPECIAL_UNIT

_SMALL = {"F16": HALF, "BF16": BFLOAT}
_FLOATS = ("F16", "BF16", "F32", "F64")
_INTEGERS = ("U8", "S8", "U16", "S16", "U32", "S32", "U64", "S64")
_PARTS = {"B0": 0, "B1": 8, "B2": 16, "B3": 24, "H0": 0, "H1": 16, "H0_H0": 0, "H1_H1": 16}
_TF32_BITS = 0xFFFFE000
_TO_INTEGRAL = {"FLOOR": "floor", "CEIL": "ceil", "TRUNC": "trunc"}


# --- from integers --------------------------------------------------------------------------------


def integer_to_float(e: Emitter, i: Decoded) -> None:
    """d = float(a), rounded as the modifier states."""
    target, operand = i.operands
    source, kind = i.first_of(_INTEGERS) or "S32", i.first_of(_FLOATS) or "F32"
    mode = rounding_of(i)
    if not source.endswith("64"):
        word = _part_of_word(e, operand, source)
        exact = (e.b.uitofp if source[0] == "U" else e.b.sitofp)(word, e.double)
        _set_float(e, target, kind, exact, mode)
        return
    value = e.i64(operand)
    low = e.b.uitofp(e.b.and_(value, e.const64(0xFFFFFFFF)), e.double)
    shift, convert = (e.b.lshr, e.b.uitofp) if source[0] == "U" else (e.b.ashr, e.b.sitofp)
    scale = e.b.bitcast(e.const64((1023 + 32) << 52), e.double)
    high = e.b.fmul(convert(shift(value, e.const64(32)), e.double), scale)
    if kind != "F64":
        _set_float(e, target, kind, add_to_odd(e, high, low), mode)
    elif mode is Rounding.NEAREST:
        set_f64(e, target, e.b.fadd(high, low))
    else:
        result = rounded_double(e, "fadd", [high, low], mode)
        zero = e.b.icmp_unsigned("==", value, e.const64(0))  # it becomes +0 in every mode
        set_f64(e, target, e.b.select(zero, e.b.bitcast(e.const64(0), e.double), result))


def _part_of_word(e: Emitter, operand: Operand, source: str) -> Value:
    """A 32-bit operand, or the extended byte or half that its suffix names."""
    bits = int(source[1:])
    if bits == 32:
        return e.i32(operand)
    shift = 0
    if isinstance(operand, Register | Constant) and operand.suffix:
        if operand.suffix not in _PARTS:
            raise e.unsupported("with this operand")
        shift = _PARTS[operand.suffix]
        operand = replace(operand, suffix="")
    return bit_field(e, e.i32(operand), shift, bits, signed=source[0] == "S")


def _set_float(e: Emitter, target: Operand, kind: str, value: Value, mode: Rounding) -> None:
    """Converts a float64 value, exact or rounded to odd, to another format and writes it."""
    if kind == "F64":
        set_f64(e, target, value)
    elif kind == "F32":
        e.set(target, canonical(e, round_to_single(e, value, mode)))
    else:
        e.set(target, round_to(e, value, _SMALL[kind], mode))


# --- among floats ---------------------------------------------------------------------------------


def float_to_float(e: Emitter, i: Decoded) -> None:
    """d = a in another format: the first modifier is the new format, the second the old format."""
    target, operand = i.operands
    kinds = [name for name in i.modifiers if name in _FLOATS]
    if len(kinds) != 2 or kinds[0] == kinds[1]:
        raise e.unsupported("with these formats")
    (new, old), mode = kinds, rounding_of(i)
    value = read_float(e, operand, old)
    if value.type == e.real:
        value = e.b.fpext(flush(e, value) if i.has("FTZ") else value, e.double)
    if new == "F64":
        set_f64(e, target, quiet(e, value))
        return
    if old == "F64":
        result = _narrowed(e, value, new, mode)
    elif new == "F32":
        result = canonical(e, round_to_single(e, value, mode))
    else:
        result = round_to(e, value, _SMALL[new], mode)
    if new == "F32" and i.has("FTZ"):
        result = flush(e, e.b.bitcast(result, e.real))
    e.set(target, result)


def _narrowed(e: Emitter, value: Value, kind: str, mode: Rounding) -> Value:
    """Converts a float64 to a narrower format. Unlike other conversions, it keeps a NaN's sign and
    the top of its payload (H100)."""
    bits = e.b.or_(e.b.bitcast(value, e.double_word), e.const64(QUIET_BIT))
    if kind == "F32":
        small, width = SINGLE, 32
        number = e.b.bitcast(round_to_single(e, value, mode), e.word)
    else:
        small, width = _SMALL[kind], 16
        number = round_to(e, value, small, mode)
    fraction_bits = small.precision - 1
    sign = e.b.trunc(e.b.shl(e.b.lshr(bits, e.const64(63)), e.const64(width - 1)), e.word)
    top = e.b.lshr(bits, e.const64(52 - fraction_bits))
    payload = e.b.trunc(e.b.and_(top, e.const64((1 << fraction_bits) - 1)), e.word)
    exponent = e.const(((1 << width - 1) - 1) >> fraction_bits << fraction_bits)
    is_nan = e.b.fcmp_unordered("uno", value, value)
    return e.b.select(is_nan, e.b.or_(e.b.or_(sign, exponent), payload), number)


def read_float(e: Emitter, operand: Operand, kind: str) -> Value:
    """A float operand: float32 for F32 and F16, float64 for F64 and BF16."""
    if kind == "F64":
        return f64(e, operand)
    if kind == "F32":
        return e.f32(operand)
    return unpack(e, half_code(e, operand), _SMALL[kind])


def pack_floats(e: Emitter, i: Decoded) -> None:
    """d = a as the upper half, b as the lower half; `.MERGE_C`: only a, beside the upper half of c;
    `.TF32`: a as TF32; with 8-bit floats, a pair of bytes."""
    if any(i.has(name) for name in EIGHT_BITS):
        convert_bytes(e, i)
        return
    if i.has("TF32"):
        _round_to_tf32(e, i)
        return
    target, *sources = i.operands
    small = _SMALL[(i.first_of(("F16", "BF16")) or "F16")]
    mode = rounding_of(i)
    if i.has("MERGE_C"):
        single, kept = sources
        if not is_zero(kept):
            raise e.unsupported("with a half to keep")
        e.set(target, _small(e, i, single, small, mode))
        return
    if not i.has("PACK_AB"):
        raise e.unsupported()
    high, low = (_small(e, i, operand, small, mode) for operand in sources)
    e.set(target, e.b.or_(low, e.b.shl(high, e.const(16))))


def _round_to_tf32(e: Emitter, i: Decoded) -> None:
    """TF32 is a float32 whose 13 lowest bits are 0, for NaNs as well."""
    target, operand = i.operands
    mode = rounding_of(i)
    if not i.has("PACK_B") or mode not in (Rounding.NEAREST, Rounding.ZERO):
        raise e.unsupported()
    value = e.f32(operand)
    bits = e.b.bitcast(value, e.word)
    if mode is Rounding.NEAREST:
        last = e.b.and_(e.b.lshr(bits, e.const(13)), e.const(1))
        bits = e.b.add(bits, e.b.add(last, e.const(0xFFF)))
    code = e.b.and_(bits, e.const(_TF32_BITS))
    if i.has("RELU"):
        code = e.b.select(e.b.icmp_signed("<", code, e.const(0)), e.const(0), code)
    nan = e.b.fcmp_unordered("uno", value, value)
    e.set(target, e.b.select(nan, e.const(CANONICAL_NAN & _TF32_BITS), code))


def _small(e: Emitter, i: Decoded, operand: Operand, small: SmallFloat, mode: Rounding) -> Value:
    if is_zero(operand):
        return e.const(0)
    value = e.f32(operand)
    code = round_to(e, e.b.fpext(value, e.double) if small is BFLOAT else value, small, mode)
    if i.has("SATFINITE"):  # the largest number replaces infinity
        infinity = e.const((small.sign - 1) >> small.precision - 1 << small.precision - 1)
        infinite = e.b.icmp_unsigned("==", e.b.and_(code, e.const(small.sign - 1)), infinity)
        code = e.b.select(infinite, e.b.sub(code, e.const(1)), code)
    return rectified(e, i, code, small)


def round_float(e: Emitter, i: Decoded) -> None:
    """d = a rounded to an integral value: to nearest even, or by `.FLOOR`, `.CEIL`, `.TRUNC`."""
    target, operand = i.operands
    kind = i.first_of(_FLOATS) or "F32"
    rounded = _integral(e, i, _flushed(e, i, read_float(e, operand, kind), kind))
    if kind == "F64":
        set_f64(e, target, quiet(e, rounded))
    elif kind == "F32":
        e.set(target, canonical(e, rounded))
    else:
        e.set(target, round_to(e, rounded, _SMALL[kind]))


def _flushed(e: Emitter, i: Decoded, value: Value, kind: str) -> Value:
    if not i.has("FTZ"):
        return value
    if kind != "F32":
        raise e.unsupported("with this format")
    return flush(e, value)


def _integral(e: Emitter, i: Decoded, value: Value) -> Value:
    name = i.first_of(_TO_INTEGRAL)
    return intrinsic(e, _TO_INTEGRAL[name] if name else "roundeven", [value])


# --- to integers ----------------------------------------------------------------------------------


def float_to_integer(e: Emitter, i: Decoded) -> None:
    """d = int(a), saturated. NaN gives 0 with `.NTZ`, else only the top bit (PTX ISA, `cvt`)."""
    target, operand = i.operands
    name, kind = (i.first_of(_INTEGERS) or "S32"), (i.first_of(_FLOATS) or "F32")
    value = _flushed(e, i, read_float(e, operand, kind), kind)
    result = _to_integer(e, i, value, name)
    if name.endswith("64"):
        e.set64(target, result)
    else:
        e.set(target, result)


def _to_integer(e: Emitter, i: Decoded, value: Value, name: str) -> Value:
    """A word, or 64 bits; narrow signed results are sign-extended."""
    bits, signed = int(name[1:]), name[0] == "S"
    integral = value if i.has("TRUNC") else _integral(e, i, value)
    whole = e.double_word if bits == 64 else e.word
    conversion = "fptosi" if signed else "fptoui"
    types = f"{type_name(whole)}.{type_name(value.type)}"
    result = call_by_name(e.b, f"llvm.{conversion}.sat.{types}", whole, [integral])
    if bits < 32:
        result = _clamp(e, result, bits, signed=signed)
    if i.has("NTZ"):
        return result
    lowest = -(1 << bits - 1) if signed else 1 << bits - 1
    top = e.const64(1 << 63) if bits == 64 else e.const(lowest)
    return e.b.select(e.b.fcmp_unordered("uno", value, value), top, result)


def _clamp(e: Emitter, value: Value, bits: int, *, signed: bool) -> Value:
    """Saturates a word to a narrower integer; unsigned values are compared as unsigned."""
    if not signed:
        largest = e.const((1 << bits) - 1)
        return e.b.select(e.b.icmp_unsigned("<", value, largest), value, largest)
    return clamp(e, value, -(1 << bits - 1), (1 << bits - 1) - 1)


def pack_integers(e: Emitter, i: Decoded) -> None:
    """d = a and b as unsigned bytes, b lowest; supported only if a and the kept half are zero."""
    target, first, second, kept = i.operands
    if not is_zero(first) or not is_zero(kept) or not i.has("U8"):
        raise e.unsupported("with several values")
    e.set(target, _to_integer(e, i, e.f32(second), "U8"))


def integer_to_integer(e: Emitter, i: Decoded) -> None:
    """d = a saturated to the first type; the second is the type of a (PTX ISA, `cvt.sat`)."""
    target, operand = i.operands
    names = [name for name in i.modifiers if name in _INTEGERS]
    if not i.has("SAT") or len(names) != 2 or names[1] not in ("S32", "U32"):
        raise e.unsupported()
    value, (wanted, source) = e.i32(operand), names
    bits, signed = int(wanted[1:]), wanted[0] == "S"
    if source == "S32" and not signed:
        value = e.b.select(e.b.icmp_signed("<", value, e.const(0)), e.const(0), value)
    elif source == "U32" and signed:
        high = e.const((1 << bits - 1) - 1)
        value = e.b.select(e.b.icmp_unsigned("<", value, high), value, high)
    e.set(target, value if bits == 32 else _clamp(e, value, bits, signed=signed))


_NARROW = "U8 S8 U16 S16"
_WORDS = "U32 S32 U64 S64"
_FORMATS = "F16 BF16 F32 F64"

_FROM_INTEGERS = f"{_NARROW} {_WORDS} F16 BF16 F64 {ROUNDINGS}"
_TO_INTEGERS = f"FTZ NTZ {_NARROW} {_WORDS} F16 BF16 F64 TRUNC FLOOR CEIL"

CONVERSIONS: dict[str, Opcode] = {
    "I2F": row(integer_to_float, _FROM_INTEGERS, pipe=SPECIAL_UNIT),
    "UI2F": row(integer_to_float, f"{_NARROW} {_WORDS} {ROUNDINGS}", uniform=True),
    "I2FP": row(integer_to_float, f"F32 U32 S32 {ROUNDINGS}"),
    "UI2FP": row(integer_to_float, f"F32 U32 S32 {ROUNDINGS}", uniform=True),
    "F2I": row(float_to_integer, _TO_INTEGERS, pipe=SPECIAL_UNIT),
    "UF2I": row(float_to_integer, f"FTZ NTZ {_NARROW} {_WORDS} TRUNC FLOOR CEIL", uniform=True),
    "F2IP": row(pack_integers, "U8 F32 NTZ TRUNC FLOOR CEIL"),
    "I2I": row(integer_to_integer, f"{_NARROW} U32 S32 SAT"),
    "F2F": row(float_to_float, f"FTZ {_FORMATS} {ROUNDINGS}", pipe=SPECIAL_UNIT),
    "F2FP": row(
        pack_floats,
        f"F16 BF16 F32 TF32 PACK_AB PACK_B MERGE_C RELU {ROUNDINGS} {EIGHT_BIT_MODIFIERS}",
    ),
    "FRND": row(round_float, "FTZ F16 BF16 F64 FLOOR CEIL TRUNC", pipe=SPECIAL_UNIT),
    "UFRND": row(round_float, "FTZ FLOOR CEIL TRUNC", uniform=True),
}
