"""Where a launch's atomics meet, from the streams of some of its blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.emulator.memory import LIMIT
from grader.emulator.runtime import Runtime
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.record_arrays import first_row, make_pointing
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, Meetings


@dataclass(frozen=True)
class Met:
    """What atomics of some blocks meet at: the `turns` of each slice of the L2, for so many
    `visits` of lines, and the lanes that wait for each other at one line."""

    turns: np.ndarray
    visits: int
    longest_chain: int

    @property
    def busiest(self) -> float:
        """The turns of the busiest slice over those of the mean one, without what chance makes of a
        few visits."""
        mean, variance, total = (float(f(self.turns)) for f in (np.mean, np.var, np.sum))
        if total == 0.0:
            return 1.0
        same = float(((self.turns / total) ** 2).sum())  # how likely two turns are of one slice
        chance = mean * total / self.visits * (1.0 - same)
        beyond = max(0.0, 1.0 - chance / max(chance, variance))
        return 1.0 + (float(self.turns.max()) / mean - 1.0) * float(np.sqrt(beyond))

    def cycles(self, turn: float, passing: float, chain: float) -> float:
        """Cycles in which the busiest slice does these atomics: those of a turn, those that a slice
        has to pass on for a turn of another one, and those until a float can be added to a word
        again."""
        spread = max(self.busiest * turn, turn + passing)
        return float(max(self.turns.mean() * spread, self.longest_chain * chain))


def find_meetings(
    streams: Streams, code: CodeTable, regions: np.ndarray, slices: int, runtime: Runtime
) -> Met:
    """Where the atomics of streams meet (runtime/timing_meetings.cpp). `regions` has a Region a
    buffer."""
    turns = np.zeros(slices)
    if not code.atomics.any():
        return Met(turns, 0, 0)
    lines = LIMIT // LINE_BYTES
    arrays = {
        "table": code.table,
        "first": streams.first,
        "steps": streams.steps,
        "accesses": streams.accesses,
        "lines": streams.lines,
        "regions": regions,
        "visitors": np.zeros(lines, dtype=np.uint32),  # of which only what is used costs
        "chains": np.zeros(lines, dtype=np.uint32),
        "alone": np.zeros(len(regions)),
        "turns": turns,
    }
    numbers = {
        "block_count": streams.blocks,
        "warps_per_block": streams.warps_per_block,
        "region_count": len(regions),
        "slice_count": slices,
    }
    meetings = make_pointing(Meetings, arrays, numbers)
    runtime.find_meetings(meetings.ctypes.data)
    found = first_row(Meetings, meetings)
    return Met(turns, int(found.visits), int(found.longest_chain))
