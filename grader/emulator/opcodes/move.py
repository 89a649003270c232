"""Moves between register files, special registers and constant memory."""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.native.tools import I1, I32, I64, LANES_I32, Value, const, lanes, splat
from grader.emulator.opcodes.row import Opcode, row
from grader.emulator.operands import Constant, Register, Special

_LANE_RECORDS = {"SR_TID.X": "tid_x", "SR_TID.Y": "tid_y", "SR_TID.Z": "tid_z"}
_CONTEXT_WORDS = {"SR_CTAID.X": "ctaid_x", "SR_CTAID.Y": "ctaid_y", "SR_CTAID.Z": "ctaid_z"}
_ZERO = frozenset({"SRZ", "SR_CgaCtaId"})
"""`SR_CgaCtaId` is the block's rank in its thread-block cluster: 0 for kernels launched without clusters."""


def move(e: Emitter, i: Decoded) -> None:
    """d = a"""
    e.set(i.operands[0], e.i32(i.operands[1]))


def special_register(e: Emitter, i: Decoded) -> None:
    """d = a special register; `CS2R` writes a pair, `CS2R.32` one word."""
    target, source = i.operands
    if not isinstance(source, Special) or not isinstance(target, Register):
        raise e.unsupported("with these operands")
    value = _special_value(e, source.name)
    e.set(target, value)
    if i.base == "CS2R" and not i.has("32"):
        if source.name != "SRZ":
            raise e.unsupported(f"of {source.name}")
        e.set(e.upper(target), value)


def _special_value(e: Emitter, name: str) -> Value:
    if name in _ZERO:
        return e.const(0)
    if name in _CONTEXT_WORDS:
        value = e.context.load(_CONTEXT_WORDS[name])
        return value if e.uniform else splat(e.b, value)
    if e.uniform:
        raise e.unsupported(f"of {name}")
    if name in _LANE_RECORDS:
        return e.warp.load_lanes(_LANE_RECORDS[name])
    if name == "SR_LANEID":
        return lanes(range(32))
    raise e.unsupported(f"of {name}")


def load_constant(e: Emitter, i: Decoded) -> None:
    """d = a word (`.64` two, `.U8` ... a part) of constant bank 0, which holds dimensions and launch parameters."""
    target, source = i.operands
    if not isinstance(source, Constant) or not isinstance(target, Register):
        raise e.unsupported("with these operands")
    narrow = next((name for name in i.modifiers if name in ("U8", "S8", "U16", "S16")), None)
    if source.register is not None or source.bank != 0:
        raise e.unsupported("with an indexed or user constant bank")
    if narrow is not None:
        e.set(target, _narrow(e, source, narrow))
        return
    e.set(target, e.i32(source))
    if i.has("64"):
        e.set(e.upper(target), e.i32(Constant(source.bank, source.offset + 4)))


def _narrow(e: Emitter, source: Constant, name: str) -> Value:
    word = e.i32(Constant(source.bank, source.offset & ~3))
    bits = int(name[1:])
    raised = e.b.shl(word, e.const(32 - bits - 8 * (source.offset & 3)))
    shift = e.b.ashr if name[0] == "S" else e.b.lshr
    return shift(raised, e.const(32 - bits))


def to_uniform(e: Emitter, i: Decoded) -> None:
    """A uniform register = the value of the lowest active lane."""
    target, source = i.operands
    value = e.i32(source)
    cell = e.context.at("lane_addresses")
    e.b.store(value, cell, align=4)
    lowest = e.b.cttz(e.mask, const(1, I1))
    e.set(target, e.b.load(e.b.gep(cell, [e.b.zext(lowest, I64)], source_etype=I32), typ=I32))


def shuffle(e: Emitter, i: Decoded) -> None:
    """d = a of another lane; P = that lane is within the segment (PTX ISA, `shfl.sync`)."""
    inside, target, source, operand_b, operand_c = i.operands
    value, b, c = e.i32(source), e.i32(operand_b), e.i32(operand_c)
    lane = lanes(range(32))
    segment = e.b.and_(e.b.lshr(c, e.const(8)), e.const(31))
    clamp = e.b.and_(c, e.const(31))
    b = e.b.and_(b, e.const(31))
    keep = e.b.and_(lane, segment)
    edge = e.b.or_(keep, e.b.and_(clamp, e.b.not_(segment)))
    mode = next((name for name in i.modifiers if name in ("IDX", "UP", "DOWN", "BFLY")), None)
    if mode == "UP":
        wanted = e.b.sub(lane, b)
        valid = e.b.icmp_signed(">=", wanted, edge)
    else:
        computed = {"DOWN": e.b.add(lane, b), "BFLY": e.b.xor(lane, b), "IDX": e.b.or_(keep, e.b.and_(b, e.b.not_(segment)))}
        if mode not in computed:
            raise e.unsupported()
        wanted = computed[mode]
        valid = e.b.icmp_signed("<=", wanted, edge)
    wanted = e.b.and_(e.b.select(valid, wanted, lane), e.const(31))
    e.set(target, _permute(e, value, wanted))
    e.set_predicate(inside, valid)


def _permute(e: Emitter, value: Value, index: Value) -> Value:
    """Lane n of the result is lane index[n] of the value."""
    source, picks = e.context.at("lane_addresses"), e.context.at("lane_data")
    e.b.store(value, source, align=4)
    e.b.store(index, picks, align=4)
    result = ir.Constant(LANES_I32, ir.Undefined)
    for lane in range(32):
        pick = e.b.load(e.b.gep(picks, [const(lane, I64)], source_etype=I32), typ=I32)
        word = e.b.load(e.b.gep(source, [e.b.zext(pick, I64)], source_etype=I32), typ=I32)
        result = e.b.insert_element(result, word, const(lane))
    return result


MOVE: dict[str, Opcode] = {
    "MOV": row(move),
    "UMOV": row(move, uniform=True),
    "S2R": row(special_register),
    "S2UR": row(special_register, uniform=True),
    "CS2R": row(special_register, "32"),
    "LDC": row(load_constant, "64 U8 S8 U16 S16"),
    "ULDC": row(load_constant, "64 U8 S8 U16 S16", uniform=True),
    "R2UR": row(to_uniform),
    "SHFL": row(shuffle, "IDX UP DOWN BFLY"),
}
