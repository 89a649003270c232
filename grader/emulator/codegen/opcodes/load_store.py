"""Loads and stores of global, shared and local memory, and at generic addresses: 64 bits whose
upper word determines the space. Cache hints and scopes do not change the results of race-free
kernels.

Other families also use `load_words`, `store_words`, `access` and `lane_addresses`.
"""

from __future__ import annotations

from dataclasses import replace

from grader.emulator.codegen.emitter import Emitter
from grader.emulator.codegen.opcodes.known_access import (
    AccessKind,
    Lanes,
    RuntimeCalls,
    emit_fast_path,
    has_fast_path,
)
from grader.emulator.codegen.opcodes.row import Opcode, row
from grader.emulator.codegen.tools import I64, LANES_I32, Value, const, offset
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import never
from grader.emulator.isa.operands import ZERO_REGISTER, Address, Operand, Predicate, Register
from grader.emulator.layouts.execution import (
    CLUSTER_SHIFT,
    LOCAL_WINDOW,
    SHARED_HIGH,
    SLOT,
    WARP_LANES,
    AccessFlag,
    Follow,
)
from grader.emulator.timing.pipes import GLOBAL_LOAD, GLOBAL_STORE, SHARED_ACCESS, Pipe

WIDTHS = "U8 S8 U16 S16 64 128"
HINTS = (
    "E CONSTANT STRONG WEAK GPU SM SYS CTA EF EL LU NA EU LTC64B LTC128B LTC256B EFL2 ELL2 MMIO"
    " PRIVATE U"
)


def load(space: str) -> Opcode:
    """The row of a load from `shared`, `global` or `local` memory."""

    def emit(e: Emitter, i: Decoded) -> None:
        """d = the data at an address; `.256` into two groups of four registers, the upper group
        first"""
        *targets, address = i.operands
        if len(targets) != (2 if i.has("256") else 1):
            raise e.unsupported("with extra operands")
        kind = AccessKind(space, load=True, width=i.access_bytes)
        low, high = lane_addresses(e, address)
        lanes = Lanes(low, high, e.lane_mask())
        registers = [each for each in targets if isinstance(each, Register)]
        if registers != targets:
            raise e.unsupported("with this destination")
        if len(registers) == 2:
            upper, lower = registers
            words = load_words(e, i, kind, lanes)
            e.set_words(lower, words[:4])
            e.set_words(upper, words[4:])
            return
        (target,) = registers
        place = None if target.is_zero else e.registers.place_of(target.index)
        access(e, i, kind, lanes, signed=i.has("S8") or i.has("S16"), words=place)

    ordered = sees_others if space == "global" else never
    return row(emit, _names(space), pipe=_pipe(space, GLOBAL_LOAD), ordered=ordered)


def sees_others(i: Decoded) -> bool:
    """Whether a load may see concurrent stores of other threads: `volatile` or atomic loads."""
    return i.has("STRONG")


def _names(space: str) -> str:
    return f"{HINTS} {WIDTHS} ENL2 256" if space == "global" else f"{HINTS} {WIDTHS}"


def _pipe(space: str, outside: Pipe) -> Pipe:
    """The pipe of accesses to a space; `outside` of shared memory."""
    return SHARED_ACCESS if space == "shared" else outside


def store(space: str) -> Opcode:
    """The row of a store to `shared`, `global` or `local` memory."""

    def emit(e: Emitter, i: Decoded) -> None:
        """The data at an address = d; `.256` from two groups of four registers"""
        address, *sources = i.operands
        if len(sources) != (2 if i.has("256") else 1):
            raise e.unsupported("with extra operands")
        kind = AccessKind(space, load=False, width=i.access_bytes)
        low, high = lane_addresses(e, address)
        plain = [e.plain_register(each, "with this source") for each in sources]
        lanes = Lanes(low, high, e.lane_mask())
        if len(plain) == 1 and not plain[0].is_zero:
            access(e, i, kind, lanes, words=e.registers.place_of(plain[0].index))
            return
        count = kind.words // len(plain)
        words = [word for source in plain for word in e.data_words(source, count)]
        store_words(e, i, kind, lanes, words)

    return row(emit, _names(space), pipe=_pipe(space, GLOBAL_STORE))


def load_words(
    e: Emitter,
    i: Decoded,
    kind: AccessKind,
    lanes: Lanes,
    *,
    signed: bool = False,
    slot: str | None = None,
) -> list[Value]:
    """The words that the lanes load, up to eight vectors. Words of inactive lanes are undefined.

    The access counts for its space, or for `slot`, a name that no counter reads.
    """
    access(e, i, kind, lanes, signed=signed, slot=slot)
    return lane_data(e, kind.words)


def store_words(e: Emitter, i: Decoded, kind: AccessKind, lanes: Lanes, words: list[Value]) -> None:
    """Stores the words of the lanes."""
    set_lane_data(e, words)
    access(e, i, kind, lanes)


