"""Integer arithmetic, comparison and selection, for lanes and for the uniform datapath alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.intrinsics import intrinsic, type_name
from grader.emulator.codegen.opcodes.row import PLAIN, Opcode, row
from grader.emulator.codegen.tools import I1, Value, call_by_name
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import ZERO_REGISTER, Constant, Operand, Predicate, Register
from grader.emulator.timing.pipes import FLOAT32, HEAVY, HEAVY_TWICE, SPECIAL_UNIT

_SIGNED = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}


def leading_predicates(i: Decoded) -> tuple[list[Operand], list[Operand]]:
    """The operands after the destination: leading predicates (carry outputs), and the others."""
    rest = list(i.operands[1:])
    outputs: list[Operand] = []
    while rest and isinstance(rest[0], Predicate):
        outputs.append(rest.pop(0))
    return outputs, rest


def iadd3(e: Emitter, i: Decoded) -> None:
    """d = a + b + c (+ carries in), `IADD` of two; the carry outputs state whether the full sum
    exceeded 32 bits once, twice. `.64` of pairs."""
    carries_out, rest = leading_predicates(i)
    sources = [each for each in rest if not isinstance(each, Predicate)]
    carries_in = [each for each in rest[len(sources) :] if not is_nothing(each)]
    while carries_out and is_nowhere(carries_out[-1]):
        carries_out.pop()
    if carries_in and not i.has("X"):
        raise e.unsupported("with extra operands")
    if i.has("64"):
        if carries_out or carries_in:
            raise e.unsupported("with carries")
        e.set64(i.operands[0], reduce(e.b.add, map(e.integer64, sources)))
        return
    if not carries_out:
        addends = [e.i32(source) for source in sources]
        addends += [e.b.zext(e.predicate(carry), e.word) for carry in carries_in]
        e.set(i.operands[0], reduce(e.b.add, addends))
        return
    if len(carries_out) == 1 and not carries_in and _is_plain_pair(sources):
        left = e.i32(sources[0])
        total = e.b.add(left, e.i32(sources[1]))
        e.set(i.operands[0], total)
        e.set_predicate(carries_out[0], e.b.icmp_unsigned("<", total, left))
        return
    wide = e.const64(0)
    for source in sources:
        wide = e.b.add(wide, _addend(e, source))
    for carry in carries_in:
        wide = e.b.add(wide, e.b.zext(e.predicate(carry), e.double_word))
    upper = e.b.lshr(wide, e.const64(32))
    e.set(i.operands[0], e.b.trunc(wide, e.word))
    for count, carry in enumerate(carries_out, start=1):
        e.set_predicate(carry, e.b.icmp_unsigned(">=", upper, e.const64(count)))


def is_nowhere(operand: Operand) -> bool:
    """Whether it is a predicate that ignores writes."""
    return isinstance(operand, Predicate) and operand.is_true


def is_nothing(operand: Operand) -> bool:
    """Whether it is a carry input that is always false."""
    return is_nowhere(operand) and getattr(operand, "negated", False)


def _is_plain_pair(sources: Sequence[Operand]) -> bool:
    """Whether these are two addends without a sign in registers or constants, and zero."""
    *pair, last = sources if len(sources) == 3 else (*sources, Register(ZERO_REGISTER))
    plain = all(not (isinstance(a, Register | Constant) and a.negated) for a in pair)
    return plain and isinstance(last, Register) and last.is_zero


def _addend(e: Emitter, source: Operand) -> Value:
    """An addend of a carry chain as 64 bits; `-x` is `~x + 1` with its carry."""
    if isinstance(source, Register | Constant) and source.negated:
        plain = replace(source, negated=False, inverted=True)
        return e.b.add(e.b.zext(e.i32(plain), e.double_word), e.const64(1))
    return e.b.zext(e.i32(source), e.double_word)


def imad(e: Emitter, i: Decoded) -> None:
    """d = a * b + c: low word, `.HI` high word, `.WIDE` both; MOV, IADD and SHL are the same with a
    constant operand."""
    carries_out, rest = leading_predicates(i)
    if i.has("WIDE") or i.has("HI"):
        _imad_wide(e, i, carries_out, rest)
        return
    if carries_out:
        raise e.unsupported("with a carry output")
    a, b, c, *carry_in = rest
    total = e.b.add(e.b.mul(e.i32(a), e.i32(b)), e.i32(c))
    for carry in carry_in:
        total = e.b.add(total, e.b.zext(e.predicate(carry), e.word))
    e.set(i.operands[0], total)


def _imad_wide(e: Emitter, i: Decoded, carries_out: list[Operand], rest: list[Operand]) -> None:
    """The 64-bit sum of the product, the pair c and a carry, with a carry output."""
    a, b, c, *carry_in = rest
    extend = e.b.zext if i.has("U32") else e.b.sext
    product = e.b.mul(extend(e.i32(a), e.double_word), extend(e.i32(b), e.double_word))
    total = e.b.add(product, e.i64(c))
    overflow = e.b.icmp_unsigned("<", total, product)
    for carry in carry_in:
        more = e.b.add(total, e.b.zext(e.predicate(carry), e.double_word))
        overflow = e.b.or_(overflow, e.b.icmp_unsigned("<", more, total))
        total = more
    for carry in carries_out:
        e.set_predicate(carry, overflow)
    if i.has("WIDE"):
        e.set64(i.operands[0], total)
    else:
        e.set(i.operands[0], e.b.trunc(e.b.lshr(total, e.const64(32)), e.word))


def lea(e: Emitter, i: Decoded) -> None:
    """d = (a << s) + b; `.HI` the high word of {c:a} << s plus b; `.X` adds a carry, `.SX32` uses
    the sign of a for c."""
    carries_out, rest = leading_predicates(i)
    carry_in = rest.pop() if isinstance(rest[-1], Predicate) else None
    shift = e.b.and_(e.i32(rest.pop()), e.const(31))
    if i.has("HI"):
        a = e.i32(rest[0])
        if i.has("SX32"):
            upper = e.b.ashr(a, e.const(31))
        elif len(rest) == 3:
            upper = e.i32(rest[2])
        else:
            raise e.unsupported("with these operands")
        moved = e.b.shl(e.join(a, upper), e.b.zext(shift, e.double_word))
        term = e.b.trunc(e.b.lshr(moved, e.const64(32)), e.word)
        wide = e.b.zext(term, e.double_word)
    elif len(rest) == 2:
        wide = _shifted_addend(e, rest[0], shift)
    else:
        raise e.unsupported("with these operands")
    wide = e.b.add(wide, _addend(e, rest[1]))
    if carry_in is not None:
        wide = e.b.add(wide, e.b.zext(e.predicate(carry_in), e.double_word))
    e.set(i.operands[0], e.b.trunc(wide, e.word))
    for carry in carries_out:
        e.set_predicate(carry, e.b.icmp_unsigned("!=", e.b.lshr(wide, e.const64(32)), e.const64(0)))


def _shifted_addend(e: Emitter, source: Operand, shift: Value) -> Value:
    """a << s as an addend of a carry chain; `-a` is `~(a << s) + 1`, as in `_addend`."""
    if not isinstance(source, Register | Constant) or not source.negated:
        return e.b.zext(e.b.shl(e.i32(source), shift), e.double_word)
    moved = e.b.shl(e.i32(replace(source, negated=False)), shift)
    return e.b.add(e.b.zext(e.b.not_(moved), e.double_word), e.const64(1))


def iabs(e: Emitter, i: Decoded) -> None:
    """d = |a| in two's complement: the most negative number is unchanged."""
    value = e.i32(i.operands[1])
    negative = e.b.icmp_signed("<", value, e.const(0))
    e.set(i.operands[0], e.b.select(negative, e.b.neg(value), value))


