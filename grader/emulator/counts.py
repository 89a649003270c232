"""Counters per instruction, summed over the host threads that ran a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from grader.emulator.decode import Decoded
from grader.emulator.flow import Block
from grader.emulator.translate import NativeKernel
from grader.sass import Access, Way

SYSTEM_FENCE_INSTRUCTIONS = 9
"""What an H100 executes besides for each fence of the system (`MEMBAR.SYS`), and one of them is a
store request: tests/emulator/kernels/fence_system_*.cu."""


@dataclass(frozen=True)
class InstructionCounts:
    """What one instruction did in a launch. `executed` counts warps, `threads` their lanes on the
    path.

    Memory instructions: `space` is `shared` or `global`; `requests` are executions with an active
    lane; `passes` are wavefronts (shared) or 32-byte sectors (global), `passes_ideal` the fewest
    possible; `bytes` the distinct bytes. An atomic that returns what was there is a load, too. An
    instruction that may touch two spaces (generic addresses, asynchronous copies) has two records:
    the first one holds its executions, the second one only what it did to shared memory.
    """

    index: int
    opcode: str
    line: int | None
    executed: int
    threads: int
    space: str | None = None
    load: bool = False
    atomic: bool = False
    requests: int = 0
    passes: int = 0
    passes_ideal: int = 0
    bytes: int = 0


def collect_counts(
    kernel: NativeKernel, block_counts: np.ndarray, slots: np.ndarray
) -> tuple[InstructionCounts, ...]:
    """Counts of every reachable instruction. `block_counts` is (blocks, COUNTS_PER_BLOCK), `slots`
    SLOT records, both summed."""
    return tuple(
        counts
        for block in kernel.flow.blocks
        for instruction in block.instructions
        for counts in _count(
            instruction, kernel, _executions(block, instruction, block_counts[block.index]), slots
        )
    )


def store_slots(kernel: NativeKernel) -> list[int]:
    """The slots of plain stores to global memory."""
    store = Access("global", Way.STORE)
    stores = {instruction.index for instruction in kernel.decoded if store in instruction.accesses}
    return [
        slot
        for (index, space), slot in kernel.slots.items()
        if space == store.space and index in stores
    ]


def sum_slots(parts: Iterable[np.ndarray]) -> np.ndarray:
    """The totals of SLOT arrays, field by field, in the first of fresh copies."""
    arrays = list(parts)
    total = arrays[0].copy()
    for part in arrays[1:]:
        for field in ("requests_total", "passes_total", "passes_ideal_total", "bytes_total"):
            total[field] += part[field]
    return total


def _executions(block: Block, instruction: Decoded, counts: np.ndarray) -> tuple[int, int]:
    """How many warps executed an instruction, and how many threads: a repetition is of the same
    threads."""
    executed, threads, repetitions = map(int, counts)
    return executed + (repetitions if instruction is block.instructions[-1] else 0), threads


def _count(
    instruction: Decoded, kernel: NativeKernel, executions: tuple[int, int], slots: np.ndarray
) -> Iterator[InstructionCounts]:
    executed, threads = executions
    accesses = [
        access
        for access in instruction.accesses
        if (instruction.index, access.space) in kernel.slots
    ]
    if not accesses:
        yield InstructionCounts(
            instruction.index, instruction.opcode, instruction.line, executed, threads
        )
    for access in accesses:
        record = slots[kernel.slots[instruction.index, access.space]]
        if access.way is Way.FENCE:
            executed += SYSTEM_FENCE_INSTRUCTIONS * int(record["requests_total"])
        yield InstructionCounts(
            instruction.index,
            instruction.opcode,
            instruction.line,
            executed,
            threads,
            access.space,
            access.load,
            access.atomic,
            int(record["requests_total"]),
            int(record["passes_total"]),
            int(record["passes_ideal_total"]),
            int(record["bytes_total"]),
        )
        executed = threads = 0
