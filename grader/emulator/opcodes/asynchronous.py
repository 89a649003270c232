"""Stores and reductions to shared memory of a block of the cluster whose bytes arrive at a barrier
object there (PTX ISA, `st.async`, `red.async`): done at once.

Nsight Compute counts the instructions and nothing else of them (seen on an H200).
"""

from __future__ import annotations

from grader.emulator.access import AccessKind
from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.native.tools import Value
from grader.emulator.opcodes.atomics import atomic_kind, take_turns
from grader.emulator.opcodes.barrier_objects import complete_bytes
from grader.emulator.opcodes.known_access import Lanes
from grader.emulator.opcodes.load_store import access, lane_addresses, set_lane_data
from grader.emulator.opcodes.row import Opcode, row
from grader.emulator.operands import Address, Register
from grader.emulator.timing.pipes import BARRIER_OBJECT

_SLOT = "asynchronous"


def store_asynchronously(e: Emitter, i: Decoded) -> None:
    """The data at an address = d; the register behind that of the address names the object."""
    places, objects, source = _take_apart(e, i)
    kind = AccessKind("shared", load=False, width=i.access_bytes)
    set_lane_data(e, [e.register_or_zero(source, word) for word in range(kind.words)])
    access(e, i, kind, places, slot=_SLOT)
    complete_bytes(e, objects, kind.width)


def reduce_asynchronously(e: Emitter, i: Decoded) -> None:
    """The data at an address is combined with d; the register behind that of the address names
    the object."""
    places, objects, source = _take_apart(e, i)
    kind = atomic_kind(i, shared=True)
    words = [e.register_or_zero(source, word) for word in range(kind.width // 4)]
    take_turns(e, i, kind, "shared", places, words, [], slot=_SLOT)
    complete_bytes(e, objects, kind.width)


def _take_apart(e: Emitter, i: Decoded) -> tuple[Lanes, Value, Register]:
    """Where the lanes' data goes, the addresses of their objects, and the data."""
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
        reduce_asynchronously,
        "ADD MIN MAX INC DEC AND OR XOR S32 64",
        pipe=BARRIER_OBJECT,
    ),
}
