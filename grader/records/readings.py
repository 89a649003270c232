"""The sources of metrics: an estimate of a median, a timed plan, and the counts of a run."""

from __future__ import annotations

from dataclasses import dataclass

from grader.records.counters import Counters
from grader.records.runs import LaunchResult


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
