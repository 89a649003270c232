"""Name, unit and meaning of every metric that a check may grade or a score may report (DESIGN 2.3)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Better(StrEnum):
    """Which direction of a metric is the better one."""

    HIGHER = "higher"
    LOWER = "lower"


@dataclass(frozen=True)
class Metric:
    """A metric: `noun` is how a headline calls it ("bandwidth"), `unit` is empty for counts and ratios."""

    name: str
    unit: str
    better: Better
    noun: str
    meaning: str


METRICS: dict[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric("correctness", "", Better.HIGHER, "cases passed", "fraction of the correctness cases that passed, 0 to 1"),
        Metric("time_ms", "ms", Better.LOWER, "time", "time of the plan at the benchmark size, cold L2"),
        Metric("naive_time_ms", "ms", Better.LOWER, "naive time", "time of the naive baseline at the same size"),
        Metric("speedup_over_naive", "x", Better.HIGHER, "speedup", "naive time over the submission's time"),
        Metric("bandwidth_gbps", "GB/s", Better.HIGHER, "bandwidth", "useful bytes over time"),
        Metric("bandwidth_fraction", "", Better.HIGHER, "bandwidth", "useful bytes over time, as a fraction of the theoretical peak"),
        Metric("gflops", "GFLOP/s", Better.HIGHER, "arithmetic rate", "useful floating-point operations over time"),
        Metric("compute_fraction", "", Better.HIGHER, "arithmetic rate", "useful operations over time, as a fraction of the fp32 peak"),
        Metric("shared_bank_conflicts", "", Better.LOWER, "count", "shared-memory wavefronts beyond the ideal number"),
        Metric("global_load_efficiency", "", Better.HIGHER, "load efficiency", "useful bytes over moved bytes of global loads, 0 to 1"),
        Metric("global_store_efficiency", "", Better.HIGHER, "store efficiency", "useful bytes over moved bytes of global stores, 0 to 1"),
        Metric("instructions_executed", "", Better.LOWER, "instructions", "warp instructions executed"),
        Metric("shared_wavefronts", "", Better.LOWER, "wavefronts", "passes that shared-memory accesses took"),
        Metric("shared_wavefronts_ideal", "", Better.LOWER, "ideal wavefronts", "passes that they would take without conflicts"),
        Metric("global_load_sectors", "", Better.LOWER, "load sectors", "32-byte sectors that global loads asked for"),
        Metric("global_store_sectors", "", Better.LOWER, "store sectors", "32-byte sectors that global stores wrote"),
        Metric("dram_bytes", "B", Better.LOWER, "DRAM bytes", "bytes moved between L2 and DRAM"),
        Metric("occupancy", "", Better.HIGHER, "occupancy", "resident warps over the most that an SM holds, theoretical, 0 to 1"),
    )
}
