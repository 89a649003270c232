"""Simulates the warps that are resident on one SM, cycle by cycle where anything happens, over the
memory system that all SMs share.

Four sub-partitions issue one instruction a cycle each, of the next ready warp in turn after the one
that issued last (loose round robin). A warp is ready when its stall count has passed, the
scoreboards of its wait mask are free, the pipe that it needs can take it, and the two register
banks can be read: the control bits of the machine code hold the dependencies. Memory instructions
pass one load/store unit an SM: its data stage (wavefronts), its tag stage, an L1 that knows lines,
sectors and when they arrive, then the L2 and DRAM, of which the SM has its share. Every server
takes what comes in order and is known by the cycle at which it is free, so that an instruction's
end is known when it is issued.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from grader.emulator.timing.code import Kind, Unit
from grader.emulator.timing.compiled import compiled
from grader.emulator.timing.streams import LOCAL_LINES

FAR = 1 << 60
SCOREBOARDS = 6
COPY_GROUPS = 8
(
    _FIXED,
    _VARIABLE,
    _SHARED_LOAD,
    _SHARED_STORE,
    _GLOBAL_LOAD,
    _GLOBAL_STORE,
    _ATOMIC,
    _BARRIER,
    _EXIT,
    _COPY,
    _COMMIT,
    _DEPEND,
) = map(int, Kind)
_FMA, _HEAVY, _ALU, _DOUBLE, _SPECIAL, _MEMORY, _NONE = map(int, Unit)

STATISTICS = (
    "issued",
    "fma",
    "alu",
    "lsu",
    "l2_bytes",
    "dram_bytes",
    "store_cycles",
    "l1_sectors",
    "l1_misses",
    "cycles",
    "double",
    "special",
    "full_cycles",
    "full_issued",
    "load_sectors",
    "load_hits",
)
(
    _ISSUED,
    _S_FMA,
    _S_ALU,
    _S_LSU,
    _S_L2,
    _S_DRAM,
    _S_STORE,
    _S_SECTORS,
    _S_MISSES,
    _S_CYCLES,
    _S_DOUBLE,
    _S_SPECIAL,
    _S_FULL,
    _S_FULL_ISSUED,
    _S_LOADED,
    _S_HITS,
) = range(16)

PARAMETERS = (
    "fma_cycles",
    "alu_cycles",
    "double_cycles",
    "special_cycles",
    "shared_latency",
    "l1_latency",
    "l2_latency",
    "dram_latency",
    "fill_cycles",
    "l2_sector_cycles",
    "store_sector_cycles",
    "partial_sector_cycles",
    "dram_byte_cycles",
    "burst_cycles",
    "lsu_queue",
    "block_launch",
    "store_queue",
    "dram_read_part",
    "dram_write_part",
    "l1_lines",
    "atomic_cycles",
    "memory_issue",
    "barrier_latency",
    "fill_port_cycles",
    "dram_wait",
    "float_halves",
    "access_cycles",
)
(
    _P_FMA,
    _P_ALU,
    _P_DOUBLE,
    _P_SPECIAL,
    _P_SHARED,
    _P_L1,
    _P_L2,
    _P_DRAM,
    _P_FILL,
    _P_L2SEC,
    _P_STORE,
    _P_PARTIAL,
    _P_BYTE,
    _P_BURST,
    _P_QUEUE,
    _P_LAUNCH,
    _P_STQ,
    _P_READ,
    _P_WRITE,
    _P_LINES,
    _P_ATOMIC,
    _P_ISSUE,
    _P_BAR,
    _P_PORT,
    _P_WAIT,
    _P_HALVES,
    _P_ACCESS,
) = range(27)

L1_WAYS = 16
LEAST_CYCLES = 1.24
"""Of the load/store unit for an access to global memory, however few its wavefronts:
te42kyfo/gpu-benches measures it at small strides."""
PORT_QUEUE = 1.0
"""Cycles by which reads of a register bank, one a cycle, may lag behind the issue: operands are
collected in queues."""
HASH = 0x9E3779B1
"""Spreads lines over the sets of the L1 (Knuth's multiplicative hash): the hardware's own is not
published."""
FRESH = 1 << 42
"""Blocks that stand for others, whose data lie elsewhere, find none of it in the L1: their lines
are so many further on each time."""


@njit
def _bits(mask):  # type: ignore[no-untyped-def]
    return (mask & 1) + ((mask >> 1) & 1) + ((mask >> 2) & 1) + ((mask >> 3) & 1)


@njit
def _victim(used, s):  # type: ignore[no-untyped-def]
    way = 0
    for v in range(1, L1_WAYS):
        if used[s, v] < used[s, way]:
            way = v
    return way


@njit
def _start(  # type: ignore[no-untyped-def]
    number,
    order,
    slot,
    warps,
    first,
    position,
    last,
    ready,
    board,
    waits,
    committed,
    open_copy,
    held,
    fresh,
    living,
    arrived,
    at,
):
    """Let a place of the SM run the block `order[number]` from the cycle `at`."""
    blocks = (len(first) - 1) // warps
    block = order[number] % blocks
    held[slot] = number
    fresh[slot] = (order[number] // blocks) * FRESH
    living[slot] = warps
    arrived[slot] = 0
    for i in range(warps):
        w = slot * warps + i
        position[w] = first[block * warps + i]
        last[w] = first[block * warps + i + 1]
        ready[w] = at + i // 4
        board[w, :] = 0.0
        waits[w] = 0
        committed[w] = 0
        open_copy[w] = 0.0


@njit
def _release(block, warps, waits, ready, at, next_ready):  # type: ignore[no-untyped-def]
    for w in range(block * warps, (block + 1) * warps):
        if waits[w] == 1:
            waits[w] = 0
            ready[w] = max(ready[w], at)
    for part in range(4):
        next_ready[part] = min(next_ready[part], at)


@compiled(
    "Tuple((f8[::1], f8[::1]))(i8[:, ::1], i8[::1], i4[::1], i4[::1], i1[::1], i4[::1], i4[::1],"
    " i8[::1], i8[::1], i1[::1], i1[::1], i8, i8[::1], i8, f8[::1])"
)
def simulate(  # type: ignore[no-untyped-def]
    table,
    first,
    code,
    access,
    space,
    wavefronts,
    tags,
    line_first,
    lines,
    touched,
    whole,
    warps,
    order,
    resident,
    p,
):
    """Run the blocks `order` (indices into the streams), at most `resident` at a time.

    Returns the cycle at which each ended, and STATISTICS: instructions, busy cycles of the pipes
    (of all sub-partitions together) and of the units, bytes, sectors; `full_*` are of the time
    until the first place stays empty. `p` holds PARAMETERS, in cycles.
    """
    slots = resident * warps
    position = np.zeros(slots, dtype=np.int64)
    last = np.zeros(slots, dtype=np.int64)
    ready = np.full(slots, FAR, dtype=np.float64)
    board = np.zeros((slots, SCOREBOARDS), dtype=np.float64)
    waits = np.zeros(slots, dtype=np.int64)  # 1: at the block's barrier
    groups = np.zeros((slots, COPY_GROUPS), dtype=np.float64)
    committed = np.zeros(slots, dtype=np.int64)
    open_copy = np.zeros(slots, dtype=np.float64)
    living = np.zeros(resident, dtype=np.int64)
    arrived = np.zeros(resident, dtype=np.int64)
    held = np.full(resident, -1, dtype=np.int64)
    fresh = np.zeros(resident, dtype=np.int64)
    ends = np.zeros(len(order), dtype=np.float64)
    pipes = np.zeros(
        (4, 8), dtype=np.float64
    )  # halves of the float pipe, ALU, double, special, memory; the two register banks
    latest = np.full(4, -1, dtype=np.int64)
    next_ready = np.zeros(4, dtype=np.float64)
    sets = max(1, int(p[_P_LINES]) // L1_WAYS)
    l1_tag = np.full((sets, L1_WAYS), -1, dtype=np.int64)
    l1_mask = np.zeros((sets, L1_WAYS), dtype=np.int64)
    l1_ready = np.zeros((sets, L1_WAYS), dtype=np.float64)
    l1_used = np.zeros((sets, L1_WAYS), dtype=np.float64)
    stats = np.zeros(16, dtype=np.float64)
    lsu_free, port_free, l2_free, store_free, dram_free = 0.0, 0.0, 0.0, 0.0, 0.0
    read_credit, write_credit = 0.5, 0.5
    random = np.int64(12345)
    started, ended, turn = 0, 0, 0
    full, full_issued = 0.0, 0.0
    t = 0.0
    for slot in range(min(resident, len(order))):
        _start(
            started,
            order,
            slot,
            warps,
            first,
            position,
            last,
            ready,
            board,
            waits,
            committed,
            open_copy,
            held,
            fresh,
            living,
            arrived,
            t + 8.0 * slot,
        )
        started += 1
    while ended < len(order):
        soonest = 1e300
        turn += 1  # the sub-partitions take turns at what they share
        for offset in range(4):
            part = (turn + offset) % 4
            if next_ready[part] > t:
                soonest = min(soonest, next_ready[part])
                continue
            chosen = -1
            chosen_distance = slots
            wake = 1e300
            for w in range(part, slots, 4):
                if waits[w] != 0 or ready[w] >= FAR:
                    continue
                row = table[code[position[w]]]
                at = ready[w]
                wait = row[6]
                if wait:
                    for b in range(SCOREBOARDS):
                        if (wait >> b) & 1 and board[w, b] > at:
                            at = board[w, b]
                kind = row[1]
                if kind == _DEPEND:
                    allowed = row[9]
                    known = committed[w]
                    for g in range(max(0, known - COPY_GROUPS), known - allowed):
                        if groups[w, g % COPY_GROUPS] > at:
                            at = groups[w, g % COPY_GROUPS]
                unit = row[0]
                if unit == _FMA:
                    at = max(
                        at,
                        (
                            min(pipes[part, 0], pipes[part, 1])
                            if p[_P_HALVES] > 1.0
                            else pipes[part, 0]
                        ),
                    )
                elif unit == _HEAVY:
                    at = max(at, pipes[part, 0])
                elif unit == _MEMORY:
                    at = max(at, pipes[part, 5], lsu_free - p[_P_QUEUE])
                elif unit != _NONE:
                    at = max(at, pipes[part, unit])
                if row[7]:
                    at = max(at, pipes[part, 6] - PORT_QUEUE)
                if row[8]:
                    at = max(at, pipes[part, 7] - PORT_QUEUE)
                if at <= t:
                    distance = (w - latest[part] - 1) % slots
                    if distance < chosen_distance:
                        chosen, chosen_distance = w, distance
                elif at < wake:
                    wake = at
            if chosen < 0:
                next_ready[part] = max(wake, t + 1.0) if wake < 1e300 else 1e300
                soonest = min(soonest, next_ready[part])
                continue
            w = chosen
            latest[part] = w
            next_ready[part] = t + 1.0
            soonest = min(soonest, t + 1.0)
            here = position[w]
            row = table[code[here]]
            unit, kind = row[0], row[1]
            stats[_ISSUED] += 1
            position[w] = here + 1
            ready[w] = t + max(1.0, float(row[3]))
            pipes[part, 6] = max(pipes[part, 6], t) + row[7]
            pipes[part, 7] = max(pipes[part, 7], t) + row[8]
            if unit == _FMA:
                half = 1 if p[_P_HALVES] > 1.0 and pipes[part, 1] <= pipes[part, 0] else 0
                pipes[part, half] = t + p[_P_FMA]
                stats[_S_FMA] += p[_P_FMA] / p[_P_HALVES]
            elif unit == _HEAVY:
                pipes[part, 0] = t + p[_P_FMA]
                stats[_S_FMA] += p[_P_FMA] / p[_P_HALVES]
            elif unit == _ALU:
                pipes[part, 2] = t + p[_P_ALU]
                stats[_S_ALU] += p[_P_ALU]
            elif unit == _DOUBLE:
                pipes[part, 3] = t + p[_P_DOUBLE]
                stats[_S_DOUBLE] += p[_P_DOUBLE]
            elif unit == _SPECIAL:
                pipes[part, 4] = t + p[_P_SPECIAL]
                stats[_S_SPECIAL] += p[_P_SPECIAL]
            elif unit == _MEMORY:
                pipes[part, 5] = t + p[_P_ISSUE]
            done, read = t, t
            a = access[here]
            if kind == _VARIABLE:
                done = t + row[2]
                if unit == _MEMORY:
                    lsu_free = max(lsu_free, t + 2.0) + 1.0
                    stats[_S_LSU] += 1.0
                    done = lsu_free + row[2]
                read = t + 6.0
            elif kind == _SHARED_LOAD or kind == _SHARED_STORE:
                passes = max(float(wavefronts[a]), p[_P_ACCESS]) if a >= 0 else 1.0
                lsu_free = max(lsu_free, t + 4.0) + passes
                stats[_S_LSU] += passes
                done = lsu_free + p[_P_SHARED] - 5.0
                read = lsu_free + 6.0
            elif (
                kind == _GLOBAL_LOAD or kind == _GLOBAL_STORE or kind == _ATOMIC or kind == _COPY
            ) and a < 0:
                lsu_free = max(lsu_free, t + 4.0) + 1.0
                done = lsu_free + 10.0
                read = done
            elif kind == _GLOBAL_LOAD or kind == _GLOBAL_STORE or kind == _ATOMIC or kind == _COPY:
                if space[a] == 1:  # a generic address that is shared
                    lsu_free = max(lsu_free, t + 4.0) + wavefronts[a]
                    stats[_S_LSU] += wavefronts[a]
                    done = lsu_free + p[_P_SHARED]
                    read = done
                else:
                    begin = max(lsu_free, t + 4.0)
                    passes = max(
                        float(max(wavefronts[a], tags[a])), max(LEAST_CYCLES, p[_P_ACCESS])
                    )
                    lsu_free = begin + passes
                    stats[_S_LSU] += passes
                    done = lsu_free + p[_P_L1] - 5.0
                    read = lsu_free + 6.0
                    for k in range(line_first[a], line_first[a + 1]):
                        line = lines[k] + fresh[w // warps]
                        asked = np.int64(touched[k])
                        s = ((line * HASH) >> 20) % sets
                        way = -1
                        for v in range(L1_WAYS):
                            if l1_tag[s, v] == line:
                                way = v
                                break
                        here_mask = l1_mask[s, way] if way >= 0 else 0
                        count = _bits(asked)
                        stats[_S_SECTORS] += count
                        local = lines[k] >= LOCAL_LINES
                        if kind == _GLOBAL_STORE or kind == _ATOMIC:
                            if local:
                                if way < 0:
                                    way = _victim(l1_used, s)
                                    l1_tag[s, way] = line
                                    l1_mask[s, way] = 0
                                l1_mask[s, way] |= asked
                                l1_ready[s, way] = lsu_free
                                l1_used[s, way] = t
                            covered = _bits(np.int64(whole[k]))
                            cost = covered * p[_P_STORE] + (count - covered) * p[_P_PARTIAL]
                            if kind == _ATOMIC:
                                cost = count * p[_P_ATOMIC]
                            store_free = max(store_free, begin - p[_P_BURST]) + cost
                            stats[_S_STORE] += cost
                            stats[_S_L2] += 32.0 * count
                            if store_free - p[_P_STQ] > lsu_free:
                                lsu_free = store_free - p[_P_STQ]
                            write_credit += count * p[_P_WRITE]
                            whole_sectors = np.floor(write_credit)
                            write_credit -= whole_sectors
                            dram_free = (
                                max(dram_free, begin - p[_P_BURST])
                                + 32.0 * whole_sectors * p[_P_BYTE]
                            )
                            stats[_S_DRAM] += 32.0 * whole_sectors
                            if dram_free - p[_P_STQ] > lsu_free:
                                lsu_free = dram_free - p[_P_STQ]
                            if kind == _ATOMIC:
                                done = max(done, store_free + p[_P_L2])
                            continue
                        missing = asked & ~here_mask
                        if not local:
                            stats[_S_LOADED] += count
                            stats[_S_HITS] += count - _bits(missing)
                        if missing == 0:
                            l1_used[s, way] = t
                            if l1_ready[s, way] > done:
                                done = l1_ready[s, way]
                            continue
                        if way < 0:
                            way = _victim(l1_used, s)
                            l1_tag[s, way] = line
                            l1_mask[s, way] = 0
                            l1_ready[s, way] = 0.0
                        l1_mask[s, way] |= missing
                        l1_used[s, way] = t
                        misses = _bits(missing)
                        stats[_S_MISSES] += misses
                        stats[_S_L2] += 32.0 * misses
                        lsu_free += misses * p[_P_FILL]
                        stats[_S_LSU] += misses * p[_P_FILL]
                        port_free = max(port_free, begin) + misses * p[_P_PORT]
                        l2_free = max(l2_free, begin - p[_P_BURST]) + misses * p[_P_L2SEC]
                        arrival = max(port_free, l2_free) + p[_P_L2]
                        if not local:
                            read_credit += misses * p[_P_READ]
                            whole_sectors = np.floor(read_credit)
                            read_credit -= whole_sectors
                            if whole_sectors > 0:
                                dram_free = (
                                    max(dram_free, begin - p[_P_BURST])
                                    + 32.0 * whole_sectors * p[_P_BYTE]
                                )
                                stats[_S_DRAM] += 32.0 * whole_sectors
                                random = (random * 1103515245 + 12345) & 0x7FFFFFFF
                                queue = -np.log((random >> 8 | 1) / (1 << 23)) * p[_P_WAIT]
                                arrival = max(
                                    arrival, max(dram_free, port_free) + p[_P_DRAM] + queue
                                )
                        if arrival > l1_ready[s, way]:
                            l1_ready[s, way] = arrival
                        if arrival > done:
                            done = arrival
                    if kind == _COPY:
                        passes = (
                            float(wavefronts[a + 1])
                            if a + 1 < len(space) and space[a + 1] == 1
                            else 1.0
                        )
                        lsu_free += passes
                        stats[_S_LSU] += passes
                        open_copy[w] = max(open_copy[w], done)
            elif kind == _COMMIT:
                groups[w, committed[w] % COPY_GROUPS] = open_copy[w]
                committed[w] += 1
                open_copy[w] = 0.0
            if row[4] < SCOREBOARDS:
                board[w, row[4]] = max(board[w, row[4]], done)
            if row[5] < SCOREBOARDS:
                board[w, row[5]] = max(board[w, row[5]], read)
            block = w // warps
            if position[w] >= last[w]:
                ready[w] = FAR
                living[block] -= 1
                if living[block] == 0:
                    ends[held[block]] = t
                    ended += 1
                    if started == len(order) and full == 0.0:
                        full, full_issued = t, stats[_ISSUED]
                    if started < len(order):
                        _start(
                            started,
                            order,
                            block,
                            warps,
                            first,
                            position,
                            last,
                            ready,
                            board,
                            waits,
                            committed,
                            open_copy,
                            held,
                            fresh,
                            living,
                            arrived,
                            t + p[_P_LAUNCH],
                        )
                        started += 1
                        for other in range(4):
                            next_ready[other] = min(next_ready[other], t + p[_P_LAUNCH])
                elif arrived[block] > 0 and arrived[block] >= living[block]:
                    _release(block, warps, waits, ready, t + p[_P_BAR], next_ready)
                    arrived[block] = 0
            elif kind == _BARRIER:
                waits[w] = 1
                arrived[block] += 1
                if arrived[block] >= living[block]:
                    _release(block, warps, waits, ready, t + p[_P_BAR], next_ready)
                    arrived[block] = 0
        if ended >= len(order):
            break
        following = 1e300
        for part in range(4):
            following = min(following, next_ready[part])
        if following >= 1e300:
            break
        t = max(t + 1.0, np.ceil(following))
    stats[_S_CYCLES], stats[_S_FULL], stats[_S_FULL_ISSUED] = t, full, full_issued
    return ends, stats
