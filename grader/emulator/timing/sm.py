"""A simulated SM: its resident warps and blocks, its sub-partitions, its L1, and the times at which
shared units are free. The runtime simulates it (cpp/timing/sm.cpp)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import BANK_BYTES
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import first_row, layout_of, make_pointing, make_rows
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import (
    BROUGHT_LINES,
    MERGING_LINES,
    NEVER,
    OBJECTS,
    PREFETCHED_LINES,
    SM,
    SUB_PARTITIONS,
    WAYS,
    Block,
    Brought,
    CacheLine,
    Merging,
    Object,
    Parameters,
    Partition,
    Prefetched,
    Shared,
    Source,
    Statistics,
    Warp,
)

_NO_LINE = -1
_NO_END = 1 << 62


@dataclass(frozen=True)
class SimulatedSM:
    """An SM that runs some blocks once. `arrays`: its state, by the fields of SM; `local_words`:
    words of a lane's local memory."""

    arrays: dict[str, np.ndarray]
    local_words: int

    @property
    def ends(self) -> np.ndarray:
        """The cycle at which each block ended."""
        return self.arrays["ends"]

    @property
    def misses(self) -> np.ndarray:
        """Sectors that missed in the L1: of each buffer, then all others."""
        return self.arrays["sources"]["misses"]

    @property
    def statistics(self) -> Statistics:
        return first_row(Statistics, self.arrays["statistics"])

    def simulate(self, runtime: Runtime) -> None:
        """Runs the blocks. Fills `ends` and `statistics`, and the profile if the SM has one."""
        numbers = {
            "traced_warps": len(self.arrays["first"]) - 1,
            "order_count": len(self.arrays["order"]),
            "warp_count": len(self.arrays["warps"]),
            "block_count": len(self.arrays["blocks"]),
            "l1_lines": len(self.arrays["l1"]),
            "l2_lines": len(self.arrays["l2"]),
            "local_words": self.local_words,
        }
        record = make_pointing(SM, self.arrays, numbers)  # the name keeps it alive during the call
        simulate = runtime.simulate_profiled if "profile" in self.arrays else runtime.simulate
        simulate(record.ctypes.data)


def make_sm(
    streams: Streams,
    order: np.ndarray,
    resident: int,
    parameters: Parameters,
    sources: np.ndarray,
    *,
    fetches: bool = False,
) -> SimulatedSM:
    """An SM before its start, for the blocks `order`, at most `resident` at a time. `sources`: a
    Source per buffer, and one for all other lines; `fetches`: the code does not fit its instruction
    cache."""
    warps = make_rows(Warp, resident * streams.warps_per_block)
    warps["dependencies_end"] = NEVER
    warps["place"] = np.arange(len(warps)) // streams.warps_per_block
    partitions = make_rows(Partition, SUB_PARTITIONS)
    partitions["latest"] = -1
    l1, l2 = _make_cache(parameters.l1_lines), _make_cache(parameters.l2_lines)
    merging = make_rows(Merging, MERGING_LINES)
    merging["tag"] = _NO_LINE
    shared = make_rows(Shared, 1)
    shared["write_credit"] = shared["wait_credit"] = 0.5
    shared["random"] = 12345
    code = {"code_lines": np.zeros(len(streams.table), dtype=np.int64)} if fetches else {}
    loses = {"brought": make_rows(Brought, BROUGHT_LINES)} if parameters.kept_lines else {}
    prefetches = (streams.table["kind"] == Kind.PREFETCH).any()
    early = {"prefetched": make_rows(Prefetched, PREFETCHED_LINES)} if prefetches else {}
    return SimulatedSM(
        {
            **code,
            **loses,
            **early,
            **streams.arrays,
            "begins": streams.first[:-1] if streams.begins is None else streams.begins,
            "sources": sources,
            "order": order,
            "ends": np.zeros(len(order)),
            "warps": warps,
            "blocks": make_rows(Block, resident),
            "objects": make_rows(Object, resident * OBJECTS),
            "partitions": partitions,
            "l1": l1,
            "l2": l2 if streams.local_bytes else l2[:0],
            "merging": merging,
            "shared": shared,
            "statistics": make_rows(Statistics, 1),
            "p": np.array([tuple(vars(parameters).values())], dtype=layout_of(Parameters)),
        },
        streams.local_bytes // BANK_BYTES,
    )


def make_sources(regions: np.ndarray, of_regions: float | np.ndarray, others: float) -> np.ndarray:
    """Sources of these Regions, and of all other lines, with the sectors that DRAM reads per sector
    that misses in the L1."""
    sources = make_rows(Source, len(regions) + 1)
    for name in ("first_line", "end_line"):
        sources[name][:-1] = regions[name]
    sources["end_line"][-1] = _NO_END
    sources["read_part"][:-1], sources["read_part"][-1] = of_regions, others
    sources["credit"] = 0.5
    return sources


def _make_cache(lines: float) -> np.ndarray:
    """An empty cache with this number of lines, rounded down to whole sets."""
    cache = make_rows(CacheLine, max(1, int(lines) // WAYS) * WAYS)
    cache["tag"] = _NO_LINE
    return cache
