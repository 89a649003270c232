"""Control flow: branches, calls, convergence barriers, exit, fences. Branches, BSYNC and EXIT end
their basic block.

In the converged step all live lanes are on one path, so BSYNC does not wait. A branch that splits
them continues with diverged steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.collective import branch_if_apart, store_lanes
from grader.emulator.codegen.opcodes.intrinsics import (
    end_launch,
    not_emulated,
    release_paths,
    split_lanes,
    sync_lanes,
    trace_value,
)
from grader.emulator.codegen.opcodes.load_store import lane_addresses, slot_pointer
from grader.emulator.codegen.opcodes.row import PLAIN, Opcode, row
from grader.emulator.codegen.tools import I1, I32, I64, Record, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow, always
from grader.emulator.isa.operands import Address, Immediate, Predicate, Register, Special
from grader.emulator.layouts.execution import (
    SLOT,
    WAIT_APART,
    WAIT_NONE,
    WARP_LANES,
    FaultCode,
    JumpTable,
    Repeat,
)
from grader.emulator.timing import pipes

JUMPS, RETURNS = JumpTable.JUMPS, JumpTable.RETURNS
_BARRIERS = tuple(f"B{number}" for number in range(16))


def branch(e: Emitter, i: Decoded) -> None:
    """`BRA` in all its forms."""
    (branch_if_apart if i.has("DIV") or i.has("CONV") else bra)(e, i)


def bra(e: Emitter, i: Decoded) -> None:
    """Branches with the lanes whose guard and extra predicates are true; the others continue. The
    side with fewer lanes runs first. `.ANY`: all lanes branch if any condition is true; `.U`: if
    all conditions are true (ptxas repeats the branch behind a BSSY for warps that fall
    through)."""
    taken = _lanes_where(e, i.operands[:-1])
    if i.has("ANY"):
        taken = e.b.select(e.some(taken), e.mask, const(0))
    elif i.has("U"):
        taken = e.b.select(e.b.icmp_unsigned("==", taken, e.mask), e.mask, const(0))
    target = e.target
    if i.guard is None and len(i.operands) == 1:
        e.go_to(target)
        return
    following = e.following
    split = e.new_block("split")
    e.branch_if(e.b.icmp_unsigned("==", taken, e.mask), target)
    e.branch_if(e.none(taken), following, split)
    rest = e.b.and_(e.mask, e.b.not_(taken))
    blocks = (target.block, following.block)
    jumps_first = e.b.icmp_unsigned("<", e.b.ctpop(taken), e.b.ctpop(rest))
    mask, pc = e.b.select(jumps_first, taken, rest), e.b.select(jumps_first, *blocks)
    later_mask = e.b.select(jumps_first, rest, taken)
    later_pc = e.b.select(jumps_first, *reversed(blocks))
    e.push_path(later_mask, later_pc, const(WAIT_NONE))
    e.warp.store("mask", mask)
    if e.converged:
        e.warp.store("pc", pc)
        e.dispatch()
    else:
        e.branch_if(jumps_first, target)
        e.go_to(following)


def ret(e: Emitter, i: Decoded) -> None:
    """Returns to the offset in a register pair, which must be the instruction after a call."""
    if len(i.operands) != 2:
        raise e.unsupported("with these operands")
    go_to_computed(e, i, i.operands[0], RETURNS)


def brx(e: Emitter, i: Decoded) -> None:
    """Branches by a jump table: to the next instruction's address plus a register pair plus a
    literal that cancels that address."""
    target, literal = i.operands
    if not isinstance(literal, Immediate):
        raise e.unsupported("with this target")
    behind = e.b.add(e.i32(literal), e.splat(e.data("next offset")))
    go_to_computed(e, i, target, JUMPS, behind)


def go_to_computed(
    e: Emitter, i: Decoded, target: object, table: int, behind: Value | None = None
) -> None:
    """Branches to the blocks at the lanes' offsets plus `behind`. Creates a path per target; each
    path executes the jump. The targets must be in a table of the kernel."""
    if not isinstance(target, Register):
        raise e.unsupported("with these operands")
    offsets = e.i32(target) if behind is None else e.b.add(e.i32(target), behind)
    e.put("lane_addresses", offsets)
    remaining = e.stack_word(e.lane_mask())
    if i.guard is not None:  # the others continue at the next instruction
        rest = e.b.and_(e.mask, e.b.not_(e.lane_mask()))
        with e.b.if_then(e.some(rest)):
            e.push_path(rest, e.following.block, const(WAIT_NONE))
    nowhere = e.new_block("nowhere")

    def find_block(offset: Value) -> Value:
        block = e.call("find_block", e.context_pointer, offset, const(table), result=I32)
        known = e.new_block("known")
        e.b.cbranch(e.b.icmp_unsigned("==", block, const(-1)), nowhere, known)
        e.b.position_at_end(known)
        return block

    split_lanes(e, offsets, remaining, find_block, WAIT_APART)
    e.switch_path()
    e.b.position_at_end(nowhere)
    not_emulated(e, i)


def _lanes_where(e: Emitter, predicates: Sequence[object]) -> Value:
    """Mask of the path's lanes whose guard and predicates are all true."""
    lanes = e.lane_mask()
    for predicate in predicates:
        if not isinstance(predicate, Predicate):
            raise e.unsupported("with this operand")
        lanes = e.b.and_(lanes, e.mask_of(e.predicate(predicate)))
    return lanes


