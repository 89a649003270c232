"""Name, unit and meaning of every metric that a check may grade or a score may report (DESIGN
2.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    """Which direction of a metric is the better one."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True)
class Metric:
    """A metric: `noun` is how a headline calls it ("bandwidth"), `unit` is empty for counts and
    ratios."""

    name: str
    unit: str
    better: Better
    noun: str
    meaning: str

    @property
    def is_fraction(self) -> bool:
        """Whether the value is a part of a whole, 0 to 1, that people read as a percentage."""
        return self.name in _FRACTIONS


_FRACTIONS = frozenset(
    {
        "correctness",
        "sanitized",
        "bandwidth_fraction",
        "compute_fraction",
        "global_load_efficiency",
        "global_store_efficiency",
        "l1_hit_rate",
        "l2_hit_rate",
        "occupancy",
    }
)

METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "correctness",
            "",
            Better.HIGHER,
            "cases passed",
            "fraction of the correctness cases that passed, 0 to 1",
        ),
        Metric(
            "sanitized",
            "",
            Better.HIGHER,
            "cases without a finding",
            "fraction of the checked cases without a race, a stray access or a read of what nobody"
            " wrote, 0 to 1",
        ),
        Metric(
            "time_ms", "ms", Better.LOWER, "time", "time of the plan at the benchmark size, cold L2"
        ),
        Metric(
            "naive_time_ms",
            "ms",
            Better.LOWER,
            "naive time",
            "time of the naive baseline at the same size",
        ),
        Metric(
            "speedup_over_naive",
            "x",
            Better.HIGHER,
            "speedup",
            "naive time over the submission's time",
        ),
        Metric("bandwidth_gbps", "GB/s", Better.HIGHER, "bandwidth", "useful bytes over time"),
        Metric(
            "bandwidth_fraction",
            "",
            Better.HIGHER,
            "bandwidth",
            "useful bytes over time, as a fraction of the theoretical peak",
        ),
        Metric(
            "gflops",
            "GFLOP/s",
            Better.HIGHER,
            "arithmetic rate",
            "useful floating-point operations over time",
        ),
        Metric(
            "compute_fraction",
            "",
            Better.HIGHER,
            "arithmetic rate",
            "useful operations over time, as a fraction of the fp32 peak",
        ),
        Metric(
            "shared_bank_conflicts",
            "",
            Better.LOWER,
            "count",
            "shared-memory wavefronts beyond the ideal number",
        ),
        # Of global memory, an atomic is a store of its bytes, and where it returns what was there
        # (ATOMG, not REDG) a load of them, too: a load or a store in the guise of an atomic is
        # graded as such. `Counters.global_reads` and `global_writes` are these sums; the counters
        # of loads, stores and atomics themselves are Nsight Compute's, each kind apart.
        Metric(
            "global_load_efficiency",
            "",
            Better.HIGHER,
            "load efficiency",
            "useful bytes over moved bytes of global loads, 0 to 1",
        ),
        Metric(
            "global_store_efficiency",
            "",
            Better.HIGHER,
            "store efficiency",
            "useful bytes over moved bytes of global stores, 0 to 1",
        ),
        Metric(
            "instructions_executed", "", Better.LOWER, "instructions", "warp instructions executed"
        ),
        Metric(
            "shared_wavefronts",
            "",
            Better.LOWER,
            "wavefronts",
            "passes that shared-memory accesses took",
        ),
        Metric(
            "shared_wavefronts_ideal",
            "",
            Better.LOWER,
            "ideal wavefronts",
            "passes that they would take without conflicts",
        ),
        Metric(
            "global_load_sectors",
            "",
            Better.LOWER,
            "load sectors",
            "32-byte sectors that global loads and fetching atomics asked for",
        ),
        Metric(
            "global_store_sectors",
            "",
            Better.LOWER,
            "store sectors",
            "32-byte sectors that global stores and atomics wrote",
        ),
        Metric("dram_bytes", "B", Better.LOWER, "DRAM bytes", "bytes moved between L2 and DRAM"),
        Metric(
            "l1_hit_rate",
            "",
            Better.HIGHER,
            "L1 hit rate",
            "sectors that the L1 held, of those that global loads asked for, 0 to 1",
        ),
        Metric(
            "l2_hit_rate",
            "",
            Better.HIGHER,
            "L2 hit rate",
            "sectors that the L2 held, of those that it was asked for, 0 to 1",
        ),
        Metric(
            "occupancy",
            "",
            Better.HIGHER,
            "occupancy",
            "resident warps over the most that an SM holds, theoretical, 0 to 1",
        ),
    )
}

TIMED = frozenset(
    {
        "time_ms",
        "naive_time_ms",
        "speedup_over_naive",
        "bandwidth_gbps",
        "bandwidth_fraction",
        "gflops",
        "compute_fraction",
    }
)
"""The metrics that need a clock; all others are counted, but `correctness` and `sanitized`."""

TRAFFIC = frozenset({"dram_bytes", "l1_hit_rate", "l2_hit_rate"})
"""The metrics of `records.Traffic`: for information, since they vary from run to run on a GPU."""

COMPARABLE = (
    frozenset(METRICS)
    - {"correctness", "sanitized", "naive_time_ms", "speedup_over_naive"}
    - TRAFFIC
)
"""The metrics that every program has, so that a threshold may be relative to the baseline's or the
reference's value."""


def format_value(name: str, value: float) -> str:
    """A metric's value for people: `82.3 %`, `4,063,232`, `6.6x`, `0.1942 ms`.

    What does not fit the digits is rounded to the worse side, so that 79.97 % never reads as the 80
    % that it missed.
    """
    metric = METRICS[name]
    if not math.isfinite(value):
        return str(value)
    if metric.is_fraction:
        return f"{_round_to_worse(100 * value, 1, metric.better):,g} %"
    if value == int(value):
        digits = f"{int(value):,}"
    else:
        decimals = max(0, 3 - math.floor(math.log10(abs(value))))
        digits = f"{_round_to_worse(value, decimals, metric.better):,.{decimals}f}"
        digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    separator = "" if metric.unit == "x" else " "
    return f"{digits}{separator}{metric.unit}" if metric.unit else digits


def _round_to_worse(value: float, decimals: int, better: Better) -> float:
    scaled = round(value * 10**decimals, 6)
    return float((math.floor if better is Better.HIGHER else math.ceil)(scaled) / 10**decimals)
