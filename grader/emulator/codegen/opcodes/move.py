"""Moves between register files, special registers and constant memory."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.collective import report_absent_lanes, report_absent_sources
from grader.emulator.codegen.opcodes.intrinsics import bit_field, not_emulated
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.shapes import offset_name
from grader.emulator.codegen.tools import (
    I1,
    I32,
    I64,
    LANES_I32,
    POINTER,
    Value,
    const,
    lanes,
    offset,
)
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Constant, Immediate, Operand, Predicate, Register, Special
from grader.emulator.layouts.blocks import CYCLES_IN_4_NS
from grader.emulator.layouts.execution import SHARED_HIGH, WARP_LANES, AccessFlag
from grader.emulator.timing.pipes import (
    BARRIER_RESULT,
    CONSTANT_LOAD,
    NO_PIPE,
    QUEUED,
    SHUFFLE,
    SPECIAL_REGISTER,
)

PREDICATES = 7
_LANE_RECORDS = {"SR_TID.X": "tid_x", "SR_TID.Y": "tid_y", "SR_TID.Z": "tid_z"}
_CONTEXT_WORDS = {
    "SR_CTAID.X": "ctaid_x",
    "SR_CTAID.Y": "ctaid_y",
    "SR_CTAID.Z": "ctaid_z",
    "SR_CgaCtaId": "cluster_rank",
    "SR_SMEMSZ": "shared_allocated",
}
_LANE_MASKS: dict[str, Callable[[int], int]] = {
    "SR_EQMASK": lambda lane: 1 << lane,
    "SR_LTMASK": lambda lane: (1 << lane) - 1,
    "SR_LEMASK": lambda lane: (2 << lane) - 1,
    "SR_GTMASK": lambda lane: ~((2 << lane) - 1),
    "SR_GEMASK": lambda lane: ~((1 << lane) - 1),
}
_COUNTERS = tuple(f"SR_PM{number}" for number in range(8))
_ZERO = frozenset({"SRZ", "SR_CgaSize", "SR_LMEMHIOFF", *_COUNTERS})
"""`SR_CgaSize` encodes the size of a thread-block cluster: 0 for kernels launched without clusters.
`SR_LMEMHIOFF` is the lower limit of the stack pointer: 0, where local memory starts here. The
performance counters are 0 unless a profiler sets them up (observed on an H200)."""


def move(e: Emitter, i: Decoded) -> None:
    """d = a; `.64` of pairs"""
    target, source = i.operands
    if i.has("64"):
        e.set64(target, e.integer64(source))
    else:
        e.set(target, e.i32(source))


def special_register(e: Emitter, i: Decoded) -> None:
    """d = a special register; `CS2R` and `CS2UR` write a pair, with `.32` a word."""
    target, source = i.operands
    if not isinstance(source, Special) or not isinstance(target, Register):
        raise e.unsupported("with these operands")
    value = _special_value(e, source.name)
    e.set(target, value)
    if i.base in ("CS2R", "CS2UR") and not i.has("32"):
        upper = _CLOCKS.get(source.name)
        if upper is None and source.name not in ("SRZ", *_COUNTERS):
            raise e.unsupported(f"of {source.name}")
        e.set(e.upper(target), _special_value(e, upper) if upper else value)


def _special_value(e: Emitter, name: str) -> Value:
    if name in _ZERO:
        return e.const(0)
    if name == "SR_SWINHI":
        return e.const(SHARED_HIGH)
    scalar = _SCALARS.get(name)
    if scalar is not None or name in _CONTEXT_WORDS:
        value = scalar(e) if scalar is not None else e.context.load(_CONTEXT_WORDS[name])
        return e.spread(value)
    if e.uniform:
        raise e.unsupported(f"of {name}")
    if name in _LANE_RECORDS:
        return e.warp.load_lanes(_LANE_RECORDS[name])
    if name in _LANE_MASKS:
        return lanes([_LANE_MASKS[name](lane) & 0xFFFFFFFF for lane in range(32)])
    if name == "SR_LANEID":
        return lanes(range(32))
    raise e.unsupported(f"of {name}")


def _clock(e: Emitter, start: str, *, upper: bool) -> Value:
    """Half of a clock: the warp's cycles (block_cycles.py), or nanoseconds, since the `start`."""
    # the start of a basic block counts all of its cycles
    now = e.b.sub(e.warp.load("clock"), e.b.zext(e.data("cycles behind"), I64))
    if start == "timer_start":
        now = e.b.udiv(e.b.mul(now, const(4, I64)), const(CYCLES_IN_4_NS, I64))
    now = e.b.add(now, e.context.load(start))
    return e.b.trunc(e.b.lshr(now, const(32, I64)) if upper else now, I32)


