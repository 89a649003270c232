"""Bulk copies and reductions between global and shared memory (PTX ISA, `cp.async.bulk`,
`cp.reduce.async.bulk`): of consecutive bytes, or of a box of a tensor (cpp/memory/bulk_copies.cpp,
tensor_maps.cpp). The runtime checks both ends at once and moves the bytes when a thread waits for
them (cpp/memory/under_way.h).
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.control import no_operation
from grader.emulator.codegen.opcodes.copies import end_group
from grader.emulator.codegen.opcodes.load_store import lane_addresses, set_lane_data
from grader.emulator.codegen.opcodes.row import Emit, Opcode, row
from grader.emulator.codegen.tools import I1, Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Test, always, never
from grader.emulator.isa.operands import Address, Operand, Register, Special
from grader.emulator.layouts.forms import BulkForm, ElementType, ReductionForm, WorkKind
from grader.emulator.timing.pipes import BARRIER_OBJECT, NO_PIPE
from grader.sass import BULK_LOAD, BULK_STORE, REMOTE

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
        e.join(to, behind if direction == BulkForm.TO_GLOBAL else const(0)),
        e.join(from_, behind_source if direction == BulkForm.FROM_GLOBAL else const(0)),
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
    address = e.join(*_words(e, map_address, 2))
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


def _row(emit: Emit, modifiers: str, ordered: Test = never) -> Opcode:
    return row(emit, modifiers, uniform=True, pipe=BARRIER_OBJECT, ordered=ordered)


BULK_COPIES: dict[str, Opcode] = {
    "UBLKCP": _row(copy_bulk, "S G MULTICAST"),
    "UBLKRED": _row(reduce_bulk, f"S G {_OPERATION_NAMES} {_TYPE_NAMES}", always),
    "UBLKPF": _row(no_operation, "L2"),
    "UTMALDG": _row(copy_tensor_in, f"{_DIMENSION_NAMES} MULTICAST"),
    "UTMASTG": _row(copy_tensor_out, _DIMENSION_NAMES),
    "UTMAREDG": _row(reduce_tensor, f"{_DIMENSION_NAMES} {_OPERATION_NAMES}", always),
    "UTMAPF": _row(no_operation, f"L2 {_DIMENSION_NAMES}"),
    "UTMACCTL": _row(no_operation, "PF IV IVALL"),
    "UTMACMDFLUSH": row(end_group(WorkKind.STORES), pipe=NO_PIPE),
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
    "STAS": row(store_asynchronously, "64 128", pipe=BARRIER_OBJECT),
    "REDAS": row(
        reduce_asynchronously, "ADD MIN MAX INC DEC AND OR XOR S32 64", pipe=BARRIER_OBJECT
    ),
}
