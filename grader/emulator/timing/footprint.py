"""What a launch touches in global memory, from the streams of some of its blocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grader.emulator.layout import SECTOR_BYTES
from grader.emulator.memory import LIMIT
from grader.emulator.runtime import Runtime
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.record_arrays import first_row, make_pointing, make_rows
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import (
    LINE_BYTES,
    LINE_SECTORS,
    PAGE_LINES,
    PAIR_SECTORS,
    Region,
    Touched,
)

RANDOM = 0.05
"""Blocks that lie side by side and share less than this part of what they touch touch it at
random, if they touch it again at all."""
AS_OFTEN = 1.05
"""Up to so many times what a buffer holds, it is touched once."""

Regions = Sequence[tuple[int, int]]
"""The first and last addresses of buffers."""


@dataclass(frozen=True)
class Touch:
    """What some blocks touch: `regions` has a Region a buffer; `turns` of atomics at each slice of
    the L2; `longest_chain`: lanes that wait for each other at one line."""

    regions: np.ndarray
    turns: np.ndarray
    longest_chain: int


@dataclass(frozen=True)
class Traffic:
    """Sectors that a launch makes DRAM move for its loads, and for its stores; and rows of DRAM
    that are opened for either, beyond those that moving whole lines opens."""

    read: float
    written: float
    read_rows: float = 0.0
    written_rows: float = 0.0


class Footprint:
    """What the streams touch, extended to all `executed` instructions of the launch: no more than
    the buffers hold is touched.

    `around` are streams of blocks that lie side by side, group by group. So many sectors of what
    blocks share at random, `kept_sectors`, stay in the L2.
    """

    def __init__(
        self,
        streams: Streams,
        code: CodeTable,
        executed: int,
        regions: Regions,
        runtime: Runtime,
        *,
        slices: int,
        around: Sequence[Streams] = (),
        kept_sectors: float = 0.0,
    ) -> None:
        self._code, self._regions, self._runtime = code, regions, runtime
        self._slices, self._groups, self._kept = slices, around, kept_sectors
        self._scale = executed / max(1, len(streams.steps))
        self._own = self._touch(streams)
        self._room = np.array([(end - start) / SECTOR_BYTES for start, end in regions])

    def traffic(self, *, closely: bool) -> Traffic:
        """What DRAM moves. `closely`: with a look at what lies around the blocks."""
        own = self._own.regions
        loads = self._extend(own["loaded_pairs"] * PAIR_SECTORS, closely)
        stores, partial = (self._extend(own[name], closely) for name in ("stored", "partial"))
        written = float((stores + partial).sum())
        if not closely:
            return Traffic(float(loads.sum()), written)
        pairs, stored = (self._pages(name) for name in ("loaded", "stored"))
        filled = np.where(stores > 0, 1.0 + partial / np.maximum(1.0, stores), 1.0)
        return Traffic(
            float(loads.sum()),
            written,
            float((loads / PAIR_SECTORS * pairs).sum()),
            float((stores * stored * filled).sum()),
        )

    def atomic_cycles(self, turn: float, chain: float) -> float:
        """Cycles in which the busiest slice of the L2 does the launch's atomics."""
        turns = self._own.turns.astype(float)
        mean = float(turns.mean())
        busiest = float(turns.max()) - 2.5 * mean**0.5  # what chance makes of a few blocks
        return float(self._scale * max(max(mean, busiest) * turn, self._own.longest_chain * chain))

    @property
    def atomic_turns(self) -> float:
        """Turns of all slices together that the launch's atomics take."""
        return self._scale * float(self._own.turns.sum())

    def _extend(self, found: np.ndarray, closely: bool) -> np.ndarray:
        """Sectors that DRAM moves of each buffer where so many are found in it. What is touched
        again at random is still in the L2 if that holds what is touched between."""
        times = found * self._scale
        once = np.minimum(self._room, times)
        again = times > AS_OFTEN * self._room
        if not closely or not again.any() or once.sum() <= self._kept:
            return np.asarray(once)
        between = once + (once.sum() - once) * np.minimum(1.0, once / np.maximum(1.0, times))
        missing = times * np.maximum(0.0, 1.0 - self._kept / np.maximum(1.0, between))
        return np.asarray(np.where(again & self._random, np.maximum(once, missing), once))

    @cached_property
    def _around(self) -> tuple[list[Touch], list[Touch]]:
        """What groups of blocks touch, and what each of their blocks does."""
        single = [each.block(index) for each in self._groups for index in range(each.blocks)]
        return [*map(self._touch, self._groups)], [*map(self._touch, single)]

    @cached_property
    def _random(self) -> np.ndarray:
        """Which buffers blocks touch without regard to what their neighbours do."""
        together, apart = (
            sum(
                (each.regions["loaded_pairs"] + each.regions["stored"] for each in some),
                np.zeros(len(self._regions)),
            )
            for some in self._around
        )
        return np.asarray((apart - together) < RANDOM * np.maximum(1, apart))

    def _pages(self, how: str) -> np.ndarray:
        """Rows that DRAM opens in each buffer for a pair of sectors that is loaded, or a sector
        that is stored, beyond those for whole lines: by the blocks that were traced, or by those
        that lie side by side, whichever need the fewest."""
        groups = (self._own, _sum(self._around[0]))
        return np.asarray(
            np.minimum.reduce([_opened(each.regions, how) for each in groups if each is not None])
        )

    def _touch(self, streams: Streams) -> Touch:
        """What steps touch (runtime/timing_totals.cpp)."""
        found = make_rows(Region, len(self._regions))
        for row, (start, end) in zip(found, self._regions, strict=True):
            row["first_line"], row["end_line"] = start // LINE_BYTES, -(-end // LINE_BYTES)
        turns = np.zeros(self._slices, dtype=np.int64)
        lines = LIMIT // LINE_BYTES
        arrays = {
            "table": self._code.table,
            "steps": streams.steps,
            "accesses": streams.accesses,
            "lines": streams.lines,
            "known": np.zeros(lines, dtype=np.uint16),  # of which only what is used costs
            "words": np.zeros(lines, dtype=np.uint32),
            "chains": np.zeros(lines, dtype=np.uint32),
            "turns": turns,
            "regions": found,
        }
        numbers = {
            "step_count": len(streams.steps),
            "region_count": len(found),
            "slice_count": self._slices,
        }
        touched = make_pointing(Touched, arrays, numbers)
        self._runtime.touch(touched.ctypes.data)
        return Touch(found, turns, int(first_row(Touched, touched).longest_chain))


def _opened(regions: np.ndarray, how: str) -> np.ndarray:
    """Rows of DRAM for each unit of what was touched in each region, beyond those for whole lines.
    Units are pairs of sectors that were loaded, or sectors that were stored."""
    units = regions["loaded_pairs" if how == "loaded" else "stored"]
    of_line = LINE_SECTORS // PAIR_SECTORS if how == "loaded" else LINE_SECTORS
    lines, whole, pages = (regions[f"{how}_{name}"] for name in ("lines", "whole", "pages"))
    loose = (lines - whole) * pages / np.maximum(1, lines)
    together = (units - of_line * whole) / (of_line * PAGE_LINES)
    return np.asarray(np.maximum(0.0, loose - together) / np.maximum(1, units))


def _sum(groups: Sequence[Touch]) -> Touch | None:
    """What several groups touch, each for itself."""
    if not groups:
        return None
    regions = groups[0].regions.copy()
    for name in regions.dtype.names or ():
        regions[name] = sum(each.regions[name] for each in groups)
    return Touch(regions, groups[0].turns, 0)
