"""Simulates the warps that are resident on one SM, cycle by cycle where anything happens.

Four sub-partitions issue one instruction a cycle each, of the next ready warp in turn after the one
that issued last (loose round robin). A warp is ready when its stall count has passed, the
scoreboards of its wait mask are free, the pipe that it needs can take it, and the two register
banks can be read: the control bits of the machine code hold the dependencies. What an instruction
does in memory is in `memory_units`. Every unit takes what comes in order and is known by the cycle
at which it is free, so that an instruction's end is known when it is issued.
"""

from __future__ import annotations

import numpy as np

from grader.emulator.timing.code_table import CodeRow
from grader.emulator.timing.compiled import compiled, step
from grader.emulator.timing.memory_units import access_memory, pass_queue
from grader.emulator.timing.parameters import Parameters
from grader.emulator.timing.pipes import Kind, Unit
from grader.emulator.timing.state import (
    COPY_GROUPS,
    NEVER,
    SCOREBOARDS,
    SM,
    SUB_PARTITIONS,
    Partition,
    Shared,
    Statistics,
    Warp,
)

READ_CYCLES = 6.0
"""From the issue of an instruction that is queued until its registers are read."""
PORT_QUEUE = 1.0
"""Cycles by which reads of a register bank, one a cycle, may lag behind the issue: operands are
collected in queues."""
START_CYCLES = 8.0
"""Between the starts of the first blocks."""
FRESH = 1 << 42
"""Blocks that stand for others, whose data lie elsewhere, find none of it in the L1: their lines
are so many further on each time."""


# --- choosing a warp ------------------------------------------------------------------------------


@step
def _choose_warp(sm: SM, number: int, t: float) -> tuple[int, float]:
    """The next ready warp in turn, -1 for none; and when the first of the others is ready."""
    partition, chosen, nearest, wake = sm.partitions[number], -1, len(sm.warps), NEVER
    for w in range(number, len(sm.warps), SUB_PARTITIONS):
        warp = sm.warps[w]
        if warp.at_barrier or warp.ready >= NEVER:
            continue
        row = sm.table[sm.steps[warp.position].code]
        at = max(_dependencies_met(warp, row), _pipe_free(partition, row, sm.shared, sm.p))
        if row.even_reads:
            at = max(at, partition.even_bank - PORT_QUEUE)
        if row.odd_reads:
            at = max(at, partition.odd_bank - PORT_QUEUE)
        if at <= t:
            distance = (w - partition.latest - 1) % len(sm.warps)
            if distance < nearest:
                chosen, nearest = w, distance
        elif at < wake:
            wake = at
    return chosen, wake


@step
def _dependencies_met(warp: Warp, row: CodeRow) -> float:
    """When the stall count has passed, and what the instruction waits for has come."""
    at = warp.ready
    if row.wait_mask:
        for scoreboard in range(SCOREBOARDS):
            if (row.wait_mask >> scoreboard) & 1:
                at = max(at, warp.board[scoreboard])
    if row.kind == Kind.DEPEND:
        for group in range(max(0, warp.committed - COPY_GROUPS), warp.committed - row.argument):
            at = max(at, warp.groups[group % COPY_GROUPS])
    return at


@step
def _pipe_free(partition: Partition, row: CodeRow, shared: Shared, p: Parameters) -> float:
    """When the pipe can take the instruction."""
    if row.unit == Unit.NONE:
        return 0.0
    if row.unit == Unit.MEMORY:
        return max(partition.pipes[Unit.MEMORY], shared.lsu_free - p.lsu_queue)
    if row.unit == Unit.FMA:
        heavy = partition.pipes[Unit.HEAVY]
        return min(heavy, partition.pipes[Unit.FMA]) if p.float_halves > 1.0 else heavy
    return partition.pipes[row.unit]


# --- issuing --------------------------------------------------------------------------------------


@step
def _issue(sm: SM, partition: Partition, w: int, t: float) -> None:
    """Issue the next instruction of a warp."""
    warp = sm.warps[w]
    at = sm.steps[warp.position]
    row = sm.table[at.code]
    sm.statistics.issued += 1
    warp.position += 1
    warp.ready = t + max(1.0, float(row.stall))
    partition.even_bank = max(partition.even_bank, t) + row.even_reads
    partition.odd_bank = max(partition.odd_bank, t) + row.odd_reads
    _take_pipe(partition, row, sm.p, sm.statistics, t)
    done, read = _execute(sm, w, at.access, t)
    if row.write_scoreboard < SCOREBOARDS:
        warp.board[row.write_scoreboard] = max(warp.board[row.write_scoreboard], done)
    if row.read_scoreboard < SCOREBOARDS:
        warp.board[row.read_scoreboard] = max(warp.board[row.read_scoreboard], read)
    if warp.position >= warp.last:
        _retire(sm, w, t)
    elif row.kind == Kind.BARRIER:
        warp.at_barrier = True
        sm.blocks[warp.place].arrived += 1
        _pass_barrier(sm, warp.place, t)