def isetp(e: Emitter, i: Decoded) -> None:
    """P = (a cmp b) comb p, Q = (not (a cmp b)) comb p; `.EX` continues a 64-bit comparison of the
    low words, `.S64` and `.U64` compare pairs."""
    _, _, a, b, combined, *low = i.operands
    pairs = i.has("S64") or i.has("U64")
    left, right = (e.integer64(each) if pairs else e.i32(each) for each in (a, b))
    name = i.first_of(_SIGNED)
    if name is None:
        raise e.unsupported("with this comparison")
    test = e.b.icmp_unsigned if i.has("U32") or i.has("U64") else e.b.icmp_signed
    result = test(_SIGNED[name], left, right)
    if i.has("EX"):
        if len(low) != 1:
            raise e.unsupported("without the low words' result")
        below, equal = e.predicate(low[0]), e.b.icmp_unsigned("==", left, right)
        if name == "NE":
            result = e.b.or_(e.b.not_(equal), below)
        elif name == "EQ":
            result = e.b.and_(equal, below)
        else:
            result = e.b.or_(test(_SIGNED[name][0], left, right), e.b.and_(equal, below))
    elif low:
        raise e.unsupported("with extra operands")
    set_comparison(e, i, result, combined)


def set_comparison(e: Emitter, i: Decoded, result: Value, combined: Operand) -> None:
    """The first two operands = the result, and its opposite, combined with a predicate."""
    first, second = i.operands[:2]
    other = e.predicate(combined)
    e.set_predicate(first, combine(e, i, result, other))
    e.set_predicate(second, combine(e, i, e.b.not_(result), other))


def combine(e: Emitter, i: Decoded, result: Value, other: Value) -> Value:
    """`.AND`, `.OR` or `.XOR` with the predicate operand."""
    for name, act in (("AND", e.b.and_), ("OR", e.b.or_), ("XOR", e.b.xor)):
        if i.has(name):
            return act(result, other)
    raise e.unsupported("without AND, OR or XOR")


