"""What a warp leaves behind for the timing model: the basic blocks that it ran and the accesses
that it made, in their order.

Words of 32 bits. A block is one word, BLOCK | its index. An access is ACCESS | space << SPACE_SHIFT
| the instruction's index, the mask of active lanes, its passes (wavefronts of shared memory,
sectors of global memory), and, for global and local memory, the 32 lower words of the lanes'
addresses. A warp writes while its record has room; most warps have none.
"""

from __future__ import annotations

from grader.emulator.decode import Decoded
from grader.emulator.emitter import Emitter
from grader.emulator.layout import SLOT, WARP_LANES
from grader.emulator.native.counting import AccessKind
from grader.emulator.native.tools import I64, Record, Value, const, offset

BLOCK, ACCESS = 2 << 30, 3 << 30
SPACE_SHIFT = 24
SPACES = {"global": 0, "shared": 1, "local": 2}
LONGEST_RECORD = 3 + WARP_LANES
"""Words of the longest record: a warp's room ends so many before its memory does."""


def trace_block(e: Emitter) -> None:
    """Record that the current basic block is run."""
    with e.b.if_then(_has_room(e), likely=False):
        _write(e, [const(BLOCK | e.block.index)])


def trace_access(
    e: Emitter, i: Decoded, kind: AccessKind, slot: Value, low: Value, mask: Value
) -> None:
    """Record an access that was checked."""
    with e.b.if_then(_has_room(e), likely=False):
        passes = const(0) if kind.space == "local" else Record(e.b, slot, SLOT).load("passes")
        head = const(ACCESS | SPACES[kind.space] << SPACE_SHIFT | i.index)
        _write(e, [head, mask, passes], None if kind.space == "shared" else low)


def _has_room(e: Emitter) -> Value:
    return e.b.icmp_unsigned("<", e.warp.load("trace"), e.warp.load("trace_end"))


def _write(e: Emitter, words: list[Value], lanes: Value | None = None) -> None:
    place = e.warp.load_pointer("trace")
    for index, word in enumerate(words):
        e.b.store(word, offset(e.b, place, 4 * index))
    if lanes is not None:
        e.b.store(lanes, offset(e.b, place, 4 * len(words)), align=4)
    length = 4 * (len(words) + (WARP_LANES if lanes is not None else 0))
    e.warp.store("trace", e.b.add(e.warp.load("trace"), const(length, I64)))
