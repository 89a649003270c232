"""The counting rules of DESIGN 3.3 in native code: wavefronts of a shared access, sectors of a
global one.

Both work on the *pattern* of an access (lane addresses relative to a base) and run only when a
pattern is new to its instruction; `access.py` remembers the last one.
"""

from __future__ import annotations

from dataclasses import dataclass

from llvmlite import ir

from grader.emulator.layout import CONTEXT, SLOT, WARP_LANES
from grader.emulator.native.tools import (
    I1,
    I8,
    I32,
    LANES_I32,
    POINTER,
    VOID,
    Record,
    Value,
    cell,
    const,
    define,
    each_set_bit,
    lane_bits,
    splat,
)

BANKS = 32
BANK_BYTES = 4
SECTOR_BYTES = 32
WARP_BYTES = BANKS * BANK_BYTES


@dataclass(frozen=True)
class AccessKind:
    """What a memory instruction does: `space` is `shared`, `global` or `local`, `width` in bytes.

    `part`: of the bytes only the first is sure to be accessed. Of atomics in shared memory, `turns`
    says whether lanes that meet at one address take turns there, and `rounds` how often the data
    goes through: twice for a compare-and-swap.
    """

    space: str
    load: bool
    width: int
    atomic: bool = False
    part: bool = False
    turns: bool = False
    rounds: int = 1

    @property
    def name(self) -> str:
        """What tells it from other kinds, in names of helpers."""
        way = "atomic" if self.atomic else "load" if self.load else "store"
        flags = [
            name
            for name, present in (
                ("part", self.part),
                ("turns", self.turns),
                ("twice", self.rounds == 2),
            )
            if present
        ]
        return "_".join([self.space, way, str(self.width), *flags])

    @property
    def bounded_bytes(self) -> int:
        """Bytes from the address on that must lie in the buffer."""
        return 1 if self.part else self.width


