"""What an asynchronous copy adds to the counters: the step itself where a warp's copy is like the
last one with its target's pattern, and the runtime where it is not (runtime/copies.cpp)."""

from __future__ import annotations

from typing import TypeGuard

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.layout import COPY, FULL_MASK, PATTERN, SLOT, CopyForm
from grader.emulator.native.tools import Record, Value, const
from grader.emulator.opcodes.known_access import add_cost
from grader.emulator.opcodes.load_store import slot_pointer
from grader.emulator.operands import Predicate

_LINE_BYTES = 128


def copy_form(i: Decoded) -> int:
    """CopyForm bits of an instruction."""
    form = CopyForm.FILLS * i.has("ZFILL")
    if not i.has("BYPASS"):
        return form
    form |= CopyForm.PAST_L1
    operand = i.operands[-1]
    if _is_first(i.guard):
        form |= CopyForm.GUARD_IS_P0 | CopyForm.GUARD_NEGATED * i.guard.negated
    if _is_first(operand):
        form |= CopyForm.OPERAND_IS_P0 | CopyForm.OPERAND_NEGATED * operand.negated
    return form


def _is_first(operand: object) -> TypeGuard[Predicate]:
    return isinstance(operand, Predicate) and operand.index == 0 and not operand.uniform


def count_copy(e: Emitter, i: Decoded, source: Value, target: Value, reading: Value) -> None:
    """Count a copy whose accesses are done, by the lower words of all lanes' addresses. `reading`
    are the lanes that the operand lets read."""
    slots = [Record(e.b, slot_pointer(e, space), SLOT) for space in ("global", "shared")]
    current = [slot.load("current") for slot in slots]
    copy = Record(e.b, slots[1].at("copies", current[1]), COPY)
    key = {
        field: Record(e.b, slot.at("patterns", index), PATTERN).load("serial")
        for field, slot, index in zip(("source", "target"), slots, current, strict=True)
    }
    if i.has("BYPASS"):
        key["bases"] = _bases(e, source, target)
    lanes = e.lane_mask()
    whole = e.b.icmp_unsigned("==", e.b.and_(lanes, reading), const(FULL_MASK))
    known = whole
    for field, value in key.items():
        known = e.b.and_(known, e.b.icmp_unsigned("==", copy.load(field), value))
    with e.b.if_then(e.b.not_(known), likely=False):
        e.b.store(target, e.context.at("lane_addresses"), align=4)
        e.b.store(source, e.context.at("lane_uppers"), align=4)
        facts = (e.mask, lanes, reading, e.data("copy form"), const(i.access_bytes))
        e.call("find_copy_cost", e.context_pointer, copy.pointer, *facts)
        for field, value in key.items():
            copy.store(field, value)
        with e.b.if_then(e.b.not_(whole)):
            copy.store("source", 0)
    for slot, field in zip(slots, ("global_cost", "shared_cost"), strict=True):
        add_cost(e, slot, copy.at(field))


def _bases(e: Emitter, source: Value, target: Value) -> Value:
    """Where in their lines the first lane's addresses lie: on that it depends which sectors go past
    the L1 together."""
    within = const(_LINE_BYTES - 1)
    low, high = (e.b.and_(e.b.extract_element(each, const(0)), within) for each in (source, target))
    return e.b.or_(low, e.b.shl(high, const(16)))
