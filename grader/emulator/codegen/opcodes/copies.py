"""Asynchronous copies from global to shared memory (cp.async). They read at once; the data arrives
when the lane waits for it (cpp/memory/under_way.h). The costs of the two accesses of a copy are
counted together. A step adds them itself if a warp's copy equals the last copy with the same target
pattern; otherwise the runtime computes them (cpp/memory/copies.cpp).

Bulk copies and reductions between global and shared memory (PTX ISA, `cp.async.bulk`,
`cp.reduce.async.bulk`): of consecutive bytes, or of a box of a tensor (cpp/memory/bulk_copies.cpp,
tensor_maps.cpp). The runtime checks both ends at once and moves the bytes when a thread waits for
them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TypeGuard

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.control import no_operation
from grader.emulator.codegen.opcodes.known_access import AccessKind, Lanes, add_cost
from grader.emulator.codegen.opcodes.load_store import (
    HINTS,
    lane_addresses,
    load_words,
    set_lane_data,
    slot_pointer,
    store_words,
)
from grader.emulator.codegen.opcodes.row import PLAIN, Emit, Opcode, row
from grader.emulator.codegen.tools import I1, I64, Record, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Test, always, never
from grader.emulator.isa.operands import Address, Immediate, Operand, Predicate, Register, Special
from grader.emulator.layouts import execution
from grader.emulator.layouts.execution import FULL_MASK, PATTERN, SECTOR_BYTES, SLOT
from grader.emulator.layouts.forms import BulkForm, CopyForm, ElementType, ReductionForm, WorkKind
from grader.emulator.timing import pipes
from grader.sass import BULK_LOAD, BULK_STORE, REMOTE


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
    "LDGSTS": row(copy, f"{HINTS} 64 128 BYPASS ACCESS ZFILL", pipe=pipes.COPY),
    "LDGDEPBAR": row(end_group(WorkKind.COPIES), pipe=pipes.COMMIT),
    "DEPBAR": row(wait, "LE", pipe=pipes.DEPEND),
}


_FORMS: dict[tuple[str, ...], int] = {
    ("S", "G"): BulkForm.FROM_GLOBAL,
    ("G", "S"): BulkForm.TO_GLOBAL,
    ("S", "S"): 0,
}
_OPERATIONS: dict[str, int] = {
    name: getattr(ReductionForm, name)
    for name in ("ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR")
}
_TYPES: dict[str, int] = {
    name: getattr(ElementType, name) for name in ("S32", "U64", "S64", "F16", "BF16", "F32", "F64")
}
_DIMENSIONS = {f"{count}D": count for count in range(1, 6)}
_TYPE_NAMES = f"{' '.join(_TYPES)} RN"
_OPERATION_NAMES = " ".join(_OPERATIONS)
_DIMENSION_NAMES = " ".join(_DIMENSIONS)


def copy_bulk(e: Emitter, i: Decoded) -> None:
    """Copies a multiple of 16 bytes, whose number is in a register, to shared memory (S) or global
    memory (G) from the other memory, or within shared memory; `.MULTICAST`: to the same place in
    several blocks of the cluster.

    A copy to shared memory arrives at the barrier object that the next register names. The upper
    half of the size is the mask of blocks.
    """
    _copy(e, i, BulkForm.TO_BLOCKS * i.has("MULTICAST"))


def reduce_bulk(e: Emitter, i: Decoded) -> None:
    """As `UBLKCP`, but combines the new elements with those in memory."""
    _copy(e, i, reduction_form(e, i))


def _copy(e: Emitter, i: Decoded, form: int) -> None:
    target, source, size = _without_hint(i.operands)
    direction = _FORMS.get(i.modifiers[:2])
    if direction is None or not isinstance(size, Register):
        raise e.unsupported()
    to, behind = _words(e, target, 2)
    from_, behind_source = _words(e, source, 2)
    ends = (
        _long(e, to, behind if direction == BulkForm.TO_GLOBAL else const(0)),
        _long(e, from_, behind_source if direction == BulkForm.FROM_GLOBAL else const(0)),
    )
    _call(e, "copy_bulk", (const(form | direction), *ends, behind, e.i32(size)))


def copy_tensor_in(e: Emitter, i: Decoded) -> None:
    """Copies a box of a tensor to shared memory: consecutive registers hold the place, the barrier
    object and the coordinates; the next pair is the address of the tensor map."""
    place, map_address, *more = _without_hint(i.operands)
    if len(more) != i.has("MULTICAST"):
        raise e.unsupported()
    blocks = e.b.lshr(e.i32(more[0]), const(BulkForm.BLOCKS_SHIFT)) if more else const(0)
    _tensor(e, i, BulkForm.FROM_GLOBAL, place, map_address, blocks=blocks)


def copy_tensor_out(e: Emitter, i: Decoded) -> None:
    """Copies a box of shared memory to a tensor: consecutive registers hold the place and the
    coordinates."""
    place, map_address = _without_hint(i.operands)
    _tensor(e, i, BulkForm.TO_GLOBAL, place, map_address)


def reduce_tensor(e: Emitter, i: Decoded) -> None:
    """As `UTMASTG`, but combines the new elements with those in memory."""
    place, map_address = _without_hint(i.operands)
    _tensor(e, i, BulkForm.TO_GLOBAL | _operation(e, i), place, map_address)


def _tensor(
    e: Emitter,
    i: Decoded,
    form: int,
    place: Operand,
    map_address: Operand,
    *,
    blocks: Value | None = None,
) -> None:
    axes = _DIMENSIONS.get(i.first_of(_DIMENSIONS) or "")
    if axes is None:
        raise e.unsupported()
    loads = form & BulkForm.FROM_GLOBAL
    start, *words = _words(e, place, axes + (2 if loads else 1))
    object_ = words.pop(0) if loads else const(0)
    corner = [*words, *[const(0)] * (max(_DIMENSIONS.values()) - axes)]
    address = _long(e, *_words(e, map_address, 2))
    facts = (const(form | axes), address, start, object_, blocks or const(0), *corner)
    _call(e, "copy_tensor", (e.data("slot bulk map"), *facts))


def _operation(e: Emitter, i: Decoded) -> int:
    operation = _OPERATIONS.get(i.first_of(_OPERATIONS) or "")
    if operation is None:
        raise e.unsupported()
    return BulkForm.REDUCES | operation << BulkForm.OPERATION_SHIFT


def reduction_form(e: Emitter, i: Decoded) -> int:
    """BulkForm bits of a reduction, from the operation and element type in its name."""
    types = {**_TYPES, "64": ElementType.U64}
    kind = next((types[name] for name in i.modifiers if name in types), ElementType.U32)
    return _operation(e, i) | kind << BulkForm.TYPE_SHIFT


def _without_hint(operands: Sequence[Operand]) -> Sequence[Operand]:
    """The operands without a final cache hint."""
    return operands[:-1] if operands[-1] == Special("desc") else operands


def _words(e: Emitter, operand: Operand, count: int) -> list[Value]:
    """The value of an address's uniform register, plus its offset, and the registers after it."""
    if not isinstance(operand, Address) or operand.register or not operand.uniform:
        raise e.unsupported("with this address")
    first = operand.uniform.index
    words = [e.i32(Register(first + word, uniform=True)) for word in range(count)]
    return [e.b.add(words[0], e.offset_of(operand)), *words[1:]]


