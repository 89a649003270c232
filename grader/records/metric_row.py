"""The row of a metric (grader.metrics has the rows), and the values from which metrics are
computed: an estimate of a median, a timed plan, and the counts of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from grader.records.counters import Counters
from grader.records.runs import LaunchResult, Lookups, Traffic


@dataclass(frozen=True)
class Estimate:
    """A value with the interval that contains the true value."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> Estimate:
        """The estimate of a quantity that is `factor` times as large."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)

    def inverse(self, numerator: float) -> Estimate:
        """The estimate of `numerator` over the quantity, which is positive: the interval's ends
        change places."""
        return Estimate(numerator / self.value, numerator / self.high, numerator / self.low)


@dataclass(frozen=True)
class RunCounts:
    """The launches of a plan, at least one, and the sum of their counters."""

    launches: tuple[LaunchResult, ...]
    counters: Counters


@dataclass(frozen=True)
class TimedPlan:
    """A timed plan: its time in ms, the time of the naive baseline, the useful work, and the
    device's peaks. `peak_tflops` is that of the exercise's units. None: the exercise counts no
    operations, or the peak is unknown."""

    time_ms: Estimate
    useful_bytes: float
    useful_flops: float | None
    peak_bandwidth_gbps: float
    peak_tflops: float | None
    naive_time_ms: Estimate | None = None
    speedup: Estimate | None = None

    @property
    def bandwidth_gbps(self) -> Estimate:
        """Useful bytes over time."""
        return self.time_ms.inverse(self.useful_bytes / 1e6)

    @property
    def bandwidth_fraction(self) -> Estimate:
        """Bandwidth over the device's peak."""
        return self.bandwidth_gbps.scaled(1 / self.peak_bandwidth_gbps)

    @property
    def gflops(self) -> Estimate | None:
        """Useful operations over time."""
        return None if self.useful_flops is None else self.time_ms.inverse(self.useful_flops / 1e6)

    @property
    def compute_fraction(self) -> Estimate | None:
        """Arithmetic rate over the peak of the exercise's units."""
        if self.gflops is None or self.peak_tflops is None:
            return None
        return self.gflops.scaled(1e-3 / self.peak_tflops)


@dataclass(frozen=True)
class MeasuredProgram:
    """A run of a whole program on the modelled clock or a GPU's: `time_ms` from the start of the
    first copy, fill or kernel to the end of the last; the same time of the starter's program; and
    the part of the time of copies in which another copy or kernel runs. None: unknown.
    `host_mistakes`: in all checked runs. `missing` is the reason why a value is unknown, empty for
    the metric's own."""

    time_ms: Estimate | None = None
    naive_time_ms: Estimate | None = None
    overlap: float | None = None
    host_mistakes: int | None = None
    missing: str = ""

    @property
    def speedup(self) -> Estimate | None:
        """The naive time over the time; copies have no interval."""
        own, naive = self.time_ms, self.naive_time_ms
        if own is None or naive is None or own.low <= 0:
            return None
        return Estimate(naive.value / own.value, naive.low / own.high, naive.high / own.low)


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
    HOST_MISTAKES = "the first mistakes in host code"
    SLOWNESS = "what binds the kernel, and its worst line"


@dataclass(frozen=True)
class Metric:
    """A metric. `noun` is its name in a headline; `unit` is empty for counts and ratios.

    `time`, `count` or `traffic` reads its value; for a cache's look-ups the value is the hit rate.
    `program` reads the value of a whole program.
    `undefined` is the reason where a run has no such value. `lacking` has the reason why a kind of
    device never gives it. `is_fraction`: a part of a whole, shown as a percentage. `is_goal`: more,
    or less, of it is better by itself, so versions are compared by it. `advice_on_atomics` replaces
    `advice` where atomics cause most of the waste. `figure` is its name among the figures for
    information. `comment` is for the documentation.
    """

    name: str
    better: Better
    noun: str
    meaning: str
    unit: str = ""
    time: Callable[[TimedPlan], Estimate | None] | None = None
    count: Callable[[RunCounts], float | None] | None = None
    traffic: Callable[[Traffic], float | Lookups | None] | None = None
    program: Callable[[MeasuredProgram], Estimate | float | None] | None = None
    undefined: str = ""
    lacking: Mapping[str, str] = field(default_factory=dict)
    is_fraction: bool = False
    is_goal: bool = True
    needs_naive: bool = False
    needs_flops: bool = False
    across: Across = Across.BY_OTHER_PROGRAM
    shows: Shows = Shows.NOTHING
    advice: str = ""
    advice_on_atomics: str = ""
    figure: str = ""
    comment: str = ""

    @property
    def is_of_peak(self) -> bool:
        """Whether it is a fraction of a peak of the device."""
        return self.time is not None and self.is_fraction

    @property
    def is_of_program(self) -> bool:
        """Whether only exercises that grade whole programs have it."""
        return self.program is not None and self.time is None