def exit_lanes(e: Emitter, i: Decoded) -> None:
    """Ends the lanes whose guard and extra predicates are true; convergence barriers no longer wait
    for them."""
    leaving = _lanes_where(e, i.operands)
    staying = e.b.and_(e.mask, e.b.not_(leaving))
    e.warp.store("live", e.b.and_(e.warp.load("live"), e.b.not_(leaving)))
    e.warp.store("mask", staying)
    if not e.converged:
        release_paths(e, const(Repeat.AS_OTHERS_LEFT))
    if i.guard is None and _leaves(i):
        e.next_path()
        return
    none_left = e.new_block("all_exit")
    some_left = e.new_block("some_stay")
    e.b.cbranch(e.none(staying), none_left, some_left)
    e.b.position_at_end(none_left)
    e.next_path()
    e.b.position_at_end(some_left)
    e.go_to(e.following)


def bssy(e: Emitter, i: Decoded) -> None:
    """Registers the path's lanes as the participants of this convergence barrier."""
    _unguarded(e, i)
    barrier = _barrier(e, i.operands[0])
    address = e.warp.at("participants", barrier * WARP_LANES)
    together = e.splat(e.mask)
    if e.converged:
        e.b.store(together, address, align=4)
    else:
        store_lanes(e, address, together)
    known = e.warp.load("restored", barrier)
    e.warp.store("restored", e.b.and_(known, e.b.not_(e.mask)), barrier)


def bsync(e: Emitter, i: Decoded) -> None:
    """Waits for the barrier's live lanes, which then continue as one path. They execute BSYNC again
    if BMOV restored the barrier (observed on an H100)."""
    _unguarded(e, i)
    barrier = _barrier(e, i.operands[0])
    restored = e.b.and_(e.warp.load("restored", barrier), e.mask)
    again = e.some(restored)
    if e.converged:
        with e.b.if_then(again, likely=False):
            e.call("repeat_block_end", e.context_pointer, e.data("block"))
        return
    e.push_path(e.mask, e.following.block, const(barrier))
    release_paths(e, e.b.select(again, const(Repeat.ALWAYS), const(Repeat.NEVER)))
    e.next_path()


def break_barrier(e: Emitter, i: Decoded) -> None:
    """Removes the lanes from the participants of a convergence barrier."""
    (barrier,) = (_barrier(e, operand) for operand in i.operands if isinstance(operand, Special))
    leaving = _lanes_where(e, [each for each in i.operands if not isinstance(each, Special)])
    address = e.warp.at("participants", barrier * WARP_LANES)
    together = e.load_lanes(address)
    e.b.store(e.b.and_(together, e.splat(e.b.not_(leaving))), address, align=4)
    if not e.converged:
        release_paths(e, const(Repeat.AS_OTHERS_LEFT))


