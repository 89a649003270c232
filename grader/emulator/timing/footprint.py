"""The global memory that a launch accesses, from the streams of some of its blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.run.lazy_pages import make_zeros
from grader.emulator.run.memory import LIMIT
from grader.emulator.timing.analysis_records import Region, Touched
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.record_arrays import make_pointing, make_rows
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, LINE_SECTORS, LOST, PAIR_SECTORS, WAYS
from grader.emulator.timing.walks import share_together

RANDOM = 0.05
"""Neighbouring blocks that share less than this fraction of their data access it at random, if they
access it again at all."""
L2_SET_BYTES = WAYS * LINE_BYTES
PARTIAL_WAYS = 3
"""Lines of an L2 set, of 16, that may hold partially stored sectors. On an H200, DRAM fills up
sectors that stores complete later if there are more than about 90,000 such lines (Nsight
Compute)."""
AS_OFTEN = 1.05
"""A buffer with up to this number of accesses per sector counts as accessed once."""
BISECTIONS = 20

Regions = Sequence[tuple[int, int]]
"""First and last addresses of buffers."""


@dataclass(frozen=True)
class Traffic:
    """Sectors that DRAM moves for a launch's loads (`loads`: from each buffer) and for its stores;
    `new`: the fraction of the loaded sectors that the L2 did not hold at the start; `first`: the
    fraction of the sectors that the first load of their pair requests; `filled`: sectors that DRAM
    reads because stores covered them in part; `updated`: for atomics. `read_lost` and `write_lost`:
    bytes that DRAM could move while it opens rows; `waited`: `write_lost` without the stores that
    are still in the L2 when the launch ends."""

    read: float
    written: float
    loads: np.ndarray
    new: float = 1.0
    first: float = 1.0
    filled: float = 0.0
    updated: float = 0.0
    read_lost: float = 0.0
    write_lost: float = 0.0
    waited: float = 0.0


class Footprint:
    """The accesses of the streams, extrapolated to all `executed` instructions of the launch, up to
    the size of the buffers.

    `around`: streams of groups of neighbouring blocks. `held`: sectors of each buffer that the L2
    holds at the start. `resident`: blocks that share the GPU's L2.
    """

    def __init__(
        self,
        streams: Streams,
        executed: int,
        regions: Regions,
        f: Figures,
        runtime: Runtime,
        *,
        around: Sequence[Streams] = (),
        held: Sequence[float] = (),
        resident: int = 1,
    ) -> None:
        self._regions, self._figures, self._runtime = regions, f, runtime
        self._streams, self._groups, self._resident = streams, around, resident
        self._shared = dict[int, float | None]()
        self._l2_sectors = f.shared_part * f.l2_bytes / SECTOR_BYTES
        self._scale = executed / max(1, len(streams.steps))
        self._own = self._touch(streams)
        if self._own["partial"].any() and around:
            self._complete_by_neighbours(self._own)
        self._buffer_sectors = np.array([(end - start) / SECTOR_BYTES for start, end in regions])
        self._held = np.array(held or np.zeros(len(regions)))

    def traffic(self, *, closely: bool, waves: float = 1.0) -> Traffic:
        """The traffic of DRAM. `closely`: takes neighbouring blocks and DRAM rows into account;
        `waves`: of resident blocks."""
        own = self._own
        once = np.zeros(len(self._regions), dtype=bool)
        loads = self._extend(
            own["loaded_pairs"] * PAIR_SECTORS, self._loaded_alone(waves) if closely else once
        )
        total, again = float(loads.sum()), self._loaded_again(loads, waves)
        loads = np.maximum(0.0, loads - self._held)
        new = float(loads.sum()) / max(1.0, total)
        loads += again
        stores, partial, updated = (
            self._extend(own[name], self._random if closely else once)
            for name in ("stored", "partial", "updated")
        )
        dropped = partial * self._dropped()
        filled = dropped + updated
        read, written = float(loads.sum()), float((stores + filled).sum())
        pairs = PAIR_SECTORS * float(own["loaded_pairs"].sum())
        found = Traffic(
            read,
            written,
            loads,
            new,
            float(own["loaded_first"].sum()) / max(1.0, pairs),
            float(dropped.sum()),
            float(updated.sum()),
        )
        if not closely:
            return found
        pair_bytes = PAIR_SECTORS * SECTOR_BYTES
        reading = (
            loads / PAIR_SECTORS * self._lost("loaded_pairs", pair_bytes, self._figures.read_row_ns)
        )
        writing = self._lost("stored", SECTOR_BYTES, self._figures.write_row_ns)
        beyond = max(float(stores.sum()) - self._l2_sectors, float(dropped.sum()))
        leaving = stores * beyond / max(1.0, float(stores.sum()))
        return replace(
            found,
            read_lost=float(reading.sum()),
            write_lost=float(((stores + filled) * writing).sum()),
            waited=float(((leaving + filled) * writing).sum()),
        )

    @cached_property
    def kept_lines(self) -> float:
        """Lines that all SMs bring to the L2 until it loses a line; 0 if it loses none. SMs that
        access the same data do so at the same time."""
        own, f = self._own, self._figures
        times = (PAIR_SECTORS * own["loaded_pairs"] + own["stored"]) * self._scale
        once = np.minimum(times, 2 * self._buffer_sectors)  # loaded and stored
        if once.sum() <= f.held_part * f.l2_bytes / SECTOR_BYTES:
            return 0.0
        return float(f.held_part * f.l2_bytes / LINE_BYTES * times.sum() / once.sum())

    @property
    def unfilled_part(self) -> float:
        """The fraction of the stored sectors that are never covered completely and not read."""
        return float(self._own["partial"].sum() / max(1, self._own["stored"].sum()))

    def held_after(self, most: float) -> tuple[float, ...]:
        """Sectors of each buffer that an L2 with capacity `most` holds for the next launch: those
        that this launch accessed, and older ones as far as they fit. If more was accessed than
        fits, fewer are kept, because repeated reads in the same order evict each other."""
        own = self._own
        loads, stores = own["loaded_pairs"] * PAIR_SECTORS, own["stored"]
        touched = np.minimum(self._buffer_sectors, np.maximum(loads, stores) * self._scale)
        total = max(1.0, float(touched.sum()))
        kept = min(1.0, max(0.0, 1.0 - LOST * (total / most - 1.0)) * most / total)
        older = np.maximum(0.0, self._held - touched)
        older *= min(1.0, max(0.0, most - total) / max(1.0, float(older.sum())))
        return tuple((kept * touched + older).tolist())

    def _loaded_again(self, once: np.ndarray, waves: float) -> np.ndarray:
        """Sectors of each buffer that later waves of blocks load again because the L2 has lost
        them: if each wave loads a whole buffer, and the data of a wave does not fit."""
        blocks = self._of_wave(waves)
        wave, again = np.minimum(self._buffer_sectors, blocks), np.zeros(len(blocks))
        repeated = np.flatnonzero(blocks * waves > AS_OFTEN * once)
        if wave.sum() <= self._l2_sectors or not len(repeated):
            return again
        for index in repeated.tolist():
            wave[index] = min(wave[index], self._distinct(index, waves))
        lost = LOST * (float(wave.sum()) / max(1.0, self._l2_sectors) - 1.0)
        whole = [index for index in repeated.tolist() if self._in_each_wave(index, waves)]
        again[whole] = min(1.0, max(0.0, lost)) * np.maximum(0.0, waves * wave - once)[whole]
        return again

    def _of_wave(self, waves: float) -> np.ndarray:
        """Sectors of each buffer that the blocks of a wave load, each for itself."""
        return np.asarray(self._own["loaded_pairs"] * PAIR_SECTORS * self._scale / max(1.0, waves))

    def _in_each_wave(self, index: int, waves: float) -> bool:
        """Whether the blocks of each wave load a whole buffer, in a common pattern."""
        if self._shared_part(index) is None or waves <= 1.0:
            return False
        return bool(AS_OFTEN * self._distinct(index, waves) >= self._buffer_sectors[index])

    def _distinct(self, index: int, waves: float) -> float:
        """Different sectors of a buffer that the blocks of a wave load."""
        return float((1.0 - (self._shared_part(index) or 0.0)) * self._of_wave(waves)[index])

    def _complete_by_neighbours(self, own: np.ndarray) -> None:
        """Corrects the partially stored sectors: blocks of an SM are not neighbours, but neighbours
        complete each other's sectors at once (tiles of 16 bytes per row, for example)."""
        around = _sum(self._around)
        assert around is not None
        own_part, part = (each["partial"] / np.maximum(1, each["stored"]) for each in (own, around))
        kept = np.minimum(1.0, part / np.where(own_part > 0.0, own_part, 1.0))
        for name in ("partial", "partial_lines"):
            own[name] = np.rint(own[name] * np.where(around["stored"] > 0, kept, 1.0))

    def _dropped(self) -> float:
        """The fraction of the partially stored sectors that leave the L2 before other stores
        complete them: each set holds a few such lines, and fills up those that it drops."""
        lines = np.minimum(
            self._scale * self._own["partial_lines"], self._buffer_sectors / LINE_SECTORS
        )
        mean = float(lines.sum()) / (self._figures.l2_bytes / L2_SET_BYTES)
        kept = sum(math.exp(-mean) * mean**n / math.factorial(n) for n in range(PARTIAL_WAYS))
        return 1.0 - kept

    def _extend(self, found: np.ndarray, random: np.ndarray) -> np.ndarray:
        """Sectors of each buffer that DRAM moves, from the sectors `found` in the streams. Repeated
        accesses at `random` move again the sectors that the L2 has lost (Che's approximation of an
        LRU cache)."""
        times = found * self._scale
        once = np.minimum(self._buffer_sectors, times)
        again = (times > AS_OFTEN * self._buffer_sectors) & random
        if not again.any() or once.sum() <= self._l2_sectors:
            return np.asarray(once)
        rate = np.where(again, times / np.maximum(1.0, once), 0.0)

        def touched(part: float) -> np.ndarray:
            """Sectors that are accessed in a fraction of the launch."""
            return np.asarray(np.where(again, once * -np.expm1(-rate * part), once * part))

        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (
                (middle, high) if touched(middle).sum() < self._l2_sectors else (low, middle)
            )
        missing = touched(low) + (1.0 - low) * times * np.exp(-rate * low)
        return np.asarray(np.where(again, missing, once))

    @cached_property
    def _around(self) -> list[np.ndarray]:
        """Accesses of each group of neighbouring blocks."""
        return [*map(self._touch, self._groups)]

    @cached_property
    def _random(self) -> np.ndarray:
        """Mask of the buffers that neighbouring blocks access independently."""
        single = [each.block(index) for each in self._groups for index in range(each.blocks)]
        together, apart = (
            sum(
                (each["loaded_pairs"] + each["stored"] for each in some),
                np.zeros(len(self._regions)),
            )
            for some in (self._around, map(self._touch, single))
        )
        return np.asarray((apart - together) < RANDOM * np.maximum(1, apart))

    def _loaded_alone(self, waves: float) -> np.ndarray:
        """`_random` without the buffers that blocks load together while they are resident, or that
        each wave loads (`_loaded_again` counts these)."""
        alone = self._random.copy()
        for index in np.flatnonzero(alone).tolist():
            alone[index] = (self._shared_part(index) or 0.0) < RANDOM
            alone[index] &= not self._in_each_wave(index, waves)
        return alone

    def _shared_part(self, index: int) -> float | None:
        """The part of a buffer's data that resident blocks load together; None if they do not
        access it in a common pattern."""
        if index not in self._shared:
            region = self._regions[index]
            self._shared[index] = share_together(self._groups, region, self._resident)
        return self._shared[index]

    def _lost(self, units: str, unit_bytes: int, row_ns: float) -> np.ndarray:
        """Bytes per unit that DRAM could move while it opens rows, for each buffer; data of a row
        takes no extra time up to the time `row_ns` in which a channel opens it. Uses the traced
        blocks or the groups of neighbours, whichever open fewer rows per unit."""
        row_bytes = row_ns * (self._figures.dram_gbps / self._figures.dram_channels)
        pages = units.partition("_")[0] + "_pages"
        opened = [
            each[pages] / np.maximum(1, each[units])
            for each in (self._own, _sum(self._around))
            if each is not None
        ]
        return np.asarray(np.maximum(0.0, row_bytes * np.minimum.reduce(opened) - unit_bytes))

    def _touch(self, streams: Streams) -> np.ndarray:
        """The accesses of steps as Regions, one per buffer (cpp/timing/touched.cpp)."""
        found = make_regions(self._regions)
        lines = LIMIT // LINE_BYTES
        arrays = {
            "streams": streams.record(),
            "known": make_zeros(lines, np.uint16, sparse=True),
            "words": make_zeros(lines, np.uint32, sparse=True),
            "regions": found,
        }
        touched = make_pointing(Touched, arrays, {"region_count": len(found)})
        self._runtime.touch(touched.ctypes.data)
        return found


def make_regions(regions: Regions) -> np.ndarray:
    """A Region per buffer, without accesses."""
    rows = make_rows(Region, len(regions))
    for row, (start, end) in zip(rows, regions, strict=True):
        row["first_line"], row["end_line"] = start // LINE_BYTES, -(-end // LINE_BYTES)
    return rows


def _sum(groups: Sequence[np.ndarray]) -> np.ndarray | None:
    """The sum of the accesses of several groups; None without groups."""
    if not groups:
        return None
    regions = groups[0].copy()
    for name in regions.dtype.names or ():
        regions[name] = sum(each[name] for each in groups)
    return regions
