"""Stores and reductions to shared memory of a block of the cluster. Their bytes arrive at a barrier
object there (PTX ISA, `st.async`, `red.async`), at the latest when a thread waits for its phase
(cpp/memory/under_way.h).

Nsight Compute counts only the instructions (observed on an H200).
"""

from __future__ import annotations

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.bulk_copies import reduction_form
from grader.emulator.codegen.opcodes.known_access import Lanes
from grader.emulator.codegen.opcodes.load_store import lane_addresses, set_lane_data
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Address, Register
from grader.emulator.timing.pipes import BARRIER_OBJECT
from grader.sass import REMOTE


def store_asynchronously(e: Emitter, i: Decoded) -> None:
    """The data at an address = d; the register after the address names the barrier object."""
    _store_later(e, i, i.access_bytes, 0)


def reduce_asynchronously(e: Emitter, i: Decoded) -> None:
    """Combines the data at an address with d; the register after the address names the barrier
    object."""
    _store_later(e, i, 8 if i.has("64") else 4, reduction_form(e, i))


def _store_later(e: Emitter, i: Decoded, width: int, form: int) -> None:
    places, objects, source = _take_apart(e, i)
    set_lane_data(e, [e.register_or_zero(source, word) for word in range(width // 4)])
    e.put("lane_addresses", places.low)
    e.put("lane_uppers", objects)
    facts = (places.mask, e.data(f"slot {REMOTE}"), const(width), const(form))
    e.try_call("store_later", e.context_pointer, e.warp_pointer, e.index, *facts)


def _take_apart(e: Emitter, i: Decoded) -> tuple[Lanes, Value, Register]:
    """Target addresses of the lanes, addresses of their barrier objects, and the data register."""
    address, source = i.operands
    plain = isinstance(source, Register) and not source.uniform and not source.negated
    if not plain or not isinstance(address, Address) or not address.wide:
        raise e.unsupported("with these operands")
    assert isinstance(source, Register)
    low, objects = lane_addresses(e, address)
    return Lanes(low, e.const(0), e.lane_mask()), objects, source


ASYNCHRONOUS: dict[str, Opcode] = {
    "STAS": row(store_asynchronously, "64 128", pipe=BARRIER_OBJECT),
    "REDAS": row(
        reduce_asynchronously, "ADD MIN MAX INC DEC AND OR XOR S32 64", pipe=BARRIER_OBJECT
    ),
}
