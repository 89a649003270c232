"""Asynchronous copies from global to shared memory (cp.async). They read at once; the data arrives
when the lane waits for it (cpp/memory/under_way.h).

The costs of the two accesses of a copy are counted together: see copy_costs.py.
"""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.codegen.access import AccessKind
from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.copy_costs import count_copy
from grader.emulator.codegen.opcodes.known_access import Lanes
from grader.emulator.codegen.opcodes.load_store import (
    HINTS,
    lane_addresses,
    load_words,
    slot_pointer,
    store_words,
)
from grader.emulator.codegen.opcodes.row import Emit, Opcode, row
from grader.emulator.codegen.tools import Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Immediate, Operand, Special
from grader.emulator.layouts.execution import FULL_MASK
from grader.emulator.layouts.forms import WorkKind
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
    """The data, with `missing` zero bytes at its end. The last byte that is read gets its own
    bounds check."""
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


def wait(e: Emitter, i: Decoded) -> None:
    """DEPBAR.LE SB0, n: waits for all but the last n groups of the path's copies, and of its bulk
    copies to global memory, which use the same scoreboard. Without `.LE` it waits for a set of
    scoreboards."""
    if i.operands == (Special("scoreboards"),):
        return
    if i.operands and not isinstance(i.operands[-1], Immediate):
        raise e.unsupported("with these operands")
    if not i.operands:
        return
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
