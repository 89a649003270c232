"""Barriers of a block: `__syncthreads()`, and numbered barriers with a thread count."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.intrinsics import not_emulated, skip_together
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import I1, I32, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow, always
from grader.emulator.isa.operands import Immediate, Operand, Predicate, Register
from grader.emulator.layouts.blocks import BLOCK_VOTE, NAMED_BARRIERS
from grader.emulator.layouts.execution import (
    FULL_MASK,
    WAIT_BLOCK,
    WAIT_CLUSTER,
    WAIT_NAMED,
    WARP_LANES,
    FaultCode,
)
from grader.emulator.layouts.forms import VoteMode
from grader.emulator.timing.pipes import BARRIER, BARRIER_OBJECT


def bar(e: Emitter, i: Decoded) -> None:
    """`BAR.SYNC` waits, `BAR.RED` also combines a predicate, `BAR.ARV` arrives without waiting."""
    place = [operand for operand in i.operands if not isinstance(operand, Predicate)]
    # Before any branch, because register values stay cached for the rest of the basic block.
    votes = [
        e.mask_of(e.predicate(operand)) for operand in i.operands if isinstance(operand, Predicate)
    ]
    if i.guard is not None:
        _come_or_fault(e, i)
    if all(isinstance(operand, Immediate) for operand in place):
        number, *count = (operand.integer() for operand in place if isinstance(operand, Immediate))
        if number >= NAMED_BARRIERS:
            raise e.unsupported(f"of barrier {number}")
        if number == 0 and not count and not i.has("ARV"):
            _wait_for_all(e, i, votes)
        else:
            wait_for_threads(e, i, const(number), const(count[0] if count else 0), votes)
    else:
        _in_registers(e, i, place, votes)


def _wait_for_all(e: Emitter, i: Decoded, votes: list[Value]) -> None:
    """`__syncthreads()`: the path waits until all live threads of the block have arrived."""
    if i.has("SYNC") == i.has("RED") or len(votes) != i.has("RED"):
        raise e.unsupported("with these operands")
    for vote in votes:
        _gather_vote(e, i, vote, const(BLOCK_VOTE))
    e.warp.store("at_barrier", e.b.or_(e.warp.load("at_barrier"), e.mask))
    e.warp.store("barrier_instruction", e.index)
    if e.converged:
        e.warp.store("pc", e.following.block)
        e.b.ret(const(FaultCode.NONE))
        return
    e.push_path(e.mask, e.following.block, const(WAIT_BLOCK))
    e.next_path()


def _in_registers(e: Emitter, i: Decoded, place: Sequence[Operand], votes: list[Value]) -> None:
    """A barrier's number and count; either may be in a register. A register that is named twice
    holds both, in bits 0 to 3 and 16 to 27. Number 0 without a count is `__syncthreads()`."""
    if not all(isinstance(operand, Register | Immediate) for operand in place):
        raise e.unsupported("with these operands")
    agreed, apart, named, every = (
        e.new_block(name) for name in ("agreed", "several", "named", "every")
    )
    packed = len(place) == 2 and all(isinstance(operand, Register) for operand in place)
    if packed:
        e.require("one register")
    words = [_word_of_path(e, operand) for operand in place[: 1 if packed else 2]]
    same = reduce(e.b.and_, (alike for _, alike in words))
    e.b.cbranch(same, agreed, apart)
    e.b.position_at_end(apart)
    not_emulated(e, i)
    e.b.position_at_end(agreed)
    number = e.b.and_(words[0][0], const(NAMED_BARRIERS - 1))
    count: Value = const(0)
    if packed:
        count = e.b.lshr(words[0][0], const(16))
    elif len(words) == 2:
        count = words[1][0]
    count = e.b.and_(count, const(0xFFF))
    e.b.cbranch(e.none(e.b.or_(number, count)), every, named)
    e.b.position_at_end(every)
    if i.has("ARV"):  # it needs a count of threads
        not_emulated(e, i)
    else:
        _wait_for_all(e, i, votes)
    e.b.position_at_end(named)
    wait_for_threads(e, i, number, count, votes)


def _word_of_path(e: Emitter, operand: Operand) -> tuple[Value, Value]:
    """The operand's value in the path's first lane, and whether it is equal in all lanes."""
    words = e.i32(operand)
    word = e.b.extract_element(words, e.b.cttz(e.mask, const(1, I1)))
    others = e.b.and_(e.mask, e.mask_of(e.b.icmp_unsigned("!=", words, e.splat(word))))
    return word, e.none(others)


def wait_for_threads(
    e: Emitter, i: Decoded, number: Value, count: Value, votes: Sequence[Value] = ()
) -> None:
    """A barrier with a count: a warp that arrives counts as 32 threads (PTX ISA, `barrier`); in a
    diverged warp each lane counts as a thread."""
    arrived: Value = const(WARP_LANES)
    if not e.converged:
        whole, part = e.new_block("whole"), e.new_block("part")
        there = e.mask if votes else e.warp.load("live")  # votes have a result per warp
        e.b.cbranch(e.b.icmp_unsigned("==", there, const(FULL_MASK)), whole, part)
        e.b.position_at_end(part)
        not_emulated(e, i)
        e.b.position_at_end(whole)
        arrived = e.b.ctpop(e.mask)
    for vote in votes:
        _gather_vote(e, i, vote, number)
    e.context.add("named_arrived", arrived, number)
    e.context.store("named_expected", count, number)
    if i.has("ARV"):
        e.go_to(e.following)
        return
    e.warp.store("at_named", e.b.or_(e.warp.load("at_named"), e.mask))
    e.warp.store("barrier_instruction", e.index)
    e.push_path(e.mask, e.following.block, e.b.add(number, const(WAIT_NAMED)))
    e.switch_path()


def _come_or_fault(e: Emitter, i: Decoded) -> None:
    """A guarded barrier, which a path skips as a whole; a fault if only some lanes reach it."""
    coming = e.lane_mask()
    waiting = skip_together(e, coming)
    e.context.store("fault_code", FaultCode.BARRIER)
    e.context.store("fault_instruction", e.index)
    missing = e.b.xor(coming, e.mask)
    e.context.store("fault_mask", missing)
    e.context.store("fault_lane", e.b.cttz(missing, const(0, I1)))
    e.context.store("fault_other", e.following.block)
    e.b.ret(const(FaultCode.BARRIER))
    e.b.position_at_end(waiting)


def _gather_vote(e: Emitter, i: Decoded, vote: Value, barrier: Value) -> None:
    e.context.store("vote_mode", VoteMode.ALL if i.has("AND") else VoteMode.ANY, barrier)
    yes = e.b.and_(vote, e.mask)
    e.context.store("vote_any", e.b.or_(e.context.load("vote_any", barrier), yes), barrier)
    e.context.store(
        "vote_missing",
        e.b.or_(e.context.load("vote_missing", barrier), e.b.xor(yes, e.mask)),
        barrier,
    )
    e.context.add("vote_count", e.b.ctpop(yes), barrier)


def arrive_at_cluster(e: Emitter, i: Decoded) -> None:
    """Arrives at the barrier of the thread-block cluster."""
    _alone(e, i)
    e.warp.add("cluster_arrivals", const(1))


def wait_for_cluster(e: Emitter, i: Decoded) -> None:
    """Waits until all live warps of the thread-block cluster have arrived at its barrier."""
    _alone(e, i)
    missing = e.call("is_cluster_missing", e.context_pointer, e.warp_pointer, result=I32)
    waiting = e.new_block("waiting")
    e.branch_if(e.none(missing), e.following, waiting)
    e.b.position_at_end(waiting)
    e.push_path(e.mask, e.following.block, const(WAIT_CLUSTER))
    e.switch_path()


def _alone(e: Emitter, i: Decoded) -> None:
    """Refuses a diverged warp: the emulator does not know when it has arrived."""
    if i.guard is not None:
        raise e.unsupported("with a guard")
    if not e.converged:
        not_emulated(e, i)
        e.b.position_at_end(e.new_block("never"))


BARRIERS: dict[str, Opcode] = {
    "UCGABAR_ARV": row(arrive_at_cluster, pipe=BARRIER_OBJECT, ordered=always),
    "UCGABAR_WAIT": row(wait_for_cluster, pipe=BARRIER_OBJECT, flow=ControlFlow(), ordered=always),
    "BAR": row(bar, "SYNC RED ARV AND OR POPC DEFER_BLOCKING", pipe=BARRIER, flow=ControlFlow()),
}
