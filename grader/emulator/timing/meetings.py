"""Where a launch's atomics meet, from the streams of some of its blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.run.memory import LIMIT
from grader.emulator.timing.analysis_records import Meetings
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.footprint import AS_OFTEN
from grader.emulator.timing.record_arrays import first_row, make_pointing
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, LINE_SECTORS, PAIR_SECTORS

_ENDS = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 60)])
IN_VAIN = 0.8
"""Swaps that fail for one that stands, for each of the threads that want to swap the same word (an
H200 with 1 to 16,896 of them). Where no others follow them, they are half as many on the average.
"""
CROWD = 6000
"""Where so many threads want to, only half as many as that do fail."""
MOMENTS, SPANS = (_ENDS[1:] + _ENDS[:-1]) / 2, np.diff(_ENDS)
"""Of a launch, as parts of its time: densest at the start, where most is new."""


@dataclass(frozen=True)
class Slice:
    """Cycles of a slice of the L2: for a `turn` of an atomic, for `passing` on a turn of another
    slice, for `waiting` for DRAM at an atomic that finds nothing in the L2, while `window` others
    go on; those of a `chain`, until a float can be added to a word again; and those of a `swap`,
    until the next thread can know of one and ask for its own."""

    turn: float
    passing: float
    waiting: float
    window: float
    chain: float
    swap: float


@dataclass(frozen=True)
class Met:
    """What atomics of some blocks meet at: the `turns` of each slice of the L2, for so many
    `visits` of lines and `pair_visits` of pairs of sectors; the lanes that wait for each other at
    one line; how many words are swapped, how often a word is, and what a lane takes of a slice that
    tries to; and of each buffer the pairs of sectors that they touch, and all that it has."""

    turns: np.ndarray
    visits: int
    pair_visits: int
    longest_chain: int
    swaps: float
    swaps_of_word: float
    turns_of_try: float
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
        """The part of the visits that find nothing in the L2 at some moments of a launch that does
        so many times what was seen. So many pairs of sectors are `held` there. A pair is missed
        when it is touched first, and by chance where there are too many."""
        again = max(0.0, 1.0 - held / max(1.0, float(self.room[self.pairs > 0].sum())))
        rounds = times * self.pairs / np.maximum(1.0, self.room)
        first = np.exp(-np.where(rounds > AS_OFTEN, rounds, 0.0) * MOMENTS[:, None])
        parts = self.pairs / max(1, self.pair_visits)
        return np.asarray((parts * (first + (1.0 - first) * again)).sum(axis=1))

    def placed_as(self, others: Met) -> Met:
        """The same swaps, at the words that blocks from anywhere swap: those of one SM lie a fixed
        number of blocks apart, and their words may, too."""
        if others.swaps == 0:
            return self
        return replace(
            self,
            turns=others.turns * float(self.turns.sum() / others.turns.sum()),
            swaps_of_word=others.swaps_of_word * self.swaps / others.swaps,
        )

    def cycles(self, times: float, at_once: float, held: float, each: Slice) -> float:
        """Cycles in which the busiest slice does the atomics of a launch that does so many times
        what was seen, so many times `at_once`: all whose swap of a word does not stand ask again.
        """
        missing = self.missing(times, held) / self.busiest  # which no slice has more of
        waiting = each.waiting * float(SPANS @ (missing / (1.0 + each.window * missing)))
        waiting *= self.pair_visits / max(1.0, float(self.turns.sum()))  # of a turn
        spread = max(self.busiest * (each.turn + waiting), each.turn + each.passing)
        mean = float(self.turns.mean())
        asking = self.swaps_of_word * min(times, at_once)
        failing = (
            IN_VAIN * asking * (1.0 - 0.5 * min(1.0, at_once / times)) / (1.0 + asking / CROWD)
        )
        again = failing * self.swaps * self.turns_of_try / self.turns.size * spread
        swapping = float(np.hypot(mean * spread + again, self.swaps_of_word * each.swap))
        return times * max(swapping, self.longest_chain * each.chain)


def find_meetings(
    streams: Streams,
    code: CodeTable,
    regions: np.ndarray,
    slices: int,
    runtime: Runtime,
) -> Met:
    """Where the atomics of streams meet (cpp/timing/meetings.cpp). `regions` has a Region a
    buffer."""
    turns, pairs = np.zeros(slices), np.zeros(len(regions), dtype=np.int64)
    room = (regions["end_line"] - regions["first_line"]) * (LINE_SECTORS // PAIR_SECTORS)
    if not code.atomics.any():
        return Met(turns, 0, 0, 0, 0.0, 0.0, 0.0, pairs, room)
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
        "swapped": np.zeros(lines, dtype=np.uint32),
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
    chain, swaps = int(found.longest_chain), float(found.swaps)
    met = found.met_swaps / max(1.0, swaps)
    of_word = max(0.0, met - 1.0 + met / max(1.0, swaps))  # less what chance makes of a few
    turns_of_try = float(found.swap_turns) / max(1.0, float(found.tries))
    visits, pair_visits = int(found.visits), int(found.pair_visits)
    of_word = float(of_word)
    return Met(turns, visits, pair_visits, chain, swaps, of_word, turns_of_try, pairs, room)
