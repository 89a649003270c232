"""Barriers of a block: `__syncthreads()`, and numbered barriers with a thread count.

Also barrier objects in shared memory (PTX ISA, `mbarrier`): threads and asynchronous copies arrive,
threads wait for the end of a phase. cpp/warps/barrier_objects.cpp defines the object's 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.intrinsics import not_emulated, skip_together
from grader.emulator.codegen.opcodes.load_store import lane_addresses, lane_data, set_lane_data
from grader.emulator.codegen.opcodes.row import PLAIN, Opcode, row
from grader.emulator.codegen.tools import I1, I32, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow, always
from grader.emulator.isa.operands import ZERO_REGISTER, Immediate, Operand, Predicate, Register
from grader.emulator.layouts.blocks import BLOCK_VOTE, NAMED_BARRIERS
from grader.emulator.layouts.execution import (
    FULL_MASK,
    WAIT_BLOCK,
    WAIT_CLUSTER,
    WAIT_NAMED,
    WARP_LANES,
    FaultCode,
)
from grader.emulator.layouts.forms import ArrivalForm, VoteMode
from grader.emulator.timing.pipes import (
    BARRIER,
    BARRIER_OBJECT,
    CLUSTER_ARRIVAL,
    CLUSTER_BARRIER,
    PHASE,
)


def bar(e: Emitter, i: Decoded) -> None:
    """`BAR.SYNC` waits, `BAR.RED` also combines a predicate, `BAR.ARV` arrives without waiting."""
    place = [operand for operand in i.operands if not isinstance(operand, Predicate)]
    # Before any branch, because register values stay cached for the rest of the basic block.
    predicates = (each for each in i.operands if isinstance(each, Predicate))
    votes = [e.mask_of(e.predicate(each)) for each in predicates]
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
    missing = e.b.or_(e.context.load("vote_missing", barrier), e.b.xor(yes, e.mask))
    e.context.store("vote_missing", missing, barrier)
    e.context.add("vote_count", e.b.ctpop(yes), barrier)


def arrive_at_cluster(e: Emitter, i: Decoded) -> None:
    """Arrives at the barrier of the thread-block cluster."""
    _alone(e, i)
    e.warp.add("cluster_arrivals", const(1))


def wait_for_cluster(e: Emitter, i: Decoded) -> None:
    """Waits until all live warps of the thread-block cluster have arrived at its barrier."""
    _alone(e, i)
    missing = e.call("is_cluster_missing", e.context_pointer, e.warp_pointer, result=I32)
    e.branch_if(e.none(missing), e.following)
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
    "UCGABAR_ARV": row(arrive_at_cluster, pipe=CLUSTER_ARRIVAL, ordered=always),
    "UCGABAR_WAIT": row(wait_for_cluster, pipe=CLUSTER_BARRIER, flow=ControlFlow(), ordered=always),
    "BAR": row(bar, "SYNC RED ARV AND OR POPC DEFER_BLOCKING", pipe=BARRIER, flow=ControlFlow()),
}


_AMOUNTS: dict[str, int] = {
    "A1TR": ArrivalForm.ARRIVES | ArrivalForm.EXPECTS,
    "A1T0": ArrivalForm.ARRIVES,
    "ART0": ArrivalForm.ARRIVES | ArrivalForm.COUNTED,
    "A0TR": ArrivalForm.EXPECTS,
    "A0TX": ArrivalForm.COMPLETES,
    "A0T1": ArrivalForm.EXPECTS | ArrivalForm.ONE,
}
"""Amounts of an arrival: A for threads, T for pending bytes or copies; each is 0, 1, or in a
register (R, X). nvdisasm omits the first form."""


def synchronise(e: Emitter, i: Decoded) -> None:
    """An operation on a barrier object (`mbarrier`): EXCH initialises it, ARRIVE counts threads and
    bytes, PHASECHK tests whether a phase has ended.

    PHASECHK.TRYWAIT waits for that; it is false only if no other thread can continue.
    """
    form = next((name for name in _FORMS if i.has(name)), None)
    if form is None:
        raise e.unsupported()
    _FORMS[form](e, i)
    if not e.b.block.is_terminated:
        e.registers.write_back()
        e.go_to(e.following)


def _exchange(e: Emitter, i: Decoded) -> None:
    target, address, source = i.operands
    if target != Register(ZERO_REGISTER, uniform=True):
        raise e.unsupported("with this destination")
    set_lane_data(e, [e.lanes_i32(source), e.lanes_i32(e.upper(source))])
    _call_with_addresses(e, address, "set_up_barrier")


def _arrive(e: Emitter, i: Decoded) -> None:
    target, address, source = i.operands
    if not isinstance(target, Register):
        raise e.unsupported("with this destination")
    form = next((_AMOUNTS[name] for name in i.modifiers if name in _AMOUNTS), _AMOUNTS["A1TR"])
    form |= ArrivalForm.LEAVES * i.has("OPTOUT")
    set_lane_data(e, [e.i32(source)])
    _call_with_addresses(e, address, "arrive", const(form))
    if target.is_zero:
        return
    before, together = lane_data(e, 2)
    e.set(e.upper(target), before)
    if i.has("TMASK"):  # otherwise the lower word is unchanged (observed on an H200)
        e.set(target, together)


def _check_phase(e: Emitter, i: Decoded) -> None:
    truth, address, phase = i.operands
    if not isinstance(truth, Predicate):
        raise e.unsupported("with this destination")
    set_lane_data(e, [e.i32(phase)])
    tries = const(i.has("TRYWAIT"))
    _call_with_addresses(e, address, "check_phases", tries)
    over = e.context.load("lane_data", 0)
    e.set_predicate(truth, e.lanes_of(over))
    e.registers.write_back()
    missing = e.b.and_(e.lane_mask(), e.b.not_(over))
    e.branch_if(e.none(missing), e.following)
    place = e.registers.place_of_predicate(truth.index)
    facts = (missing, e.following.block, place, tries)
    e.call("wait_for_phases", e.context_pointer, e.warp_pointer, *facts)
    e.switch_path()


def _invalidate(e: Emitter, i: Decoded) -> None:
    """`.IVALL` follows stores that initialise objects (sm_100 and later); no effect here."""
    if i.has("IVALL") and not i.operands:
        return
    (address,) = i.operands
    if not i.has("IV"):
        raise e.unsupported()
    _call_with_addresses(e, address, "invalidate_barrier")


_FORMS: dict[str, Callable[[Emitter, Decoded], None]] = {
    "EXCH": _exchange,
    "ARRIVE": _arrive,
    "PHASECHK": _check_phase,
    "CCTL": _invalidate,
}


def arrive_with_copies(e: Emitter, i: Decoded) -> None:
    """Arrives at a barrier object after the thread's earlier asynchronous copies, at the latest
    when a thread waits for the phase."""
    (address,) = i.operands
    form = ArrivalForm.COMPLETES if i.has("TRANSCNT") else ArrivalForm.ARRIVES
    _call_with_addresses(
        e, address, "arrive", const(form | ArrivalForm.ONE | ArrivalForm.BEHIND_COPIES)
    )


def _call_with_addresses(e: Emitter, address: Operand, name: str, *facts: Value) -> None:
    """Calls a function of the runtime with the addresses of all lanes."""
    low, _ = lane_addresses(e, address)
    e.put("lane_addresses", low)
    arguments = (e.context_pointer, e.warp_pointer, e.index, e.lane_mask(), *facts)
    e.try_call(name, *arguments)


BARRIER_OBJECTS: dict[str, Opcode] = {
    "SYNCS": row(
        synchronise,
        "ARRIVE PHASECHK EXCH CCTL IV IVALL TRANS64 TRYWAIT TMASK RED OPTOUT 64"
        " A1TR A1T0 ART0 A0TR A0TX A0T1",
        pipe={PLAIN: BARRIER_OBJECT, "PHASECHK": PHASE},
        flow=ControlFlow(),
    ),
    "ARRIVES": row(arrive_with_copies, "LDGSTSBAR 64 ARVCNT TRANSCNT", pipe=BARRIER_OBJECT),
}
