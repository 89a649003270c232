"""Data that several blocks load, from the streams of some blocks: concurrent blocks that reach
unread data together all wait for DRAM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.run.memory import LIMIT
from grader.emulator.timing.analysis_records import Walks
from grader.emulator.timing.record_arrays import first_row, make_pointing
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, PAIR_SECTORS

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
    lines = LIMIT // LINE_BYTES
    shared = {
        "visitors": np.zeros(lines, dtype=np.uint32),  # only used pages take memory
        "known": np.zeros(lines, dtype=np.uint16),
        "places": np.zeros(lines, dtype=np.uint32),
    }
    found, visitors = [], 0
    for each, at_once in ((streams, resident), *((group, 1) for group in around)):
        arrays: dict[str, np.ndarray] = {"streams": each.record(), **shared}
        walks = make_pointing(Walks, arrays, {"first_visitor": visitors, "at_once": at_once})
        runtime.follow_walks(walks.ctypes.data)
        found.append(first_row(Walks, walks))
        visitors += each.blocks
    reloaded, together = (
        sum(getattr(each, name) for each in found) for name in ("reloaded", "together")
    )
    distinct = PAIR_SECTORS * int(found[0].distinct) / max(1, len(streams.steps))
    return Walked(distinct, together / max(1, reloaded))
