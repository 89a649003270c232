"""Collective operations of a warp: its lanes wait for each other, and combine or compare values.

If the lanes of an operation come from different places, ptxas uses WARPSYNC.COLLECTIVE: they wait,
execute the operation together as a path, and ENDCOLLECTIVE sends each lane back.
"""

from __future__ import annotations

from collections.abc import Mapping

from llvmlite import ir

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.intrinsics import (
    not_emulated,
    release_paths,
    skip_together,
    split_lanes,
    sync_lanes,
    trace_value,
)
from grader.emulator.codegen.opcodes.row import PLAIN, Opcode, row
from grader.emulator.codegen.tools import I1, I32, I64, LANES_I32, Value, call_by_name, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow, always
from grader.emulator.isa.operands import TRUE_PREDICATE, Immediate, Operand, Predicate, Register
from grader.emulator.layouts.checked import FindingCode
from grader.emulator.layouts.execution import (
    COLLECTIVE_BARRIER,
    FULL_MASK,
    WAIT_APART,
    WARP_LANES,
    WARPSYNC_BARRIER,
    Repeat,
)
from grader.emulator.timing.pipes import MATCH, MATCH_64, NO_PIPE, REDUCTION


def warpsync(e: Emitter, i: Decoded) -> None:
    """`__syncwarp()`: the named lanes wait for each other and continue as one path. `.ALL` names
    all lanes.

    `.EXCLUSIVE` and `.COLLECTIVE`: lanes that name other lanes continue on separate paths;
    collective lanes return by ENDCOLLECTIVE.
    """
    collective = i.has("COLLECTIVE")
    masks = [] if i.has("ALL") else [i.operands[0]]
    if len(i.operands) != len(masks) + collective:
        raise e.unsupported("with these operands")
    named = e.i32(masks[0]) if masks else e.splat(const(0xFFFFFFFF))
    apart = collective or i.has("EXCLUSIVE")
    if e.converged and not apart:
        sync_lanes(e)
        return
    if i.guard is not None:
        waiting = skip_together(e, e.lane_mask())
        not_emulated(e, i)
        e.b.position_at_end(waiting)
    barrier = COLLECTIVE_BARRIER if collective else WARPSYNC_BARRIER
    store_lanes(e, e.warp.at("participants", barrier * WARP_LANES), named)
    if collective:
        store_lanes(e, e.warp.at("collective_return"), e.splat(e.target.block))
    if apart:
        _push_groups(e, named, e.following.block, barrier)
    else:
        e.push_path(e.mask, e.following.block, const(barrier))
    release_paths(e, const(Repeat.NEVER) if collective else _repeat_unless_gathered(e))
    e.switch_path()


def _repeat_unless_gathered(e: Emitter) -> Value:
    """Paths that join at a WARPSYNC execute it again, except if the last path was chosen there:
    then the waiting paths execute it with that path."""
    here = e.b.icmp_unsigned("==", e.warp.load("gathered_at"), e.data("block"))
    first = e.b.icmp_unsigned("==", e.data("length"), const(1))
    return e.b.select(e.b.and_(here, first), const(Repeat.NEVER), const(Repeat.IF_SEVERAL_PATHS))


def end_collective(e: Emitter, i: Decoded) -> None:
    """Each lane continues at the block that its WARPSYNC.COLLECTIVE named."""
    if i.guard is not None:
        raise e.unsupported("with a guard")
    _push_groups(e, e.warp.load_lanes("collective_return"), None, WAIT_APART)
    e.switch_path()


def store_lanes(e: Emitter, address: Value, values: Value) -> None:
    """Stores the path's lanes of an array field of the warp's record."""
    others = e.load_lanes(address)
    e.b.store(e.b.select(e.active, values, others), address, align=4)


def _push_groups(e: Emitter, values: Value, pc: Value | None, wait: int) -> None:
    """Creates a path per distinct value of the path's lanes, at block `pc` or the value's block."""
    e.put("lane_addresses", values)
    remaining = e.stack_word(e.mask)
    split_lanes(e, values, remaining, lambda value: value if pc is None else pc, wait)


def branch_if_apart(e: Emitter, i: Decoded) -> None:
    """`BRA.DIV`: branches to slow code unless all named live lanes are on this path with a true
    guard; `BRA.CONV`: branches if they are.

    On sm_75 the instruction names no lanes; it means all lanes.
    """
    *named, _ = i.operands
    if len(named) > 1:
        raise e.unsupported("with these operands")
    mask = e.i32(named[0]) if named else e.const(-1)
    e.put("lane_addresses", mask)
    living = e.b.and_(e.context.load("lane_addresses", 0), e.warp.load("live"))
    missing = e.b.and_(living, e.b.not_(e.lane_mask()))
    together = e.none(missing)
    if i.has("CONV"):
        together = e.b.not_(together)
    e.branch_if(together, e.following)
    e.go_to(e.target)


def match(e: Emitter, i: Decoded) -> None:
    """`.ANY`: d = the lanes of the path with the same value; `.ALL`: d = the path's lanes and P =
    true if all values are equal, else 0 and false."""
    *truths, target, source = i.operands
    everyone = i.has("ALL")
    if i.guard is not None or len(truths) != everyone or not isinstance(target, Register):
        raise e.unsupported("with these operands")
    report_absent_lanes(e, i)
    value = e.i64(source) if i.has("U64") else e.i32(source)
    result = ir.Constant(LANES_I32, ir.Undefined)
    for lane in range(WARP_LANES):
        same = e.b.icmp_unsigned("==", value, e.splat(e.b.extract_element(value, const(lane))))
        result = e.b.insert_element(result, e.b.and_(e.mask_of(same), e.mask), const(lane))
    if everyone:
        agreed = e.b.icmp_unsigned("==", result, e.splat(e.mask))
        result = e.b.select(agreed, result, e.const(0))
        e.set_predicate(truths[0], agreed)
    else:
        trace_value(e, result, function="trace_distinct")
    e.set(target, result)


