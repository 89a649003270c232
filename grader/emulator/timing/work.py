"""Input of the time model: everything about a launch that no GPU affects, from the traces of some
of its blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import chain

import numpy as np

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.layouts.blocks import CYCLES_IN_4_NS, SEEN_CYCLES
from grader.emulator.run.block_traces import BlockTrace, Lengths
from grader.emulator.run.counts import InstructionCounts
from grader.emulator.timing.code_table import CodeTable, describe_code
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.representative import choose_representative
from grader.emulator.timing.streams import Streams, find_exchanges, make_streams

LATE_WORDS = 40_000
"""Words per warp of a late trace that may represent a launch."""
UNEVEN = 1.5
"""If the traced blocks executed this many times the average (triangles, queues), their time is not
scaled by their number."""
AROUND_WORDS = 4_000
"""Words of a warp's trace that suffice to find the data that it shares with neighbours."""


@dataclass(frozen=True)
class Shape:
    """Sizes of a launch: blocks in total, resident blocks per SM, shared memory per block in bytes,
    executed instructions in total, the durations of its blocks, and the blocks of a cluster."""

    blocks: int
    resident: int
    shared_bytes: int
    executed: int
    lengths: Lengths
    cluster_blocks: int = 1

    @property
    def unevenness(self) -> float:
        """Cycles of the longest block over those of the average block."""
        return self.lengths.longest * self.lengths.blocks / max(1, self.lengths.total)


@dataclass(frozen=True)
class TracedLaunch:
    """Observations of a launch: candidate traces of blocks, of which the first representative group
    is used; its shape, its counts per instruction, first and last addresses of buffers; the
    instructions of `loops` in which warps waited."""

    candidates: Sequence[Sequence[BlockTrace]]
    shape: Shape
    counts: Sequence[InstructionCounts]
    regions: Sequence[tuple[int, int]]
    loops: tuple[int, ...] = ()


@dataclass(frozen=True)
class Work:
    """Input of the time model; independent of a GPU's speed. `around`: streams of groups of
    neighbouring blocks, from their start; `regions`: first and last addresses of buffers; `late`:
    the end of a long block; `cycles`: per instruction, for a warp that runs alone; `calls`: warps'
    system calls in the whole launch."""

    streams: Streams
    around: Sequence[Streams]
    code: CodeTable
    shape: Shape
    regions: Sequence[tuple[int, int]]
    late: Streams | None
    cycles: np.ndarray
    calls: int = 0

    @cached_property
    def waits_long(self) -> bool:
        """Whether blocks work in turns: the launch takes much longer than its waves of blocks would
        without waits."""
        lengths = self.shape.lengths
        if not lengths.mostly_awaited:
            return False
        own = self.cycles_alone(self.streams).max() / max(1e-9, self.streams.fraction)
        waves = math.ceil(self.shape.blocks / lengths.together)
        return bool(lengths.finished > UNEVEN * waves * own)

    @property
    def polls(self) -> np.ndarray:
        """The instructions with which warps wait for other blocks."""
        return self.code.reads_in(self.streams.waited)

    @property
    def polls_a_word(self) -> bool:
        """Whether all blocks wait for words of the same line."""
        found = set[int]()
        for each in (self.streams, *self.around):
            access = each.steps["access"][np.isin(each.steps["code"], self.polls)]
            first = each.accesses["first"][access[access >= 0]]
            found |= set(each.lines["number"][first].tolist())
        return len(found) == 1

    def cycles_alone(self, streams: Streams) -> np.ndarray:
        """For each block of streams: cycles of its longest warp, with sleeps at the rate of the
        warps' clocks (cpp/timing/tracing.cpp)."""
        code, access = streams.steps["code"], streams.steps["access"]
        sleeps = np.flatnonzero((self.code.table["kind"][code] == Kind.SLEEP) & (access >= 0))
        cycles = self.cycles[code].astype(np.int64)
        slept_ns = streams.accesses["wavefronts"][access[sleeps]].astype(np.int64)
        cycles[sleeps] += slept_ns * CYCLES_IN_4_NS // 4
        cycles[np.isin(code, self.polls)] += SEEN_CYCLES
        until = np.concatenate([[0], np.cumsum(cycles)])
        each = np.diff(until[streams.first])
        return np.asarray(each.reshape(-1, streams.warps_per_block).max(axis=1))


def find_work(kernel: NativeKernel, traced: TracedLaunch) -> Work | None:
    """The work of a launch from the first representative candidate; None if there is none."""
    code = describe_code(kernel.decoded, kernel.code.encoding)
    read = partial(_read_traces, kernel, code, traced.loops)
    long = [trace for trace in [traced.shape.lengths.late] if trace is not None]
    candidates = chain(
        (read(traces) for traces in traced.candidates if traces),
        (read([trace], LATE_WORDS, whole=False) for trace in long),
    )
    chosen = choose_representative(candidates, traced.counts)
    if chosen is None:
        return None
    shape = traced.shape
    if traced.loops:
        shape = replace(shape, executed=_executed_once(chosen, traced.counts))
    groups = [group for traces in traced.candidates for group in _side_by_side(traces)]
    around = [read(group, AROUND_WORDS, whole=False) for group in groups]
    recorded = any(len(warp) for trace in long for warp in trace.warps)
    late = read(long, whole=False) if recorded else None
    calls = sum(each.executed for each in traced.counts if each.opcode.startswith("CALL.ABS"))
    cycles = kernel.cycles_by_instruction
    work = Work(chosen, around, code, shape, traced.regions, late, cycles, calls)
    if work.waits_long and not work.polls_a_word:  # a flag for each block: nobody else reads it
        return replace(work, streams=replace(chosen, table=code.table))
    if not traced.loops and len((found := find_exchanges(around)).published):
        return replace(work, streams=replace(chosen, table=code.exchanging(found)))
    return work


def _executed_once(streams: Streams, counts: Sequence[InstructionCounts]) -> int:
    """Warp instructions of a launch with these counts if each wait took a single round."""
    waited = int(streams.executed[:, streams.waited].sum())
    others = sum(each.executed for each in counts if each.index not in streams.waited)
    return round(others / (1.0 - waited / max(1, len(streams.steps))))


def _read_traces(
    kernel: NativeKernel,
    code: CodeTable,
    loops: Sequence[int],
    traces: Sequence[BlockTrace],
    words: int | None = None,
    *,
    whole: bool = True,
) -> Streams:
    """The streams of traces, up to `words` words per warp. `whole`: they must represent their
    blocks."""
    blocks = [
        range(b.instructions[0].index, b.instructions[-1].index + 1) for b in kernel.flow.blocks
    ]
    return make_streams(
        [[warp[:words] for warp in trace.warps] for trace in traces],
        sum(trace.executed for trace in traces) if whole else 0,
        blocks,
        code,
        kernel.code.local_bytes,
        kernel.runtime,
        loops,
    )


def _side_by_side(traces: Sequence[BlockTrace]) -> list[list[BlockTrace]]:
    """The groups of neighbours among blocks in ascending order."""
    groups: list[list[BlockTrace]] = []
    for trace in traces:
        if groups and trace.block == groups[-1][-1].block + 1:
            groups[-1].append(trace)
        else:
            groups.append([trace])
    return [group for group in groups if len(group) > 1]
