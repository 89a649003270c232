"""Contention of a launch's atomics, from the streams of some of its blocks."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.run.lazy_pages import make_zeros
from grader.emulator.run.memory import LIMIT
from grader.emulator.timing.analysis_records import ContentionSums
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.footprint import AS_OFTEN
from grader.emulator.timing.record_arrays import first_row, make_pointing
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, LINE_SECTORS, PAIR_SECTORS

_ENDS = np.concatenate([[0.0], np.geomspace(1e-5, 1.0, 60)])
MOMENTS, SPANS = (_ENDS[1:] + _ENDS[:-1]) / 2, np.diff(_ENDS)
"""Moments of a launch, as fractions of its time, and their spacing: densest at the start, when most
data is new."""


@dataclass(frozen=True)
class Contention:
    """Contention of the atomics of some blocks. `turns`: per slice of the L2, for `visits` lines
    and `pair_visits` pairs of sectors. `longest_chain`: lanes that wait for each other at a line.
    `swaps`: tries to swap a word; emulated blocks try side by side and try again, as on a GPU.
    `swaps_of_word`: tries of other lanes at the same word; `successful`: fraction of the tries.
    `pairs`: per buffer, pairs of sectors with atomics; `repeated`: visits of these pairs by a block
    that has visited them before; `buffer_pairs`: all pairs."""

    turns: np.ndarray
    visits: int
    pair_visits: int
    longest_chain: int
    swaps: float
    swaps_of_word: float
    successful: float
    pairs: np.ndarray
    repeated: np.ndarray
    buffer_pairs: np.ndarray

    @property
    def busiest(self) -> float:
        """Turns of the busiest slice over those of the average slice, without the variation that
        few random visits cause."""
        mean, variance, total = (float(f(self.turns)) for f in (np.mean, np.var, np.sum))
        if total == 0.0:
            return 1.0
        same = float(((self.turns / total) ** 2).sum())  # probability that two turns share a slice
        chance = mean * total / self.visits * (1.0 - same)
        beyond = max(0.0, 1.0 - chance / max(chance, variance))
        return 1.0 + (float(self.turns.max()) / mean - 1.0) * float(np.sqrt(beyond))

    def missing(self, times: float, held: float) -> np.ndarray:
        """The fraction of a buffer's pairs that the L2 does not hold (columns), at each of the
        MOMENTS (rows) of a launch that does `times` the observed work. The L2 holds `held` pairs of
        sectors. The first access to a pair misses; later accesses miss at random if there are too
        many pairs."""
        again = max(0.0, 1.0 - held / max(1.0, float(self.buffer_pairs[self.pairs > 0].sum())))
        rounds = times * self.pairs / np.maximum(1.0, self.buffer_pairs)
        first = np.exp(-np.where(rounds > AS_OFTEN, rounds, 0.0) * MOMENTS[:, None])
        return np.asarray(first + (1.0 - first) * again)

    def placed_as(self, others: Contention) -> Contention:
        """The same number of swaps, but at the words that blocks of the whole grid swap: the blocks
        of one SM are at fixed distances, and so may be their words."""
        if others.swaps == 0:
            return self
        return replace(self, swaps_of_word=others.swaps_of_word * self.swaps / others.swaps)

    def cycles(self, times: float, f: Figures) -> float:
        """Cycles of the busiest slice for the atomics of a launch that does `times` the observed
        work."""
        held = f.l2_bytes / (PAIR_SECTORS * SECTOR_BYTES)
        missing = self.missing(times, held)
        visits = self.pair_visits - missing @ self.repeated  # a pair that is on its way waits once
        part = missing @ self.pairs / np.maximum(1.0, visits)
        part /= self.busiest  # misses are spread over all slices
        waiting = f.atomic_wait * float(SPANS @ (visits * part / (1.0 + f.atomic_window * part)))
        waiting /= max(1.0, float(self.turns.sum()))  # per turn
        spread = max(self.busiest * (f.atomic_turn + waiting), f.atomic_turn + f.pass_cycles)
        turning = float(self.turns.mean()) * spread
        swapping = self.swaps_of_word * self.successful * f.atomic_swap
        return times * max(float(np.hypot(turning, swapping)), self.longest_chain * f.atomic_chain)


def find_contention(
    streams: Streams, regions: np.ndarray, slices: int, runtime: Runtime
) -> Contention:
    """The contention of the atomics of streams (cpp/timing/contention.cpp). `regions`: a Region per
    buffer."""
    turns, pairs = np.zeros(slices), np.zeros(len(regions), dtype=np.int64)
    repeated = np.zeros_like(pairs)
    buffer_pairs = (regions["end_line"] - regions["first_line"]) * (LINE_SECTORS // PAIR_SECTORS)
    if not streams.table["atomic"].any():
        return Contention(turns, 0, 0, 0, 0.0, 0.0, 0.0, pairs, repeated, buffer_pairs)
    lines = LIMIT // LINE_BYTES
    arrays = {
        "streams": streams.record(),
        "regions": regions,
        "visitors": make_zeros(lines, np.uint32, sparse=True),
        "known": make_zeros(lines, np.uint16, sparse=True),
        "chains": make_zeros(lines, np.uint32, sparse=True),
        "swapped": make_zeros(lines, np.uint32, sparse=True),
        "alone": np.zeros(len(regions)),
        "pairs": pairs,
        "repeated": repeated,
        "turns": turns,
    }
    numbers = {"region_count": len(regions), "slice_count": slices}
    sums = make_pointing(ContentionSums, arrays, numbers)
    runtime.find_contention(sums.ctypes.data)
    found = first_row(ContentionSums, sums)
    contended = found.contended_swaps / max(1.0, found.swaps)
    tries = max(1.0, found.swaps / max(1.0, found.successes))  # of a lane until it succeeds
    others = contended - tries * (1.0 - contended / max(1.0, found.swaps))
    return Contention(
        turns,
        int(found.visits),
        int(found.pair_visits),
        int(found.longest_chain),
        float(found.swaps),
        float(max(0.0, others)),
        1.0 / tries,
        pairs,
        repeated,
        buffer_pairs,
    )
