"""What a launch touches in global memory, from the streams of some of its blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.run.memory import LIMIT
from grader.emulator.timing.analysis_records import Region, Touched
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.record_arrays import make_pointing, make_rows
from grader.emulator.timing.resident_together import share_together
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, LINE_SECTORS, PAIR_SECTORS, WAYS

RANDOM = 0.05
"""Blocks that lie side by side and share less than this part of what they touch touch it at
random, if they touch it again at all."""
LOST = 2.0
"""How many of the sectors that it holds the L2 has lost when they are needed again for each one
that was touched beyond its room, of as many as it has room for (H200: reads of 24 to 96 MB, again
and again)."""
L2_SET_BYTES = WAYS * LINE_BYTES
PARTIAL_WAYS = 3
"""Lines of a set of the L2, of 16, that may hold sectors stored in part: what stores complete later
on an H200 is filled up by DRAM where such lines are more than some 90,000 (Nsight Compute)."""
AS_OFTEN = 1.05
"""Up to so many times what a buffer holds, it is touched once."""
BISECTIONS = 20

Regions = Sequence[tuple[int, int]]
"""The first and last addresses of buffers."""


@dataclass(frozen=True)
class Traffic:
    """Sectors that a launch makes DRAM move for its loads, and for its stores; the part of what it
    loads that the L2 did not hold at the start; and bytes that DRAM
    could move beside either while it opens rows, of stores also those without what the L2 still
    holds when the launch ends."""

    read: float
    written: float
    new: float = 1.0
    read_lost: float = 0.0
    write_lost: float = 0.0
    waited: float = 0.0


@dataclass(frozen=True)
class Rows:
    """Bytes that DRAM moves in the time in which it opens a row to read, and to write: whatever is
    moved of the row meanwhile."""

    read: float
    write: float


@dataclass(frozen=True)
class Capacity:
    """What the L2 holds of what the launch touches: so many sectors, in so many sets of lines, for
    so many blocks that are resident at a time."""

    sectors: float = 0.0
    sets: float = 1.0
    resident: int = 1


class Footprint:
    """What the streams touch, extended to all `executed` instructions of the launch: no more than
    the buffers hold is touched.

    `around` are streams of blocks that lie side by side, group by group. `held` are sectors of each
    buffer that the L2 holds at the start; `capacity` is what it holds of what this launch touches.
    """

    def __init__(
        self,
        streams: Streams,
        code: CodeTable,
        executed: int,
        regions: Regions,
        runtime: Runtime,
        *,
        around: Sequence[Streams] = (),
        held: Sequence[float] = (),
        capacity: Capacity,
    ) -> None:
        self._code, self._regions, self._runtime = code, regions, runtime
        self._groups, self._capacity = around, capacity
        self._scale = executed / max(1, len(streams.steps))
        self._own = self._touch(streams)
        self._room = np.array([(end - start) / SECTOR_BYTES for start, end in regions])
        self._held = np.array(held or np.zeros(len(regions)))

    def traffic(self, *, closely: bool, rows: Rows) -> Traffic:
        """What DRAM moves. `closely`: with a look at what lies around the blocks, and at rows."""
        own = self._own
        once = np.zeros(len(self._regions), dtype=bool)
        loads = self._extend(
            own["loaded_pairs"] * PAIR_SECTORS, self._loaded_alone if closely else once
        )
        total = float(loads.sum())
        loads = np.maximum(0.0, loads - self._held)
        stores, partial, updated = (
            self._extend(own[name], self._random if closely else once)
            for name in ("stored", "partial", "updated")
        )
        dropped = partial * self._dropped()
        filled = dropped + updated
        read, written = float(loads.sum()), float((stores + filled).sum())
        new = read / max(1.0, total)
        if not closely:
            return Traffic(read, written, new)
        pair_bytes = PAIR_SECTORS * SECTOR_BYTES
        reading = loads / PAIR_SECTORS * self._lost("loaded_pairs", pair_bytes, rows.read)
        writing = self._lost("stored", SECTOR_BYTES, rows.write)
        beyond = max(float(stores.sum()) - self._capacity.sectors, float(dropped.sum()))
        leaving = stores * beyond / max(1.0, float(stores.sum()))
        return Traffic(
            read,
            written,
            new,
            float(reading.sum()),
            float(((stores + filled) * writing).sum()),
            float(((leaving + filled) * writing).sum()),
        )

    @property
    def unfilled_part(self) -> float:
        """The part of the sectors that are stored which stay covered in part, and are not read."""
        return float(self._own["partial"].sum() / max(1, self._own["stored"].sum()))

    def held_after(self, most: float) -> tuple[float, ...]:
        """Sectors of each buffer that an L2 of so many holds for the next launch: what this one
        touched, and what else it held before, as far as there is room. Of more than there is room
        for, less: what is read in the same order again has just made room for others."""
        own = self._own
        loads, stores = own["loaded_pairs"] * PAIR_SECTORS, own["stored"]
        touched = np.minimum(self._room, np.maximum(loads, stores) * self._scale)
        total = max(1.0, float(touched.sum()))
        kept = min(1.0, max(0.0, 1.0 - LOST * (total / most - 1.0)) * most / total)
        older = np.maximum(0.0, self._held - touched)
        older *= min(1.0, max(0.0, most - total) / max(1.0, float(older.sum())))
        return tuple((kept * touched + older).tolist())

    def _dropped(self) -> float:
        """The part of the sectors stored in part that the L2 does not keep until others complete
        them: each of its sets holds a few such lines, and fills up what it drops."""
        lines = np.minimum(self._scale * self._own["partial_lines"], self._room / LINE_SECTORS)
        mean = float(lines.sum()) / self._capacity.sets
        kept = sum(math.exp(-mean) * mean**n / math.factorial(n) for n in range(PARTIAL_WAYS))
        return 1.0 - kept

    def _extend(self, found: np.ndarray, random: np.ndarray) -> np.ndarray:
        """Sectors that DRAM moves of each buffer where so many are found in it. Of what is touched
        again at `random`, those that the L2 holds no more are moved again: it holds what was
        touched last (Che's approximation of a cache that replaces what was not used for longest).
        """
        times = found * self._scale
        once = np.minimum(self._room, times)
        again = (times > AS_OFTEN * self._room) & random
        if not again.any() or once.sum() <= self._capacity.sectors:
            return np.asarray(once)
        rate = np.where(again, times / np.maximum(1.0, once), 0.0)

        def touched(part: float) -> np.ndarray:
            """Sectors that are touched in a part of the launch."""
            return np.asarray(np.where(again, once * -np.expm1(-rate * part), once * part))

        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (
                (middle, high) if touched(middle).sum() < self._capacity.sectors else (low, middle)
            )
        missing = touched(low) + (1.0 - low) * times * np.exp(-rate * low)
        return np.asarray(np.where(again, missing, once))

    @cached_property
    def _around(self) -> list[np.ndarray]:
        """What groups of blocks that lie side by side touch."""
        return [*map(self._touch, self._groups)]

    @cached_property
    def _random(self) -> np.ndarray:
        """Which buffers blocks touch without regard to what their neighbours do."""
        single = [each.block(index) for each in self._groups for index in range(each.blocks)]
        together, apart = (
            sum(
                (each["loaded_pairs"] + each["stored"] for each in some),
                np.zeros(len(self._regions)),
            )
            for some in (self._around, map(self._touch, single))
        )
        return np.asarray((apart - together) < RANDOM * np.maximum(1, apart))

    @cached_property
    def _loaded_alone(self) -> np.ndarray:
        """Those of them that blocks which are resident together do not load together, either."""
        alone = self._random.copy()
        for index in np.flatnonzero(alone).tolist():
            shared = share_together(self._groups, self._regions[index], self._capacity.resident)
            alone[index] = shared < RANDOM
        return alone

    def _lost(self, units: str, unit_bytes: int, row_bytes: float) -> np.ndarray:
        """Bytes that DRAM could move in each buffer while it opens rows, beside each of the units
        that it moves: by the blocks that were traced, or by those that lie side by side, whichever
        open the fewest."""
        pages = units.partition("_")[0] + "_pages"
        opened = [
            each[pages] / np.maximum(1, each[units])
            for each in (self._own, _sum(self._around))
            if each is not None
        ]
        return np.asarray(np.maximum(0.0, row_bytes * np.minimum.reduce(opened) - unit_bytes))

    def _touch(self, streams: Streams) -> np.ndarray:
        """What steps touch, a Region a buffer (cpp/timing/totals.cpp)."""
        found = make_regions(self._regions)
        lines = LIMIT // LINE_BYTES
        arrays = {
            "table": self._code.table,
            "steps": streams.steps,
            "accesses": streams.accesses,
            "lines": streams.lines,
            "known": np.zeros(lines, dtype=np.uint16),  # of which only what is used costs
            "words": np.zeros(lines, dtype=np.uint32),
            "regions": found,
        }
        numbers = {"step_count": len(streams.steps), "region_count": len(found)}
        touched = make_pointing(Touched, arrays, numbers)
        self._runtime.touch(touched.ctypes.data)
        return found


def make_regions(regions: Regions) -> np.ndarray:
    """A Region a buffer, of which nothing was touched."""
    rows = make_rows(Region, len(regions))
    for row, (start, end) in zip(rows, regions, strict=True):
        row["first_line"], row["end_line"] = start // LINE_BYTES, -(-end // LINE_BYTES)
    return rows


def _sum(groups: Sequence[np.ndarray]) -> np.ndarray | None:
    """What several groups touch, each for itself."""
    if not groups:
        return None
    regions = groups[0].copy()
    for name in regions.dtype.names or ():
        regions[name] = sum(each[name] for each in groups)
    return regions
