"""Helpers of several opcode families: LLVM intrinsics, NaNs, and the end of a launch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.tools import F32, F64, I1, I32, I64, Value, call_by_name, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Constant, Immediate, Operand, Register
from grader.emulator.layouts.execution import FaultCode

CANONICAL_NAN = 0x7FFFFFFF
"""The NaN that float32 arithmetic of NVIDIA GPUs returns (PTX ISA, "Floating-Point Instructions":
NaN results are canonical)."""

QUIET_BIT = 1 << 51
"""Of a float64 NaN."""

COMPARISONS = "LT LE GT GE EQ NE LTU LEU GTU GEU EQU NEU NUM NAN AND OR XOR"
"""Modifiers of comparisons of floats."""
HALF_PLACES = {"": 0, "H0": 0, "H0_H0": 0, "H1": 16, "H1_H1": 16}
"""The first bit of the half that the suffix of an operand names."""
_ORDERED = {"LT": "<", "LE": "<=", "GT": ">", "GE": ">=", "EQ": "==", "NE": "!="}
_SCALAR_NAMES = {I32: "i32", I64: "i64", F32: "f32", F64: "f64"}


def canonical(e: Emitter, value: Value) -> Value:
    """A float32 result with every NaN replaced by the hardware's canonical NaN."""
    ordered = e.b.fcmp_ordered("ord", value, value)
    nan = e.b.bitcast(e.const(CANONICAL_NAN), e.real)
    return e.b.select(ordered, value, nan)


def quiet(e: Emitter, value: Value) -> Value:
    """A float64 result whose NaNs have the quiet bit and keep their payloads."""
    bits = e.b.bitcast(value, e.double_word)
    quieted = e.b.bitcast(e.b.or_(bits, e.const64(QUIET_BIT)), e.double)
    return e.b.select(e.b.fcmp_unordered("uno", value, value), quieted, value)


def f64(e: Emitter, operand: Operand) -> Value:
    """A source operand as float64: a pair, or a literal."""
    if isinstance(operand, Immediate):
        return e.b.bitcast(e.f64_literal(operand), e.double)
    if not isinstance(operand, Register | Constant):
        raise e.unsupported("with this 64-bit operand")
    value = e.i64(without_sign_changes(operand))
    if operand.absolute:
        value = e.b.and_(value, e.const64((1 << 63) - 1))
    if operand.negated:
        value = e.b.xor(value, e.const64(1 << 63))
    return e.b.bitcast(value, e.double)


def without_sign_changes(operand: Operand) -> Operand:
    """The operand as in its register or constant, without negation and absolute value."""
    if isinstance(operand, Register | Constant):
        return replace(operand, negated=False, absolute=False)
    return operand


def inside_bars(e: Emitter, operand: Operand) -> Operand:
    """The operand x of |x|."""
    if not isinstance(operand, Register | Constant) or not operand.absolute or operand.negated:
        raise e.unsupported("with this operand")
    return without_sign_changes(operand)


def half_code(e: Emitter, operand: Operand) -> Value:
    """The code of a 16-bit float in the half of a word that its suffix names."""
    if not isinstance(operand, Register | Constant) or operand.suffix not in HALF_PLACES:
        raise e.unsupported("with this operand")
    word = e.i32(replace(operand, suffix="", negated=False, absolute=False))
    bits = 0x7FFF if operand.absolute else 0xFFFF
    code = e.b.and_(e.b.lshr(word, e.const(HALF_PLACES[operand.suffix])), e.const(bits))
    return e.b.xor(code, e.const(0x8000)) if operand.negated else code


def set_f64(e: Emitter, operand: Operand, value: Value) -> None:
    """Writes a float64 to a register pair."""
    e.set64(operand, e.b.bitcast(value, e.double_word))


def float_compare(e: Emitter, i: Decoded, left: Value, right: Value) -> Value:
    """The comparison that the modifiers name; the `U` forms are true for a NaN operand."""
    for name in i.modifiers:
        if name == "NUM":
            return e.b.fcmp_ordered("ord", left, right)
        if name == "NAN":
            return e.b.fcmp_unordered("uno", left, right)
        if name in _ORDERED:
            return e.b.fcmp_ordered(_ORDERED[name], left, right)
        if name.endswith("U") and name[:-1] in _ORDERED:
            return e.b.fcmp_unordered(_ORDERED[name[:-1]], left, right)
    raise e.unsupported("with this comparison")


def bit_field(e: Emitter, word: Value, first: int, bits: int, *, signed: bool) -> Value:
    """Bits of a word from bit `first` on, extended to 32 bits."""
    raised = e.b.shl(word, e.const(32 - bits - first))
    return (e.b.ashr if signed else e.b.lshr)(raised, e.const(32 - bits))


