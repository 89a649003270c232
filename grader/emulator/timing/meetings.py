"""Where a launch's atomics meet, from the streams of some of its blocks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.emulator.memory import LIMIT
from grader.emulator.runtime import Runtime
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.footprint import AS_OFTEN
from grader.emulator.timing.record_arrays import first_row, make_pointing
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import (
    LINE_BYTES,
    LINE_SECTORS,
    PAIR_SECTORS,
    Meetings,
)

_ENDS = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 60)])
MOMENTS, SPANS = (_ENDS[1:] + _ENDS[:-1]) / 2, np.diff(_ENDS)
"""Of a launch, as parts of its time: densest at the start, where most is new."""


@dataclass(frozen=True)
class Slice:
    """Cycles of a slice of the L2: for a `turn` of an atomic, for `passing` on a turn of another
    slice, for `waiting` for DRAM at an atomic that finds nothing in the L2, while `window` others
    go on; and those of a `chain`, until a float can be added to a word again."""

    turn: float
    passing: float
    waiting: float
    window: float
    chain: float


@dataclass(frozen=True)
class Met:
    """What atomics of some blocks meet at: the `turns` of each slice of the L2, for so many
    `visits` of lines; the lanes that wait for each other at one line; and of each buffer the pairs
    of sectors that they touch, and all that it has."""

    turns: np.ndarray
    visits: int
    longest_chain: int
    pairs: np.ndarray
    room: np.ndarray

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

    def missing(self, times: float, held: float) -> np.ndarray:
        """The part of the turns that find nothing in the L2 at some moments of a launch that does
        so many times what was seen. So many pairs of sectors are `held` there. A pair is missed
        when it is touched first, and by chance where there are too many."""
        again = max(0.0, 1.0 - held / max(1.0, float(self.room[self.pairs > 0].sum())))
        rounds = times * self.pairs / np.maximum(1.0, self.room)
        first = np.exp(-np.where(rounds > AS_OFTEN, rounds, 0.0) * MOMENTS[:, None])
        parts = self.pairs / max(1.0, float(self.turns.sum()))
        return np.asarray((parts * (first + (1.0 - first) * again)).sum(axis=1))

    def cycles(self, times: float, held: float, each: Slice) -> float:
        """Cycles in which the busiest slice does the atomics of a launch that does so many times
        what was seen."""
        missing = self.missing(times, held) / self.busiest  # which no slice has more of
        waiting = each.waiting * float(SPANS @ (missing / (1.0 + each.window * missing)))
        spread = max(self.busiest * (each.turn + waiting), each.turn + each.passing)
        return times * max(float(self.turns.mean()) * spread, self.longest_chain * each.chain)


def find_meetings(
    streams: Streams, code: CodeTable, regions: np.ndarray, slices: int, runtime: Runtime
) -> Met:
    """Where the atomics of streams meet (runtime/timing_meetings.cpp). `regions` has a Region a
    buffer."""
    turns, pairs = np.zeros(slices), np.zeros(len(regions), dtype=np.int64)
    room = (regions["end_line"] - regions["first_line"]) * (LINE_SECTORS // PAIR_SECTORS)
    if not code.atomics.any():
        return Met(turns, 0, 0, pairs, room)
    lines = LIMIT // LINE_BYTES
    arrays = {
        "table": code.table,
        "first": streams.first,
        "steps": streams.steps,
        "accesses": streams.accesses,
        "lines": streams.lines,
        "regions": regions,
        "visitors": np.zeros(lines, dtype=np.uint32),  # of which only what is used costs
        "known": np.zeros(lines, dtype=np.uint16),
        "chains": np.zeros(lines, dtype=np.uint32),
        "alone": np.zeros(len(regions)),
        "pairs": pairs,
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
    return Met(turns, int(found.visits), int(found.longest_chain), pairs, room)
