"""Every metric that a check may grade or a score may report, as a row.

A row has the metric's name, its reader, the form of its values, and the advice for students. Times
are read from a `TimedPlan`, counts from `RunCounts`, traffic of caches and DRAM from `Traffic`;
`judging.values` computes the fractions of cases.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from grader.records.metric_row import Across as Across
from grader.records.metric_row import Better as Better
from grader.records.metric_row import Metric as Metric
from grader.records.metric_row import Shows as Shows
from grader.records.predictions import PREDICTIONS_ROW
from grader.records.program_metrics import HOST_FINDINGS, PROGRAM_ROWS

CORRECTNESS, CHECKED_CASES = "correctness", "sanitized"
"""The fractions of cases that are right, and of cases without a finding in the checked mode."""

_rate = partial(
    Metric,
    shows=Shows.SLOWNESS,
    advice="Let each thread move or compute several elements, so that more are in flight.",
)
"""A metric that a slow kernel misses."""
_NO_FLOPS = "the exercise counts no floating-point operations"
_NO_LOOKUPS = "the launches send no request to this cache"
_CACHES_BY_NCU = "only Nsight Compute counts what a cache holds, and it did not"
_ATOMICS = (
    "An atomic counts as a store of its bytes and, where it returns the old value (ATOMG, not"
    " REDG), as a load too: a load or a store that is written as an atomic gains nothing."
)

_ROWS = (
    Metric(
        CORRECTNESS,
        Better.HIGHER,
        "cases passed",
        "fraction of the correctness cases that passed, 0 to 1",
        is_fraction=True,
        shows=Shows.WRONG_CASE,
        advice=(
            "Work the index arithmetic of the first wrong element through by hand, for the block"
            " and thread that write it."
        ),
    ),
    Metric(
        CHECKED_CASES,
        Better.HIGHER,
        "cases without a finding",
        "fraction of the checked cases without a race, an access outside of its array or a read of"
        " unwritten memory, 0 to 1",
        is_fraction=True,
        shows=Shows.FINDING,
        advice="A right result by luck is not right on every GPU and every day.",
    ),
    _rate(
        "time_ms",
        Better.LOWER,
        "time",
        "time of the plan at the benchmark size, cold L2",
        unit="ms",
        time=lambda plan: plan.time_ms,
    ),
    Metric(
        "naive_time_ms",
        Better.LOWER,
        "naive time",
        "time of the naive baseline at the same size",
        unit="ms",
        time=lambda plan: plan.naive_time_ms,
        is_goal=False,
        needs_naive=True,
    ),
    _rate(
        "speedup_over_naive",
        Better.HIGHER,
        "speedup",
        "naive time over the submission's time",
        unit="x",
        time=lambda plan: plan.speedup,
        program=lambda run: run.speedup,
        needs_naive=True,
    ),
    _rate(
        "bandwidth_gbps",
        Better.HIGHER,
        "bandwidth",
        "useful bytes over time",
        unit="GB/s",
        time=lambda plan: plan.bandwidth_gbps,
        figure="bandwidth",
    ),
    _rate(
        "bandwidth_fraction",
        Better.HIGHER,
        "bandwidth",
        "useful bytes over time, as a fraction of the theoretical peak",
        time=lambda plan: plan.bandwidth_fraction,
        is_fraction=True,
    ),
    _rate(
        "gflops",
        Better.HIGHER,
        "arithmetic rate",
        "useful floating-point operations over time",
        unit="GFLOP/s",
        time=lambda plan: plan.gflops,
        undefined=_NO_FLOPS,
        needs_flops=True,
        figure="arithmetic",
    ),
    _rate(
        "compute_fraction",
        Better.HIGHER,
        "arithmetic rate",
        "useful operations over time, as a fraction of the peak of the exercise's units",
        time=lambda plan: plan.compute_fraction,
        undefined=_NO_FLOPS,
        is_fraction=True,
        needs_flops=True,
    ),
    Metric(
        "shared_bank_conflicts",
        Better.LOWER,
        "count",
        "shared-memory wavefronts beyond the ideal number",
        count=lambda run: run.counters.shared_wavefronts_excessive,
        across=Across.BY_SHARED_ACCESSES,
        shows=Shows.BANK_CONFLICTS,
        advice=(
            "Make the 32 lanes of a warp fall into 32 banks (bank = word index mod 32): pad the"
            " rows of the tile by one element, or swizzle the column."
        ),
        advice_on_atomics=(
            "First combine the values of lanes that change the same word, or give groups of lanes"
            " copies of the words in other banks."
        ),
    ),
    Metric(
        "global_load_efficiency",
        Better.HIGHER,
        "load efficiency",
        "useful bytes over moved bytes of global loads, 0 to 1",
        count=lambda run: run.counters.global_load_efficiency,
        undefined="the launches load nothing from global memory",
        is_fraction=True,
        across=Across.AS_IT_IS,
        shows=Shows.WASTED_LOADS,
        advice="Let consecutive threads (threadIdx.x) read consecutive addresses.",
        comment=_ATOMICS,
    ),
    Metric(
        "global_store_efficiency",
        Better.HIGHER,
        "store efficiency",
        "useful bytes over moved bytes of global stores, 0 to 1",
        count=lambda run: run.counters.global_store_efficiency,
        undefined="the launches store nothing to global memory",
        is_fraction=True,
        across=Across.AS_IT_IS,
        shows=Shows.WASTED_STORES,
        advice=(
            "Let consecutive threads (threadIdx.x) write consecutive addresses; a shared tile can"
            " turn the data first."
        ),
        advice_on_atomics=(
            "Let consecutive threads change consecutive addresses, or combine the changes of many"
            " threads in shared memory or registers first."
        ),
        comment=_ATOMICS,
    ),
    Metric(
        "instructions_executed",
        Better.LOWER,
        "instructions",
        "warp instructions executed",
        count=lambda run: run.counters.instructions_executed,
        shows=Shows.INSTRUCTIONS,
        advice="Take index arithmetic that does not change out of the loop, and unroll it.",
    ),
    Metric(
        "shared_wavefronts",
        Better.LOWER,
        "wavefronts",
        "passes that shared-memory accesses took",
        count=lambda run: run.counters.shared_wavefronts,
        is_goal=False,
        shows=Shows.WAVEFRONTS,
        advice=(
            "Read shared memory less often: keep what a thread uses again in registers, or read"
            " several elements at once."
        ),
        comment="Every use of shared memory costs wavefronts: fewer are not better by themselves.",
    ),
    Metric(
        "shared_wavefronts_ideal",
        Better.LOWER,
        "ideal wavefronts",
        "passes that they would take without conflicts",
        count=lambda run: run.counters.shared_wavefronts_ideal,
        is_goal=False,
    ),
    Metric(
        "global_load_sectors",
        Better.LOWER,
        "load sectors",
        "32-byte sectors that global loads and fetching atomics requested",
        count=lambda run: run.counters.global_reads.sectors,
        shows=Shows.LOADS,
        advice=(
            "Load values that several threads of a block need once into a shared tile, and let the"
            " threads read them there."
        ),
        comment=_ATOMICS,
    ),
    Metric(
        "global_store_sectors",
        Better.LOWER,
        "store sectors",
        "32-byte sectors that global stores and atomics wrote",
        count=lambda run: run.counters.global_writes.sectors,
        shows=Shows.STORES,
        advice=(
            "Write each element once, and let consecutive threads (threadIdx.x) write consecutive"
            " addresses."
        ),
        comment=_ATOMICS,
    ),
    Metric(
        "global_store_sectors_per_block",
        Better.LOWER,
        "store sectors per block",
        "the same, per block of the launch where they are most",
        count=lambda run: max(
            (each.counters.global_writes.sectors / each.grid.volume for each in run.launches),
            default=None,
        ),
        shows=Shows.STORES,
        advice="Combine the results of a block's threads before one of them writes.",
        comment=_ATOMICS,
    ),
    Metric(
        "dram_bytes",
        Better.LOWER,
        "DRAM bytes",
        "bytes moved between L2 and DRAM",
        unit="B",
        traffic=lambda traffic: traffic.dram_bytes,
        lacking={"gpu": "only Nsight Compute counts the traffic of DRAM, and it did not"},
        figure="DRAM traffic",
    ),
    Metric(
        "l1_hit_rate",
        Better.HIGHER,
        "L1 hit rate",
        "hits in the L1 cache over sectors that global loads requested, 0 to 1",
        traffic=lambda traffic: traffic.l1,
        undefined=_NO_LOOKUPS,
        lacking={"gpu": _CACHES_BY_NCU},
        is_fraction=True,
        figure="L1 hit rate",
    ),
    Metric(
        "l2_hit_rate",
        Better.HIGHER,
        "L2 hit rate",
        "hits in the L2 cache over requested sectors, 0 to 1",
        traffic=lambda traffic: traffic.l2,
        undefined=_NO_LOOKUPS,
        lacking={"gpu": _CACHES_BY_NCU},
        is_fraction=True,
        figure="L2 hit rate",
    ),
    Metric(
        "occupancy",
        Better.HIGHER,
        "occupancy",
        "resident warps over the most that an SM holds, theoretical, 0 to 1",
        count=lambda run: min(launch.occupancy for launch in run.launches),
        is_fraction=True,
        is_goal=False,
        advice=(
            "Use fewer registers per thread or less shared memory per block, or another block size,"
            " so that more warps are resident."
        ),
        comment="The occupancy of a plan is that of its least occupied launch.",
    ),
    Metric(
        "registers_per_thread",
        Better.LOWER,
        "registers",
        "registers that a thread uses, the most of all launches",
        unit="registers",
        count=lambda run: max(launch.registers for launch in run.launches),
        is_goal=False,
        across=Across.AS_IT_IS,
        advice=(
            "Let each thread hold fewer values at a time: smaller tiles per thread, less unrolling,"
            " or `__launch_bounds__`, which may move values to local memory."
        ),
        comment="Fewer registers help only where they raise the occupancy.",
    ),
    *PROGRAM_ROWS,
    PREDICTIONS_ROW,
)

METRICS: dict[str, Metric] = {row.name: row for row in _ROWS}
"""In the order of a score."""

TIMED = frozenset(name for name, row in METRICS.items() if row.time)
"""The metrics that need a clock."""

TRAFFIC = frozenset(name for name, row in METRICS.items() if row.traffic)
"""The metrics of `records.Traffic`: for information, since they vary from run to run on a GPU."""

MODELLED = (
    TIMED
    | TRAFFIC
    | {name for name, row in METRICS.items() if row.is_of_program and name != HOST_FINDINGS}
)
"""The metrics that the timing model gives."""

COMPARABLE = frozenset(
    name for name, row in METRICS.items() if (row.time and not row.needs_naive) or row.count
)
"""A threshold may be relative to such a metric of the baseline or of the reference."""

FIGURES = ("gflops", "bandwidth_gbps", *(name for name in METRICS if name in TRAFFIC))
"""The metrics that a report shows for information beside a time; the rates come first."""


def sources(metric: Metric) -> dict[str, str]:
    """The source of the metric by kind of device, without kinds that never have it."""
    if metric.time:
        return {"gpu": "measured", "emulated": "modelled"}
    if metric.count:
        return {"gpu": "counted", "emulated": "counted"}
    if metric.traffic:
        return {"gpu": "counted by ncu", "emulated": "modelled"}
    return {"gpu": "the cases", "emulated": "the cases"}


def unit_words(metric: Metric) -> str:
    """The unit of a metric's values in a spec, where it has one."""
    return "fraction" if metric.is_fraction else metric.unit or "count"


