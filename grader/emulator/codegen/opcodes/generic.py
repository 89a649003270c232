"""Generic addresses: 64 bits whose upper word determines the space."""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.known_access import AccessKind, Lanes
from grader.emulator.codegen.opcodes.load_store import (
    HINTS,
    WIDTHS,
    lane_addresses,
    load_words,
    sees_others,
    store_words,
)
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import Value, const
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import ZERO_REGISTER, Address, Predicate, Register
from grader.emulator.layouts.execution import CLUSTER_SHIFT, LOCAL_WINDOW, SHARED_HIGH
from grader.emulator.timing.pipes import GLOBAL_LOAD, GLOBAL_STORE

_WINDOWS = {"shared": SHARED_HIGH, "local": LOCAL_WINDOW}
"""Upper words of generic addresses; all other addresses are global or invalid."""


def lanes_in(e: Emitter, space: str, high: Value, lanes: Value) -> Value:
    """The lanes of a mask whose addresses are in the window of shared or local memory."""
    return e.b.and_(lanes, e.mask_of(e.b.icmp_unsigned("==", high, e.const(_WINDOWS[space]))))


def load_generic(e: Emitter, i: Decoded) -> None:
    """d = the data at an address of any space: the lanes of each space make a separate access."""
    target, address = i.operands
    if not isinstance(target, Register) or not _wide(address):
        raise e.unsupported("with these operands")
    low, high = lane_addresses(e, address)
    values = e.data_words(target, max(1, i.access_bytes // 4))
    signed = i.has("S8") or i.has("S16")
    count_bytes_elsewhere(e, low, high, width=i.access_bytes)
    for space, lanes in _split(e, high):
        kind = AccessKind(space, load=True, width=i.access_bytes)
        loaded = load_words(e, i, kind, Lanes(low, high, lanes), signed=signed)
        here = e.lanes_of(lanes)
        values = [e.b.select(here, new, old) for new, old in zip(loaded, values, strict=True)]
    e.set_words(target, values)


def store_generic(e: Emitter, i: Decoded) -> None:
    """The data at an address of any space = d"""
    address, source = i.operands
    plain = e.plain_register(source)
    if not _wide(address):
        raise e.unsupported("with these operands")
    low, high = lane_addresses(e, address)
    words = e.data_words(plain, max(1, i.access_bytes // 4))
    count_bytes_elsewhere(e, low, high, width=i.access_bytes)
    for space, lanes in _split(e, high):
        kind = AccessKind(space, load=False, width=i.access_bytes)
        store_words(e, i, kind, Lanes(low, high, lanes), words)


def count_bytes_elsewhere(e: Emitter, low: Value, high: Value, *, width: int) -> None:
    """Nsight Compute counts all distinct bytes of a generic access as global bytes."""
    slot = e.data("slot global")
    e.put("lane_addresses", low)
    for space in _WINDOWS:
        lanes = lanes_in(e, space, high, e.lane_mask())
        e.call("count_bytes_elsewhere", e.context_pointer, slot, lanes, const(width))


def _wide(address: object) -> bool:
    return isinstance(address, Address) and address.wide


def _split(e: Emitter, high: Value) -> list[tuple[str, Value]]:
    lanes = e.lane_mask()
    in_shared, in_local = (lanes_in(e, space, high, lanes) for space in ("shared", "local"))
    in_global = e.b.and_(lanes, e.b.not_(e.b.or_(in_shared, in_local)))
    return [("global", in_global), ("shared", in_shared), ("local", in_local)]


_QUERIES = {"S": "shared", "L": "local", "G": "global", "D": "elsewhere"}
"""D: shared memory of another block of the cluster."""


def query_space(e: Emitter, i: Decoded) -> None:
    """P = whether the address is in the space that the modifier names; the emulator does not
    support d = 1 or 0."""
    truth, target, address = i.operands
    space = next((name for letter, name in _QUERIES.items() if i.has(letter)), None)
    if (
        not isinstance(truth, Predicate)
        or target != Register(ZERO_REGISTER)
        or not isinstance(address, Address)
        or space is None
    ):
        raise e.unsupported("with these operands")
    if address.uniform is None and address.register is not None:  # names the lower of a pair
        address = replace(address, register=replace(address.register, suffix="64"))
    low, high = lane_addresses(e, replace(address, wide=True))
    everyone = const(0xFFFFFFFF)
    inside = {name: lanes_in(e, name, high, everyone) for name in _WINDOWS}
    inside["global"] = e.b.not_(e.b.or_(inside["shared"], inside["local"]))
    rank = e.splat(e.context.load("cluster_rank"))
    own = e.b.icmp_unsigned("==", e.b.lshr(low, e.const(CLUSTER_SHIFT)), rank)
    inside["elsewhere"] = e.b.and_(inside["shared"], e.b.not_(e.mask_of(own)))
    inside["shared"] = e.b.and_(inside["shared"], e.mask_of(own))
    e.set_predicate(truth, e.lanes_of(inside[space]))


GENERIC: dict[str, Opcode] = {
    "LD": row(load_generic, f"{HINTS} {WIDTHS}", pipe=GLOBAL_LOAD, ordered=sees_others),
    "ST": row(store_generic, f"{HINTS} {WIDTHS}", pipe=GLOBAL_STORE),
    "QSPC": row(query_space, "E S L G D"),
}
