"""Native functions in which the lanes of a warp take turns at an atomic operation.

Lanes go in ascending order. For integers, the order affects only the values that lanes get back;
for floats also the sum.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from llvmlite import ir

from grader.emulator.codegen.opcodes.double import INVALID
from grader.emulator.codegen.opcodes.intrinsics import CANONICAL_NAN, QUIET_BIT
from grader.emulator.codegen.opcodes.small_floats import (
    BFLOAT,
    HALF,
    SmallFloat,
    flush,
    round_to,
    unpack,
)
from grader.emulator.codegen.tools import (
    F32,
    F64,
    I1,
    I16,
    I32,
    I64,
    POINTER,
    VOID,
    Record,
    Value,
    Values,
    call_by_name,
    const,
    define,
    each_set_bit,
    offset,
)
from grader.emulator.layouts.execution import CONTEXT, FUNCTION_PREFIX, WARP_LANES

_Combine = Callable[[ir.IRBuilder, Value, Value], Value]


@dataclass(frozen=True)
class AtomicKind:
    """A hardware operation: `operation` (`ADD`, `CAS` ...) on `type` (`U32`, `S64`, `F16x2` ...).

    `shared_by_threads`: other host threads may access the same memory at the same time.
    """

    operation: str
    type: str
    shared_by_threads: bool

    @property
    def name(self) -> str:
        where = "_global" if self.shared_by_threads else ""
        return f"atomic_{self.operation}_{self.type}_{self.width}{where}"

    @property
    def part(self) -> str:
        """The type of a number; a value consists of one or more numbers."""
        return self.type.partition("x")[0]

    @property
    def part_bits(self) -> int:
        """Bits of a number."""
        return int(self.part.lstrip("USBF"))

    @property
    def width(self) -> int:
        """Bytes of a value."""
        return self.part_bits // 8 * int(self.type.partition("x")[2] or 1)

    @property
    def commutes(self) -> bool:
        """Whether the final contents of memory are independent of the order of blocks: integer
        operations except exchanges and wrapping counters."""
        return self.type[0] in "US" and self.operation in _COMMUTATIVE


_COMMUTATIVE = ("ADD", "AND", "OR", "XOR", "MIN", "MAX")


def define_atomic(module: ir.Module, kind: AtomicKind) -> ir.Function:
    """`void atomic(context, host, mask)`: the lanes of the mask take turns; the old values go to
    `lane_data`.

    Lane addresses are in `lane_addresses`, relative to `host`; operands in `lane_data`: the words
    of the value, for compare-and-swap after the words to compare with. `CAST` returns 1 if it
    swapped, else 0: of the lanes of a phase that use a bank, only the first may swap.
    """
    known = module.globals.get(kind.name)
    if known is not None:
        return known
    function, b = define(module, kind.name, VOID, [POINTER, POINTER, I32])
    context = Record(b, function.args[0], CONTEXT)
    words = max(1, kind.width // 4)
    together = [function.args[0], function.args[2], const(WARP_LANES // words)]
    firsts = (
        call_by_name(b, f"{FUNCTION_PREFIX}first_lanes", I32, together)
        if kind.operation == "CAST"
        else None
    )
    with each_set_bit(b, function.args[2]) as lane:
        place = offset(b, function.args[1], b.zext(context.load("lane_addresses", lane), I64))

        def operand(first: int, lane: Value = lane) -> Value:
            return _join(
                b,
                [
                    context.load("lane_data", b.add(lane, const((first + word) * WARP_LANES)))
                    for word in range(words)
                ],
            )

        if kind.operation in ("CAS", "CAST"):
            old = b.load(place, typ=_integer(words))
            same = b.icmp_unsigned("==", old, operand(0))
            if firsts is not None:
                same = b.and_(same, b.trunc(b.lshr(firsts, lane), I1))
            with b.if_then(same):
                b.store(operand(words), place)
            result = b.zext(same, _integer(words)) if kind.operation == "CAST" else old
        elif kind.shared_by_threads and kind.commutes:
            name = kind.operation.lower()
            unsigned = kind.type[0] == "U" and name in ("min", "max")
            result = b.atomic_rmw(f"u{name}" if unsigned else name, place, operand(0), "monotonic")
        else:
            result = b.load(place, typ=_integer(words))
            b.store(_combine(b, kind, result, operand(0)), place)
        for word, value in enumerate(_split(b, result, words)):
            context.store("lane_data", value, b.add(lane, const(word * WARP_LANES)))
    b.ret_void()
    return function


def _integer(words: int) -> ir.Type:
    return ir.IntType(32 * words)


def _join(b: ir.IRBuilder, words: list[Value]) -> Value:
    kind = _integer(len(words))
    total = b.zext(words[0], kind) if len(words) > 1 else words[0]
    for index, word in enumerate(words[1:], start=1):
        total = b.or_(total, b.shl(b.zext(word, kind), const(32 * index, kind)))
    return total


def _split(b: ir.IRBuilder, value: Value, words: int) -> list[Value]:
    if words == 1:
        return [value]
    return [b.trunc(b.lshr(value, const(32 * index, value.type)), I32) for index in range(words)]


def _combine(b: ir.IRBuilder, kind: AtomicKind, old: Value, value: Value) -> Value:
    """The new value in memory."""
    if kind.type[0] in "US":
        return _INTEGERS[kind.operation](b, old, value, kind.type[0] == "S")
    return _in_parts(_FLOATS[kind.operation, kind.part], kind.part_bits)(b, old, value)


def _increment(b: ir.IRBuilder, old: Value, bound: Value, signed: bool) -> Value:
    """atomicInc: 0 follows the bound."""
    wraps = b.icmp_unsigned(">=", old, bound)
    return b.select(wraps, const(0, old.type), b.add(old, const(1, old.type)))


def _decrement(b: ir.IRBuilder, old: Value, bound: Value, signed: bool) -> Value:
    """atomicDec: the bound follows 0, and values above the bound."""
    wraps = b.or_(b.icmp_unsigned("==", old, const(0, old.type)), b.icmp_unsigned(">", old, bound))
    return b.select(wraps, bound, b.sub(old, const(1, old.type)))


def _extreme(sign: str) -> Callable[[ir.IRBuilder, Value, Value, bool], Value]:
    def choose(b: ir.IRBuilder, old: Value, value: Value, signed: bool) -> Value:
        compare = b.icmp_signed if signed else b.icmp_unsigned
        return b.select(compare(sign, value, old), value, old)

    return choose


_INTEGERS: dict[str, Callable[[ir.IRBuilder, Value, Value, bool], Value]] = {
    "ADD": lambda b, old, value, signed: b.add(old, value),
    "AND": lambda b, old, value, signed: b.and_(old, value),
    "OR": lambda b, old, value, signed: b.or_(old, value),
    "XOR": lambda b, old, value, signed: b.xor(old, value),
    "MIN": _extreme("<"),
    "MAX": _extreme(">"),
    "INC": _increment,
    "DEC": _decrement,
    "EXCH": lambda b, old, value, signed: value,
}


def _add_single(b: ir.IRBuilder, old: Value, value: Value) -> Value:
    """float32 with flushed denormals, as in global memory (PTX ISA, `atom`)."""
    e = Values(b, uniform=True)
    total = flush(e, b.fadd(flush(e, b.bitcast(old, F32)), flush(e, b.bitcast(value, F32))))
    is_number = b.fcmp_ordered("ord", total, total)
    return b.select(is_number, b.bitcast(total, I32), const(CANONICAL_NAN))


def _add_double(b: ir.IRBuilder, old: Value, value: Value) -> Value:
    total = b.fadd(b.bitcast(old, F64), b.bitcast(value, F64))
    nan = const(INVALID, I64)
    for source in (value, old):
        missing = b.fcmp_unordered("uno", b.bitcast(source, F64), b.bitcast(source, F64))
        nan = b.select(missing, b.or_(source, const(QUIET_BIT, I64)), nan)
    return b.select(b.fcmp_ordered("ord", total, total), b.bitcast(total, I64), nan)


def _in_parts(combine: _Combine, bits: int) -> _Combine:
    """Applies an operation to each of the numbers of a value; a number has this many bits."""

    def combine_all(b: ir.IRBuilder, old: Value, value: Value) -> Value:
        kind = old.type
        if kind.width == bits:
            return combine(b, old, value)
        total = const(0, kind)
        for place in range(0, kind.width, bits):
            left, right = (
                b.trunc(b.lshr(word, const(place, kind)), ir.IntType(bits)) for word in (old, value)
            )
            part = b.zext(combine(b, left, right), kind)
            total = b.or_(total, b.shl(part, const(place, kind)))
        return total

    return combine_all


def _add_small(small: SmallFloat) -> _Combine:
    """16-bit floats. The second rounding changes nothing: their sum in the wider type is exact, or
    has enough extra bits."""

    def add(b: ir.IRBuilder, old: Value, value: Value) -> Value:
        e = Values(b, uniform=True)
        left, right = (unpack(e, b.zext(code, I32), small) for code in (old, value))
        return b.trunc(round_to(e, b.fadd(left, right), small), I16)

    return add


def _extreme_small(sign: str, small: SmallFloat) -> _Combine:
    """16-bit floats: -0 is less than +0, and a number takes precedence over a NaN (observed on an
    H200)."""

    def choose(b: ir.IRBuilder, old: Value, value: Value) -> Value:
        infinity = const(((1 << 16 - small.precision) - 1) << small.precision - 1, I16)

        def is_nan(code: Value) -> Value:
            return b.icmp_unsigned(">", b.and_(code, const(0x7FFF, I16)), infinity)

        def rank(code: Value) -> Value:
            return b.xor(code, b.lshr(b.ashr(code, const(15, I16)), const(1, I16)))

        chosen = b.select(b.icmp_signed(sign, rank(value), rank(old)), value, old)
        chosen = b.select(is_nan(value), old, b.select(is_nan(old), value, chosen))
        return b.select(is_nan(chosen), const(small.nan, I16), chosen)

    return choose


_FLOATS: dict[tuple[str, str], _Combine] = {
    ("ADD", "F32"): _add_single,
    ("ADD", "F64"): _add_double,
    ("ADD", "F16"): _add_small(HALF),
    ("ADD", "BF16"): _add_small(BFLOAT),
    ("MIN", "F16"): _extreme_small("<", HALF),
    ("MIN", "BF16"): _extreme_small("<", BFLOAT),
    ("MAX", "F16"): _extreme_small(">", HALF),
    ("MAX", "BF16"): _extreme_small(">", BFLOAT),
}
"""By operation, and type of a number of the value."""


def is_float_operation(operation: str, kind: str) -> bool:
    """Whether the hardware has this operation for a type of floats."""
    return (operation, kind.partition("x")[0]) in _FLOATS