def sign_extend(e: Emitter, i: Decoded) -> None:
    """d = the low n bits of a, sign-extended (`.U32` zero-extended); all of a from 32 on; `.W`
    wraps n."""
    target, a, count = i.operands
    unused = e.b.zext(e.b.sub(e.const(32), _clamped(e, i, count)), e.double_word)
    raised = e.b.shl(e.b.shl(e.b.zext(e.i32(a), e.double_word), e.const64(32)), unused)
    shift = e.b.lshr if i.has("U32") else e.b.ashr
    lowered = shift(raised, unused)
    e.set(target, e.b.trunc(e.b.lshr(lowered, e.const64(32)), e.word))


def bit_mask(e: Emitter, i: Decoded) -> None:
    """d = b ones from bit a upwards; `.W` wraps both, otherwise they end at 32."""
    target, start, count = i.operands
    first, length = (_clamped(e, i, operand) for operand in (start, count))
    ones = e.b.sub(e.b.shl(e.const64(1), e.b.zext(length, e.double_word)), e.const64(1))
    e.set(target, e.b.trunc(e.b.shl(ones, e.b.zext(first, e.double_word)), e.word))


def _clamped(e: Emitter, i: Decoded, operand: Operand) -> Value:
    value = e.i32(operand)
    if i.has("W"):
        return e.b.and_(value, e.const(31))
    return e.b.select(e.b.icmp_unsigned("<", value, e.const(32)), value, e.const(32))


def select(e: Emitter, i: Decoded) -> None:
    """d = p ? a : b; `.64` of pairs"""
    target, a, b, choose = i.operands
    if i.has("64"):
        e.set64(target, e.b.select(e.predicate(choose), e.integer64(a), e.integer64(b)))
    else:
        e.set(target, e.b.select(e.predicate(choose), e.i32(a), e.i32(b)))


def population_count(e: Emitter, i: Decoded) -> None:
    """d = number of set bits in a"""
    e.set(i.operands[0], intrinsic(e, "ctpop", [e.i32(i.operands[1])]))


def bit_reverse(e: Emitter, i: Decoded) -> None:
    """d = a with its bits in reverse order"""
    e.set(i.operands[0], intrinsic(e, "bitreverse", [e.i32(i.operands[1])]))


def find_leading_one(e: Emitter, i: Decoded) -> None:
    """d = index of the highest set bit of a, -1 if it has none; `.SH` counts from the top.

    Without `.U32` (signed): the highest bit that differs from the sign.
    """
    value = e.i32(i.operands[1])
    if not i.has("U32"):
        value = e.b.xor(value, e.b.ashr(value, e.const(31)))
    zeros = call_by_name(e.b, f"llvm.ctlz.{type_name(e.word)}", e.word, [value, I1(0)])
    result = zeros if i.has("SH") else e.b.sub(e.const(31), zeros)
    none = e.b.icmp_unsigned("==", value, e.const(0))
    e.set(i.operands[0], e.b.select(none, e.const(0xFFFFFFFF), result))


_COMPARISONS = "F LT EQ LE GT NE GE T AND OR XOR U32 EX S64 U64"

INTEGER: dict[str, Opcode] = {
    "IADD3": row(iadd3, "X"),
    "UIADD3": row(iadd3, "X 64", uniform=True),
    "IADD": row(iadd3, "X 64", pipe={PLAIN: FLOAT32, "64": HEAVY_TWICE}),
    "IMAD": row(
        imad,
        "MOV U32 IADD SHL WIDE HI X",
        pipe={PLAIN: HEAVY, "WIDE": HEAVY_TWICE, "HI": HEAVY_TWICE},
    ),
    "UIMAD": row(imad, "MOV U32 IADD SHL WIDE HI X", uniform=True),
    "LEA": row(lea, "HI X SX32"),
    "ULEA": row(lea, "HI X SX32", uniform=True),
    "IABS": row(iabs),
    "ISETP": row(isetp, _COMPARISONS),
    "UISETP": row(isetp, _COMPARISONS, uniform=True),
    "SGXT": row(sign_extend, "U32 W"),
    "USGXT": row(sign_extend, "U32 W", uniform=True),
    "BMSK": row(bit_mask, "W"),
    "UBMSK": row(bit_mask, "W", uniform=True),
    "SEL": row(select, "64"),
    "USEL": row(select, "64", uniform=True),
    "POPC": row(population_count, pipe=SPECIAL_UNIT),
    "UPOPC": row(population_count, uniform=True),
    "BREV": row(bit_reverse, pipe=SPECIAL_UNIT),
    "UBREV": row(bit_reverse, uniform=True),
    "FLO": row(find_leading_one, "U32 SH", pipe=SPECIAL_UNIT),
    "UFLO": row(find_leading_one, "U32 SH", uniform=True),
}
