"""The stall breakdown of the timing model as records for the grader."""

from __future__ import annotations

import numpy as np

from grader.emulator.timing.launch_time import Estimate
from grader.emulator.timing.profile import Profiled
from grader.records import InstructionCycles, WarpCycles

_SPAN = ("warp", "block", "start", "length", "code", "cause", "stall")


def tell_cycles(found: Estimate, profile: Profiled) -> WarpCycles:
    """The record of a launch's profile, with cycles as integers."""
    cycles = np.rint(profile.cycles).astype(np.int64)
    awaited = np.rint(profile.awaited).astype(np.int64)
    rows = np.flatnonzero(cycles.any(axis=1) | (awaited > 0)).tolist()
    told = (InstructionCycles(row, tuple(cycles[row].tolist()), int(awaited[row])) for row in rows)
    spans = np.stack([profile.spans[name].astype(np.int64) for name in _SPAN], axis=1)
    return WarpCycles(
        tuple(told),
        round(profile.resident_cycles),
        float(found.scale),
        round(profile.sm_cycles),
        found.clock_mhz,
        int(found.use["blocks"]),
        tuple(spans[np.lexsort((profile.spans["start"], profile.spans["warp"]))].ravel().tolist()),
        round(profile.complete_until),
    )
