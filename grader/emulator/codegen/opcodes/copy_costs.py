"""Costs of asynchronous copies. A step adds them itself if a warp's copy equals the last copy with
the same target pattern; otherwise the runtime computes them (cpp/memory/copies.cpp)."""

from __future__ import annotations

from typing import TypeGuard

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.known_access import add_cost
from grader.emulator.codegen.opcodes.load_store import slot_pointer
from grader.emulator.codegen.tools import I64, Record, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Predicate
from grader.emulator.layouts.execution import COPY, FULL_MASK, PATTERN, SECTOR_BYTES, SLOT
from grader.emulator.layouts.forms import CopyForm

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
    """Counts a copy after its accesses, from the lower words of all lanes' addresses. `reading`:
    mask of the lanes that the predicate operand allows to read."""
    slots = [Record(e.b, slot_pointer(e, space), SLOT) for space in ("global", "shared")]
    source_pattern, target_pattern = (
        Record(e.b, slot.at("patterns", slot.load("current")), PATTERN) for slot in slots
    )
    copy = Record(e.b, target_pattern.at("copy"), COPY)
    serial = source_pattern.load("serial")
    bases = _bases(e, i, source, target)
    lanes = e.lane_mask()
    whole = e.b.icmp_unsigned("==", e.b.and_(lanes, reading), const(FULL_MASK))
    known = e.b.and_(whole, e.b.icmp_unsigned("==", copy.load("source"), serial))
    known = e.b.and_(known, e.b.icmp_unsigned("==", copy.load("bases"), bases))
    with e.b.if_then(e.b.not_(known), likely=False):
        e.put("lane_addresses", target)
        e.put("lane_uppers", source)
        facts = (e.mask, lanes, reading, e.data("copy form"), const(i.access_bytes))
        e.call("find_copy_cost", e.context_pointer, copy.pointer, *facts)
        copy.store("source", e.b.select(whole, serial, const(0, I64)))
        copy.store("bases", bases)
    for slot, field in zip(slots, ("global_cost", "shared_cost"), strict=True):
        add_cost(e, slot, copy.at(field))


def _bases(e: Emitter, i: Decoded, source: Value, target: Value) -> Value:
    """The place of the first lane's source in its sector, which affects the number of sectors. For
    copies past the L1: the places of source and target in their lines, which affect the sectors
    that move together."""

    def within(addresses: Value, size: int) -> Value:
        return e.b.and_(e.b.extract_element(addresses, const(0)), const(size - 1))

    if not i.has("BYPASS"):
        return within(source, SECTOR_BYTES)
    low, high = within(source, _LINE_BYTES), within(target, _LINE_BYTES)
    return e.b.or_(low, e.b.shl(high, const(16)))
