"""What blocks leave behind for the timing model: what their warps did, and how long they took."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.layouts.blocks import TRACE_ROOM
from grader.emulator.layouts.execution import TraceWord


@dataclass(frozen=True)
class BlockTrace:
    """What the warps of one block did, in the words of layout.TraceWord; `executed` are the warp
    instructions of the whole block."""

    block: int
    warps: tuple[np.ndarray, ...]
    executed: int


@dataclass(frozen=True)
class Lengths:
    """How long `blocks` take, in cycles as if each were alone (block_cycles.py): all together, and
    the longest one, with its number. `late`: what one of the longest did from `late_from` cycles
    on, where it is clearly longer than those before it."""

    blocks: int = 0
    total: int = 0
    longest: int = 0
    block: int = 0
    late: BlockTrace | None = None
    late_from: int = 0


NO_LENGTHS = Lengths()


def join_lengths(parts: Iterable[Lengths]) -> Lengths:
    """The same of several parts of a launch."""
    known = list(parts)
    longest = max(known, key=lambda part: part.longest)
    blocks, total = (sum(each) for each in zip(*((p.blocks, p.total) for p in known), strict=True))
    return replace(longest, blocks=blocks, total=total)


class TraceRooms:
    """The room that a block's warps write to, and what they have written there."""

    def __init__(self, block: int, warps: int, words: int) -> None:
        self._block, self._words = block, np.empty((warps, words + TraceWord.LONGEST), np.uint32)
        self._starts = self._words.ctypes.data + np.arange(warps, dtype=np.uint64) * np.uint64(
            self._words.strides[0]
        )
        self.rooms = np.zeros(warps + 1, dtype=TRACE_ROOM)
        self.rooms["first"][:-1] = self._starts
        self.room_bytes = 4 * words
        self.rooms["end"][:-1] = self._starts + np.uint64(self.room_bytes)

    @property
    def ended(self) -> bool:
        """Whether the block has run to its end."""
        return bool(self.rooms["first"][-1])

    def read(self) -> BlockTrace:
        """What they have written."""
        lengths = (self.rooms["first"][:-1] - self._starts) // 4
        written = tuple(
            row[:length].copy() for row, length in zip(self._words, lengths.tolist(), strict=True)
        )
        return BlockTrace(self._block, written, int(self.rooms["first"][-1]))