def _multiprocessor(e: Emitter) -> Value:
    """Blocks go to multiprocessors in turn; the choice of a GPU is not documented."""
    y, rows, z = (e.context.load(name) for name in ("ctaid_y", "grid_y", "ctaid_z"))
    row = e.b.add(y, e.b.mul(rows, z))
    linear = e.b.add(e.context.load("ctaid_x"), e.b.mul(e.context.load("grid_x"), row))
    return e.b.urem(linear, e.context.load("multiprocessors"))


_CLOCKS = {"SR_CLOCKLO": "SR_CLOCKHI", "SR_GLOBALTIMERLO": "SR_GLOBALTIMERHI"}  # lower: upper
_SCALARS: dict[str, Callable[[Emitter], Value]] = {
    "SR_CLOCKLO": partial(_clock, start="clock_start", upper=False),
    "SR_CLOCKHI": partial(_clock, start="clock_start", upper=True),
    "SR_GLOBALTIMERLO": partial(_clock, start="timer_start", upper=False),
    "SR_GLOBALTIMERHI": partial(_clock, start="timer_start", upper=True),
    "SR_VIRTUALSMID": _multiprocessor,
    "SR_VIRTID": lambda e: e.b.shl(e.warp.load("index"), const(8)),  # %warpid is bits 8 to 14
    "SR_VIRTCFG": lambda e: const(64 << 8),  # %nwarpid is bits 8 to 15
}


def barrier_result(e: Emitter, i: Decoded) -> None:
    """The result of the warp's last `BAR.RED`: a register gets the count of true threads, a
    predicate the and / or."""
    target, *truths = i.operands
    e.set(target, e.splat(e.warp.load("voted_count")))
    for truth in truths:
        voted = e.some(e.warp.load("voted_truth"))
        e.set_predicate(truth, e.splat(voted))


