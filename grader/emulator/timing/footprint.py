"""What a launch touches in global memory, from the streams of some of its blocks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.emulator.layout import SECTOR_BYTES
from grader.emulator.memory import LIMIT
from grader.emulator.runtime import Runtime
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import (
    LINE_BYTES,
    Region,
    Touched,
    make_pointing,
    make_rows,
)


class Footprint:
    """`regions` are the first and last addresses of buffers: no more than they hold is touched.
    What the streams touch is extended to all `executed` instructions of the launch."""

    def __init__(
        self,
        streams: Streams,
        code: CodeTable,
        executed: int,
        regions: Sequence[tuple[int, int]],
        runtime: Runtime,
    ) -> None:
        self._regions = regions
        self._scale = executed / max(1, len(streams.steps))
        self._found, self._stored = _touch(streams, code, regions, runtime)
        lines = [-(-(end - start) // LINE_BYTES) for start, end in regions]
        self.atomic_lines = max(1.0, self._extend("atomic_lines", lines))

    def sectors(self) -> tuple[float, float, float]:
        """Sectors that the launch's loads touch, that its stores touch, and how often it stores
        one."""
        room = [(end - start) / SECTOR_BYTES for start, end in self._regions]
        loads, stores = self._extend("loaded", room), self._extend("stored", room)
        return loads, stores, self._stored * self._scale

    def _extend(self, name: str, room: Sequence[float]) -> float:
        """What the launch touches in all regions, none of which has more than this room: sectors,
        or lines that its atomics meet at: each is in one slice of the L2, which takes a sector a
        cycle."""
        found = self._found[name].tolist()
        return sum(
            (min(most, inside * self._scale) for most, inside in zip(room, found, strict=True)), 0.0
        )


def _touch(
    streams: Streams, code: CodeTable, regions: Sequence[tuple[int, int]], runtime: Runtime
) -> tuple[np.ndarray, int]:
    """What the steps touch in each region, and how often they store a sector
    (runtime/timing_totals.cpp)."""
    found, stored = make_rows(Region, len(regions)), np.zeros(1, dtype=np.int64)
    for row, (start, end) in zip(found, regions, strict=True):
        row["first_sector"], row["end_sector"] = start // SECTOR_BYTES, -(-end // SECTOR_BYTES)
        row["first_line"], row["end_line"] = start // LINE_BYTES, -(-end // LINE_BYTES)
    arrays = {
        "table": code.table,
        "steps": streams.steps,
        "accesses": streams.accesses,
        "lines": streams.lines,
        "known": np.zeros(LIMIT // LINE_BYTES, dtype=np.uint16),  # of which only what is used costs
        "regions": found,
        "stored_sectors": stored,
    }
    numbers = {"step_count": len(streams.steps), "region_count": len(regions)}
    touched = make_pointing(Touched, arrays, numbers)
    runtime.touch(touched.ctypes.data)
    return found, int(stored[0])
