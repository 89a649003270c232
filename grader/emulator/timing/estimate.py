"""The result of the time model for a launch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from grader.emulator.timing.bounds import Use
from grader.emulator.timing.kinds import Facts, LaunchKind
from grader.emulator.timing.l2 import Requests
from grader.emulator.timing.profile import Profiled


@dataclass(frozen=True)
class Estimate:
    """The model's result for a launch. `time_ms`, with its interval, is corrected by measured times
    of similar launches; `simulated_ms` and `cycles` are not. `bounds`: the three most used
    resources, in descending order.

    `load_sectors`: sectors that global loads request from the L1; `load_hits`: those that it holds
    or that are in flight. `held`: sectors of each buffer that the L2 holds at the end. `profile`:
    stall breakdown of the simulated blocks, if requested; the launch executes `scale` times their
    instructions."""

    time_ms: float
    interval_ms: tuple[float, float]
    simulated_ms: float
    cycles: float
    dram_bytes: float
    load_sectors: float
    load_hits: float
    l2: Requests
    use: Mapping[str, float]
    bounds: tuple[Use, ...]
    kind: LaunchKind
    facts: Facts
    held: tuple[float, ...]
    scale: float
    clock_mhz: float
    profile: Profiled | None = None