def load_constant(e: Emitter, i: Decoded) -> None:
    """d = a word (`.64`: two, `.U8` ...: a part) of a constant bank; bank 0: sizes, parameters."""
    target, source = i.operands
    if not isinstance(source, Constant) or not isinstance(target, Register):
        raise e.unsupported("with these operands")
    if source.register is not None:
        e.require("known place", offset_name(source.offset)[0])
        (_load_at_one_index if e.uniform else _load_indexed)(e, i, target, source)
        return
    narrow = i.first_of(("U8", "S8", "U16", "S16"))
    if narrow is not None:
        whole, first = e.i32(Constant(source.bank, source.offset & ~3)), 8 * (source.offset & 3)
        bits, signed = int(narrow[1:]), narrow[0] == "S"
        e.set(target, bit_field(e, whole, first, bits, signed=signed))
        return
    for word in range(i.access_bytes // 4):
        place = Register(target.index + word, target.uniform) if word else target
        e.set(place, e.i32(Constant(source.bank, source.offset + 4 * word)))


def _constant_bank(e: Emitter, bank: int) -> tuple[Value, Value]:
    """Host address and size of a constant bank, for accesses with a register as index."""
    e.require("known bank", bank)
    address = e.b.inttoptr(e.context.load("banks", bank), POINTER)
    return address, e.context.load("bank_bytes", bank)


def _load_indexed(e: Emitter, i: Decoded, target: Register, source: Constant) -> None:
    """Per lane, a constant at a register plus an offset."""
    assert source.register is not None
    width = i.access_bytes
    offsets = e.b.add(e.i32(source.register), e.splat(e.offset_of(source)))
    old = e.data_words(target, max(1, width // 4))
    mask = e.lane_mask()
    e.put("lane_addresses", offsets)
    bank = _constant_bank(e, source.bank)
    flags = AccessFlag.SIGNED * (i.has("S8") or i.has("S16"))
    words = (e.index, mask, const(width), const(flags))
    pointers = (e.context_pointer, e.warp_pointer)
    e.try_call("gather_constants", *pointers, *bank, *words)
    taken = e.lanes_of(mask)
    for word, before in enumerate(old):
        loaded = e.load_lanes(e.context.at("lane_data", word * 32))
        e.set(Register(target.index + word), e.b.select(taken, loaded, before))


def _load_at_one_index(e: Emitter, i: Decoded, target: Register, source: Constant) -> None:
    """Per warp, constants at a uniform register plus an offset."""
    assert source.register is not None
    width = i.access_bytes
    if width < 4 or target.is_zero:
        raise e.unsupported("with an index")
    start = e.b.add(e.i32(source.register), e.offset_of(source))
    base, size = _constant_bank(e, source.bank)
    beyond = e.b.icmp_unsigned(">", start, e.b.sub(size, const(width)))
    crooked = e.some(e.b.and_(start, const(width - 1)))
    bad = e.b.or_(beyond, crooked)
    with e.b.if_then(bad if e.guard is None else e.b.and_(bad, e.guard), likely=False):
        e.put("lane_addresses", e.splat(start))
        facts = (base, size, e.index, e.mask, const(width), const(0))
        pointers = (e.context_pointer, e.warp_pointer)
        e.try_call("gather_constants", *pointers, *facts)
    place = e.b.zext(e.b.select(bad, const(0), start), I64)
    for word in range(width // 4):
        value = e.b.load(offset(e.b, base, e.b.add(place, const(4 * word, I64))), typ=I32)
        e.set(Register(target.index + word, uniform=True), value)


def to_uniform(e: Emitter, i: Decoded) -> None:
    """A uniform register = the value of the lowest active lane; P = whether the lane's value
    differs; or, for `.OR`, P was true.

    With a guard and without a P, the lanes with a true guard must have equal values, because it is
    unknown which lane's value counts.
    """
    *truths, target, source = i.operands
    if not isinstance(target, Register):
        raise e.unsupported("with these operands")
    value = e.i32(source)
    lanes = e.lane_mask()
    chosen = e.b.extract_element(value, e.b.and_(e.b.cttz(lanes, const(0, I1)), const(31)))
    differs = e.b.icmp_unsigned("!=", value, e.splat(chosen))
    for truth in truths:
        if i.has("OR"):
            differs = e.b.or_(differs, e.predicate(truth))
        e.set_predicate(truth, differs)
    if i.guard is not None:
        e.guard = None
        kept = const(0) if target.is_zero else e.uniform_register(target.index)
        chosen = e.b.select(e.some(lanes), chosen, kept)
        if not truths:
            others = e.b.and_(lanes, e.mask_of(differs))
            with e.b.if_then(e.some(others), likely=False):
                not_emulated(e, i)
    e.set(target, chosen)


def return_address(e: Emitter, i: Decoded) -> None:
    """d = a word of the return-address register, or that word = a: ptxas also uses it as temporary
    storage."""
    target, source = i.operands
    if isinstance(target, Special):
        word = e.warp.at("return_address", WARP_LANES * _half_of(e, target))
        others, writing = e.load_lanes(word), e.write_condition()
        kept = e.i32(source)
        e.b.store(kept if writing is None else e.b.select(writing, kept, others), word, align=4)
    else:
        word = e.warp.at("return_address", WARP_LANES * _half_of(e, source))
        e.set(target, e.load_lanes(word))


def _half_of(e: Emitter, operand: Operand) -> int:
    halves = ("Rpc.LO", "Rpc.HI")
    if not isinstance(operand, Special) or operand.name not in halves:
        raise e.unsupported("with these operands")
    return halves.index(operand.name)


def predicates_to_register(e: Emitter, i: Decoded) -> None:
    """The bits of d that the mask names become the predicates P0 to P6 and a true bit; the other
    bits come from a. `.B1` to `.B3` shift to that byte."""
    target, a, mask = (operand for operand in i.operands if not isinstance(operand, Special))
    place = 8 * _byte_of(i.modifiers)
    chosen = _predicate_mask(e, mask)
    result = e.b.and_(e.i32(a), e.const(~(chosen << place)))
    for index in range(PREDICATES + 1):
        if chosen >> index & 1:
            predicate = e.predicate(Predicate(index, uniform=e.uniform))
            bit = e.b.shl(e.b.zext(predicate, e.word), e.const(index + place))
            result = e.b.or_(result, bit)
    e.set(target, result)


def register_to_predicates(e: Emitter, i: Decoded) -> None:
    """Each predicate that the mask names (default: all) becomes its bit of a byte of a."""
    a, *masks = (operand for operand in i.operands if not isinstance(operand, Special))
    if not isinstance(a, Register):
        raise e.unsupported("with this source")
    plain = replace(a, suffix="")
    value = e.b.lshr(e.i32(plain), e.const(8 * _byte_of((a.suffix, *i.modifiers))))
    chosen = _predicate_mask(e, *masks) if masks else (1 << PREDICATES) - 1
    for index in range(PREDICATES):
        if chosen >> index & 1:
            bit = e.b.icmp_unsigned("!=", e.b.and_(value, e.const(1 << index)), e.const(0))
            e.set_predicate(Predicate(index, uniform=e.uniform), bit)


def _byte_of(names: tuple[str, ...]) -> int:
    return next((int(name[1]) for name in names if name in ("B0", "B1", "B2", "B3")), 0)


def _predicate_mask(e: Emitter, operand: Operand) -> int:
    if not isinstance(operand, Immediate) or operand.integer() >> PREDICATES + 1:
        raise e.unsupported("with this mask")
    return operand.integer()


def vote(e: Emitter, i: Decoded) -> None:
    """Votes over the active lanes: a register gets the mask of true lanes; a predicate whether any
    is true, all are true, or all are equal."""
    *targets, source = i.operands
    report_absent_lanes(e, i)
    lanes_here = e.lane_mask() if i.guard is None or not e.uniform else e.mask
    with e.as_uniform(False):
        truths = e.mask_of(e.predicate(source))
    ballot = e.b.and_(truths, lanes_here)
    every = e.b.icmp_unsigned("==", ballot, lanes_here)
    some = e.some(ballot)
    result = {"ANY": some, "ALL": every, "EQ": e.b.or_(every, e.b.not_(some))}
    mode = i.first_of(result)
    if mode is None:
        raise e.unsupported()
    for target in targets:
        value = result[mode] if isinstance(target, Predicate) else ballot
        (e.set_predicate if isinstance(target, Predicate) else e.set)(target, e.spread(value))


def shuffle(e: Emitter, i: Decoded) -> None:
    """d = a of another lane; P = whether that lane is in the segment (PTX ISA, `shfl.sync`)."""
    inside, target, source, operand_b, operand_c = i.operands
    value, b, c = e.i32(source), e.i32(operand_b), e.i32(operand_c)
    lane = lanes(range(32))
    segment = e.b.and_(e.b.lshr(c, e.const(8)), e.const(31))
    clamp = e.b.and_(c, e.const(31))
    b = e.b.and_(b, e.const(31))
    keep = e.b.and_(lane, segment)
    edge = e.b.or_(keep, e.b.and_(clamp, e.b.not_(segment)))
    mode = i.first_of(("IDX", "UP", "DOWN", "BFLY"))
    if mode == "UP":
        wanted = e.b.sub(lane, b)
        valid = e.b.icmp_signed(">=", wanted, edge)
    else:
        computed = {
            "DOWN": e.b.add(lane, b),
            "BFLY": e.b.xor(lane, b),
            "IDX": e.b.or_(keep, e.b.and_(b, e.b.not_(segment))),
        }
        if mode not in computed:
            raise e.unsupported()
        wanted = computed[mode]
        valid = e.b.icmp_signed("<=", wanted, edge)
    wanted = e.b.and_(e.b.select(valid, wanted, lane), e.const(31))
    report_absent_lanes(e, i)
    e.set(target, report_absent_sources(e, i, _permute(e, value, wanted), wanted, valid))
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
    "MOV": row(move, "64"),
    "UMOV": row(move, "64", uniform=True),
    "S2R": row(special_register, pipe=SPECIAL_REGISTER),
    "S2UR": row(special_register, uniform=True, pipe=SPECIAL_REGISTER),
    "CS2R": row(special_register, "32", pipe=NO_PIPE),
    "CS2UR": row(special_register, "32", uniform=True),
    "LDC": row(load_constant, "64 U8 S8 U16 S16", pipe=CONSTANT_LOAD),
    "ULDC": row(load_constant, "64 U8 S8 U16 S16", uniform=True, pipe=CONSTANT_LOAD),
    "LDCU": row(load_constant, "64 128 U8 S8 U16 S16", uniform=True, pipe=CONSTANT_LOAD),
    "B2R": row(barrier_result, "RESULT", pipe=BARRIER_RESULT),
    "R2UR": row(to_uniform, "OR BROADCAST", pipe=QUEUED),
    "P2R": row(predicates_to_register, "B0 B1 B2 B3"),
    "R2P": row(register_to_predicates, "B0 B1 B2 B3"),
    "UP2UR": row(predicates_to_register, "B0 B1 B2 B3", uniform=True),
    "UR2UP": row(register_to_predicates, "B0 B1 B2 B3", uniform=True),
    "RPCMOV": row(return_address, "32"),
    "VOTE": row(vote, "ANY ALL EQ", gathers=True),
    "VOTEU": row(vote, "ANY ALL EQ", uniform=True, gathers=True, pipe=QUEUED),
    "SHFL": row(shuffle, "IDX UP DOWN BFLY", gathers=True, pipe=SHUFFLE),
}
