"""Counters per instruction, summed over the host threads that ran a launch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from grader.emulator.decode import Decoded
from grader.emulator.translate import NativeKernel

_ACCESSES = {"LDG": ("global", True), "STG": ("global", False), "LDS": ("shared", True), "STS": ("shared", False)}


@dataclass(frozen=True)
class InstructionCounts:
    """What one instruction did in a launch. `executed` counts warps, `threads` their lanes on the path.

    Memory instructions: `space` is `shared` or `global`; `requests` are executions with an active lane; `passes` are
    wavefronts (shared) or 32-byte sectors (global), `passes_ideal` the fewest possible; `bytes` the distinct bytes.
    """

    index: int
    opcode: str
    line: int | None
    executed: int
    threads: int
    space: str | None = None
    load: bool = False
    requests: int = 0
    passes: int = 0
    passes_ideal: int = 0
    bytes: int = 0


def collect_counts(kernel: NativeKernel, block_counts: np.ndarray, slots: np.ndarray) -> tuple[InstructionCounts, ...]:
    """Counts of every reachable instruction. `block_counts` is (blocks, 2), `slots` an array of SLOT records, both summed."""
    return tuple(
        _count(instruction, kernel, block_counts[block.index], slots)
        for block in kernel.flow.blocks
        for instruction in block.instructions
    )


def sum_slots(parts: Iterable[np.ndarray]) -> np.ndarray:
    """The totals of SLOT arrays, field by field, in the first of fresh copies."""
    arrays = list(parts)
    total = arrays[0].copy()
    for part in arrays[1:]:
        for field in ("requests_total", "passes_total", "passes_ideal_total", "bytes_total"):
            total[field] += part[field]
    return total


def _count(instruction: Decoded, kernel: NativeKernel, executions: np.ndarray, slots: np.ndarray) -> InstructionCounts:
    executed, threads = int(executions[0]), int(executions[1])
    slot = kernel.slots.get(instruction.index)
    if slot is None or instruction.base not in _ACCESSES:
        return InstructionCounts(instruction.index, instruction.opcode, instruction.line, executed, threads)
    space, load = _ACCESSES[instruction.base]
    record = slots[slot]
    return InstructionCounts(
        instruction.index,
        instruction.opcode,
        instruction.line,
        executed,
        threads,
        space,
        load,
        int(record["requests_total"]),
        int(record["passes_total"]),
        int(record["passes_ideal_total"]),
        int(record["bytes_total"]),
    )
