"""The row of a metric (grader.metrics has the rows)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from grader.records.readings import Estimate, RunCounts, TimedPlan
from grader.records.runs import Lookups, Traffic


class Better(StrEnum):
    """The better direction of a metric."""

    HIGHER = "higher"
    LOWER = "lower"


class Across(StrEnum):
    """The comparison of a count at other sizes with the count at the sizes for counting."""

    AS_IT_IS = "as it is"
    BY_SHARED_ACCESSES = "by shared accesses"
    BY_OTHER_PROGRAM = "by the program that the goal is relative to"


class Shows(StrEnum):
    """The evidence that a hint on a lost check shows."""

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
    """A metric. `noun` is its name in a headline; `unit` is empty for counts and ratios.

    `time`, `count` or `traffic` reads its value; for a cache's look-ups the value is the hit rate.
    `undefined` is the reason where a run has no such value. `lacking` has the reason why a kind of
    device never gives it. `is_fraction`: a part of a whole, shown as a percentage. `is_goal`: more,
    or less, of it is better by itself, so versions are compared by it. `figure` is its name among
    the figures for information. `comment` is for the documentation.
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
        """Whether it is a fraction of a peak of the device."""
        return self.time is not None and self.is_fraction
