"""The memory system of the simulated SM, from the load/store unit to DRAM.

Memory instructions pass one load/store unit an SM: its data stage (wavefronts), its tag stage, an
L1 that knows lines, sectors and when they arrive, then the L2 and DRAM, of which the SM has its
share. A unit is known by the cycle at which it is free.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.emulator.timing.compiled import step
from grader.emulator.timing.expand import LOCAL_LINES, SECTOR_BYTES, SHARED, Access, Line
from grader.emulator.timing.parameters import L1_WAYS, Parameters
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.state import SM, CacheLine, Shared, Statistics, Warp

SECTOR = float(SECTOR_BYTES)
LEAST_CYCLES = 1.24
"""Of the load/store unit for an access to global memory, however few its wavefronts:
te42kyfo/gpu-benches measures it at small strides."""
HASH = 0x9E3779B1
"""Spreads lines over the sets of the L1 (Knuth's multiplicative hash): the hardware's own is not
published."""
REACH_CYCLES = 4.0
"""From the issue of an access until the load/store unit can take it; what only passes its queue
takes half as long."""
READ_CYCLES = 6.0
"""Until the registers of an access are read, counted from its last wavefront."""
PIPELINED_CYCLES = 5.0
"""Of a latency, which is measured from the issue, that are over at the last wavefront."""
SKIPPED_CYCLES = 10.0
"""Of an access of no lane."""


@step
def bits(mask: int) -> int:
    """The sectors in a mask of four."""
    return (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + ((mask >> 3) & 1)


@step
def pass_queue(shared: Shared, statistics: Statistics, t: float) -> float:
    """An instruction that is no access passes the load/store unit."""
    shared.lsu_free = max(shared.lsu_free, t + REACH_CYCLES / 2) + 1.0
    statistics.lsu += 1.0
    return shared.lsu_free


@step
def access_memory(sm: SM, warp: Warp, kind: int, index: int, t: float) -> tuple[float, float]:
    """When an access is done, and when it has read its registers; `index` is -1 where no lane is
    active."""
    shared, p = sm.shared, sm.p
    begin = max(shared.lsu_free, t + REACH_CYCLES)
    if kind == Kind.SHARED:
        passes = max(float(sm.accesses[index].wavefronts), p.access_cycles) if index >= 0 else 1.0
        pass_data(shared, sm.statistics, begin, passes)
        return shared.lsu_free + p.shared_latency - PIPELINED_CYCLES, shared.lsu_free + READ_CYCLES
    if index < 0:
        shared.lsu_free = begin + 1.0
        return shared.lsu_free + SKIPPED_CYCLES, shared.lsu_free + SKIPPED_CYCLES
    access = sm.accesses[index]
    if access.space == SHARED:  # by a generic address
        pass_data(shared, sm.statistics, begin, float(access.wavefronts))
        return shared.lsu_free + p.shared_latency, shared.lsu_free + p.shared_latency
    passes = max(float(max(access.wavefronts, access.tags)), max(LEAST_CYCLES, p.access_cycles))
    pass_data(shared, sm.statistics, begin, passes)
    read = shared.lsu_free + READ_CYCLES
    done = shared.lsu_free + p.l1_latency - PIPELINED_CYCLES
    for k in range(access.first, access.end):
        tag = sm.lines[k].number + sm.blocks[warp.place].shift
        done = max(done, access_line(sm, kind, sm.lines[k], tag, begin, t))
    if kind == Kind.COPY:
        pass_data(shared, sm.statistics, shared.lsu_free, copied_wavefronts(sm.accesses, index))
        warp.open_copy = max(warp.open_copy, done)
    return done, read


@step
def pass_data(shared: Shared, statistics: Statistics, begin: float, passes: float) -> None:
    """So many wavefronts pass the data stage."""
    shared.lsu_free = begin + passes
    statistics.lsu += passes


@step
def copied_wavefronts(accesses: Sequence[Access], index: int) -> float:
    """Those that the second access of an asynchronous copy takes, its store to shared memory."""
    if index + 1 < len(accesses) and accesses[index + 1].space == SHARED:
        return float(accesses[index + 1].wavefronts)
    return 1.0


# --- the L1 ---------------------------------------------------------------------------------------


@step
def access_line(sm: SM, kind: int, line: Line, tag: int, begin: float, t: float) -> float:
    """When what is asked of a line has come; of stores, 0."""
    first = (((tag * HASH) >> 20) % (len(sm.l1) // L1_WAYS)) * L1_WAYS
    place = find_line(sm.l1, first, tag)
    local = line.number >= LOCAL_LINES
    sm.statistics.l1_sectors += bits(line.touched)
    if kind == Kind.LOAD or kind == Kind.COPY:
        return load_line(sm, line.touched, place, first, tag, local, begin, t)
    if local:
        held = sm.l1[claim_line(sm.l1, first, tag) if place < 0 else place]
        held.sectors |= line.touched
        held.ready = sm.shared.lsu_free
        held.used = t
    store_sectors(sm, kind, line, begin)
    return sm.shared.store_free + sm.p.l2_latency if kind == Kind.ATOMIC else 0.0


@step
def load_line(
    sm: SM, asked: int, place: int, first: int, tag: int, local: bool, begin: float, t: float
) -> float:
    """When the sectors that are asked for are there; the missing ones are fetched."""
    missing = asked & ~(sm.l1[place].sectors if place >= 0 else 0)
    if not local:
        sm.statistics.load_sectors += bits(asked)
        sm.statistics.load_hits += bits(asked) - bits(missing)
    if missing == 0:
        sm.l1[place].used = t
        return sm.l1[place].ready
    held = sm.l1[claim_line(sm.l1, first, tag) if place < 0 else place]
    held.sectors |= missing
    held.used = t
    arrival = fetch_sectors(sm.shared, sm.statistics, sm.p, bits(missing), local, begin)
    held.ready = max(held.ready, arrival)
    return arrival


@step
def find_line(l1: Sequence[CacheLine], first: int, tag: int) -> int:
    """Where in its set a line is, -1 where it is not."""
    for way in range(first, first + L1_WAYS):
        if l1[way].tag == tag:
            return way
    return -1


@step
def claim_line(l1: Sequence[CacheLine], first: int, tag: int) -> int:
    """Give the place of the set that was not used for longest to a line."""
    place = first
    for way in range(first + 1, first + L1_WAYS):
        if l1[way].used < l1[place].used:
            place = way
    l1[place].tag = tag
    l1[place].sectors = 0
    l1[place].ready = 0.0
    return place


# --- beyond the L1 --------------------------------------------------------------------------------


@step
def fetch_sectors(
    shared: Shared, statistics: Statistics, p: Parameters, count: int, local: bool, begin: float
) -> float:
    """When sectors arrive from the L2, or from DRAM."""
    pass_data(shared, statistics, shared.lsu_free, count * p.fill_cycles)
    statistics.l1_misses += count
    statistics.l2_bytes += SECTOR * count
    shared.port_free = max(shared.port_free, begin) + count * p.fill_port_cycles
    shared.l2_free = max(shared.l2_free, begin - p.burst_cycles) + count * p.l2_sector_cycles
    arrival = max(shared.port_free, shared.l2_free) + p.l2_latency
    if local:
        return arrival
    shared.read_credit += count * p.dram_read_part
    whole = np.floor(shared.read_credit)
    shared.read_credit -= whole
    if whole > 0:
        pass_dram(shared, statistics, p, whole, begin)
        waited = max(shared.dram_free, shared.port_free) + p.dram_latency + draw_wait(shared, p)
        arrival = max(arrival, waited)
    return arrival


@step
def draw_wait(shared: Shared, p: Parameters) -> float:
    """Cycles that a read waits in DRAM's queues, drawn from an exponential distribution."""
    shared.random = (shared.random * 1103515245 + 12345) & 0x7FFFFFFF
    means: float = -np.log((shared.random >> 8 | 1) / (1 << 23))
    return means * p.dram_wait


@step
def store_sectors(sm: SM, kind: int, line: Line, begin: float) -> None:
    """Pass the sectors of a store or an atomic to the L2 and a part of them to DRAM; the load/store
    unit waits where their queues are full."""
    shared, p = sm.shared, sm.p
    count, covered = bits(line.touched), bits(line.whole)
    cost = covered * p.store_sector_cycles + (count - covered) * p.partial_sector_cycles
    if kind == Kind.ATOMIC:
        cost = count * p.atomic_cycles
    shared.store_free = max(shared.store_free, begin - p.burst_cycles) + cost
    sm.statistics.store_cycles += cost
    sm.statistics.l2_bytes += SECTOR * count
    shared.write_credit += count * p.dram_write_part
    whole = np.floor(shared.write_credit)
    shared.write_credit -= whole
    pass_dram(shared, sm.statistics, p, whole, begin)
    busy_until = max(shared.store_free, shared.dram_free)
    shared.lsu_free = max(shared.lsu_free, busy_until - p.store_queue)


@step
def pass_dram(
    shared: Shared, statistics: Statistics, p: Parameters, sectors: float, begin: float
) -> None:
    """Sectors pass DRAM, which may lag behind by a burst."""
    size = SECTOR * sectors
    shared.dram_free = max(shared.dram_free, begin - p.burst_cycles) + size * p.dram_byte_cycles
    statistics.dram_bytes += size