def _long(e: Emitter, low: Value, high: Value) -> Value:
    return e.b.or_(e.b.zext(low, I64), e.b.shl(e.b.zext(high, I64), const(32, I64)))


def _call(e: Emitter, name: str, facts: Sequence[Value]) -> None:
    """Calls a function of the runtime if the guard is true."""
    slots = (e.data(f"slot {BULK_LOAD}"), e.data(f"slot {BULK_STORE}"))
    arguments = (e.context_pointer, e.warp_pointer, e.index, *slots, *facts)
    doing = e.new_block("copy")
    done = e.new_block("done")
    e.b.cbranch(const(1, I1) if e.guard is None else e.guard, doing, done)
    e.b.position_at_end(doing)
    e.try_call(name, *arguments)
    e.b.branch(done)
    e.b.position_at_end(done)


_TO = {PLAIN: pipes.CLUSTER, "S": pipes.BULK_LOAD, "G": pipes.BULK_STORE}
"""By the memory that a copy writes to, its first modifier."""


def _row(
    emit: Emit, modifiers: str, pipe: pipes.Pipe | Mapping[str, pipes.Pipe], ordered: Test = never
) -> Opcode:
    return row(emit, modifiers, uniform=True, pipe=pipe, ordered=ordered)


BULK_COPIES: dict[str, Opcode] = {
    "UBLKCP": _row(copy_bulk, "S G MULTICAST", _TO),
    "UBLKRED": _row(reduce_bulk, f"S G {_OPERATION_NAMES} {_TYPE_NAMES}", _TO, always),
    "UBLKPF": _row(no_operation, "L2", pipes.CLUSTER),
    "UTMALDG": _row(copy_tensor_in, f"{_DIMENSION_NAMES} MULTICAST", pipes.BULK_LOAD),
    "UTMASTG": _row(copy_tensor_out, _DIMENSION_NAMES, pipes.BULK_STORE),
    "UTMAREDG": _row(
        reduce_tensor, f"{_DIMENSION_NAMES} {_OPERATION_NAMES}", pipes.BULK_STORE, always
    ),
    "UTMAPF": _row(no_operation, f"L2 {_DIMENSION_NAMES}", pipes.CLUSTER),
    "UTMACCTL": _row(no_operation, "PF IV IVALL", pipes.NO_PIPE),
    "UTMACMDFLUSH": row(end_group(WorkKind.STORES), pipe=pipes.COMMIT),
}


def store_asynchronously(e: Emitter, i: Decoded) -> None:
    """The data at an address = d; the register after the address names the barrier object."""
    _store_later(e, i, i.access_bytes, 0)


def reduce_asynchronously(e: Emitter, i: Decoded) -> None:
    """Combines the data at an address with d; the register after the address names the barrier
    object."""
    _store_later(e, i, 8 if i.has("64") else 4, reduction_form(e, i))


def _store_later(e: Emitter, i: Decoded, width: int, form: int) -> None:
    address, source = i.operands
    plain = e.plain_register(source)
    if not isinstance(address, Address) or not address.wide:
        raise e.unsupported("with these operands")
    low, objects = lane_addresses(e, address)
    lanes = e.lane_mask()
    set_lane_data(e, e.data_words(plain, width // 4))
    e.put("lane_addresses", low)
    e.put("lane_uppers", objects)
    facts = (lanes, e.data(f"slot {REMOTE}"), const(width), const(form))
    e.try_call("store_later", e.context_pointer, e.warp_pointer, e.index, *facts)


ASYNCHRONOUS: dict[str, Opcode] = {
    "STAS": row(store_asynchronously, "64 128", pipe=pipes.CLUSTER),
    "REDAS": row(
        reduce_asynchronously, "ADD MIN MAX INC DEC AND OR XOR S32 64", pipe=pipes.CLUSTER
    ),
}
