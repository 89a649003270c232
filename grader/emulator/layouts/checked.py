"""Shadow state of the checked mode: the last writer and reader of each granule, the written bytes,
and the findings.

A *granule* is the width of a kernel's narrowest access to a space, so that accesses to different
parts of a word never count as a race. A *tag* has 64 bits: bits 0-9 the thread in its block, 10-23
the instruction, and then
- shared memory: 24-38 the synchronisations of the warp's lanes so far, 39 for a writer: an
  asynchronous copy, for a reader: other lanes of its warp read the granule too, 40-63 the epoch;
- global memory: 24-38 the fences that the block has executed, 39 always 1, 40-63 the block.

Tag 0 belongs to an untouched granule. An *epoch* ends when all threads of a block synchronise. The
*ticket owner* of a granule is the number, from 1 on, of the block (in shared memory: the warp) that
executed the last atomic operation on it, if that operation returned a value, otherwise 0.

A granule is *calm* if a load finds nothing there and leaves no tag. In global memory its byte is
then 1: no block of the launch has written it, all of it is written, and it has a reader's tag. In
shared memory its word then has the epoch, from bit 8 on, and the number, from 1 on, of the first
warp that read it in this epoch; it was written in an earlier epoch. It is calm for all other warps.
"""

from __future__ import annotations

import numpy as np

from grader.emulator.layouts.blocks import flags, pointer_to, words

INSTRUCTION_SHIFT, DETAIL_SHIFT, FLAG_SHIFT, OWNER_SHIFT = 10, 24, 39, 40
THREAD_MASK, INSTRUCTION_MASK, DETAIL_MASK = 0x3FF, 0x3FFF, 0x7FFF
MAX_BLOCKS = (1 << 24) - 1
"""Larger grids are not checked for races between blocks: tags cannot hold their block numbers."""


class FindingCode:
    """Kinds of findings. For MAYBE_ kinds, a second run with another poison value shows whether the
    finding changes the result.

    WARP_RACE: between lanes of a warp in shared memory; with its own code, it does not hide a race
    between warps. CLUSTER_RACE: between two blocks of a cluster, in shared memory. ENDED_BLOCK: an
    access to the shared memory of a block that has ended.
    """

    SHARED_RACE, WARP_RACE, GLOBAL_RACE, ASYNC_COPY, ABSENT_LANES, SHARED_OVERRUN = range(6)
    MAYBE_SHARED_UNWRITTEN, MAYBE_GLOBAL_UNWRITTEN, MAYBE_ABSENT_LANE = range(6, 9)
    CLUSTER_RACE, ENDED_BLOCK, COUNT = range(9, 12)


class Trait:
    """Bits about an instruction that accesses memory.

    ATOMIC: atomic, or a volatile or scoped (STRONG) access. RETRIED: an atomic CAS, MIN or MAX,
    which belongs to a loop with the plain load before it. ASYNC: an asynchronous copy. STORES: it
    writes. CHANGES: an atomic operation. DRAWS: an atomic that may return its value. EXCHANGES: an
    atomic exchange, which may release a lock.
    """

    ATOMIC, RETRIED, ASYNC, STORES, CHANGES, DRAWS, EXCHANGES = flags(7)


FOUND = np.dtype(
    [
        *words("code", "instruction", "other_instruction", "thread", "other_thread"),
        ("block", "u4"),  # linear
        ("other_block", "u4"),
        ("mask", "u4"),  # lanes, for ABSENT_LANES
        ("address", "u8"),
    ],
    align=True,
)
"""A finding; the fields `other_…` describe the earlier access."""

TAGS = np.dtype([("writer", "u8"), ("reader", "u8")])
"""The tags of a granule: of its last writer, and of a reader."""

CHECKED_STATE = np.dtype(
    [
        # the runtime saves the fields before `global_tags` while another block has its turn
        # (cpp/warps/residents.cpp)
        ("epoch", "u8"),
        ("block", "u8"),  # linear, from 1 on; 0: no check for races between blocks
        # whether the block has executed an atomic or a volatile read, after which it may see
        # writes of other blocks
        ("acquired", "u4"),
        ("shared_tag_bytes", "u4"),
        *words("shared_shift", "global_shift"),  # log2 of the granules
        # TAGS by granule of the block's shared memory
        ("shared_tags", "u8"),
        ("shared_ticket_owners", "u8"),  # u4 per granule: its ticket owner
        ("shared_calm", pointer_to("uint32_t")),  # per granule
        # the same, as if the window's first granule were at this host address
        ("global_tags", "u8"),
        ("global_ticket_owners", "u8"),
        ("global_calm", "u8"),  # u1 per granule
        ("written", "u8"),  # a byte per byte of the window, 1 if it was written
        ("fences", pointer_to("uint16_t")),  # per block
        # per instruction: Trait bits, source line (0: none), extent
        ("traits", pointer_to("uint8_t")),
        ("lines", pointer_to("uint32_t")),
        ("extents", pointer_to("Extent")),
        ("reported", pointer_to("uint8_t")),  # per code and instruction
        ("found", pointer_to("Found")),
        *words("found_count", "instructions"),
        ("own_tags", "u8", 32),  # scratch: tags of the current access
    ],
    align=True,
)

EXTENT = np.dtype([("first", "i4"), ("past", "i4")], align=True)
"""The bytes of the block's shared memory that an instruction may access; empty if unknown."""
