"""Runs a launch for its modelled time: all of its blocks where that is quick, else a secret sample.

The sample has two parts, both drawn from `seed`. The *window* contains blocks that an SM runs
consecutively, so that the model includes shared contents of its caches. The *spread* is drawn from
all other blocks; half of it runs with the warps in the opposite order. `SampleWrites` decides
whether the sample represents all blocks.

Before each group of the sample the outputs have their contents before the launch, so that each
block has to write its own elements. A sample represents all blocks if each group wrote exactly its
share of each output: the number of different elements is (blocks of the group) x (elements of the
output) / (blocks of the grid), and no element was written by another group. The rule has no
tolerance, because a submission would exploit it. All blocks of an honest launch that breaks the
rule (an uneven grid, blocks that share elements) run.
"""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from math import prod
from random import Random
from typing import Any

import numpy as np

from grader.devices.base import Arrays, places_of
from grader.devices.emulated.plan_run import LaunchRun, OnProgress, Plan, Ready
from grader.emulator import GlobalMemory, LaunchOutcome, join_counts, join_lengths, run_launch
from grader.emulator.timing.estimate import Estimate
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.launch_time import estimate
from grader.emulator.timing.profile import Profiled
from grader.emulator.timing.representative import choose_blocks
from grader.emulator.timing.work import Shape, TracedLaunch
from grader.records import (
    Bound,
    DeviceBuffer,
    InstructionCycles,
    Lookups,
    Modelled,
    Role,
    Sample,
    Unmodelled,
    WarpCycles,
)

WHOLE_INSTRUCTIONS = 150_000_000
"""All blocks of a launch with at most this number of warp instructions run: about a second of
processor time."""
SPREAD_BLOCKS, LEAST_SPREAD, SPREAD_INSTRUCTIONS = 684, 128, 750_000_000
"""Blocks of the spread: 684. Then a launch where 2 % of the blocks behave differently looks uniform
with a probability of 1 in a million, (1 - 0.02) ** 684. Fewer blocks run if they would execute more
instructions than this, but at least 128 (which detects 10 %)."""
GROUPS = 4
"""Groups of the spread, half of them in the opposite order. An element that blocks of two groups
write is detected."""
TRACED_SPREAD, SIDE_BY_SIDE = 16, 4
"""Least number of traced blocks of the spread, and the number of neighbours among them, for data
that neighbours share."""
TRACE_WORDS, LEAST_WORDS, MOST_WORDS = 6_000_000, 4_000, 1_000_000
"""Memory for all traces of a window, and the least and largest memory per warp, in words of 4
bytes."""
_SPAN = ("warp", "block", "start", "length", "code", "cause", "stall")


@dataclass
class _Output:
    """The places and values of an output's changed elements, by group."""

    buffer: DeviceBuffer
    memory: GlobalMemory
    plan: Plan
    places: list[np.ndarray] = field(default_factory=list)
    values: list[np.ndarray] = field(default_factory=list)

    def take(self) -> None:
        """Keeps the elements that the last group changed, and restores them."""
        name, kind = self.buffer.name, np.dtype(self.buffer.dtype)
        before = self.plan.arrays.get(name, self.plan.poison)
        parts = list(self.memory.changed(name, before, kind))
        places = np.concatenate([np.zeros(0, dtype=np.int64), *parts])
        self.places.append(places.astype(np.uint32))  # all of a memory has 2**32 bytes
        self.values.append(self.memory.view(name).view(kind)[places])
        self.plan.fill(self.memory, self.buffer, sparse=True)

    def is_evenly_written(self, groups: list[int], blocks: int) -> bool:
        """Whether groups of these sizes, of a grid of `blocks` blocks, wrote exactly their
        share."""
        elements = prod(self.buffer.shape)
        if any(
            len(places) * blocks != elements * size
            for places, size in zip(self.places, groups, strict=True)
        ):
            return False
        written = np.zeros(elements, dtype=np.bool_)
        for places in self.places:
            if written[places].any():
                return False
            written[places] = True
        return True


