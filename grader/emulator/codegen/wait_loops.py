"""What basic blocks a loop may wait by: what they read that other threads may have written."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Block, Flow

_FENCES = {"MEMBAR", "NANOSLEEP", "CCTL"}
"""Between these, compilers read memory again though nothing says so of the read itself."""


class _Look(Enum):
    """Whether a read asks what other threads have written since it did last. Nothing tells a
    volatile read of shared memory from others."""

    NO, MAYBE, SURE = range(3)


def describe_blocks(flow: Flow) -> Iterator[tuple[int, int, bool]]:
    """The CODE_BLOCK of each basic block."""
    fenced = any(i.base in _FENCES for block in flow.blocks for i in block.instructions)
    for block in flow.blocks:
        yield len(block.instructions), *_first_look(block, fenced=fenced)


def _first_look(block: Block, *, fenced: bool) -> tuple[int, bool]:
    for way in (_Look.SURE, _Look.MAYBE):
        for i in block.instructions:
            if _looks(i, fenced=fenced) is way:
                return i.index + 1, way is _Look.SURE
    return 0, False


def _looks(i: Decoded, *, fenced: bool) -> _Look:
    reads = [access for access in i.accesses if access.load]
    if any(access.atomic or fenced or i.has("STRONG") for access in reads):
        return _Look.SURE
    return _Look.MAYBE if any(access.space == "shared" for access in reads) else _Look.NO
