"""Intervals of modelled times, one per kind of launch, from the errors of the model for kernels
outside of its fit. measured.py narrows them where similar kernels were measured.

`python benchmarks/fit.py --record` writes intervals.json.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from math import log
from pathlib import Path

INTERVALS = Path(__file__).parent / "intervals.json"
NINE_OF_TEN = 1.645
"""Standard deviations on each side that contain nine of ten errors of a normal distribution."""
UNKNOWN = "unknown"
"""Key of the interval for kinds with too few measured times."""
ELSEWHERE = 3.0
"""The interval of a GPU of which no time was measured is the interval to this power: it contains
nine of ten published times of such GPUs (`python benchmarks/published.py`)."""


@dataclass(frozen=True)
class Interval:
    """In nine of ten cases, the true time is between `low` and `high` times the modelled time.
    `times`: number of measured times that the interval is based on."""

    low: float
    high: float
    times: int

    @property
    def elsewhere(self) -> Interval:
        """The interval on a GPU of which no time was measured."""
        return Interval(self.low**ELSEWHERE, self.high**ELSEWHERE, 0)


def interval_of(kind: str, intervals: Mapping[str, Interval]) -> Interval:
    """The interval of a kind of launch; kinds with too few measured times have that of UNKNOWN."""
    return intervals.get(kind, intervals[UNKNOWN])


def width_of(kind: str, intervals: Mapping[str, Interval]) -> float:
    """Standard deviation of the logarithm of a kind's errors, from the wider side of its
    interval."""
    found = interval_of(kind, intervals)
    return max(log(found.high), -log(found.low)) / NINE_OF_TEN


@functools.cache
def read_intervals() -> Mapping[str, Interval]:
    """All intervals by kind of launch."""
    entries = json.loads(INTERVALS.read_text(encoding="utf-8"))
    return {kind: Interval(**entry) for kind, entry in entries.items()}


def write_intervals(intervals: Mapping[str, Interval]) -> None:
    """Replaces intervals.json."""
    entries = {kind: asdict(each) for kind, each in intervals.items()}
    INTERVALS.write_text(json.dumps(entries, indent=1) + "\n", encoding="utf-8")