def move_barrier(e: Emitter, i: Decoded) -> None:
    """Saves the participants of a convergence barrier in a register (`.CLEAR` then empties it), or
    restores them."""
    _unguarded(e, i)
    target, source = i.operands
    if isinstance(target, Register):
        address = e.warp.at("participants", _barrier(e, source) * WARP_LANES)
        together = e.load_lanes(address)
        e.set(target, together)
        if i.has("CLEAR"):
            e.b.store(e.b.select(e.active, e.const(0), together), address, align=4)
        return
    barrier = _barrier(e, target)
    store_lanes(e, e.warp.at("participants", barrier * WARP_LANES), e.i32(source))
    known = e.warp.load("restored", barrier)
    e.warp.store("restored", e.b.or_(known, e.mask), barrier)


def trap(e: Emitter, i: Decoded) -> None:
    """`__trap()`: the launch ends with a fault if any lane executes it."""
    end_launch(e, FaultCode.TRAP)


def fence(e: Emitter, i: Decoded) -> None:
    """Orders nothing, because accesses take effect at once here; a system-wide fence is counted,
    and the checked mode records all fences."""
    if i.has("SYS"):
        someone = e.some(e.lane_mask())
        Record(e.b, slot_pointer(e, "global"), SLOT).add("requests_total", e.b.zext(someone, I64))
    with e.if_checked():
        e.call("fence", e.context_pointer, const(not i.has("CTA")))


def cache_control(e: Emitter, i: Decoded) -> None:
    """Changes no result; prefetches and other requests for an address are traced."""
    for place in (each for each in i.operands if isinstance(each, Address)):
        base = place.register and replace(place.register, suffix=place.register.suffix or "64")
        low, high = lane_addresses(e, replace(place, register=base, wide=True))
        e.put("lane_addresses", low)
        e.put("lane_uppers", high)
        e.call("trace_prefetch", e.context_pointer, e.warp_pointer, e.index, e.lane_mask())


def sleep(e: Emitter, i: Decoded) -> None:
    """Orders nothing. The clock and the trace of the warp get the shortest of the lanes' times.
    `.SYNCS` waits for a barrier object, at most for this time."""
    if i.operands and not i.has("SYNCS"):
        trace_value(e, e.i32(i.operands[-1]), function="sleep")


def no_operation(e: Emitter, i: Decoded) -> None:
    """Counts as an instruction without effect."""


def nop(e: Emitter, i: Decoded) -> None:
    """Counts as an instruction. ptxas replaces a `__syncwarp()` of converged lanes by it, so the
    checked mode records a synchronisation."""
    sync_lanes(e)


def _unguarded(e: Emitter, i: Decoded) -> None:
    if i.guard is not None:
        raise e.unsupported("with a guard")


def _barrier(e: Emitter, operand: object) -> int:
    if not isinstance(operand, Special) or operand.name not in _BARRIERS:
        raise e.unsupported("with this barrier")
    return _BARRIERS.index(operand.name)


def _leaves(i: Decoded) -> bool:
    """Whether EXIT ends all lanes with a true guard."""
    return not i.operands


def _always_taken(i: Decoded) -> bool:
    """Whether a branch without a guard always branches."""
    return len(i.operands) == 1 and not i.has("DIV") and not i.has("CONV")


_RETURN_ADDRESS = Register(20)
"""The register pair with the return address of a system function."""


def call(e: Emitter, i: Decoded) -> None:
    """`CALL.REL` of a function in the kernel's code, by its offset or by a register; `CALL.ABS` of
    a system function."""
    if i.has("ABS"):
        call_system(e, i)
    elif _by_pointer(i):
        go_to_computed(e, i, i.operands[0], JUMPS)
    else:
        bra(e, i)


def _by_pointer(i: Decoded) -> bool:
    """Whether it calls a function of the kernel through a register."""
    return bool(i.operands) and isinstance(i.operands[0], Register) and not i.has("ABS")


