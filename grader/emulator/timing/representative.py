"""Which traced blocks may stand for a whole launch: those whose traces do, instruction by
instruction, what the launch does.

A trace may be cut off, and blocks may differ in kind. So what is in the traces is compared with
what the launch counted: which part of its instructions each one makes up, and the sectors and
wavefronts an instruction.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.counts import InstructionCounts
from grader.emulator.layout import TraceWord
from grader.emulator.timing.streams import Streams

ALIKE, NOT_UNLIKE = 0.1, 0.25
"""Distances from the launch up to which traces are taken at once, and up to which the nearest ones
are taken.

The distance is the part of the instructions, or of the sectors or wavefronts, that would have to be
others.
"""


def choose_representative(
    candidates: Iterable[Streams], counts: Sequence[InstructionCounts], instructions: int
) -> Streams | None:
    """The first of the candidates that is alike, else the nearest that is not unlike; None where
    all are unlike the launch.

    Those behind one that is alike are not asked for.
    """
    least, nearest = NOT_UNLIKE, None
    for streams in candidates:
        distance = measure_distance(streams, counts, instructions)
        if distance <= ALIKE:
            return streams
        if distance <= least:
            least, nearest = distance, streams
    return nearest


def stand_for_all(streams: Streams, count: int) -> bool:
    """Whether the first so many of the traced blocks do what all of them do on the whole."""
    end = int(streams.first[min(count, streams.blocks) * streams.warps_per_block])
    if end in (0, len(streams.steps)):
        return True
    instructions = int(streams.steps["code"].max()) + 1
    first = replace(streams, steps=streams.steps[:end])
    return _measure(first, _rates_of(streams, instructions)) <= ALIKE


def measure_distance(
    streams: Streams, counts: Sequence[InstructionCounts], instructions: int
) -> float:
    """How unlike a launch with these counts the traces are, 0 to 1."""
    executed = np.zeros(instructions)
    for each in counts:
        executed[each.index] += each.executed
    total = max(1.0, executed.sum())
    sectors, wavefronts = (
        sum(each.passes for each in counts if each.space == space) / total
        for space in ("global", "shared")
    )
    launch = _Rates(executed / total, sectors, wavefronts)
    return _measure(streams, launch) if len(streams.steps) else 1.0


@dataclass(frozen=True)
class _Rates:
    """What an instruction is and does on the whole: its parts of all by their index, and sectors
    and wavefronts of one."""

    mix: np.ndarray
    sectors: float
    wavefronts: float


def _rates_of(streams: Streams, instructions: int) -> _Rates:
    count = len(streams.steps)
    mix = np.bincount(streams.steps["code"], minlength=instructions) / count
    sectors, wavefronts = _count_passes(streams)
    return _Rates(mix, sectors / count, wavefronts / count)


def _measure(streams: Streams, other: _Rates) -> float:
    own = _rates_of(streams, len(other.mix))
    mix = 0.5 * float(np.abs(own.mix - other.mix).sum())
    return max(
        mix, _distance(own.sectors, other.sectors), _distance(own.wavefronts, other.wavefronts)
    )


def _count_passes(streams: Streams) -> tuple[float, float]:
    """Sectors of global accesses and wavefronts of shared ones that the instructions of the streams
    made."""
    made = streams.accesses[streams.steps["access"][streams.steps["access"] >= 0]]
    touched = np.array([mask.bit_count() for mask in range(16)])[streams.lines["touched"]]
    totals = np.concatenate(([0], np.cumsum(touched)))
    sectors = (totals[made["end"]] - totals[made["first"]])[made["space"] == TraceWord.GLOBAL]
    wavefronts = made["wavefronts"][made["space"] == TraceWord.SHARED]
    return float(sectors.sum()), float(wavefronts.sum())


def _distance(own: float, other: float) -> float:
    """Of two rates an instruction, 0 to 1: a rate that hardly matters has no weight."""
    return abs(own - other) / max(own, other, 0.01)
