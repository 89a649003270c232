"""What a launch touches in global memory, from the streams of some of its blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.emulator.layout import SECTOR_BYTES, TraceWord
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, LINE_SECTORS


class Footprint:
    """`regions` are the first and last addresses of buffers: no more than they hold is touched.
    What the streams touch is extended to all `executed` instructions of the launch."""

    def __init__(
        self,
        streams: Streams,
        code: CodeTable,
        executed: int,
        regions: Sequence[tuple[int, int]],
    ) -> None:
        steps, accesses = streams.steps, streams.accesses
        self._lines, self._regions = streams.lines, regions
        self._scale = executed / max(1, len(steps))
        kinds = np.zeros(len(accesses), dtype=np.int64)
        made = steps["access"] >= 0
        kinds[steps["access"][made]] = code.table["kind"][steps["code"][made]]
        kinds[accesses["space"] != TraceWord.GLOBAL] = Kind.FIXED
        self._kinds = np.repeat(kinds, accesses["end"] - accesses["first"])
        self.atomic_lines = self._count_atomic_lines()

    def sectors(self) -> tuple[float, float, float]:
        """Sectors that the launch's loads touch, that its stores touch, and how often it stores
        one."""
        loads, _ = self._touched(Kind.LOAD, Kind.COPY)
        stores, times = self._touched(Kind.STORE, Kind.ATOMIC)
        return loads, stores, times

    def _touched(self, *kinds: Kind) -> tuple[float, float]:
        """Sectors that accesses of some kinds touch, and how often."""
        lines = self._lines[np.isin(self._kinds, kinds)]
        masks = lines["touched"]
        sectors = np.concatenate(
            [
                lines["number"][(masks >> bit) & 1 == 1] * LINE_SECTORS + bit
                for bit in range(LINE_SECTORS)
            ]
        )
        unique, total = np.unique(sectors), 0.0
        for start, end in self._regions:
            inside = _count_inside(unique, start, end, SECTOR_BYTES)
            total += min((end - start) / SECTOR_BYTES, inside * self._scale)
        return total, len(sectors) * self._scale

    def _count_atomic_lines(self) -> float:
        """Lines that the launch's atomics meet at: each is in one slice of the L2, which takes a
        sector a cycle."""
        unique, total = np.unique(self._lines["number"][self._kinds == Kind.ATOMIC]), 0.0
        for start, end in self._regions:
            inside = _count_inside(unique, start, end, LINE_BYTES)
            total += min(-(-(end - start) // LINE_BYTES), inside * self._scale)
        return max(1.0, total)


def _count_inside(units: np.ndarray, start: int, end: int, size_bytes: int) -> int:
    """Of units of so many bytes, by their numbers, those between two addresses."""
    return int(np.count_nonzero((units >= start // size_bytes) & (units < -(-end // size_bytes))))
