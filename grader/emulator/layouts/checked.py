"""What the checked mode keeps beside memory: who wrote and read each granule last, which bytes were
written, and what it found.

A *granule* is the smallest width that a kernel accesses a space with, so that neighbours in one
word never look like a race. A *tag* is 64 bits: bits 0-9 the thread in its block, 10-23 the
instruction, and then
- shared memory: 24-38 how often lanes of the warp had waited for each other, 39 of a writer an
  asynchronous copy, of a reader that other lanes of its warp read it too, 40-63 the epoch;
- global memory: 24-38 the fences that the block had passed, 39 always 1, 40-63 the block. A tag of
  0 is of a granule that nobody has touched. An *epoch* ends where all threads of a block have met.
  Who *drew* from a granule last is the block (from 1 on), or in shared memory the warp (likewise),
  whose atomic operation on it was the last one, if that gave it a value; else 0.
"""

from __future__ import annotations

import numpy as np

from grader.emulator.layouts.blocks import pointer_to

INSTRUCTION_SHIFT, DETAIL_SHIFT, FLAG_SHIFT, OWNER_SHIFT = 10, 24, 39, 40
THREAD_MASK, INSTRUCTION_MASK, DETAIL_MASK = 0x3FF, 0x3FFF, 0x7FFF
MAX_BLOCKS = (1 << 24) - 1
"""Grids with more blocks than tags can name are not checked for races between blocks."""


class FindingCode:
    """What the checked mode finds. MAYBE: whether it matters shows when the run is repeated with
    other poison."""

    SHARED_RACE = 0
    WARP_RACE = 1
    """Of lanes of one warp in shared memory: it has a code of its own, that it hides no race
    between warps."""
    GLOBAL_RACE = 2
    ASYNC_COPY = 3
    ABSENT_LANES = 4
    SHARED_OVERRUN = 5
    MAYBE_SHARED_UNWRITTEN = 6
    MAYBE_GLOBAL_UNWRITTEN = 7
    MAYBE_ABSENT_LANE = 8
    CLUSTER_RACE = 9
    """Of two blocks of a cluster, in shared memory."""
    ENDED_BLOCK = 10
    """An access to the shared memory of a block that has ended."""
    COUNT = 11


class Trait:
    """Of an instruction that accesses memory: it orders accesses by itself; plain loads in front of
    it belong to its loop; it copies; it writes; it is an atomic operation; one that may give its
    value to the thread; one that gives a lock back."""

    ATOMIC = 1
    RETRIED = 2
    ASYNC = 4
    STORES = 8
    CHANGES = 16
    DRAWS = 32
    EXCHANGES = 64


FOUND = np.dtype(
    [
        ("code", "u4"),
        ("instruction", "u4"),
        ("other_instruction", "u4"),
        ("thread", "u4"),
        ("other_thread", "u4"),
        ("block", "u4"),  # linear
        ("other_block", "u4"),
        ("mask", "u4"),  # lanes, of ABSENT_LANES
        ("address", "u8"),
    ],
    align=True,
)
"""One finding; `other_` is the access that came first."""

CHECKED_STATE = np.dtype(
    [
        ("epoch", "u8"),
        ("block", "u8"),  # linear, from 1 on; 0: races between blocks are not looked for
        ("acquired", "u4"),  # whether the block has done what may show it another one's writes
        ("shared_tag_bytes", "u4"),
        ("shared_shift", "u4"),  # log2 of the granules
        ("global_shift", "u4"),
        ("shared_writers", "u8"),  # tags by granule of the block's shared memory
        ("shared_readers", "u8"),
        # tags, as if the window's first granule were at this host address
        ("global_writers", "u8"),
        ("global_readers", "u8"),
        ("shared_drawers", "u8"),  # u4 by granule: who drew last; likewise
        ("global_drawers", "u8"),
        ("written", "u8"),  # a byte per byte of the window, 1 where it was written; likewise
        ("fences", pointer_to("uint16_t")),  # by block
        ("traits", pointer_to("uint8_t")),  # by instruction, as the next two
        ("lines", pointer_to("uint32_t")),  # the source line, 0 where it has none
        ("extents", pointer_to("Extent")),
        ("reported", pointer_to("uint8_t")),  # by code and instruction
        ("found", pointer_to("Found")),
        ("found_count", "u4"),
        ("instructions", "u4"),
        ("own_tags", "u8", 32),  # scratch: this access' tags
    ],
    align=True,
)

EXTENT = np.dtype([("first", "i4"), ("past", "i4")], align=True)
"""The bytes of the block's shared memory that an instruction may access; none where nothing is
known."""
