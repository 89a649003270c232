"""The choice of traced blocks that represent a launch: their traces must agree, instruction by
instruction, with the whole launch.

A trace may be cut off, and blocks may differ in kind. Therefore the traces are compared with the
launch's counters: the share of each instruction, and sectors and wavefronts per instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from grader.emulator.run.counts import InstructionCounts
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.streams import Streams, Work
from grader.sass import accesses_of

ALIKE, NOT_UNLIKE = 0.1, 0.25
"""Distances from the launch: up to the first, traces are accepted at once; up to the second, the
nearest traces are accepted.

The distance is the fraction of the instructions, or of the sectors or wavefronts, that differ.
"""


def choose_representative(
    candidates: Iterable[Streams], counts: Sequence[InstructionCounts]
) -> Streams | None:
    """The first candidate within ALIKE, otherwise the nearest within NOT_UNLIKE, otherwise None.
    Does not read further candidates than necessary."""
    least, nearest = NOT_UNLIKE, None
    for streams in candidates:
        distance = measure_distance(streams, counts)
        if distance <= ALIKE:
            return streams
        if distance <= least:
            least, nearest = distance, streams
    return nearest


def stand_for_all(streams: Streams, count: int) -> bool:
    """Whether the first `count` traced blocks represent all traced blocks."""
    count = min(count, streams.blocks)
    end = int(streams.first[count * streams.warps_per_block])
    if end in (0, len(streams.steps)):
        return True
    return _measure(_rates_of(streams.work, count), _rates_of(streams.work)) <= ALIKE


def measure_distance(streams: Streams, counts: Sequence[InstructionCounts]) -> float:
    """The distance of the traces from a launch with these counts, 0 to 1. Loops in which warps
    waited do not count: their rounds are a matter of time."""
    executed = np.zeros(streams.work.executed.shape[1])
    counts = [each for each in counts if each.index not in streams.waited]
    for each in counts:
        executed[each.index] += each.executed_in_code
    total = max(1.0, executed.sum())
    sectors, wavefronts = (
        sum(each.passes for each in counts if each.space == space and not _copies(each)) / total
        for space in ("global", "shared")
    )
    launch = _Rates(executed / total, sectors, wavefronts)
    return _measure(_rates_of(streams.work), launch) if len(streams.steps) else 1.0


def _copies(counts: InstructionCounts) -> bool:
    """Whether it is an asynchronous copy; counters and time model differ in these."""
    return any(access.asynchronous for access in accesses_of(counts.opcode))


@dataclass(frozen=True)
class _Rates:
    """The share of each instruction by index, and mean sectors and wavefronts per instruction,
    without asynchronous copies."""

    mix: np.ndarray
    sectors: float
    wavefronts: float


def _rates_of(work: Work, blocks: int | None = None) -> _Rates:
    """The rates of the first `blocks` blocks, or of all."""
    executed = work.executed[:blocks].sum(axis=0)
    count = int(executed.sum())
    sectors, wavefronts = (
        float(each[:blocks].sum()) / count for each in (work.sectors, work.wavefronts)
    )
    return _Rates(executed / count, sectors, wavefronts)


def _measure(own: _Rates, other: _Rates) -> float:
    mix = 0.5 * float(np.abs(own.mix - other.mix).sum())
    return max(
        mix, _distance(own.sectors, other.sectors), _distance(own.wavefronts, other.wavefronts)
    )


def _distance(own: float, other: float) -> float:
    """The relative difference of two rates per instruction, 0 to 1; low for negligible rates."""
    return abs(own - other) / max(own, other, 0.01)


def choose_blocks(
    blocks: int, resident: int, figures: Figures, rng: Random, most: int = 64
) -> tuple[int, ...]:
    """Consecutive blocks of an SM. The hardware distributes blocks over the SMs round by round.

    `rng` draws the SM, among those with the most blocks, and the first round."""
    rounds = -(-blocks // figures.multiprocessors)
    count = min(rounds, max(2 * resident, 4), most)
    sm = rng.randrange(blocks - (rounds - 1) * figures.multiprocessors)
    start = rng.randrange(rounds - count + 1)
    return tuple(sm + index * figures.multiprocessors for index in range(start, start + count))