_REDUCTIONS = {"SUM": ("add", 0), "AND": ("and", 0xFFFFFFFF), "OR": ("or", 0), "XOR": ("xor", 0)}
_EXTREMES = {
    ("MIN", False): ("umin", 0xFFFFFFFF),
    ("MIN", True): ("smin", 0x7FFFFFFF),
    ("MAX", False): ("umax", 0),
    ("MAX", True): ("smax", 0x80000000),
}


def reduce_lanes(e: Emitter, i: Decoded) -> None:
    """A uniform register = the combined values of the path's lanes; the default is `and`."""
    target, source = i.operands
    if i.guard is not None or not isinstance(target, Register) or not target.uniform:
        raise e.unsupported("with these operands")
    report_absent_lanes(e, i)
    name = i.first_of((*_REDUCTIONS, "MIN", "MAX")) or "AND"
    operation, neutral = (
        _EXTREMES[name, i.has("S32")] if name in ("MIN", "MAX") else _REDUCTIONS[name]
    )
    values = e.b.select(e.active, e.i32(source), e.const(neutral))
    e.set(target, call_by_name(e.b, f"llvm.vector.reduce.{operation}.v32i32", I32, [values]))


def elect(e: Emitter, i: Decoded) -> None:
    """P = whether this lane is the leader, the lowest active lane; the uniform register holds the
    leader's number."""
    truth, target, source = i.operands
    if source != Predicate(TRUE_PREDICATE) or not isinstance(target, Register):
        raise e.unsupported("with these operands")
    lanes = e.lane_mask()
    e.set_predicate(truth, e.lanes_of(e.b.and_(lanes, e.b.neg(lanes))))
    if i.guard is not None and not target.is_zero:
        raise e.unsupported("with these operands")
    e.guard = None
    e.set(target, e.b.cttz(lanes, const(0, I1)))


_BETWEEN = 3
"""Most instructions from the WARPSYNC that names an operation's lanes to the operation."""


def report_absent_lanes(e: Emitter, i: Decoded) -> None:
    """Reports live lanes that the operation's mask names but that are not on this path."""
    if e.converged or i.named is None:
        return
    first = e.b.cttz(e.mask, const(1, I1))
    named = e.b.extract_element(e.lanes_i32(i.named), first)
    absent = e.b.and_(e.b.and_(named, e.warp.load("live")), e.b.not_(e.mask))
    with e.if_checked(), e.b.if_then(e.some(absent), likely=False):
        _report(e, FindingCode.ABSENT_LANES, first, absent)


def report_absent_sources(
    e: Emitter, i: Decoded, result: Value, wanted: Value, valid: Value
) -> Value:
    """The result of a shuffle. Garbage from absent lanes differs between poison values."""
    checked = e.b.sext(e.is_checked(), I32)
    here = e.splat(e.mask)
    bit = e.b.and_(e.b.lshr(here, wanted), e.splat(const(1)))
    missing = e.b.and_(e.b.icmp_unsigned("==", bit, e.splat(const(0))), valid)
    lanes = e.b.and_(e.b.and_(e.mask_of(missing), e.lane_mask()), checked)
    with e.b.if_then(e.some(lanes), likely=False):
        _report(e, FindingCode.MAYBE_ABSENT_LANE, e.b.cttz(lanes, const(1, I1)), lanes)
    usual = e.b.icmp_unsigned("==", e.context.load("shared_poison"), const(0xFF))
    garbage = e.b.select(usual, const(0), const(FULL_MASK))
    return e.b.select(e.lanes_of(lanes), e.b.xor(result, e.splat(garbage)), result)


def _report(e: Emitter, code: int, lane: Value, lanes: Value) -> None:
    """Reports absent lanes that `lane` needs."""
    words = (const(code), e.index, lane, lanes, const(0, I64))
    e.call("report_lanes", e.context_pointer, e.warp_pointer, *words)


def lanes_named_before(code: Mapping[int, Decoded], i: Decoded) -> Operand | None:
    """The lane mask of the WARPSYNC before an instruction, if there is one. `code`: the
    instructions by index."""
    near = [code[index] for index in range(i.index - _BETWEEN, i.index) if index in code]
    syncs = [each for each in near if each.base == "WARPSYNC"]
    if not syncs or syncs[-1].has("COLLECTIVE") or syncs[-1].has("EXCLUSIVE"):
        return None
    sync = syncs[-1]
    if sync.has("ALL"):
        return Immediate(FULL_MASK, None)
    mask = sync.operands[0] if sync.operands else None
    if isinstance(mask, Register) and not mask.uniform:
        return Register(mask.index)
    return mask if isinstance(mask, Immediate) else None


COLLECTIVE: dict[str, Opcode] = {
    "WARPSYNC": row(warpsync, "ALL EXCLUSIVE COLLECTIVE", pipe=NO_PIPE, flow=ControlFlow()),
    "ENDCOLLECTIVE": row(end_collective, flow=ControlFlow(leaves=always)),
    "MATCH": row(match, "ANY ALL U64", gathers=True, pipe={PLAIN: MATCH, "U64": MATCH_64}),
    "CREDUX": row(reduce_lanes, "MIN MAX S32", gathers=True, pipe=REDUCTION),
    "REDUX": row(reduce_lanes, "SUM MIN MAX AND OR XOR S32", gathers=True, pipe=REDUCTION),
    "ELECT": row(elect),
}
