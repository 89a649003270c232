"""Runs a launch for its modelled time: all of its blocks where that is quick, else a sample that stands for the rest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from random import Random

from grader.emulator import GlobalMemory, InstructionCounts, LaunchOutcome, LaunchSettings, NativeKernel, run_launch
from grader.emulator.machine import BlockTrace
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.model import Shape, choose_blocks, estimate
from grader.records import Bound, Modelled

WHOLE_INSTRUCTIONS = 20_000_000
"""Warp instructions of a launch up to which all of its blocks are run: half a second or less."""
SAMPLE_INSTRUCTIONS = 6_000_000
LEAST_SAMPLE, MOST_SAMPLE = 16, 256
"""Blocks of a sample beside those that one SM runs first; as many as these instructions allow, within these numbers."""
TRACE_WORDS, LEAST_WORDS, MOST_WORDS = 6_000_000, 4_000, 1_000_000
"""Room for the traces of a launch together, and of one warp at least and at most, in words of 4 bytes."""
BUSY_PART = 0.5
"""Blocks that did less than this part of the busiest one's work are no model for the others (a queue of work that is empty)."""

Progress = Callable[[int, int], None] | None


@dataclass(frozen=True)
class ModelledRun:
    """A launch that was run for its time: what it did, its counts made up for the blocks that were left out, and the model's word."""

    outcome: LaunchOutcome
    modelled: Modelled | None


def run_modelled(
    kernel: NativeKernel, memory: GlobalMemory, settings: LaunchSettings, figures: Figures, *, resident: int, shared_bytes: int,
    progress: Progress = None, whole_instructions: int = WHOLE_INSTRUCTIONS,
) -> ModelledRun:  # fmt: skip
    """Run a launch, or a sample of its blocks, and model its time. `resident` blocks of `shared_bytes` each fit on an SM.

    All blocks are run where they execute at most `whole_instructions` together.
    """
    traced = choose_blocks(settings.blocks, resident, figures)
    warps = -(-settings.block[0] * settings.block[1] * settings.block[2] // 32)
    words = max(LEAST_WORDS, min(MOST_WORDS, TRACE_WORDS // (len(traced) * warps)))
    tracing = replace(settings, traced=traced, trace_words=words)
    if kernel.ordered:
        parts = [run_launch(kernel, memory, tracing, progress)]
        ran = settings.blocks
    else:
        parts = [run_launch(kernel, memory, replace(tracing, sample=traced))]
        executed = _executed(parts) // len(traced)
        rest = choose_rest(settings.blocks, traced, executed, whole=executed * settings.blocks <= whole_instructions)
        if parts[0].fault is None and rest:
            parts.append(run_launch(kernel, memory, replace(settings, sample=rest), progress))
        ran = len(traced) + len(rest)
    outcome = join_outcomes(parts, settings.blocks / ran)
    if outcome.fault is not None:
        return ModelledRun(outcome, None)
    traces = [trace for trace in parts[0].traces if trace.executed >= BUSY_PART * max(each.executed for each in parts[0].traces)]
    shape = Shape(settings.blocks, resident, shared_bytes, sum(counts.executed for counts in outcome.counts))
    return ModelledRun(outcome, _model(kernel, traces, shape, memory, figures, ran))


def choose_rest(blocks: int, traced: Sequence[int], executed: int, *, whole: bool) -> tuple[int, ...]:
    """The blocks that are run beside the traced ones: all, or the first, the last, and some at random. `executed`: by a block."""
    known = set(traced)
    if whole:
        return tuple(block for block in range(blocks) if block not in known)
    count = max(LEAST_SAMPLE, min(MOST_SAMPLE, SAMPLE_INSTRUCTIONS // max(1, executed)))
    rng = Random(blocks)
    chosen = {0, 1, blocks - 1, blocks - 2, blocks // 2, *(rng.randrange(blocks) for _ in range(count - 5))}
    return tuple(sorted(block for block in chosen - known if 0 <= block < blocks))


def join_outcomes(parts: Sequence[LaunchOutcome], scale: float) -> LaunchOutcome:
    """One outcome for a launch that was run in parts, its counts times `scale`."""
    fault = next((part.fault for part in parts if part.fault is not None), None)
    if scale == 1.0 and len(parts) == 1:
        return parts[0]
    counts = tuple(_scale([part.counts[index] for part in parts], scale) for index in range(len(parts[0].counts)))
    return LaunchOutcome(counts, fault, "".join(part.printed for part in parts))


_SUMMED = ("executed", "threads", "requests", "passes", "passes_ideal", "bytes")


def _scale(counts: Sequence[InstructionCounts], scale: float) -> InstructionCounts:
    sums = {name: round(scale * sum(getattr(each, name) for each in counts)) for name in _SUMMED}
    return replace(counts[0], **sums)


def _executed(parts: Sequence[LaunchOutcome]) -> int:
    return sum(counts.executed for part in parts for counts in part.counts)


def _model(
    kernel: NativeKernel, traces: Sequence[BlockTrace], shape: Shape, memory: GlobalMemory, figures: Figures, ran: int
) -> Modelled:
    regions = [(region.offset, region.offset + region.size_bytes) for region in memory.regions.values()]
    found = estimate(kernel, traces, shape, regions, figures)
    bounds = tuple(Bound(each.resource, each.used, each.advice) for each in found.bounds)
    return Modelled(found.time_ms, found.dram_bytes, bounds, ran, shape.blocks)
