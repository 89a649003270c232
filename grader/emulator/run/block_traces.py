"""Traces and durations of blocks, which the timing model reads."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.layouts.blocks import TRACE_BUFFER
from grader.emulator.layouts.execution import TraceWord

AWAITED = 1 / 3
"""The part of the blocks' cycles from which waits matter."""


@dataclass(frozen=True)
class BlockTrace:
    """Traces of the warps of a block, in the words of TraceWord; `executed`: the warp instructions
    of the whole block."""

    block: int
    warps: tuple[np.ndarray, ...]
    executed: int


@dataclass(frozen=True)
class Lengths:
    """Durations of `blocks` blocks, in cycles as if each ran alone (block_cycles.py): their total,
    the longest, and its number `block`; the end of the last block, with `together` blocks at a
    time; the cycles in which warps `awaited` writes of other blocks. `late`: the trace of one of
    the longest blocks from `late_from` cycles on, if it is clearly longer than the blocks before
    it."""

    blocks: int = 0
    total: int = 0
    longest: int = 0
    block: int = 0
    finished: int = 0
    awaited: int = 0
    together: int = 1
    late: BlockTrace | None = None
    late_from: int = 0

    @property
    def mostly_awaited(self) -> bool:
        """Whether blocks mostly wait for each other: a GPU's warps read the same words again and
        again."""
        return self.awaited > AWAITED * self.total


NO_LENGTHS = Lengths()


def join_lengths(parts: Iterable[Lengths]) -> Lengths:
    """The lengths of a launch from those of its parts."""
    known = list(parts)
    longest = max(known, key=lambda part: part.longest)
    blocks, total, awaited = (
        sum(each) for each in zip(*((p.blocks, p.total, p.awaited) for p in known), strict=True)
    )
    finished = max(part.finished for part in known)
    return replace(longest, blocks=blocks, total=total, awaited=awaited, finished=finished)


class TraceBuffers:
    """The trace buffers of a block's warps."""

    def __init__(self, block: int, warps: int, words: int) -> None:
        self._block, self._words = block, np.empty((warps, words + TraceWord.LONGEST), np.uint32)
        self._starts = self._words.ctypes.data + np.arange(warps, dtype=np.uint64) * np.uint64(
            self._words.strides[0]
        )
        self.records = np.zeros(warps + 1, dtype=TRACE_BUFFER)
        self.records["first"][:-1] = self._starts
        self.bytes_per_warp = 4 * words
        self.records["end"][:-1] = self._starts + np.uint64(self.bytes_per_warp)

    @property
    def ended(self) -> bool:
        """Whether the block has run to its end."""
        return bool(self.records["first"][-1])

    def read(self) -> BlockTrace:
        """The traces that the warps have written."""
        lengths = (self.records["first"][:-1] - self._starts) // 4
        written = tuple(
            row[:length].copy() for row, length in zip(self._words, lengths.tolist(), strict=True)
        )
        return BlockTrace(self._block, written, int(self.records["first"][-1]))