class SampleWrites:
    """The outputs of a plan with a single launch that runs groups of blocks."""

    def __init__(self, memory: GlobalMemory, plan: Plan) -> None:
        self._outputs = [
            _Output(each, memory, plan) for each in plan.program.buffers if each.role is Role.OUTPUT
        ]
        self._groups: list[int] = []

    def next_group(self, blocks: int) -> None:
        """A group of this many blocks has run: the window first, then each group of the spread."""
        self._groups.append(blocks)
        for output in self._outputs:
            output.take()

    def stand_for(self, blocks: int) -> bool:
        """Whether the groups represent a grid of `blocks` blocks."""
        return all(output.is_evenly_written(self._groups, blocks) for output in self._outputs)

    def finish(self) -> Arrays:
        """The elements that the sample wrote: see `devices.base.places_of`."""
        arrays: Arrays = {}
        for output in self._outputs:
            arrays[output.buffer.name] = np.concatenate(output.values)
            arrays[places_of(output.buffer.name)] = np.concatenate(output.places)
        return arrays


@dataclass(frozen=True)
class Stage:
    """Settings for the model of a launch: the GPU's figures, and `groups`, which verifies a sample;
    None: all blocks run. `spans`: the stall breakdown is kept, with at most this number of spans;
    None: it is not kept. `in_order`: all blocks run in order, because they may print."""

    figures: Figures
    resident: int
    shared_bytes: int
    seed: int
    groups: SampleWrites | None = None
    most_spread: int = SPREAD_BLOCKS
    spans: int | None = None
    whole_instructions: int = WHOLE_INSTRUCTIONS
    in_order: bool = False


