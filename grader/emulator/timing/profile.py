"""The stall breakdown: cycles of the warps of a simulated SM by instruction and state
(cpp/timing/profile.cpp). It comes from a second simulation, which ends at the same cycle."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.timing.record_arrays import first_row, make_pointing, make_rows
from grader.emulator.timing.sm import SimulatedSM
from grader.emulator.timing.stalls import Profile, Span, Stall
from grader.emulator.timing.timing_records import NEVER, SCOREBOARDS, SUB_PARTITIONS


@dataclass(frozen=True)
class Profiled:
    """The cycles of all warps of a simulated SM: `cycles` has a row per instruction and a column
    per Stall; `awaited`: cycles that warps wait for an instruction's result, by its index.

    `resident_cycles`: cycles from the start of each warp to its last instruction, which is the sum
    of `cycles`. `spans` (records of Span) contain the same over time, warp by warp, up to the cycle
    `complete_until`, which is the end if they fit. The SM took `sm_cycles`.
    """

    cycles: np.ndarray
    awaited: np.ndarray
    resident_cycles: float
    spans: np.ndarray
    complete_until: float
    sm_cycles: float


def simulate_profiled(sm: SimulatedSM, runtime: Runtime, *, spans: int = 0) -> Profiled:
    """Runs the blocks of an SM that has not started, and keeps at most `spans` spans."""
    code, warps = len(sm.arrays["table"]), len(sm.arrays["warps"])
    arrays = {
        "cycles": np.zeros((code, len(Stall))),
        "awaited": np.zeros(code),
        "assigned_until": np.zeros(warps),
        "setters": np.zeros((warps, SCOREBOARDS), dtype=np.int64),
        "latest": np.zeros(warps, dtype=np.int64),
        "issued_until": np.zeros(SUB_PARTITIONS),
        "spans": make_rows(Span, spans),
    }
    record = make_pointing(Profile, arrays, {"span_capacity": spans})
    record["filled_at"] = NEVER
    replace(sm, arrays=sm.arrays | {"profile": record}).simulate(runtime)
    found = first_row(Profile, record)
    return Profiled(
        arrays["cycles"],
        arrays["awaited"],
        found.resident_cycles,
        _cut(arrays["spans"][: found.span_count], found.filled_at),
        min(found.filled_at, sm.statistics.cycles + 1.0),
        sm.statistics.cycles + 1.0,
    )


def _cut(spans: np.ndarray, end: float) -> np.ndarray:
    """The spans before a cycle; the last are cut off there."""
    kept = spans[spans["start"] < end]
    ends = np.minimum(kept["start"] + kept["length"], min(end, 2.0**62)).astype(np.int64)
    kept["length"] = ends - kept["start"]
    return kept