def access(
    e: Emitter,
    i: Decoded,
    kind: AccessKind,
    lanes: Lanes,
    *,
    signed: bool = False,
    slot: str | None = None,
    words: Value | None = None,
) -> None:
    """Checks, counts and traces an access. Loads and stores also move the data from or to address
    `words`, by default `lane_data`. A bad access ends the launch."""
    data = e.context.at("lane_data") if words is None else words
    flags = const(
        kind.flags | AccessFlag.SIGNED * signed | AccessFlag.UNTRACED * (slot is not None)
    )
    slot_index = e.data(f"slot {slot or kind.space}")

    def name_words() -> None:
        e.b.store(data, e.context.at("words"))
        e.put("lane_addresses", lanes.low)

    def access_fully() -> None:
        name_words()
        if kind.space == "global":
            e.put("lane_uppers", lanes.high)
        facts = (slot_index, e.index, lanes.mask, flags)
        e.try_call(kind.function, e.context_pointer, e.warp_pointer, *facts)

    def move() -> None:
        name_words()
        if not kind.later:
            e.call(f"move_{kind.function}", e.context_pointer, place, flags)

    if has_fast_path(e, kind):
        place = _slot_place(e, slot_index)
        calls = RuntimeCalls(move, access_fully)
        emit_fast_path(e, kind, lanes, slot=place, words=data, calls=calls)
    else:
        access_fully()
    if kind.space == "global" and not (kind.atomic or kind.later):
        uses = Follow.READS if kind.load else Follow.WRITES
        follow(e, kind, lanes, uses | Follow.STRONG * i.has("STRONG"))


def follow(e: Emitter, kind: AccessKind, lanes: Lanes, flags: int) -> None:
    """Blocks may wait for each other with this access to global memory, which has been made.
    `flags`: see Follow."""
    records = e.b.ptrtoint(e.context.load_pointer("written"), I64)
    with e.b.if_then(e.b.icmp_unsigned("!=", records, const(0, I64)), likely=False):
        e.put("lane_addresses", lanes.low)
        facts = (lanes.mask, const(kind.words), const(flags))
        e.call("follow", e.context_pointer, e.warp_pointer, *facts)


def lane_data(e: Emitter, words: int) -> list[Value]:
    """The words that an access left in `lane_data`."""
    return [e.load_lanes(e.context.at("lane_data", word * WARP_LANES)) for word in range(words)]


def set_lane_data(e: Emitter, words: list[Value]) -> None:
    """Puts the data words of a store into `lane_data`, from where the access reads them."""
    for word, value in enumerate(words):
        e.b.store(value, e.context.at("lane_data", word * WARP_LANES), align=4)


def slot_pointer(e: Emitter, space: str) -> Value:
    """Address of the instruction's SLOT record for a space."""
    return _slot_place(e, e.data(f"slot {space}"))


def _slot_place(e: Emitter, index: Value) -> Value:
    place = e.b.mul(e.b.zext(index, I64), const(SLOT.itemsize, I64))
    return offset(e.b, e.context.load_pointer("slots"), place)


def lane_addresses(e: Emitter, operand: Operand) -> tuple[Value, Value]:
    """Lower and upper 32 bits of every lane's address."""
    if not isinstance(operand, Address):
        raise e.unsupported("without an address")
    if operand.wide:
        return _wide_addresses(e, operand)
    low = e.splat(e.offset_of(operand))
    for register in (operand.register, operand.uniform):
        if register is not None:
            word = e.i32(Register(register.index, register.uniform))
            scale = _SCALES[register.suffix]
            low = e.b.add(low, e.b.shl(word, e.const(scale)) if scale else word)
    return low, e.const(0)


_SCALES = {"": 0, "X4": 2, "X8": 3, "X16": 4}
"""Shift of a register in a shared or local address, before sm_90."""


def _wide_addresses(e: Emitter, operand: Address) -> tuple[Value, Value]:
    offset_word = e.offset_of(operand)
    low, high = e.splat(offset_word), e.splat(e.b.ashr(offset_word, const(31)))
    for register in (operand.register, operand.uniform):
        if register is not None:
            low, high = _add_words(e, (low, high), _address_words(e, register))
    return low, high


def _address_words(e: Emitter, register: Register) -> tuple[Value, Value]:
    """The lower and upper words that a register adds to an address."""
    plain = Register(register.index, register.uniform)
    low = e.i32(plain)
    if register.suffix == "64" or register.uniform:
        return low, e.i32(e.upper(plain))
    return low, e.const(0) if register.suffix == "U32" else e.b.ashr(low, e.const(31))


def _add_words(
    e: Emitter, left: tuple[Value, Value], right: tuple[Value, Value]
) -> tuple[Value, Value]:
    """Per lane, the sum of two 64-bit numbers as words, which need half as many vectors."""
    low = e.b.add(left[0], right[0])
    carry = e.b.zext(e.b.icmp_unsigned("<", low, right[0]), LANES_I32)
    return low, e.b.add(e.b.add(left[1], right[1]), carry)


MEMORY: dict[str, Opcode] = {
    "LDG": load("global"),
    "STG": store("global"),
    "LDS": load("shared"),
    "STS": store("shared"),
    "LDL": load("local"),
    "STL": store("local"),
}


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
