"""The counters of a launch, in total and by source line."""

from __future__ import annotations

from dataclasses import replace

from grader.devices.emulated.plan_run import Ran
from grader.devices.gpus import Gpu
from grader.devices.parameter_space import make_result
from grader.emulator import InstructionCounts
from grader.records import (
    PLAIN,
    Counters,
    Detail,
    Kernel,
    Launch,
    LaunchResult,
    LineCounters,
    Uncounted,
)
from grader.records.counters import count_accesses
from grader.sass import BULK_LOAD, BULK_STORE, REMOTE


def count_launch(
    gpu: Gpu, kernel: Kernel, launch: Launch, ran: Ran, detail: Detail = PLAIN
) -> LaunchResult:
    """The record of a launch on this GPU."""
    lines: dict[int | None, Counters] = {}
    uncounted = Uncounted()
    for counts in ran.outcome.counts.by_line():
        uncounted += _find_uncounted(counts)
        lines[counts.line] = lines.get(counts.line, Counters()) + count_accesses(counts)
    ordered = [LineCounters(line, lines[line]) for line in sorted(lines, key=lambda n: n or 0)]
    return replace(
        make_result(gpu, kernel, launch, sum(lines.values(), Counters()), ordered),
        printed=ran.outcome.printed,
        modelled=ran.modelled,
        unmodelled=ran.unmodelled,
        sample=ran.sample,
        waited=ran.outcome.waited,
        executed=_count_instructions(kernel, ran) if detail.instructions else (),
        cycles=ran.cycles,
        uncounted=uncounted,
    )


def _count_instructions(kernel: Kernel, ran: Ran) -> tuple[int, ...]:
    """The number of warps that executed each of the kernel's instructions."""
    executed = [0] * len(kernel.instructions)
    for counts in ran.outcome.counts.records:
        executed[counts.index] += counts.executed
    return tuple(executed)


def _find_uncounted(counts: InstructionCounts) -> Uncounted:
    """Data of instructions of a kind on a line that no counter includes."""
    return Uncounted(
        counts.bytes * (counts.space == BULK_LOAD),
        counts.bytes * (counts.space == BULK_STORE),
        counts.elsewhere + counts.requests * (counts.space == REMOTE),
    )
