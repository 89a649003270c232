"""The part of a context that belongs to the running block, and other records about blocks.

The runtime saves OF_BLOCK while another block has its turn (cpp/warps/residents.cpp).
"""

from __future__ import annotations

from typing import Any

import numpy as np


def pointer_to(target: str) -> np.dtype:
    """A field that points to a record, to a number type, or to `bytes`."""
    return np.dtype("u8", metadata={"points_to": target})


def words(*names: str, shape: int | tuple[int, ...] = ()) -> list[tuple[Any, ...]]:
    """Fields of 32 bits, or arrays of 32-bit words."""
    return [(name, "u4", shape) for name in names]


def flags(first: int, last: int | None = None) -> list[int]:
    """The bits 0 to `first` - 1, or `first` to `last` - 1, as numbers."""
    return [1 << bit for bit in (range(first) if last is None else range(first, last))]


NAMED_BARRIERS, GROUP_WARPS, WARP_GROUPS = 16, 4, 8
COUNTED_BARRIERS = NAMED_BARRIERS + WARP_GROUPS
"""Barriers that count arrivals: the numbered barriers, then one for each group of four warps."""
VOTES = COUNTED_BARRIERS + 1
BLOCK_VOTE = COUNTED_BARRIERS
"""Index of the vote at `__syncthreads()`; lower indices belong to the counted barriers."""

BUDGET_STRETCH = 20_000_000
"""Warp instructions between two readings of the processor's clock: about 1/8 second."""
CODE_BLOCK = np.dtype(words("length", "shared_read", "sure"), align=True)
"""A basic block. `length`: its number of instructions. `shared_read`: 1 + the index of an
instruction that may read values from other threads, 0 if it has none. `sure`: whether that
instruction certainly reads them (block_cycles.py)."""
CODE_PLACE = np.dtype(words("offset", "block"), align=True)
"""A basic block and the byte offset of its first instruction."""
WRITTEN = np.dtype(words("block", "value", "flags", "before", "last"), align=True)
"""A word of global memory that a block wrote for others (cpp/memory/written.cpp): 1 + this block, 0
for none; the value; the write's Follow flags; the clocks of its last write and of the one before,
in units of 16 cycles."""
CHUNK_WORDS = 4096
CHUNK = np.dtype(words("read", "kept", "lost", "block", "last", "others"), align=True)
"""CHUNK_WORDS words of global memory: whether blocks read them; whether their WRITTEN records are
kept, or lost. Of writes without records: 1 + the block of the last one, 0 for none; its clock; the
last clock of other blocks."""
TRACE_BUFFER = np.dtype([("first", "u8"), ("end", "u8")], align=True)
"""The part of a warp's trace buffer from `first` (which advances) to `end`. After the records of a
block's warps follows a record whose `first` is the number of executed warp instructions. The trace
of a long block starts late; its `end` is then the clock at that time."""

OF_BLOCK: list[tuple[Any, ...]] = [
    ("warps", pointer_to("Warp")),
    ("shared_host", "u8"),  # host address of shared-window address 0
    ("shared_base", "u4"),  # where the block's shared memory starts in its window
    ("cluster_rank", "u4"),
    ("cluster", pointer_to("Cluster")),  # null for blocks outside of clusters
    ("local_host", "u8"),  # local memory of all lanes of the block, lane after lane
    ("traces", pointer_to("TraceBuffer")),  # of its warps; null if they are not traced
    # partial results of __syncthreads_and, _or and _count until all threads have arrived: a
    # VoteMode for each counted barrier, then for __syncthreads()
    *words("vote_mode", "vote_any", "vote_missing", "vote_count", shape=VOTES),
    # threads that have arrived at each counted barrier, and expected threads; 0: all live threads
    *words("named_arrived", "named_expected", shape=COUNTED_BARRIERS),
    # consecutive rounds over all warps without an arrival at a barrier object
    ("idle_rounds", "u4"),
    *words("ctaid_x", "ctaid_y", "ctaid_z"),
    ("begun", "u4"),  # warps that have started to run
    ("started", "i8"),  # clock of its warps at its start
    ("waiting", "i8"),  # traced warp instructions of rounds of loops in which they waited
]
"""Fields of a CONTEXT."""

SEEN_CYCLES = 300
"""Of the warps' clocks: from a write until a warp that waits for it has read it, beyond the latency
of the read (an H200's blocks pass a flag on in 1,340 cycles; benchmarks/kernels/turns/chain.cu)."""
CYCLES_IN_4_NS = 7
"""Of the warps' clocks: an H100's SMs run at 1.755 GHz."""

OF_CLOCKS: list[tuple[Any, ...]] = [
    # cycles of all blocks in total, each as if it ran alone, and of the longest block
    ("cycles", "i8"),
    ("longest", "i8"),
    ("longest_block", "u8"),
    # the end of the last block, and cycles that warps waited for what blocks write (written.cpp)
    ("finished", "i8"),
    ("awaited", "i8"),
    # trace buffers of a block that takes longer than `late_from` cycles, their size, and the block
    # that owns them: its start, its number, its warps
    ("late_traces", pointer_to("TraceBuffer")),
    ("late_bytes", "u8"),
    ("late_from", "i8"),
    ("late_started", "i8"),
    ("late_block", "u8"),
    ("late_warps", pointer_to("Warp")),
    # atomics that return a value wait for other blocks from this clock on; `draws`: the clocks of
    # the first two warps that wait for this reason in the last round
    ("horizon", "i8"),
    ("draws", "i8", 2),
    ("clock_start", "i8"),  # of `clock64` at the start of the launch, in cycles
    ("timer_start", "i8"),  # of `%globaltimer`, in nanoseconds
]
"""Fields of a CONTEXT about the clocks of warps (block_cycles.py)."""
