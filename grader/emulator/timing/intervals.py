"""Where the true time of a launch lies, as the errors of kernels that no parameter was fitted to
tell: an interval for each kind of launch.

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
"""The entry for every kind that too few times tell of."""


@dataclass(frozen=True)
class Interval:
    """In nine of ten cases the true time is between `low` and `high` times the modelled one. It
    rests on so many measured `times`."""

    low: float
    high: float
    times: int

    def around(self, time_ms: float) -> tuple[float, float]:
        """Its ends around a modelled time."""
        return time_ms * self.low, time_ms * self.high


def interval_of(kind: LaunchKind) -> Interval:
    """That of launches of a kind."""
    known = read_intervals()
    return known.get(kind.value, known[UNKNOWN])


@functools.cache
def read_intervals() -> Mapping[str, Interval]:
    """All intervals by kind of launch."""
    entries = json.loads(INTERVALS.read_text(encoding="utf-8"))
    return {kind: Interval(**entry) for kind, entry in entries.items()}


def write_intervals(intervals: Mapping[str, Interval]) -> None:
    """Replace intervals.json."""
    entries = {kind: asdict(each) for kind, each in intervals.items()}
    INTERVALS.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
