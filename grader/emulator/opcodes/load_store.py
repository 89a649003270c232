"""Loads and stores of global, shared and local memory. Cache hints and scopes change no result of a
race-free kernel.

Other families use `load_words`, `store_words` (check, count, move), `start_access`, `end_access`
(check, count), `lane_addresses` too.
"""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.layout import SLOT, WARP_LANES
from grader.emulator.native.counting import AccessKind
from grader.emulator.native.shadow import acquire
from grader.emulator.native.tools import I64, LANES_I32, Value, const, offset, splat
from grader.emulator.native.tracing import trace_access
from grader.emulator.opcodes.row import Opcode, row
from grader.emulator.operands import ZERO_REGISTER, Address, Operand, Register
from grader.emulator.timing.pipes import GLOBAL_LOAD, GLOBAL_STORE, SHARED_ACCESS
from grader.sass import Way

WIDTHS = "U8 S8 U16 S16 64 128"
HINTS = "E CONSTANT STRONG WEAK GPU SM SYS CTA EF EL LU NA EU LTC64B LTC128B LTC256B MMIO PRIVATE U"


@dataclass(frozen=True)
class Lanes:
    """The lanes of a mask, and the lower and upper 32 bits of every lane's address."""

    low: Value
    high: Value
    mask: Value