def clamp(e: Emitter, value: Value, low: int, high: int) -> Value:
    """A signed word, at least `low` and at most `high`."""
    raised = e.b.select(e.b.icmp_signed(">", value, e.const(low)), value, e.const(low))
    return e.b.select(e.b.icmp_signed("<", raised, e.const(high)), raised, e.const(high))


def intrinsic(e: Emitter, name: str, arguments: list[Value]) -> Value:
    """An LLVM intrinsic of the arguments' type, returning that type."""
    kind = arguments[0].type
    return call_by_name(e.b, f"llvm.{name}.{type_name(kind)}", kind, arguments)


def type_name(kind: ir.Type) -> str:
    """Name of an LLVM type in the names of intrinsics."""
    if isinstance(kind, ir.VectorType):
        return f"v{kind.count}{type_name(kind.element)}"
    return _SCALAR_NAMES[kind]


def release_paths(e: Emitter, repeat: Value) -> None:
    """Releases paths that no longer wait for any lane: lanes have arrived at a barrier or, for
    Repeat.AS_OTHERS_LEFT, will not arrive."""
    e.call("release_paths", e.context_pointer, e.warp_pointer, repeat)


def trace_value(e: Emitter, lanes: Value, *, function: str = "trace_value") -> None:
    """Passes one word per lane to the timing model: the time of a sleep in nanoseconds (`function`
    is "sleep"), the address of a called function, or a word of which the distinct ones count
    ("trace_distinct")."""
    e.put("lane_addresses", lanes)
    e.call(function, e.context_pointer, e.warp_pointer, e.index, e.lane_mask())


def sync_lanes(e: Emitter) -> None:
    """Records, in the checked mode, that the path's lanes have synchronised."""
    with e.if_checked():
        e.call("sync_lanes", e.warp_pointer, e.mask)


def _repeat_while(e: Emitter, lanes_left: Value) -> None:
    """Repeats an instruction that splits lanes by value: it executes once per value (observed on an
    H100).

    Called once per value; `lanes_left` are the lanes with the remaining values. The instruction
    must be the last of its basic block.
    """
    with e.b.if_then(e.some(lanes_left)):
        e.call("repeat_block_end", e.context_pointer, e.data("block"))


def split_lanes(
    e: Emitter, values: Value, remaining: Value, find_block: Callable[[Value], Value], wait: int
) -> None:
    """Creates a path at a block for each distinct value of the lanes in the stack word `remaining`;
    the values are in `lane_addresses`, too."""
    head, inside, done = (e.new_block(name) for name in ("while", "do", "end"))
    e.b.branch(head)
    e.b.position_at_end(head)
    e.b.cbranch(e.some(e.b.load(remaining, typ=I32)), inside, done)
    e.b.position_at_end(inside)
    here = e.b.load(remaining, typ=I32)
    value = e.context.load("lane_addresses", e.b.cttz(here, const(1, I1)))
    block = find_block(value)
    same = e.mask_of(e.b.icmp_unsigned("==", values, e.splat(value)))
    together = e.b.and_(here, same)
    e.push_path(together, block, const(wait))
    left = e.b.xor(here, together)
    _repeat_while(e, left)
    e.b.store(left, remaining)
    e.b.branch(head)
    e.b.position_at_end(done)


def skip_together(e: Emitter, coming: Value) -> ir.Block:
    """A guarded instruction that a path must execute or skip as a whole; `coming` are the lanes
    with a true guard.

    Positions the builder where only some lanes come; the caller ends that block. Returns the block
    where all lanes come.
    """
    waiting, elsewhere, apart = (e.new_block(name) for name in ("come", "skip", "apart"))
    e.b.cbranch(e.b.icmp_unsigned("==", coming, e.mask), waiting, elsewhere)
    e.b.position_at_end(elsewhere)
    e.branch_if(e.none(coming), e.following, apart)
    return waiting


def end_launch(e: Emitter, code: int) -> None:
    """Ends the launch with this fault if any lane executes the instruction."""
    lanes = e.lane_mask()
    with e.b.if_then(e.some(lanes), likely=False):
        _end_with(e, code, lanes)


def not_emulated(e: Emitter, i: Decoded) -> None:
    """Ends the launch at a form that the emulator does not support."""
    _end_with(e, FaultCode.UNSUPPORTED, e.mask)


def _end_with(e: Emitter, code: int, lanes: Value) -> None:
    """Reports a fault of the first of these lanes, and returns."""
    e.context.store("fault_code", code)
    e.context.store("fault_instruction", e.index)
    e.context.store("fault_lane", e.b.cttz(lanes, const(0, I1)))
    e.b.ret(const(code))
