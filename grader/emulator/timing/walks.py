"""What blocks load that others load, too, from the streams of some of them: who comes to data that
nobody has read yet waits for DRAM, and so do all that come there at the same time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.run.memory import LIMIT
from grader.emulator.timing.analysis_records import Walks
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.record_arrays import first_row, make_pointing
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES, PAIR_SECTORS

HARDLY_SHARED = 0.9
"""Where DRAM moves a larger part of what SMs read, hardly any of it is what others read, too."""


@dataclass(frozen=True)
class Walked:
    """The sectors that an instruction of the first streams loads which its SM has not loaded
    before; and the part of the lines of several blocks that they come to together."""

    distinct: float
    together: float

    def missing(self, instructions: float, waves: float) -> float:
        """The part of the sectors that SMs read, one of so many instructions, which the L2 does not
        hold when they ask for it: blocks that start together come to what none of them has read
        together. Later waves of blocks find it."""
        return min(PAIR_SECTORS, self.together * self.distinct * instructions / waves)


def follow_walks(
    streams: Streams, resident: int, around: Sequence[Streams], code: CodeTable, runtime: Runtime
) -> Walked:
    """How blocks walk along their data (cpp/timing/walks.cpp): those of one SM, on which so
    many are resident, and others."""
    lines = LIMIT // LINE_BYTES
    shared = {
        "table": code.table,
        "visitors": np.zeros(lines, dtype=np.uint32),  # of which only what is used costs
        "known": np.zeros(lines, dtype=np.uint16),
        "places": np.zeros(lines, dtype=np.uint32),
    }
    found, visitors = [], 0
    for each, at_once in ((streams, resident), *((group, 1) for group in around)):
        own = {name: getattr(each, name) for name in ("first", "steps", "accesses", "lines")}
        numbers = {
            "first_visitor": visitors,
            "at_once": at_once,
            "block_count": each.blocks,
            "warps_per_block": each.warps_per_block,
        }
        walks = make_pointing(Walks, shared | own, numbers)
        runtime.follow_walks(walks.ctypes.data)
        found.append(first_row(Walks, walks))
        visitors += each.blocks
    met, together = (sum(getattr(each, name) for each in found) for name in ("met", "together"))
    distinct = PAIR_SECTORS * int(found[0].distinct) / max(1, len(streams.steps))
    return Walked(distinct, together / max(1, met))