def call_system(e: Emitter, i: Decoded) -> None:
    """Calls a system function for the lanes of the path. All lanes must call the same function and
    return to the next instruction."""
    (target,) = i.operands
    if i.guard is not None or not isinstance(target, Register | Immediate):
        raise e.unsupported("with these operands")
    addresses = e.integer64(target)
    address = e.b.extract_element(addresses, e.b.cttz(e.mask, const(1, I1)))
    returns = e.b.icmp_unsigned(
        "!=", e.i64(_RETURN_ADDRESS), e.splat(e.b.zext(e.data("next offset"), I64))
    )
    others = e.b.or_(returns, e.b.icmp_unsigned("!=", addresses, e.splat(address)))
    others = e.b.and_(e.mask, e.mask_of(others))
    together, apart, failed = (e.new_block(name) for name in ("together", "several", "failed"))
    e.b.cbranch(e.none(others), together, apart)
    e.b.position_at_end(apart)
    not_emulated(e, i)
    e.b.position_at_end(together)
    e.context.store("call_target", address)
    trace_value(e, e.splat(e.b.trunc(address, I32)))
    code = e.call("call_system", e.context_pointer, e.warp_pointer, e.mask, result=I32)
    e.branch_if(e.none(code), e.following, failed)
    e.context.store("fault_instruction", e.index)
    e.b.ret(code)


def load_address(e: Emitter, i: Decoded) -> None:
    """d = the address of an instruction, by default of this one: its offset in the code."""
    target, *place = i.operands
    if len(place) > 1 or not all(isinstance(operand, Immediate) for operand in place):
        raise e.unsupported("with these operands")
    here = e.splat(e.b.zext(e.data("code offset"), I64))
    e.set64(target, e.i64(place[0]) if place else here)


CALLS: dict[str, Opcode] = {
    "CALL": row(
        call,
        "REL ABS NOINC",
        pipe={PLAIN: pipes.CALL, "ABS": pipes.SYSTEM_CALL},
        flow=ControlFlow(indirect=_by_pointer),
    ),
    "LEPC": row(load_address),
}


_WHY = "RECONVERGENT RELIABLE"
"""Reason for the wait at a convergence barrier, from sm_100 on; no effect here."""

CONTROL: dict[str, Opcode] = {
    "BRA": row(branch, "DIV CONV U ANY", pipe=pipes.JUMP, flow=ControlFlow(leaves=_always_taken)),
    "RET": row(ret, "REL NODEC", pipe=pipes.CALL, flow=ControlFlow(leaves=always)),
    "BRX": row(brx, pipe=pipes.INDIRECT, flow=ControlFlow(leaves=always, indirect=always)),
    "EXIT": row(exit_lanes, pipe=pipes.NO_PIPE, flow=ControlFlow(leaves=_leaves)),
    "BSSY": row(bssy, _WHY, pipe=pipes.NO_PIPE, flow=ControlFlow(ends_block=False)),
    "BSYNC": row(bsync, _WHY, pipe=pipes.JOIN, flow=ControlFlow()),
    "BREAK": row(break_barrier, _WHY),
    "BMOV": row(move_barrier, "32 CLEAR"),
    "MEMBAR": row(
        fence,
        "SC ALL CTA SM GPU SYS VC",
        pipe={
            PLAIN: pipes.FENCE_GPU,
            "CTA": pipes.FENCE_BLOCK,
            "SM": pipes.FENCE_BLOCK,
            "SYS": pipes.FENCE_SYSTEM,
        },
        ordered=lambda i: not i.has("CTA"),
    ),
    "ERRBAR": row(no_operation, pipe=pipes.NO_PIPE),
    "CGAERRBAR": row(no_operation),
    "FENCE": row(no_operation, "VIEW ASYNC S G", pipe=pipes.NO_PIPE),
    "CCTL": row(
        cache_control,
        "IVALL IV E PF1 PF2 PML2 DML2 RML2",
        pipe={PLAIN: pipes.PREFETCH, "IVALL": pipes.INVALIDATE, "IV": pipes.INVALIDATE},
    ),
    "CCTLL": row(no_operation, "PF1 PF2", pipe=pipes.QUEUED),
    "ACQBULK": row(no_operation, pipe=pipes.NO_PIPE),  # kernels do not overlap here
    "PREEXIT": row(no_operation, pipe=pipes.LAUNCH_NEXT),
    "PMTRIG": row(no_operation, pipe=pipes.NO_PIPE),
    "NANOSLEEP": row(sleep, "WARP SYNCS", pipe={PLAIN: pipes.SLEEP, "SYNCS": pipes.NO_PIPE}),
    "BPT": row(trap, "TRAP"),
    "NOP": row(nop, pipe=pipes.NO_PIPE),
    "YIELD": row(no_operation, pipe=pipes.NO_PIPE),
}
