"""Data that several blocks access while they are resident, from the streams of some blocks:
concurrent blocks that reach unread data together all wait for DRAM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.run.lazy_pages import make_zeros
from grader.emulator.run.memory import LIMIT
from grader.emulator.timing.analysis_records import Walks
from grader.emulator.timing.record_arrays import first_row, make_pointing
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, LINE_SECTORS, PAIR_SECTORS

BUSY_L2 = 0.25
"""Use of the L2's bandwidth from which on loads by several SMs are merged."""
MOST_MERGED = 0.9
"""Of sixteen SMs that load the same data, at least one asks the L2."""
FIRST = 4
"""Accesses of each warp that show whether blocks have a common pattern."""
HARDLY_SHARED = 0.9
"""If DRAM moves a larger fraction of the SMs' reads, they share hardly any data."""


@dataclass(frozen=True)
class Walked:
    """`distinct`: sectors that its SM has not loaded before, per instruction of the first streams.
    `together`: fraction of the lines of several blocks that they reach together."""

    distinct: float
    together: float

    def missing(self, instructions: float, waves: float) -> float:
        """Fraction of sectors that miss in L2 because concurrent blocks reach cold data together.
        The SMs read a sector per `instructions` instructions; later waves of blocks hit."""
        return min(PAIR_SECTORS, self.together * self.distinct * instructions / waves)


def follow_walks(
    streams: Streams, resident: int, around: Sequence[Streams], runtime: Runtime
) -> Walked:
    """The order in which blocks read their data (cpp/timing/walks.cpp): `streams` are blocks of an
    SM with `resident` blocks at a time, `around` other blocks."""
    found, visitors, shared = [], 0, _unvisited()
    for each, at_once in ((streams, resident), *((group, 1) for group in around)):
        found.append(_follow(each, shared, visitors, at_once, runtime))
        visitors += each.blocks
    reloaded, together = (
        sum(getattr(each, name) for each in found) for name in ("reloaded", "together")
    )
    distinct = PAIR_SECTORS * int(found[0].distinct) / max(1, len(streams.steps))
    return Walked(distinct, together / max(1, reloaded))


def merged_part(around: Sequence[Streams], runtime: Runtime) -> float:
    """The fraction of the SMs' loads that the L2 does not see, because a neighbouring SM loads the
    same line at about the same time. `around`: groups of neighbouring blocks.

    Neighbouring blocks run on neighbouring SMs. If two of them load the same data, an H200's SMs
    receive 49 instead of 34 bytes per cycle each (bulk copies: 62); more SMs gain hardly more, and
    a distance of 16 KB costs little (benchmarks/kernels/costs/shared_reads.cu).
    """
    parts = []
    for group in (each for each in around if each.blocks > 1):
        walks = _follow(group, _unvisited(), 0, 1, runtime)
        others = (group.blocks - 1) / group.blocks  # the first block finds no line of a neighbour
        parts.append(walks.merged / max(1, walks.loaded) / others)
    return min(MOST_MERGED, sum(parts) / max(1, len(parts)))


def _unvisited() -> dict[str, np.ndarray]:
    lines = LIMIT // LINE_BYTES
    return {
        "visitors": make_zeros(lines, np.uint32, sparse=True),
        "known": make_zeros(lines, np.uint16, sparse=True),
        "places": make_zeros(lines, np.uint32, sparse=True),
        "warps": make_zeros(lines, np.uint8, sparse=True),
    }


def _follow(
    streams: Streams,
    shared: Mapping[str, np.ndarray],
    first_visitor: int,
    at_once: int,
    runtime: Runtime,
) -> Walks:
    arrays = {"streams": streams.record(), **shared}
    walks = make_pointing(Walks, arrays, {"first_visitor": first_visitor, "at_once": at_once})
    runtime.follow_walks(walks.ctypes.data)
    return first_row(Walks, walks)


def share_together(
    groups: Sequence[Streams], region: tuple[int, int], resident: int
) -> float | None:
    """The fraction of the first accessed sectors of `resident` blocks that another of these blocks
    accesses, too; None if neighbours do not have the same pattern. `groups`: groups of neighbouring
    blocks; `region`: first and last address of the buffer.

    Blocks may share nothing with their neighbours: for example, the next column of blocks accesses
    the same sectors. Only some neighbours are traced. If each accesses the sectors of the block
    before it at a fixed distance, the other blocks are assumed to do the same."""
    lines = region[0] // LINE_BYTES, -(-region[1] // LINE_BYTES)
    pairs = [
        tuple(_first_sectors(group.block(index), lines, FIRST) for index in (0, 1))
        for group in groups
    ]
    moved = {int(by) for one, other in pairs for by in _moves(one, other)}
    if len(moved) != 1:
        return None
    start, end = (LINE_SECTORS * line for line in lines)
    firsts = (_first_sectors(group.block(0), lines, 1) for group in groups)
    own, by = np.unique(next(first for first in firsts if len(first))) - start, moved.pop()
    touched = (own + by * np.arange(resident)[:, None]) % (end - start)
    return 1.0 - len(np.unique(touched)) / touched.size


def _moves(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Distances, in sectors, between the accesses of two blocks: a single number if they have the
    same pattern, otherwise several."""
    return np.unique(other - one) if one.shape == other.shape else np.array([0, 1])


def _first_sectors(block: Streams, lines: tuple[int, int], count: int) -> np.ndarray:
    """The sectors of each warp's first `count` accesses to these lines, in order."""
    found = [np.zeros(0, dtype=np.int64)]
    for first, last in zip(block.first, block.first[1:], strict=False):
        made = block.steps["access"][first:last]
        accesses = block.accesses[made[made >= 0]]
        accesses = accesses[accesses["first"] < accesses["end"]]
        numbers = block.lines["number"][accesses["first"]]
        inside = np.flatnonzero((lines[0] <= numbers) & (numbers < lines[1]))
        for access in accesses[inside[:count]]:
            touched = block.lines[access["first"] : access["end"]]
            sectors = LINE_SECTORS * touched["number"][:, None] + np.arange(LINE_SECTORS)
            found.append(sectors[touched["touched"][:, None] >> np.arange(LINE_SECTORS) & 1 == 1])
    return np.concatenate(found)
