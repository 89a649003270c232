"""Reads with which a loop may wait for another thread, per basic block."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Block, Flow

_FENCES = {"MEMBAR", "NANOSLEEP", "CCTL"}
"""If the code contains one of them, any read may be repeated to get new values: the instruction of
the read itself does not show it."""


class _Polling(Enum):
    """Whether a repeated read gets new values of other threads. MAYBE: in shared memory, volatile
    and other reads are the same instruction."""

    NO, MAYBE, SURE = range(3)


def describe_blocks(flow: Flow) -> Iterator[tuple[int, int, bool]]:
    """The CODE_BLOCK of each basic block."""
    fenced = any(i.base in _FENCES for block in flow.blocks for i in block.instructions)
    for block in flow.blocks:
        yield len(block.instructions), *_first_poll(block, fenced=fenced)


def _first_poll(block: Block, *, fenced: bool) -> tuple[int, bool]:
    for wanted in (_Polling.SURE, _Polling.MAYBE):
        for i in block.instructions:
            if _polling(i, fenced=fenced) is wanted:
                return i.index + 1, wanted is _Polling.SURE
    return 0, False


def _polling(i: Decoded, *, fenced: bool) -> _Polling:
    reads = [access for access in i.accesses if access.load]
    if any(access.atomic or fenced or i.has("STRONG") for access in reads):
        return _Polling.SURE
    return _Polling.MAYBE if any(access.space == "shared" for access in reads) else _Polling.NO