def run_for_time(ready: Ready, stage: Stage, on_progress: OnProgress = None) -> Timed:
    """Run a launch, or a sample of its blocks, so that its time can be modelled.

    All blocks run where they execute at most `whole_instructions` together, or where a sample does
    not represent them.
    """
    kernel, settings = ready.native, ready.settings
    rng = Random(f"{stage.seed} {settings.blocks}")
    window = choose_blocks(settings.blocks, stage.resident, stage.figures, rng)
    spread = draw_groups(settings.blocks, max(len(window), TRACED_SPREAD), rng, without=window)
    warps = -(-settings.block[0] * settings.block[1] * settings.block[2] // 32)
    words = max(LEAST_WORDS, min(MOST_WORDS, TRACE_WORDS // (len(window) * warps)))
    drawn = Drawn(
        replace(ready, settings=replace(settings, trace_words=words)),
        stage,
        window,
        spread,
        rng,
        on_progress,
    )
    return Timed(
        drawn,
        _run_contended(drawn) if kernel.shares_atomics or stage.in_order else _run_apart(drawn),
    )


@dataclass(frozen=True)
class Timed:
    """A launch that has run, before its time is modelled."""

    drawn: Drawn
    ran: LaunchRun

    def model(self, before: Future[LaunchRun] | None = None) -> LaunchRun:
        """The run with its modelled time, where it ran to its end. `before` is the preceding
        launch. The model reads only data that do not change any more, so other launches may run at
        the same time."""
        if self.ran.outcome.fault is not None:
            return self.ran
        if self.ran.outcome.waited and not self.ran.outcome.follows:
            return replace(self.ran, unmodelled=Unmodelled.WAITS)
        held = None if before is None else before.result().held
        return _model(self.drawn, self.ran, self.traced(), held)

    def traced(self) -> TracedLaunch:
        ready, stage, outcome = self.drawn.ready, self.drawn.stage, self.ran.outcome
        traces = {trace.block: trace for trace in outcome.traces}
        chosen = (self.drawn.window, self.drawn.spread)
        return TracedLaunch(
            [[traces[block] for block in blocks if block in traces] for blocks in chosen],
            Shape(
                ready.settings.blocks,
                stage.resident,
                stage.shared_bytes,
                outcome.counts.executed,
                outcome.lengths,
                ready.native.code.cluster_blocks,
            ),
            outcome.counts.records,
            [
                (region.offset, region.offset + region.size_bytes)
                for region in ready.memory.regions.values()
            ],
            outcome.loops,
        )


@dataclass(frozen=True)
class Drawn:
    """A launch with its traced blocks."""

    ready: Ready
    stage: Stage
    window: tuple[int, ...]
    spread: tuple[int, ...]
    rng: Random
    on_progress: OnProgress

    def run(self, on_progress: OnProgress = None, **changed: Any) -> LaunchOutcome:  # noqa: ANN401 - fields of LaunchSettings
        return run_launch(
            self.ready.native,
            self.ready.memory,
            replace(self.ready.settings, **changed),
            on_progress,
        )


def draw_groups(blocks: int, count: int, rng: Random, *, without: Sequence[int]) -> tuple[int, ...]:
    """At least `count` blocks, in order, in groups of neighbours, except the blocks in `without`;
    all blocks where there are not enough."""
    known, drawn = set(without), list[int]()
    groups = -(-blocks // SIDE_BY_SIDE)
    for group in rng.sample(range(groups), groups):
        if len(drawn) >= count:
            break
        first = group * SIDE_BY_SIDE
        drawn += set(range(first, min(first + SIDE_BY_SIDE, blocks))) - known
    return tuple(sorted(drawn))


def draw_blocks(blocks: int, count: int, rng: Random, *, without: Sequence[int]) -> tuple[int, ...]:
    """`count` blocks, in order, except the blocks in `without`; all blocks where there are not
    enough."""
    known = set(without)
    drawn = [
        block
        for block in rng.sample(range(blocks), min(blocks, count + len(known)))
        if block not in known
    ]
    return tuple(sorted(drawn[:count]))


def _run_contended(drawn: Drawn) -> LaunchRun:
    """Run all blocks of a launch whose blocks update the same words by atomics."""
    traced = tuple(sorted({*drawn.window, *drawn.spread}))
    return LaunchRun(drawn.run(drawn.on_progress, traced=traced))


def _run_apart(drawn: Drawn) -> LaunchRun:
    """Run the window first; its instructions decide whether all other blocks run too, or a
    sample."""
    stage, blocks = drawn.stage, drawn.ready.settings.blocks
    first = drawn.run(traced=drawn.window, sample=drawn.window)
    if first.fault is not None or len(drawn.window) == blocks:
        return LaunchRun(first)
    of_one = first.counts.executed // len(drawn.window)
    if of_one * blocks > stage.whole_instructions and stage.groups is not None:
        parts, spread = _run_groups(drawn, stage.groups, of_one)
        sample = Sample(blocks, len(drawn.window), spread)
        scale = blocks / (sample.window + sample.spread)
        return LaunchRun(join_outcomes([first, *parts], scale), sample=sample)
    return LaunchRun(
        join_outcomes(
            [first, drawn.run(drawn.on_progress, traced=drawn.spread, left_out=drawn.window)], 1.0
        )
    )


def _run_groups(drawn: Drawn, groups: SampleWrites, of_one: int) -> tuple[list[LaunchOutcome], int]:
    """Run the spread group by group, up to the first failure; returns the outcomes, and the number
    of its blocks. Traced blocks run in the usual order.

    `of_one`: warp instructions of a block.
    """
    groups.next_group(len(drawn.window))  # the window has run
    count = min(drawn.stage.most_spread, max(LEAST_SPREAD, SPREAD_INSTRUCTIONS // max(1, of_one)))
    more = draw_blocks(
        drawn.ready.settings.blocks,
        max(0, count - len(drawn.spread)),
        drawn.rng,
        without=(*drawn.window, *drawn.spread),
    )
    others = drawn.rng.sample(more, len(more))
    count = len(drawn.spread) + len(others)
    forwards = [*drawn.spread, *others[: max(0, count // 2 - len(drawn.spread))]]
    backwards = others[len(forwards) - len(drawn.spread) :]
    drawn_groups = [
        (tuple(sorted(blocks[part :: GROUPS // 2])), blocks is backwards)
        for blocks in (drawn.rng.sample(forwards, len(forwards)), backwards)
        for part in range(GROUPS // 2)
    ]
    parts: list[LaunchOutcome] = []
    for number, (group, opposite) in enumerate(drawn_groups, start=1):
        if not group:
            continue
        kept = tuple(block for block in group if block in drawn.spread)
        parts.append(drawn.run(traced=kept, sample=group, backwards=opposite))
        groups.next_group(len(group))
        if drawn.on_progress is not None:
            drawn.on_progress(number, GROUPS)
        if parts[-1].fault is not None:
            break
    return parts, count


def _model(
    drawn: Drawn, ran: LaunchRun, traced: TracedLaunch, held: Sequence[float] | None
) -> LaunchRun:
    """The run with its modelled time, from the window if its work is like the launch's, else from
    the spread."""
    stage = drawn.stage
    found = estimate(drawn.ready.native, traced, stage.figures, held, stage.spans)
    if found is None:
        waited = ran.outcome.waited
        return replace(ran, unmodelled=Unmodelled.WAITS if waited else Unmodelled.UNEVEN_BLOCKS)
    bounds = tuple(Bound(each.resource, each.used, each.advice) for each in found.bounds)
    l1 = Lookups(float(found.load_hits), float(found.load_sectors))
    l2 = Lookups(float(found.l2.hits), float(found.l2.sectors))
    blocks = traced.shape.blocks
    count = ran.sample.window + ran.sample.spread if ran.sample else blocks
    modelled = Modelled(
        found.time_ms,
        found.dram_bytes,
        bounds,
        count,
        blocks,
        l1,
        found.kind.value,
        found.interval_ms,
        l2,
    )
    cycles = None if found.profile is None else read_stall_breakdown(found, found.profile)
    return replace(ran, modelled=modelled, held=found.held, cycles=cycles)


def join_outcomes(parts: Sequence[LaunchOutcome], scale: float) -> LaunchOutcome:
    """The outcome of a launch that ran in parts, with its counts times `scale`."""
    fault = next((part.fault for part in parts if part.fault is not None), None)
    counts = join_counts([part.counts for part in parts], scale)
    traces = tuple(trace for part in parts for trace in part.traces)
    printed, lengths = (
        "".join(part.printed for part in parts),
        join_lengths(p.lengths for p in parts),
    )
    waited = any(part.waited for part in parts)
    launched = tuple(launch for part in parts for launch in part.launched)
    return LaunchOutcome(
        counts, fault, printed, traces=traces, lengths=lengths, waited=waited, launched=launched
    )


def read_stall_breakdown(found: Estimate, profile: Profiled) -> WarpCycles:
    """The record of a launch's profile, with cycles as integers."""
    cycles = np.rint(profile.cycles).astype(np.int64)
    awaited = np.rint(profile.awaited).astype(np.int64)
    rows = np.flatnonzero(cycles.any(axis=1) | (awaited > 0)).tolist()
    instructions = (
        InstructionCycles(row, tuple(cycles[row].tolist()), int(awaited[row])) for row in rows
    )
    spans = np.stack([profile.spans[name].astype(np.int64) for name in _SPAN], axis=1)
    return WarpCycles(
        tuple(instructions),
        round(profile.resident_cycles),
        float(found.scale),
        round(profile.sm_cycles),
        found.clock_mhz,
        int(found.use["blocks"]),
        tuple(spans[np.lexsort((profile.spans["start"], profile.spans["warp"]))].ravel().tolist()),
        round(profile.complete_until),
    )
