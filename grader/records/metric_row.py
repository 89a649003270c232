"""What a row of the table of metrics says (grader.metrics has the rows)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from grader.records.readings import Estimate, RunCounts, TimedPlan
from grader.records.runs import Lookups, Traffic


class Better(StrEnum):
    """Which direction of a metric is the better one."""

    HIGHER = "higher"
    LOWER = "lower"


class Across(StrEnum):
    """How a count at other sizes is set against the one at the sizes for counting."""

    AS_IT_IS = "as it is"
    BY_SHARED_ACCESSES = "by shared accesses"
    BY_OTHER_PROGRAM = "by the program that the goal is relative to"


class Shows(StrEnum):
    """What a hint on a lost check shows of the run."""

    NOTHING = "nothing"
    WRONG_CASE = "the first wrong case"
    FINDING = "the first finding"
    BANK_CONFLICTS = "the line with the most bank conflicts"
    WAVEFRONTS = "the line with the most bank conflicts, else that with the most wavefronts"
    WASTED_LOADS = "the line that loads the most unused bytes"
    WASTED_STORES = "the line that stores the most unused bytes"
    LOADS = "the line that loads the most sectors"
    STORES = "the line that stores the most sectors"
    INSTRUCTIONS = "the line with the most instructions"
    SLOWNESS = "what binds the kernel, and its worst line"


@dataclass(frozen=True)
class Metric:
    """One metric. `noun` is how a headline calls it; `unit` is empty for counts and ratios.

    One of `time`, `count` and `traffic` reads its value; of a cache's look-ups it is the hit rate.
    Where what is read has no such value, `undefined` says why. `lacking` has, by kind of device,
    why that kind cannot give it, whatever the submission does. `is_fraction`: a part of a
    whole, which people read as a percentage. `is_goal`: more, or less, of it is better by itself,
    so that versions are compared by it. `figure` is its name among the figures for information.
    `comment` is for the documentation.
    """

    name: str
    better: Better
    noun: str
    meaning: str
    unit: str = ""
    time: Callable[[TimedPlan], Estimate | None] | None = None
    count: Callable[[RunCounts], float | None] | None = None
    traffic: Callable[[Traffic], float | Lookups | None] | None = None
    undefined: str = ""
    lacking: Mapping[str, str] = field(default_factory=dict)
    is_fraction: bool = False
    is_goal: bool = True
    needs_naive: bool = False
    needs_flops: bool = False
    across: Across = Across.BY_OTHER_PROGRAM
    shows: Shows = Shows.NOTHING
    advice: str = ""
    figure: str = ""
    comment: str = ""

    @property
    def is_of_peak(self) -> bool:
        """Whether it is a part of a peak of the device."""
        return self.time is not None and self.is_fraction
