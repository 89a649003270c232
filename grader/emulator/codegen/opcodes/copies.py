"""Asynchronous copies from global to shared memory (cp.async). They read at once; the data arrives
when the lane waits for it (cpp/memory/under_way.h).

The costs of the two accesses of a copy are counted together. A step adds them itself if a warp's
copy equals the last copy with the same target pattern; otherwise the runtime computes them
(cpp/memory/copies.cpp).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeGuard

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.known_access import AccessKind, Lanes, add_cost
from grader.emulator.codegen.opcodes.load_store import (
    HINTS,
    lane_addresses,
    load_words,
    slot_pointer,
    store_words,
)
from grader.emulator.codegen.opcodes.row import Emit, Opcode, row
from grader.emulator.codegen.tools import I64, Record, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Immediate, Operand, Predicate, Special
from grader.emulator.layouts import execution
from grader.emulator.layouts.execution import FULL_MASK, PATTERN, SECTOR_BYTES, SLOT
from grader.emulator.layouts.forms import CopyForm, WorkKind
from grader.emulator.timing.pipes import COMMIT, COPY, DEPEND


def copy(e: Emitter, i: Decoded) -> None:
    """LDGSTS [shared], [global], P: lanes with a false P read nothing and write zeros (PTX ISA,
    `cp.async`: ignore-src).

    With `.ZFILL` the last bits of the global address are the number of zero bytes at the end (ptxas
    adds them to the address).
    """
    target, source, *conditions = i.operands
    if len(conditions) > 1 or i.access_bytes not in (4, 8, 16):
        raise e.unsupported("with these operands")
    shared_low, shared_high = lane_addresses(e, target)
    low, high = lane_addresses(e, source)
    lanes = e.lane_mask()
    fills = i.has("ZFILL")
    missing = e.b.and_(low, e.const(i.access_bytes - 1)) if fills else e.const(0)
    low = e.b.sub(low, missing)
    asked = e.mask_of(e.predicate(conditions[0])) if conditions else const(FULL_MASK)
    reading = e.b.and_(lanes, asked)
    start = Lanes(low, high, reading)
    words = _read_part(e, i, start, missing) if fills else _read(e, i, start)
    here = e.lanes_of(reading)
    words = [e.b.select(here, word, e.const(0)) for word in words]
    kind = AccessKind("shared", load=False, width=i.access_bytes, copied=True)
    store_words(e, i, kind, Lanes(shared_low, shared_high, lanes), words)
    facts = (slot_pointer(e, "shared"), lanes, const(i.access_bytes))
    e.call("put_off_copy", e.context_pointer, e.warp_pointer, *facts)
    count_copy(e, i, low, shared_low, asked)


def _read(e: Emitter, i: Decoded, lanes: Lanes, *, part: bool = False) -> list[Value]:
    kind = AccessKind("global", load=True, width=i.access_bytes, part=part, copied=True)
    return load_words(e, i, kind, lanes)


def _read_part(e: Emitter, i: Decoded, lanes: Lanes, missing: Value) -> list[Value]:
    """The data, with `missing` zero bytes at its end, and a bounds check of the last byte."""
    count = e.b.sub(e.const(i.access_bytes), missing)
    last = e.b.sub(e.b.add(lanes.low, count), e.const(1))
    byte = AccessKind("global", load=True, width=1)
    load_words(e, i, byte, replace(lanes, low=last), slot="last byte")
    return [
        e.b.and_(word, _byte_mask(e, e.b.sub(count, e.const(4 * index))))
        for index, word in enumerate(_read(e, i, lanes, part=True))
    ]


def _byte_mask(e: Emitter, count: Value) -> Value:
    """Mask of this many lowest bytes of a word; 0 for a count below 1, all ones above 3."""
    bits = e.b.shl(e.b.and_(count, e.const(3)), e.const(3))
    some = e.b.sub(e.b.shl(e.const(1), bits), e.const(1))
    every = e.b.icmp_signed(">", count, e.const(3))
    none = e.b.icmp_signed("<", count, e.const(1))
    return e.b.select(every, e.const(-1), e.b.select(none, e.const(0), some))


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
    copy = Record(e.b, target_pattern.at("copy"), execution.COPY)
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


def wait(e: Emitter, i: Decoded) -> None:
    """DEPBAR.LE SB0, n: waits for all but the last n groups of the path's copies, and of its bulk
    copies to global memory, which use the same scoreboard. Without `.LE` it waits for a set of
    scoreboards."""
    if i.operands in ((), (Special("scoreboards"),)):
        return
    if not isinstance(i.operands[-1], Immediate):
        raise e.unsupported("with these operands")
    for kind in (WorkKind.COPIES, WorkKind.STORES):
        wait_for_groups(e, kind, i.operands[-1])


def wait_for_groups(e: Emitter, kind: int, left: Operand) -> None:
    """Waits for all groups of this kind of work except the last `left` groups."""
    facts = (const(kind), e.lane_mask(), e.scalar_i32(left))
    e.try_call("wait_for_groups", e.context_pointer, e.warp_pointer, *facts)


def end_group(kind: int) -> Emit:
    """The `emit` function of a row."""

    def emit(e: Emitter, i: Decoded) -> None:
        """Ends a group, the unit of waits: the work that has begun since the last group."""
        facts = (const(kind), e.lane_mask())
        e.call("end_group", e.context_pointer, e.warp_pointer, *facts)

    return emit


COPIES: dict[str, Opcode] = {
    "LDGSTS": row(copy, f"{HINTS} 64 128 BYPASS ACCESS ZFILL", pipe=COPY),
    "LDGDEPBAR": row(end_group(WorkKind.COPIES), pipe=COMMIT),
    "DEPBAR": row(wait, "LE", pipe=DEPEND),
}
