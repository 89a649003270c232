"""The reasons why a kernel is slow: its bound on the model, and the changes that would reduce its
time."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence

from grader.records import Bound, CheckResult, CheckStatus, Counters, Modelled

SEVERAL_BYTES = 16
"""Bytes that a thread loads, averaged over a launch's threads, from which it loads several
elements."""
_POOR_EFFICIENCY = 0.5
"""An efficiency below this is named as the reason for a slow kernel."""
_LEAST_WASTE = 0.25
"""Part of all passes of the load/store units from which waste is named as the reason for a slow
kernel: a store of the result, once, costs little in any order."""
_ASKS_FOR_SEVERAL = re.compile(r"^(?!.*\b(?:float|u?int)4\b).*(?:in flight|several elements)")
"""Advice that a kernel with several elements per thread follows already, unless it asks for wider
loads too."""
_BY_CHANCE = 3.54
"""Wavefronts of 32 lanes whose banks are random: the mean of the most lanes in one of 32 banks."""
_JUDGES: Mapping[str, frozenset[str]] = {
    "global_store_efficiency": frozenset({"global_store_efficiency", "global_store_sectors"}),
    "global_load_efficiency": frozenset({"global_load_efficiency", "global_load_sectors"}),
    "shared_bank_conflicts": frozenset({"shared_bank_conflicts"}),
}
"""For each kind of waste, the metrics whose checks judge it."""
FURTHER_AHEAD = "Load further ahead of where it is used, or let more warps be resident."


def list_uses(launch: Modelled) -> str:
    """`92 % used; L2 stores 24 %, ...`: the use of the bounding resource and of the next ones;
    latency has no use in percent."""
    first, *others = launch.bounds
    besides = ", ".join(f"{bound.resource} {100 * bound.used:.0f} %" for bound in others)
    own = "" if first.resource == "latency" else f"{100 * first.used:.0f} % used"
    return "; ".join(part for part in (own, besides) if part)


def find_bound(model: Sequence[Modelled]) -> Bound | None:
    """The bound of the longest launch, where the model has one."""
    longest = max(model, key=lambda launch: launch.time_ms, default=None)
    return longest.bounds[0] if longest is not None and longest.bounds else None


def list_passed(checks: Sequence[CheckResult]) -> frozenset[str]:
    """The metrics of the passed checks."""
    return frozenset(check.metric for check in checks if check.status is CheckStatus.PASSED)


def find_waste(total: Counters, passed: Collection[str] = ()) -> str | None:
    """The metric of the largest waste: poor stores, poor loads or conflicts, by wavefronts beyond
    the ideal (4 sectors count as one). Of equal waste, conflicts come last: tile loads that waste
    sectors often store with conflicts, and one change helps both. Waste that a passed check judges
    is part of the task, as in a gather: it is not named. Conflicts that atomics have by chance are
    no waste: no order of the data avoids them."""
    reads, writes = total.global_reads, total.global_writes
    by_chance = (_BY_CHANCE - 1) * total.shared_atomic_instructions
    expected = min(float(total.shared_atomic_conflicts), by_chance)
    poor_writes = (total.global_store_efficiency or 1.0) < _POOR_EFFICIENCY
    poor_reads = (total.global_load_efficiency or 1.0) < _POOR_EFFICIENCY
    costs = {
        "global_store_efficiency": poor_writes * (writes.sectors - writes.sectors_ideal) / 4,
        "global_load_efficiency": poor_reads * (reads.sectors - reads.sectors_ideal) / 4,
        "shared_bank_conflicts": total.shared_wavefronts_excessive - expected,
    }
    passes = total.shared_wavefronts + (reads.sectors + writes.sectors) / 4
    open_costs = {name: costs[name] for name in costs if _JUDGES[name].isdisjoint(passed)}
    dearest = max(open_costs, key=lambda name: open_costs[name], default=None)
    return dearest if sum(open_costs.values()) > _LEAST_WASTE * passes else None


def loads_several(total: Counters, threads: int) -> bool:
    """Whether each of this many threads loads several elements."""
    return threads > 0 and total.global_load_bytes >= SEVERAL_BYTES * threads


def choose_advice(
    authors: str, generic: str, bound: Bound | None, total: Counters, threads: int
) -> str:
    """The author's hint, else the model's advice, else the metric's general advice; never advice
    that the kernel already follows."""
    several = loads_several(total, threads)
    if authors and not (several and _ASKS_FOR_SEVERAL.search(authors)):
        return authors
    if bound is not None:
        return advise_on_bound(bound, total, several=several)
    return FURTHER_AHEAD if several and _ASKS_FOR_SEVERAL.search(generic) else generic


def advise_on_bound(bound: Bound, total: Counters, *, several: bool) -> str:
    """Advice for a kernel with this bound, without changes that it already has or that do not apply
    to it."""
    row = _ADVICE.get(bound.resource)
    return bound.advice if row is None else row(total, several)


def _on_stores(total: Counters, _: bool) -> str:
    whole = (total.global_store_efficiency or 1.0) >= 1.0
    fill = "" if whole else "Fill whole 32-byte sectors with each store."
    combine = (
        "Combine atomics of many threads in shared memory or registers first."
        if total.global_atomic_requests
        else ""
    )
    return " ".join(part for part in (fill, combine) if part) or "Store less: each element once."


def _on_load_store(total: Counters, _: bool) -> str:
    avoid = "avoid bank conflicts, and " if total.shared_wavefronts_excessive else ""
    return f"Take fewer wavefronts: {avoid}keep values that are used again in registers."


def _on_latency(_: Counters, several: bool) -> str:
    if several:
        return f"Warps wait. {FURTHER_AHEAD}"
    return (
        "Warps wait: let each thread have several independent loads in flight, or let more warps be"
        " resident."
    )


_ADVICE: Mapping[str, Callable[[Counters, bool], str]] = {
    "L2 stores": _on_stores,
    "load/store unit": _on_load_store,
    "latency": _on_latency,
}
"""By the model's name of the resource; for other resources the metric's advice fits every
kernel."""
