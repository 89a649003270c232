"""Intervals of modelled times, one per kind of launch, from the errors of the model for kernels
outside of its fit.

`python benchmarks/fit.py --record` writes intervals.json.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from grader.emulator.timing.kinds import LaunchKind

INTERVALS = Path(__file__).parent / "intervals.json"
UNKNOWN = "unknown"
"""Key of the interval for kinds with too few measured times."""


@dataclass(frozen=True)
class Interval:
    """In nine of ten cases, the true time is between `low` and `high` times the modelled time.
    `times`: number of measured times that the interval is based on."""

    low: float
    high: float
    times: int

    def around(self, time_ms: float) -> tuple[float, float]:
        """The ends of the interval of a modelled time."""
        return time_ms * self.low, time_ms * self.high


def interval_of(kind: LaunchKind) -> Interval:
    """The interval of a kind of launch."""
    known = read_intervals()
    return known.get(kind.value, known[UNKNOWN])


@functools.cache
def read_intervals() -> Mapping[str, Interval]:
    """All intervals by kind of launch."""
    entries = json.loads(INTERVALS.read_text(encoding="utf-8"))
    return {kind: Interval(**entry) for kind, entry in entries.items()}


def write_intervals(intervals: Mapping[str, Interval]) -> None:
    """Replaces intervals.json."""
    entries = {kind: asdict(each) for kind, each in intervals.items()}
    INTERVALS.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
