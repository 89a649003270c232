"""What a launch counted, under the names that a score uses: in all, and line by line."""

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
from grader.sass import BULK_LOAD, BULK_STORE, OPERANDS, REMOTE


def count_launch(
    gpu: Gpu, kernel: Kernel, launch: Launch, ran: Ran, detail: Detail = PLAIN
) -> LaunchResult:
    """The record of a launch that ran as this GPU."""
    lines: dict[int | None, dict[str, int]] = {}
    total: dict[str, int] = {}
    uncounted = Uncounted()
    for counts in ran.outcome.counts.by_line():
        uncounted += _find_uncounted(counts)
        of_line = lines.setdefault(counts.line, {})
        for name, count in _name_counts(counts).items():
            of_line[name] = of_line.get(name, 0) + count
            total[name] = total.get(name, 0) + count
    ordered = [
        LineCounters(line, Counters(**lines[line]))
        for line in sorted(lines, key=lambda line: line or 0)
    ]
    return replace(
        make_result(gpu, kernel, launch, Counters(**total), ordered),
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
    """How many warps executed each of the kernel's instructions."""
    executed = [0] * len(kernel.instructions)
    for counts in ran.outcome.counts.records:
        executed[counts.index] += counts.executed
    return tuple(executed)


def _find_uncounted(counts: InstructionCounts) -> Uncounted:
    """Data that instructions of one kind on one line move past the counters."""
    return Uncounted(
        counts.bytes * (counts.space == BULK_LOAD),
        counts.bytes * (counts.space == BULK_STORE),
        counts.elsewhere + counts.requests * (counts.space == REMOTE),
    )


def _name_counts(counts: InstructionCounts) -> dict[str, int]:
    """One instruction's counts under the names that a score uses."""
    common = {
        "instructions_executed": counts.executed,
        "thread_instructions_executed": counts.threads,
    }
    if counts.space in (None, BULK_LOAD, BULK_STORE, REMOTE):
        return common
    if counts.space == OPERANDS:  # with what else takes wavefronts, as for Nsight Compute
        return {
            **common,
            "shared_store_wavefronts": counts.passes,
            "shared_wavefronts_ideal": counts.passes_ideal,
        }
    kind = "atomic" if counts.atomic else "load" if counts.load else "store"
    if counts.space == "shared":
        return {
            **common,
            f"shared_{kind}_instructions": counts.executed,
            f"shared_{kind}_wavefronts": counts.passes,
            "shared_wavefronts_ideal": counts.passes_ideal,
        }
    kinds = ("atomic", "fetch") if counts.atomic and counts.load else (kind,)
    for each in kinds:
        common |= _global_counters(each, counts)
    return common


def _global_counters(kind: str, counts: InstructionCounts) -> dict[str, int]:
    return {
        f"global_{kind}_requests": counts.requests,
        f"global_{kind}_sectors": counts.passes,
        f"global_{kind}_sectors_ideal": counts.passes_ideal,
        f"global_{kind}_bytes": counts.bytes,
    }
