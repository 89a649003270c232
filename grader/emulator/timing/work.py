"""What a launch did, as far as its time is modelled from it: made of the traces of some of its
blocks, before any figure of a GPU has a part in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain

import numpy as np

from grader.emulator.codegen.translate import NativeKernel
from grader.emulator.run.block_traces import BlockTrace, Lengths
from grader.emulator.run.counts import InstructionCounts
from grader.emulator.timing.code_table import CodeTable, describe_code
from grader.emulator.timing.representative import choose_representative
from grader.emulator.timing.streams import Streams, make_streams
from grader.sass import BULK_LOAD, BULK_STORE

LATE_WORDS = 40_000
"""Words of each warp of a late trace that may stand for a launch."""
AROUND_WORDS = 4_000
"""Words of a warp's trace that tell what it shares with its neighbours."""


@dataclass(frozen=True)
class Shape:
    """What a launch asks for: blocks in all, blocks resident on an SM, bytes of shared memory a
    block, executed instructions in all, and how long its blocks take."""

    blocks: int
    resident: int
    shared_bytes: int
    executed: int
    lengths: Lengths

    @property
    def unevenness(self) -> float:
        """How many times as long as the average block the longest one takes."""
        return self.lengths.longest * self.lengths.blocks / max(1, self.lengths.total)


@dataclass(frozen=True)
class TracedLaunch:
    """What was seen of a launch: traces of blocks, of which the first candidates that do what the
    launch does stand for it; its shape, its counts by instruction, and the first and last addresses
    of buffers."""

    candidates: Sequence[Sequence[BlockTrace]]
    shape: Shape
    counts: Sequence[InstructionCounts]
    regions: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class Work:
    """What a launch did, as far as its time is modelled from it: nothing here depends on how fast a
    GPU does anything. `around` are streams of groups of blocks that lie side by side, from their
    start; `regions` are the first and last addresses of buffers. `late` is the end of a long
    block. `cycles` are those of each instruction for a warp that is alone. `bulk_bytes` are those
    that bulk copies load and store, which leave no traces; `calls` are warps' calls of the system
    in the whole launch."""

    streams: Streams
    around: Sequence[Streams]
    code: CodeTable
    shape: Shape
    regions: Sequence[tuple[int, int]]
    late: Streams | None
    cycles: np.ndarray
    bulk_bytes: tuple[int, int] = (0, 0)
    calls: int = 0

    def cycles_alone(self, streams: Streams) -> np.ndarray:
        """Of each block of streams: those of the warp that takes longest."""
        until = np.concatenate([[0], np.cumsum(self.cycles[streams.steps["code"]])])
        each = np.diff(until[streams.first])
        return np.asarray(each.reshape(-1, streams.warps_per_block).max(axis=1))


def find_work(kernel: NativeKernel, traced: TracedLaunch) -> Work | None:
    """The work of a launch from the first of the candidates that does what the launch does on the
    whole; None where none of them does."""
    code = describe_code(kernel.decoded, kernel.code.encoding)
    read = partial(_read_traces, kernel, code)
    long = [trace for trace in [traced.shape.lengths.late] if trace is not None]
    candidates = chain(
        (read(traces) for traces in traced.candidates if traces),
        (read([trace], LATE_WORDS, whole=False) for trace in long),
    )
    chosen = choose_representative(candidates, traced.counts)
    if chosen is None:
        return None
    groups = [group for traces in traced.candidates for group in _side_by_side(traces)]
    around = [read(group, AROUND_WORDS, whole=False) for group in groups]
    late = read(long, whole=False) if long else None
    loaded, stored = (
        sum(each.bytes for each in traced.counts if each.space == space)
        for space in (BULK_LOAD, BULK_STORE)
    )
    calls = sum(each.executed for each in traced.counts if each.opcode.startswith("CALL.ABS"))
    return Work(
        chosen,
        around,
        code,
        traced.shape,
        traced.regions,
        late,
        kernel.cycles_by_instruction,
        (loaded, stored),
        calls,
    )


def _read_traces(
    kernel: NativeKernel,
    code: CodeTable,
    traces: Sequence[BlockTrace],
    words: int | None = None,
    *,
    whole: bool = True,
) -> Streams:
    """The streams of some traces, of no more than so many words of each warp; `whole`: they are to
    stand for their blocks."""
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
    )


def _side_by_side(traces: Sequence[BlockTrace]) -> list[list[BlockTrace]]:
    """The groups of neighbours among some blocks in order."""
    groups: list[list[BlockTrace]] = []
    for trace in traces:
        if groups and trace.block == groups[-1][-1].block + 1:
            groups[-1].append(trace)
        else:
            groups.append([trace])
    return [group for group in groups if len(group) > 1]