def define_count_wavefronts(module: ir.Module, kind: AccessKind) -> ir.Function:
    """`void count_wavefronts(context, slot, mask)`: fill `passes` and `passes_ideal` for a shared
    access.

    Lane addresses lie in the context's `lane_addresses`, relative to a base that is a multiple of
    the width and of 4.
    """
    width = kind.width
    function, b = define(module, f"count_wavefronts_{kind.name}", VOID, [POINTER, POINTER, I32])
    context, slot = Record(b, function.args[0], CONTEXT), Record(b, function.args[1], SLOT)
    mask = function.args[2]
    unit_bytes = max(width, BANK_BYTES)
    unit_shift = unit_bytes.bit_length() - 1
    banks = WARP_BYTES // unit_bytes
    units = b.lshr(context.load_lanes("lane_addresses"), splat(b, const(unit_shift)))
    phases = max(1, width // BANK_BYTES)
    lanes_per_phase = WARP_LANES // phases
    distinct = mask if kind.turns else distinct_lanes(b, units, mask, lanes_per_phase)
    busiest = [
        _busiest_bank(b, units, _part(b, distinct, phase * lanes_per_phase, lanes_per_phase), banks)
        for phase in range(phases)
    ]
    if kind.load and phases > 1:
        pairs = [
            _merged_pair(b, units, mask, pair, lanes_per_phase, banks, busiest)
            for pair in range(phases // 2)
        ]
        total = _sum(b, pairs)
    else:
        total = _sum(b, busiest)
    bytes_asked = b.mul(b.ctpop(mask), const(width))
    fewest = b.udiv(b.add(bytes_asked, const(WARP_BYTES - 1)), const(WARP_BYTES))
    fewest = b.select(b.icmp_unsigned(">", fewest, const(1)), fewest, const(1))
    slot.store("passes", b.mul(total, const(kind.rounds)))
    slot.store(
        "passes_ideal",
        b.mul(b.select(b.icmp_unsigned("<", total, fewest), total, fewest), const(kind.rounds)),
    )
    slot.store("bytes", bytes_asked)
    b.ret_void()
    return function


def define_count_sectors(module: ir.Module, kind: AccessKind) -> ir.Function:
    """`void count_sectors(context, slot, mask)`: fill `passes` (sectors), `passes_ideal` and
    `bytes` (distinct) for global accesses.

    Lane addresses lie in `lane_addresses`, relative to a base that is a multiple of the sector
    size. An access wider than 4 bytes is aligned to its width, so each lane touches one sector.
    """
    width = kind.width
    function, b = define(module, f"count_sectors_{kind.name}", VOID, [POINTER, POINTER, I32])
    context, slot = Record(b, function.args[0], CONTEXT), Record(b, function.args[1], SLOT)
    mask = function.args[2]
    addresses = context.load_lanes("lane_addresses")
    sector_of = b.lshr(addresses, splat(b, const(SECTOR_BYTES.bit_length() - 1)))
    sectors = b.ctpop(distinct_lanes(b, sector_of, mask, WARP_LANES))
    elements = b.ctpop(distinct_lanes(b, addresses, mask, WARP_LANES))
    bytes_asked = b.mul(b.ctpop(mask), const(width))
    fewest = b.udiv(b.add(bytes_asked, const(SECTOR_BYTES - 1)), const(SECTOR_BYTES))
    slot.store("passes", sectors)
    slot.store("passes_ideal", b.select(b.icmp_unsigned("<", sectors, fewest), sectors, fewest))
    slot.store("bytes", b.mul(elements, const(width)))
    b.ret_void()
    return function


def distinct_lanes(b: ir.IRBuilder, units: Value, mask: Value, group: int) -> Value:
    """The active lanes that are the first of their group (of `group` neighbouring lanes) to name
    their unit, as a mask."""
    stored = cell(b, LANES_I32)
    b.store(units, stored)
    distinct = cell(b, I32)
    b.store(const(0), distinct)
    with each_set_bit(b, mask) as lane:
        unit = b.load(b.gep(stored, [lane], source_etype=I32), typ=I32)
        same = lane_bits(b, b.icmp_unsigned("==", units, splat(b, unit)))
        bit = b.shl(const(1), lane)
        below = b.sub(bit, const(1))
        group_start = b.and_(lane, const(-group))
        in_group = b.shl(const(-1), group_start)
        earlier = b.and_(b.and_(same, mask), b.and_(below, in_group))
        new = b.icmp_unsigned("==", earlier, const(0))
        b.store(b.or_(b.load(distinct, typ=I32), b.select(new, bit, const(0))), distinct)
    return b.load(distinct, typ=I32)


def _busiest_bank(b: ir.IRBuilder, units: Value, lanes: Value, banks: int) -> Value:
    """The most units in one bank over the lanes of a mask."""
    stored = cell(b, LANES_I32)
    b.store(units, stored)
    counts = cell(b, ir.ArrayType(I8, banks))
    b.store(ir.Constant(ir.ArrayType(I8, banks), None), counts)
    most = cell(b, I8)
    b.store(ir.Constant(I8, 0), most)
    with each_set_bit(b, lanes) as lane:
        bank = b.and_(b.load(b.gep(stored, [lane], source_etype=I32), typ=I32), const(banks - 1))
        counter = b.gep(counts, [bank], source_etype=I8)
        count = b.add(b.load(counter, typ=I8), ir.Constant(I8, 1))
        b.store(count, counter)
        old = b.load(most, typ=I8)
        b.store(b.select(b.icmp_unsigned(">", count, old), count, old), most)
    return b.zext(b.load(most, typ=I8), I32)


def _merged_pair(
    b: ir.IRBuilder,
    units: Value,
    mask: Value,
    pair: int,
    lanes_per_phase: int,
    banks: int,
    busiest: list[Value],
) -> Value:
    """Wavefronts of two neighbouring phases of a load: one where partner lanes share addresses and
    both phases fit one wavefront."""
    first = pair * 2 * lanes_per_phase
    active = _part(b, mask, first, 2 * lanes_per_phase)
    separate = b.add(busiest[2 * pair], busiest[2 * pair + 1])
    distinct = _part(
        b, distinct_lanes(b, units, mask, 2 * lanes_per_phase), first, 2 * lanes_per_phase
    )
    together = _busiest_bank(b, units, distinct, banks)
    shared = ir.Constant(I1, 0)
    for distance in (1, 2):
        partner = ir.Constant(LANES_I32, [lane ^ distance for lane in range(WARP_LANES)])
        partner_units = b.shuffle_vector(units, units, partner)
        absent = b.not_(_swap_bits(b, mask, distance))  # an inactive partner does not object
        same = b.or_(lane_bits(b, b.icmp_unsigned("==", units, partner_units)), absent)
        all_same = b.icmp_unsigned("==", b.and_(active, b.not_(same)), const(0))
        shared = b.or_(shared, all_same)
    fits = b.icmp_unsigned("<=", together, const(1))
    return b.select(b.and_(shared, fits), together, separate)


def _swap_bits(b: ir.IRBuilder, mask: Value, distance: int) -> Value:
    """The mask with bit `i` taken from bit `i ^ distance` (1 or 2)."""
    low = {1: 0x55555555, 2: 0x33333333}[distance]
    up = b.shl(b.and_(mask, const(low)), const(distance))
    down = b.and_(b.lshr(mask, const(distance)), const(low))
    return b.or_(up, down)


def phase_mask(phase: int, lanes_per_phase: int) -> int:
    """The lanes of one phase of a wide access."""
    return ((1 << lanes_per_phase) - 1) << (phase * lanes_per_phase)


def _part(b: ir.IRBuilder, mask: Value, first: int, count: int) -> Value:
    return b.and_(mask, const(((1 << count) - 1) << first))


def _sum(b: ir.IRBuilder, values: list[Value]) -> Value:
    total = values[0]
    for value in values[1:]:
        total = b.add(total, value)
    return total
