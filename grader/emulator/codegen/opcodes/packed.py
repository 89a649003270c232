"""Packed integers: sums, minima and maxima of halves or bytes, dot products and absolute
differences; and minima and maxima of three values."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.eight_bits import is_zero
from grader.emulator.codegen.opcodes.integer import is_nothing, is_nowhere
from grader.emulator.codegen.opcodes.intrinsics import bit_field, clamp, without_sign_changes
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import Value
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Constant, Operand, Predicate, Register
from grader.emulator.timing.pipes import HEAVY

_SEVERAL = {"16x2": 16, "S16x2": 16, "U16x2": 16, "S8x4": 8, "U8x4": 8}
"""Bits per part of a word, by modifier."""
_WORD = 32


def _parts(e: Emitter, i: Decoded, operand: Operand) -> list[Value]:
    """The halves or bytes of an operand, or the whole word. `-` negates each part."""
    bits = _part_bits(i)
    if bits == _WORD:
        return [e.i32(operand)]
    negated = isinstance(operand, Register | Constant) and operand.negated
    word = e.i32(without_sign_changes(operand))
    parts = [bit_field(e, word, n, bits, signed=not _is_unsigned(i)) for n in range(0, _WORD, bits)]
    return [e.b.neg(each) for each in parts] if negated else parts


def _part_bits(i: Decoded) -> int:
    return next((bits for name, bits in _SEVERAL.items() if i.has(name)), _WORD)


def _is_unsigned(i: Decoded) -> bool:
    return any(i.has(name) for name in ("U32", "U16x2", "U8x4", "U64"))


def _set_parts(e: Emitter, target: Operand, values: list[Value]) -> None:
    if len(values) == 1:
        e.set(target, values[0])
        return
    bits = _WORD // len(values)
    mask = e.const((1 << bits) - 1)
    placed = [
        e.b.shl(e.b.and_(value, mask), e.const(bits * index)) for index, value in enumerate(values)
    ]
    e.set(target, reduce(e.b.or_, placed))


def vector_add(e: Emitter, i: Decoded) -> None:
    """d = a + b; `.16x2` in halves, `.U8x4` and `.S8x4` in bytes; `.ISAT` saturates to signed
    words"""
    target, a, b = i.operands
    if i.has("ISAT"):
        left, right = e.i32(a), e.i32(b)
        total = e.b.add(left, right)
        overflow = e.b.and_(e.b.xor(total, left), e.b.xor(total, right))
        limit = e.b.xor(e.b.ashr(left, e.const(31)), e.const(0x7FFFFFFF))
        overflowed = e.b.icmp_signed("<", overflow, e.const(0))
        e.set(target, e.b.select(overflowed, limit, total))
        return
    pairs = zip(_parts(e, i, a), _parts(e, i, b), strict=True)
    _set_parts(e, target, [e.b.add(left, right) for left, right in pairs])


def minimum_maximum(e: Emitter, i: Decoded) -> None:
    """d = p ? min(a, b) : max(a, b), of two or three operands"""
    names_origins = len(i.operands) == 6 and not all(map(is_nowhere, i.operands[1:3]))
    if i.base == "VIMNMX" and _part_bits(i) == 16 and names_origins:
        _halves_and_origins(e, i)
        return
    target, *operands, choose = _without_borrows(e, i)
    smaller_wanted = e.predicate(choose)
    if i.has("S64") or i.has("U64"):
        left, right = (e.integer64(operand) for operand in operands)
        e.set64(target, _choose(e, i, left, right, smaller_wanted))
        return
    first, *others = (_parts(e, i, operand) for operand in operands)
    for other in others:
        first = [
            _choose(e, i, left, right, smaller_wanted)
            for left, right in zip(first, other, strict=True)
        ]
    _set_parts(e, target, [_positive(e, i, value) for value in first])


def _halves_and_origins(e: Emitter, i: Decoded) -> None:
    """Halves, and for the lower and the upper half whether it comes from a; equal halves do (CUDA
    Math API, `__vibmax_s16x2`)."""
    target, lower, upper, a, b, choose = i.operands
    if i.has("RELU"):
        raise e.unsupported("with a predicate destination")
    smaller_wanted = e.predicate(choose)
    pairs = list(zip(_parts(e, i, a), _parts(e, i, b), strict=True))
    chosen = [_choose(e, i, left, right, smaller_wanted) for left, right in pairs]
    kept = [e.b.icmp_signed("==", one, left) for one, (left, _) in zip(chosen, pairs, strict=True)]
    _set_parts(e, target, chosen)
    e.set_predicate(lower, kept[0])
    e.set_predicate(upper, kept[1])


def _without_borrows(e: Emitter, i: Decoded) -> list[Operand]:
    """The operands without the predicates of wider comparisons, which sm_100 and sm_120 print: two
    outputs before or after the target, and an input after all operands (`.S64`, `.U64`)."""
    operands = list(i.operands)
    wide = i.has("S64") or i.has("U64")
    if wide and not is_nothing(operands.pop()):
        raise e.unsupported("with a borrow")
    outputs = [each for each in operands[:-1] if isinstance(each, Predicate)]
    if not all(is_nowhere(each) for each in outputs):
        raise e.unsupported("with a predicate destination")
    return [each for each in operands[:-1] if not isinstance(each, Predicate)] + operands[-1:]


def add_minimum_maximum(e: Emitter, i: Decoded) -> None:
    """d = p ? min(a + b, c) : max(a + b, c); the sum wraps"""
    target, *operands, choose = _without_borrows(e, i)
    smaller_wanted = e.predicate(choose)
    triples = zip(*(_parts(e, i, operand) for operand in operands), strict=True)
    chosen = [_choose(e, i, _wrap(e, i, e.b.add(a, b)), c, smaller_wanted) for a, b, c in triples]
    _set_parts(e, target, [_positive(e, i, value) for value in chosen])


def _wrap(e: Emitter, i: Decoded, total: Value) -> Value:
    bits = _part_bits(i)
    return total if bits == _WORD else bit_field(e, total, 0, bits, signed=not _is_unsigned(i))


def _choose(e: Emitter, i: Decoded, left: Value, right: Value, smaller_wanted: Value) -> Value:
    test = e.b.icmp_unsigned if _is_unsigned(i) else e.b.icmp_signed
    less = test("<", left, right)
    return e.b.select(e.b.xor(less, smaller_wanted), right, left)


def _positive(e: Emitter, i: Decoded, value: Value) -> Value:
    """`.RELU`: negative values become 0."""
    if not i.has("RELU"):
        return value
    return e.b.select(e.b.icmp_signed("<", value, e.const(0)), e.const(0), value)


def pack_integers(e: Emitter, i: Decoded) -> None:
    """d = a and b saturated to the first type, b lowest; for types of up to a byte, c above them
    (PTX ISA, `cvt.pack`)"""
    target, a, b, kept = i.operands
    kind = i.modifiers[0]
    bits = int(kind[1:])
    if i.modifiers[1:] != ("S32", "SAT") or (bits == 16 and not is_zero(kept)):
        raise e.unsupported()
    low, high = (0, (1 << bits) - 1) if kind[0] == "U" else (-1 << bits - 1, (1 << bits - 1) - 1)

    def within(operand: Operand) -> Value:
        return e.b.and_(clamp(e, e.i32(operand), low, high), e.const((1 << bits) - 1))

    packed = e.b.or_(within(b), e.b.shl(within(a), e.const(bits)))
    if bits < 16:
        packed = e.b.or_(packed, e.b.shl(_lower_bits(e, kept, 32 - 2 * bits), e.const(2 * bits)))
    e.set(target, packed)


def _lower_bits(e: Emitter, operand: Operand, bits: int) -> Value:
    """An operand of which `bits` bits are used; for less than a word, its suffix is that number."""
    if isinstance(operand, Register) and operand.suffix == str(bits):
        operand = replace(operand, suffix="")
    return e.i32(operand)


def dot_product(e: Emitter, i: Decoded) -> None:
    """`.4A`: d = c + four products of bytes; `.2A`: c + products of a's two halves with b's lower
    (`.LO`) or upper bytes. The modifiers are the types of a, then b."""
    target, a, b, c = i.operands
    left_type, right_type = (name for name in i.modifiers if name in ("S8", "U8", "S16", "U16"))
    left, right, total = e.i32(a), e.i32(b), e.i32(c)
    wide = i.has("2A")
    if wide and not (i.has("LO") or i.has("HI")):
        raise e.unsupported()
    first_byte = 2 if i.has("HI") else 0
    for index in range(2 if wide else 4):
        bits = int(left_type[1:])
        x = bit_field(e, left, bits * index, bits, signed=left_type[0] == "S")
        y = bit_field(e, right, 8 * (first_byte + index), 8, signed=right_type[0] == "S")
        total = e.b.add(total, e.b.mul(x, y))
    e.set(target, total)


def absolute_difference(e: Emitter, i: Decoded) -> None:
    """d = |a - b| + c"""
    target, a, b, c = i.operands
    e.set(target, e.b.add(_distance(e, e.i32(a), e.i32(b), signed=not i.has("U32")), e.i32(c)))


def absolute_differences(e: Emitter, i: Decoded) -> None:
    """The four |a - b| of bytes, signed without `.U8`; with `.ACC` their sum plus c"""
    target, a, b, c = i.operands
    words, signed = (e.i32(a), e.i32(b)), not i.has("U8")
    distances = []
    for place in range(0, _WORD, 8):
        pair = (bit_field(e, word, place, 8, signed=signed) for word in words)
        distances.append(_distance(e, *pair, signed=signed))
    result = e.i32(c) if i.has("ACC") else e.const(0)
    for index, each in enumerate(distances):
        result = e.b.add(result, each if i.has("ACC") else e.b.shl(each, e.const(8 * index)))
    e.set(target, result)


def _distance(e: Emitter, left: Value, right: Value, *, signed: bool) -> Value:
    less = (e.b.icmp_signed if signed else e.b.icmp_unsigned)("<", left, right)
    return e.b.select(less, e.b.sub(right, left), e.b.sub(left, right))


_EXTREMES = "S32 U32 RELU S16x2 U16x2"

PACKED: dict[str, Opcode] = {
    "VIADD": row(vector_add, "16x2 S8x4 U8x4 S32 ISAT", pipe=HEAVY),
    "VIMNMX": row(minimum_maximum, f"{_EXTREMES} S8x4 U8x4"),
    "VIMNMX3": row(minimum_maximum, _EXTREMES),
    "IMNMX": row(minimum_maximum, "U32 S64 U64"),
    "UVIMNMX": row(minimum_maximum, "S32 U32", uniform=True),
    "UIMNMX": row(minimum_maximum, "U32 S64 U64", uniform=True),
    "VIADDMNMX": row(add_minimum_maximum, _EXTREMES),
    "I2IP": row(pack_integers, "U2 S2 U4 S4 U8 S8 U16 S16 S32 SAT"),
    "IDP": row(dot_product, "4A 2A LO HI S8 U8 S16 U16", pipe=HEAVY),
    "VABSDIFF": row(absolute_difference, "U32"),
    "VABSDIFF4": row(absolute_differences, "U8 ACC"),
}
