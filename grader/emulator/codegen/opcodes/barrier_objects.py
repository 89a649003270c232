"""Barrier objects in shared memory (PTX ISA, `mbarrier`): threads and asynchronous copies arrive,
threads wait for the end of a phase. cpp/warps/barrier_objects.cpp defines the object's 64 bits.
"""

from __future__ import annotations

from collections.abc import Callable

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.load_store import lane_addresses, lane_data, set_lane_data
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import ControlFlow
from grader.emulator.isa.operands import ZERO_REGISTER, Operand, Predicate, Register
from grader.emulator.layouts.forms import ArrivalForm
from grader.emulator.timing.pipes import BARRIER_OBJECT

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
    _call(e, address, "set_up_barrier")


def _arrive(e: Emitter, i: Decoded) -> None:
    target, address, source = i.operands
    if not isinstance(target, Register):
        raise e.unsupported("with this destination")
    form = next((_AMOUNTS[name] for name in i.modifiers if name in _AMOUNTS), _AMOUNTS["A1TR"])
    form |= ArrivalForm.LEAVES * i.has("OPTOUT")
    set_lane_data(e, [e.i32(source)])
    _call(e, address, "arrive", const(form))
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
    _call(e, address, "check_phases")
    over = e.context.load("lane_data", 0)
    e.set_predicate(truth, e.lanes_of(over))
    e.registers.write_back()
    missing = e.b.and_(e.lane_mask(), e.b.not_(over))
    waiting = e.new_block("waiting")
    e.branch_if(e.none(missing), e.following, waiting)
    e.b.position_at_end(waiting)
    place = e.registers.place_of_predicate(truth.index)
    tries = const(i.has("TRYWAIT"))
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
    _call(e, address, "invalidate_barrier")


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
    _call(e, address, "arrive", const(form | ArrivalForm.ONE | ArrivalForm.BEHIND_COPIES))


def _call(e: Emitter, address: Operand, name: str, *facts: Value) -> None:
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
        pipe=BARRIER_OBJECT,
        flow=ControlFlow(),
    ),
    "ARRIVES": row(arrive_with_copies, "LDGSTSBAR 64 ARVCNT TRANSCNT", pipe=BARRIER_OBJECT),
}
