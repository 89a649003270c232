"""Bit operations: three-input logic, shifts, byte permutation, predicate logic."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import Value
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Immediate, Operand, Predicate, Register


def three_input_logic(e: Emitter, table: int, a: Value, b: Value, c: Value) -> Value:
    """Bit i of the result is bit (4 a_i + 2 b_i + c_i) of the 8-bit table."""
    without, with_c = 0, 0
    for pair in range(4):
        without |= (table >> (2 * pair) & 1) << pair
        with_c |= (table >> (2 * pair + 1) & 1) << pair
    if without == with_c:
        return _two_input_logic(e, without, a, b)
    clear = e.b.and_(_two_input_logic(e, without, a, b), e.b.not_(c))
    return e.b.or_(clear, e.b.and_(_two_input_logic(e, with_c, a, b), c))


def _two_input_logic(e: Emitter, table: int, a: Value, b: Value) -> Value:
    """Bit i of the result is bit (2 a_i + b_i) of the 4-bit table."""
    builder = e.b
    zero = builder.xor(a, a)
    forms: dict[int, Callable[[], Value]] = {
        0b0000: lambda: zero,
        0b0001: lambda: builder.not_(builder.or_(a, b)),
        0b0010: lambda: builder.and_(builder.not_(a), b),
        0b0011: lambda: builder.not_(a),
        0b0100: lambda: builder.and_(a, builder.not_(b)),
        0b0101: lambda: builder.not_(b),
        0b0110: lambda: builder.xor(a, b),
        0b0111: lambda: builder.not_(builder.and_(a, b)),
        0b1000: lambda: builder.and_(a, b),
        0b1001: lambda: builder.not_(builder.xor(a, b)),
        0b1010: lambda: b,
        0b1011: lambda: builder.or_(builder.not_(a), b),
        0b1100: lambda: a,
        0b1101: lambda: builder.or_(a, builder.not_(b)),
        0b1110: lambda: builder.or_(a, b),
        0b1111: lambda: builder.not_(zero),
    }
    return forms[table]()


def lop3(e: Emitter, i: Decoded) -> None:
    """d = logic(a, b, c) by table; a leading predicate gets d != 0, combined with the last operand
    by or (`.PAND`: by and)."""
    operands = list(i.operands)
    flag = operands.pop(0) if isinstance(operands[0], Predicate) else None
    target, a, b, c, table, other = operands
    result = three_input_logic(e, _table(e, table), e.i32(a), e.i32(b), e.i32(c))
    e.set(target, result)
    if flag is not None:
        combine = e.b.and_ if i.has("PAND") else e.b.or_
        some = e.b.icmp_unsigned("!=", result, e.const(0))
        e.set_predicate(flag, combine(some, e.predicate(other)))


def plop3(e: Emitter, i: Decoded) -> None:
    """P and Q = logic(p, q, r) of predicates, each by its own table; `R1.SIGN` is a register's sign
    bit."""
    first, second, a, b, c, table, second_table = i.operands
    inputs = [_truth(e, operand) for operand in (a, b, c)]
    results = [three_input_logic(e, _table(e, entry), *inputs) for entry in (table, second_table)]
    e.set_predicate(first, results[0])
    e.set_predicate(second, results[1])


def _truth(e: Emitter, operand: Operand) -> Value:
    if isinstance(operand, Register) and operand.suffix == "SIGN":
        return e.b.icmp_signed("<", e.i32(replace(operand, suffix="")), e.const(0))
    return e.predicate(operand)


def shift_funnel(e: Emitter, i: Decoded) -> None:
    """d = {c:a} shifted by n: `.L` or `.R`; `.HI`: the high word; `.S32`, `.S64`: arithmetic;
    `.W` wraps n."""
    target, a, count, c = i.operands
    bits = 64 if i.has("U64") or i.has("S64") else 32
    amount = e.i32(count)
    wrapped = e.b.and_(amount, e.const(bits - 1))
    saturated = e.b.select(e.b.icmp_unsigned("<", amount, e.const(bits)), amount, e.const(bits))
    amount = wrapped if i.has("W") else saturated
    wide = e.join(e.i32(a), e.i32(c))
    result = _shift64(e, i, wide, e.b.zext(amount, e.double_word))
    if i.has("HI"):
        result = e.b.lshr(result, e.const64(32))
    e.set(target, e.b.trunc(result, e.word))


def _shift64(e: Emitter, i: Decoded, wide: Value, amount: Value) -> Value:
    """A 64-bit shift by 0 to 64; LLVM leaves shifts by the full width undefined."""
    full = e.b.icmp_unsigned(">=", amount, e.const64(64))
    safe = e.b.and_(amount, e.const64(63))
    if i.has("L"):
        return e.b.select(full, e.const64(0), e.b.shl(wide, safe))
    if i.has("S32") or i.has("S64"):
        return e.b.select(full, e.b.ashr(wide, e.const64(63)), e.b.ashr(wide, safe))
    return e.b.select(full, e.const64(0), e.b.lshr(wide, safe))


def prmt(e: Emitter, i: Decoded) -> None:
    """Byte n of d is the byte of {c:a} that nibble n of the selector names; the nibble's top bit
    selects that byte's sign instead.

    The modes use a two-bit number s: bytes s + n (`.F4E`), s - n (`.B4E`), s (`.RC8`), max(s, n)
    (`.ECL`), min(s, n) (`.ECR`), half s mod 2 (`.RC16`) (PTX ISA, `prmt`).
    """
    target, a, selector, c = i.operands
    wide = e.join(e.i32(a), e.i32(c))
    choice = e.i32(selector)
    mode = next(iter(i.modifiers), None)
    start = e.b.and_(choice, e.const(3))
    result = e.const(0)
    for byte in range(4):
        nibble = (
            e.b.and_(e.b.lshr(choice, e.const(4 * byte)), e.const(15))
            if mode is None
            else _mode_byte(e, mode, start, byte)
        )
        amount = e.b.shl(e.b.and_(nibble, e.const(7)), e.const(3))
        taken = e.b.trunc(e.b.lshr(wide, e.b.zext(amount, e.double_word)), e.word)
        sign = e.b.ashr(e.b.shl(taken, e.const(24)), e.const(31))
        replicate = e.b.icmp_unsigned(">=", nibble, e.const(8))
        value = e.b.and_(e.b.select(replicate, sign, taken), e.const(255))
        result = e.b.or_(result, e.b.shl(value, e.const(8 * byte)))
    e.set(target, result)


def _mode_byte(e: Emitter, mode: str, start: Value, byte: int) -> Value:
    """The byte of {c:a} that a mode of PRMT selects for a byte of the result."""
    here = e.const(byte)
    above = e.b.icmp_unsigned(">", start, here)
    forms: dict[str, Callable[[], Value]] = {
        "F4E": lambda: e.b.add(start, here),
        "B4E": lambda: e.b.and_(e.b.sub(start, here), e.const(7)),
        "RC8": lambda: start,
        "ECL": lambda: e.b.select(above, start, here),
        "ECR": lambda: e.b.select(above, here, start),
        "RC16": lambda: e.b.add(
            e.b.shl(e.b.and_(start, e.const(1)), e.const(1)), e.const(byte & 1)
        ),
    }
    return forms[mode]()


def _table(e: Emitter, operand: Operand) -> int:
    if not isinstance(operand, Immediate):
        raise e.unsupported("without a constant table")
    return operand.integer()


_PERMUTATIONS = "F4E B4E RC8 ECL ECR RC16"
_SHIFTS = "L R U32 S32 U64 S64 HI W"

LOGIC: dict[str, Opcode] = {
    "LOP3": row(lop3, "LUT PAND"),
    "ULOP3": row(lop3, "LUT PAND", uniform=True),
    "PLOP3": row(plop3, "LUT"),
    "UPLOP3": row(plop3, "LUT", uniform=True),
    "SHF": row(shift_funnel, _SHIFTS),
    "USHF": row(shift_funnel, _SHIFTS, uniform=True),
    "PRMT": row(prmt, _PERMUTATIONS),
    "UPRMT": row(prmt, _PERMUTATIONS, uniform=True),
}
