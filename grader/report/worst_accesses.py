"""The accesses of a run that are worth a picture: for each check that lost points, the accesses of
the most expensive line, and all accesses of lines with waste."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from grader.messages.slowness import find_waste, list_passed
from grader.metrics import METRICS, Shows
from grader.records import (
    SECTOR_BYTES,
    Counters,
    GlobalAccesses,
    LineCounters,
    Memory,
    Operation,
    Score,
    SourceLine,
    WarpAccess,
)

POOR_EFFICIENCY = 0.9
"""The useful fraction of a line's moved bytes below which its accesses are worth a picture."""
AccessClass = tuple[Memory, frozenset[Operation]]
SHARED: AccessClass = (Memory.SHARED, frozenset(Operation))
READS: AccessClass = (Memory.GLOBAL, frozenset({Operation.LOAD}))
WRITES: AccessClass = (Memory.GLOBAL, frozenset({Operation.STORE, Operation.ATOMIC}))

_LOSES: Mapping[AccessClass, Callable[[Counters], int]] = {
    SHARED: lambda c: c.shared_wavefronts_excessive,
    READS: lambda c: c.global_reads.wasted_bytes,
    WRITES: lambda c: c.global_writes.wasted_bytes,
}
_SHOWN: Mapping[Shows, AccessClass] = {
    Shows.BANK_CONFLICTS: SHARED,
    Shows.WAVEFRONTS: SHARED,
    Shows.WASTED_LOADS: READS,
    Shows.LOADS: READS,
    Shows.WASTED_STORES: WRITES,
    Shows.STORES: WRITES,
}


def accesses_of_checks(score: Score) -> tuple[WarpAccess, ...]:
    """For each check that lost points to bank conflicts or sectors, the worst access of the line
    with the largest loss; each once."""
    found: dict[WarpAccess, None] = {}
    for check in score.checks:
        if not check.status.lost_points:
            continue
        shows = METRICS[check.metric].shows
        access_class = _why_slow(score) if shows is Shows.SLOWNESS else _SHOWN.get(shows)
        access = None if access_class is None else _worst(score.accesses, score.lines, access_class)
        if access is not None:
            found[access] = None
    return tuple(found)


def accesses_of_lines(
    accesses: Iterable[WarpAccess], lines: Iterable[LineCounters | SourceLine], most: int
) -> tuple[WarpAccess, ...]:
    """The worst accesses of the lines with the largest losses, at most `most`, in the order of the
    lines."""
    counters: dict[int | None, Counters] = {}
    for line in lines:
        counters[line.line] = counters.get(line.line, Counters()) + line.counters
    losing = [
        (loss, access)
        for access in accesses
        if (loss := _sectors_lost(access, counters.get(access.line, Counters())))
    ]
    kept = sorted(losing, key=lambda each: -each[0])[:most]
    return tuple(sorted((access for _, access in kept), key=lambda each: each.line))


def _sectors_lost(access: WarpAccess, line: Counters) -> float:
    """The line's wasted wavefronts or sectors, which count alike; 0 where the waste is
    negligible."""
    if access.memory is Memory.SHARED:
        return line.shared_wavefronts_excessive
    moved = line.global_reads if access.operation is Operation.LOAD else line.global_writes
    return moved.wasted_bytes / SECTOR_BYTES if _is_poor(moved, POOR_EFFICIENCY) else 0


def _is_poor(moved: GlobalAccesses, limit: float) -> bool:
    return moved.efficiency is not None and moved.efficiency < limit


def _why_slow(score: Score) -> AccessClass | None:
    """The kind of waste in the hint for a slow kernel."""
    total = sum((line.counters for line in score.lines), Counters())
    waste = find_waste(total, list_passed(score.checks))
    return None if waste is None else _SHOWN[METRICS[waste].shows]


def _worst(
    accesses: Sequence[WarpAccess], lines: Sequence[SourceLine], access_class: AccessClass
) -> WarpAccess | None:
    """The worst access of this kind at the line with the largest loss of that kind."""
    memory, operations = access_class
    loses = _LOSES[access_class]
    named = (line for line in lines if line.line is not None)
    worst = max(named, key=lambda line: loses(line.counters), default=None)
    if worst is None or not loses(worst.counters):
        return None
    at_line = (each for each in accesses if each.line == worst.line)
    there = (each for each in at_line if each.memory is memory and each.operation in operations)
    return max(there, key=lambda each: each.excess, default=None)