@step
def _take_pipe(
    partition: Partition, row: CodeRow, p: Parameters, statistics: Statistics, t: float
) -> None:
    unit, pipes = row.unit, partition.pipes
    if unit == Unit.FMA or unit == Unit.HEAVY:
        free = p.float_halves > 1.0 and pipes[Unit.FMA] <= pipes[Unit.HEAVY]
        pipes[Unit.FMA if unit == Unit.FMA and free else Unit.HEAVY] = t + p.fma_cycles
        statistics.fma += p.fma_cycles / p.float_halves
    elif unit == Unit.ALU:
        pipes[Unit.ALU] = t + p.alu_cycles
        statistics.alu += p.alu_cycles
    elif unit == Unit.DOUBLE:
        pipes[Unit.DOUBLE] = t + p.double_cycles
        statistics.double += p.double_cycles
    elif unit == Unit.SPECIAL:
        pipes[Unit.SPECIAL] = t + p.special_cycles
        statistics.special += p.special_cycles
    elif unit == Unit.MEMORY:
        pipes[Unit.MEMORY] = t + p.memory_issue


@step
def _execute(sm: SM, w: int, access: int, t: float) -> tuple[float, float]:
    """When the instruction that was issued is done, and when it has read its registers."""
    warp = sm.warps[w]
    row = sm.table[sm.steps[warp.position - 1].code]
    if row.kind == Kind.FIXED:
        return t, t
    if row.kind == Kind.VARIABLE:
        queued = row.unit == Unit.MEMORY
        start = pass_queue(sm.shared, sm.statistics, t) if queued else t
        return start + row.latency, t + READ_CYCLES
    if Kind.SHARED <= row.kind <= Kind.COPY:
        return access_memory(sm, warp, row.kind, access, t)
    if row.kind == Kind.COMMIT:
        warp.groups[warp.committed % COPY_GROUPS] = warp.open_copy
        warp.committed += 1
        warp.open_copy = 0.0
    return t, t


# --- blocks ---------------------------------------------------------------------------------------


@step
def _warps_per_block(sm: SM) -> int:
    return len(sm.warps) // len(sm.blocks)


@step
def _start_block(sm: SM, slot: int, at: float) -> None:
    """Let a place of the SM run the next block of the order from the cycle `at`."""
    warps = _warps_per_block(sm)
    blocks = (len(sm.first) - 1) // warps
    block = sm.blocks[slot]
    block.number = sm.shared.started
    block.shift = (sm.order[block.number] // blocks) * FRESH
    block.living = warps
    block.arrived = 0
    traced = (sm.order[block.number] % blocks) * warps
    for index in range(warps):
        warp = sm.warps[slot * warps + index]
        warp.position = sm.first[traced + index]
        warp.last = sm.first[traced + index + 1]
        warp.ready = at + index // SUB_PARTITIONS
        warp.at_barrier = False
        warp.committed = 0
        warp.open_copy = 0.0
        for scoreboard in range(SCOREBOARDS):
            warp.board[scoreboard] = 0.0
    sm.shared.started += 1


@step
def _retire(sm: SM, w: int, t: float) -> None:
    """A warp has ended: its block may end, and another one start, or a barrier has all that are
    left."""
    slot = sm.warps[w].place
    block = sm.blocks[slot]
    sm.warps[w].ready = NEVER
    block.living -= 1
    if block.living > 0:
        _pass_barrier(sm, slot, t)
        return
    sm.ends[block.number] = t
    sm.shared.ended += 1
    if sm.shared.started < len(sm.order):
        _start_block(sm, slot, t + sm.p.block_launch)
        _wake_partitions(sm, t + sm.p.block_launch)
    elif sm.statistics.full_cycles == 0.0:
        sm.statistics.full_cycles = t
        sm.statistics.full_issued = sm.statistics.issued


@step
def _pass_barrier(sm: SM, slot: int, t: float) -> None:
    """Let the warps of a block go on where all that live have arrived."""
    block, warps = sm.blocks[slot], _warps_per_block(sm)
    if block.arrived == 0 or block.arrived < block.living:
        return
    block.arrived = 0
    at = t + sm.p.barrier_latency
    for w in range(slot * warps, (slot + 1) * warps):
        warp = sm.warps[w]
        if warp.at_barrier:
            warp.at_barrier = False
            warp.ready = max(warp.ready, at)
    _wake_partitions(sm, at)


@step
def _wake_partitions(sm: SM, at: float) -> None:
    for number in range(SUB_PARTITIONS):
        sm.partitions[number].next_ready = min(sm.partitions[number].next_ready, at)


# --- running -------------------------------------------------------------------------------------


@step
def _run_partition(sm: SM, number: int, t: float) -> None:
    """A cycle of a sub-partition: choose a warp and issue its next instruction."""
    partition = sm.partitions[number]
    if partition.next_ready > t:
        return
    chosen, wake = _choose_warp(sm, number, t)
    if chosen < 0:
        partition.next_ready = max(wake, t + 1.0) if wake < NEVER else NEVER
        return
    partition.latest = chosen
    partition.next_ready = t + 1.0
    _issue(sm, partition, chosen, t)


@compiled(SM)
def simulate(sm: SM) -> None:
    """Run the blocks of the SM's order; `sm.ends` and `sm.statistics` hold what came of it."""
    t = 0.0
    turn = 0
    for slot in range(min(len(sm.blocks), len(sm.order))):
        _start_block(sm, slot, START_CYCLES * slot)
    while True:
        turn += 1  # the sub-partitions take turns at what they share
        for offset in range(SUB_PARTITIONS):
            _run_partition(sm, (turn + offset) % SUB_PARTITIONS, t)
        following = NEVER
        for partition in range(SUB_PARTITIONS):
            following = min(following, sm.partitions[partition].next_ready)
        if sm.shared.ended >= len(sm.order) or following >= NEVER:
            break
        t = max(t + 1.0, np.ceil(following))
    sm.statistics.cycles = t