def load(space: str) -> Opcode:
    """The row of a load from `shared` or `global` memory."""

    def emit(e: Emitter, i: Decoded) -> None:
        """d = the data at an address"""
        if len(i.operands) != 2:
            raise e.unsupported("with extra operands")
        target, address = i.operands
        if not isinstance(target, Register):
            raise e.unsupported("with this destination")
        kind = AccessKind(space, load=True, width=i.access_bytes)
        signed = i.has("S8") or i.has("S16")
        low, high = lane_addresses(e, address)
        old = [e.register_or_zero(target, word) for word in range(max(1, kind.width // 4))]
        values = load_words(e, i, kind, Lanes(low, high, e.lane_mask()), old, signed=signed)
        if target.index != ZERO_REGISTER:
            for word, value in enumerate(values):
                e.set(Register(target.index + word), value)

    pipe = SHARED_ACCESS if space == "shared" else GLOBAL_LOAD
    return row(emit, f"{HINTS} {WIDTHS}", pipe=pipe)


def store(space: str) -> Opcode:
    """The row of a store to `shared` or `global` memory."""

    def emit(e: Emitter, i: Decoded) -> None:
        """The data at an address = d"""
        if len(i.operands) != 2:
            raise e.unsupported("with extra operands")
        address, source = i.operands
        kind = AccessKind(space, load=False, width=i.access_bytes)
        low, high = lane_addresses(e, address)
        if not isinstance(source, Register) or source.uniform or source.negated:
            raise e.unsupported("with this source")
        words = [e.register_or_zero(source, word) for word in range(max(1, kind.width // 4))]
        store_words(e, i, kind, Lanes(low, high, e.lane_mask()), words)

    pipe = SHARED_ACCESS if space == "shared" else GLOBAL_STORE
    return row(emit, f"{HINTS} {WIDTHS}", pipe=pipe)


def load_words(
    e: Emitter,
    i: Decoded,
    kind: AccessKind,
    lanes: Lanes,
    old: list[Value],
    *,
    signed: bool = False,
    slot: str | None = None,
) -> list[Value]:
    """What the lanes load, a word each of up to four; without such a lane, `old`. Other
    lanes' words are undefined.

    It is counted under the name of the space; under another one, which nothing reads, with `slot`.
    """
    before = e.b.block
    after = e.function.append_basic_block("loaded")
    start_access(e, i, kind, lanes, after=after, slot=slot)
    record = slot_pointer(e, i, slot or kind.space)
    watch_access(e, i, kind, lanes.mask, slot)
    e.b.call(
        e.helpers.move(kind, signed=signed),
        [e.context_pointer, record, space_host(e, kind.space), lanes.mask],
    )
    return end_access(e, before, after, old)


def store_words(e: Emitter, i: Decoded, kind: AccessKind, lanes: Lanes, words: list[Value]) -> None:
    """The lanes store their words."""
    after = e.function.append_basic_block("stored")
    start_access(e, i, kind, lanes, after=after)
    set_lane_data(e, words)
    watch_access(e, i, kind, lanes.mask)
    e.b.call(
        e.helpers.move(kind, signed=False),
        [e.context_pointer, slot_pointer(e, i, kind.space), space_host(e, kind.space), lanes.mask],
    )
    e.b.branch(after)
    e.b.position_at_end(after)


def start_access(
    e: Emitter,
    i: Decoded,
    kind: AccessKind,
    lanes: Lanes,
    *,
    after: object,
    slot: str | None = None,
) -> None:
    """Check and count; to `after` when no lane takes part. Leaves the builder where the access may
    go on."""
    access = e.function.append_basic_block("access")
    e.b.cbranch(e.b.icmp_unsigned("!=", lanes.mask, const(0)), access, after)
    e.b.position_at_end(access)
    record = slot_pointer(e, i, slot or kind.space)
    good = e.b.call(
        e.helpers.check(kind), [e.context_pointer, record, lanes.low, lanes.high, lanes.mask]
    )
    moved, fault = e.function.append_basic_block("move"), e.function.append_basic_block("fault")
    e.b.cbranch(good, moved, fault)
    e.b.position_at_end(fault)
    e.context.store("fault_instruction", i.index)
    e.b.ret(e.context.load("fault_code"))
    e.b.position_at_end(moved)
    if slot is None:
        trace_access(e, i, kind, slot_pointer(e, i, kind.space), lanes.low, lanes.mask)


def watch_access(
    e: Emitter, i: Decoded, kind: AccessKind, mask: Value, slot: str | None = None
) -> None:
    """In the checked mode, compare an access that may go on with those before it; of a store, the
    data lies in `lane_data`."""
    if e.helpers.watching is None or kind.space == "local":
        return
    accesses = [access for access in i.accesses if access.space == kind.space]
    asynchronous = any(access.asynchronous for access in accesses)
    draws = any(access.way is Way.FETCH for access in accesses)
    watch = e.helpers.watching.function(
        kind, asynchronous=asynchronous, strong=i.has("STRONG"), draws=draws
    )
    record = slot_pointer(e, i, slot or kind.space)
    extent = e.helpers.watching.extents.get(i.offset) if kind.space == "shared" else None
    if extent is not None:
        stay = e.helpers.watching.stay(kind.width)
        e.b.call(
            stay, [e.context_pointer, e.warp_pointer, const(i.index), mask, *map(const, extent)]
        )
    e.b.call(watch, [e.context_pointer, e.warp_pointer, record, const(i.index), mask])
    if kind.space == "global" and kind.load and i.has("STRONG"):
        acquire(e.b, e.context)


def end_access(e: Emitter, before: object, after: object, old: list[Value]) -> list[Value]:
    """Take what an access left in `lane_data`; `old` where it was skipped, straight from the LLVM
    block `before`."""
    new = [
        e.b.load(e.context.at("lane_data", word * WARP_LANES), typ=LANES_I32, align=4)
        for word in range(len(old))
    ]
    inside = e.b.block
    e.b.branch(after)
    e.b.position_at_end(after)
    values = [e.b.phi(LANES_I32) for _ in old]  # all before any other instruction, as LLVM asks
    for value, loaded, kept in zip(values, new, old, strict=True):
        value.add_incoming(loaded, inside)
        value.add_incoming(kept, before)
    return values


def set_lane_data(e: Emitter, words: list[Value]) -> None:
    """Put the data words of a store where the move takes them from."""
    for word, value in enumerate(words):
        e.b.store(value, e.context.at("lane_data", word * WARP_LANES), align=4)


def space_host(e: Emitter, space: str) -> Value:
    """Host address of a space's address 0; of local memory, that of the warp's lane 0."""
    host = e.context.load_pointer(f"{space}_host")
    if space != "local":
        return host
    lane_bytes = e.b.mul(e.warp.load("index"), e.context.load("local_bytes"))
    return offset(e.b, host, e.b.zext(e.b.mul(lane_bytes, const(WARP_LANES)), I64))


def slot_pointer(e: Emitter, i: Decoded, space: str) -> Value:
    """Address of the instruction's SLOT record for a space."""
    index = e.helpers.slot_index(i.index, space)
    return offset(e.b, e.context.load_pointer("slots"), index * SLOT.itemsize)


def lane_addresses(e: Emitter, operand: Operand) -> tuple[Value, Value]:
    """Lower and upper 32 bits of every lane's address."""
    if not isinstance(operand, Address):
        raise e.unsupported("without an address")
    if operand.wide:
        return _wide_addresses(e, operand)
    low = e.const(operand.offset)
    for register in (operand.register, operand.uniform):
        if register is not None:
            word = e.i32(Register(register.index, register.uniform))
            scale = _SCALES[register.suffix]
            low = e.b.add(low, e.b.shl(word, e.const(scale)) if scale else word)
    return low, e.const(0)


_SCALES = {"": 0, "X4": 2, "X8": 3, "X16": 4}
"""By how much a register of a shared or local address is shifted, before sm_90."""


def _wide_addresses(e: Emitter, operand: Address) -> tuple[Value, Value]:
    total = None
    for register in (operand.register, operand.uniform):
        if register is None:
            continue
        plain = Register(register.index, register.uniform)
        if register.suffix == "64" or register.uniform:
            term = e.i64(plain)
        elif register.suffix == "U32":
            term = e.b.zext(e.i32(plain), e.double_word)
        else:
            term = e.b.sext(e.i32(plain), e.double_word)
        total = term if total is None else e.b.add(total, term)
    total = e.b.add(total, splat(e.b, const(operand.offset, I64)))
    return e.b.trunc(total, LANES_I32), e.b.trunc(e.b.lshr(total, e.const64(32)), LANES_I32)


MEMORY: dict[str, Opcode] = {
    "LDG": load("global"),
    "STG": store("global"),
    "LDS": load("shared"),
    "STS": store("shared"),
    "LDL": load("local"),
    "STL": store("local"),
}