def format_value(name: str, value: float, *, missed: str = "") -> str:
    """A metric's value for people: `82.3 %`, `4,063,232`, `6.6x`, `0.1942 ms`.

    The value is rounded to the nearest digits, but to the worse side if the result is a round
    figure or the goal that it `missed`: 79.97 % is not shown as the missed 80 %.
    """
    metric = METRICS[name]
    if not math.isfinite(value):
        return str(value)
    nearest = _format_rounded(metric, value, round)
    worse = math.floor if metric.better is Better.HIGHER else math.ceil
    careful = _format_rounded(metric, value, lambda scaled: worse(_exact(scaled)))
    is_goal = bool(missed) and missed.endswith(nearest)
    return careful if is_goal or _is_round(metric, value) else nearest


def _format_rounded(metric: Metric, value: float, to_whole: Callable[[float], int]) -> str:
    if metric.is_fraction:
        return f"{_round(100 * value, 1, to_whole):,g} %"
    if value == int(value):
        digits = f"{int(value):,}"
    else:
        decimals = _decimals(value)
        digits = f"{_round(value, decimals, to_whole):,.{decimals}f}"
        digits = digits.rstrip("0").rstrip(".") if "." in digits else digits
    separator = " " if metric.unit not in ("", "x") else ""
    return f"{digits}{separator}{metric.unit}"


def _is_round(metric: Metric, value: float) -> bool:
    """Whether the nearest figure ends in 0 or 5, as goals do."""
    scaled = 1000 * value if metric.is_fraction else value * 10 ** _decimals(value)
    return round(_exact(scaled)) % 5 == 0


def _decimals(value: float) -> int:
    """Decimals that make four significant digits."""
    return 0 if value == 0 else max(0, 3 - math.floor(math.log10(abs(value))))


def _round(value: float, decimals: int, to_whole: Callable[[float], int]) -> float:
    return float(to_whole(value * 10**decimals) / 10**decimals)


def _exact(scaled: float) -> float:
    """Without the error of binary fractions in the last digits: 0.29 is 29 %."""
    return round(scaled, 6)
