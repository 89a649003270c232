"""What metrics are read from: an estimate of a median, a timed plan, and the counts of a run."""

from __future__ import annotations

from dataclasses import dataclass

from grader.records.counters import Counters
from grader.records.runs import LaunchResult


@dataclass(frozen=True)
class Estimate:
    """A value with the interval that holds the true one."""

    value: float
    low: float
    high: float

    def scaled(self, factor: float) -> Estimate:
        """The same of a quantity that is `factor` times as large."""
        return Estimate(self.value * factor, self.low * factor, self.high * factor)

    def inverse(self, numerator: float) -> Estimate:
        """The same of `numerator` over the quantity, which is positive: the interval's ends change
        places."""
        return Estimate(numerator / self.value, numerator / self.high, numerator / self.low)


@dataclass(frozen=True)
class RunCounts:
    """What a plan counted: its launches, one at least, and the sum of their counters."""

    launches: tuple[LaunchResult, ...]
    counters: Counters


@dataclass(frozen=True)
class TimedPlan:
    """What is known of a timed plan: its time in ms, the naive baseline's beside it, the useful
    work, and the device's peaks, of arithmetic that of the units which the exercise names. None:
    the exercise counts no operations, or nobody knows the peak."""

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
        """The same as a part of the peak."""
        return self.bandwidth_gbps.scaled(1 / self.peak_bandwidth_gbps)

    @property
    def gflops(self) -> Estimate | None:
        """Useful operations over time."""
        return None if self.useful_flops is None else self.time_ms.inverse(self.useful_flops / 1e6)

    @property
    def compute_fraction(self) -> Estimate | None:
        """The same as a part of the units' peak."""
        if self.gflops is None or self.peak_tflops is None:
            return None
        return self.gflops.scaled(1e-3 / self.peak_tflops)
