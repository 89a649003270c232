"""What a context holds of the block that runs, which is put away while another block has its turn
(cpp/warps/residents.cpp); and what goes with blocks, of threads and of code."""

from __future__ import annotations

from typing import Any

import numpy as np

NAMED_BARRIERS, GROUP_WARPS, WARP_GROUPS = 16, 4, 8
COUNTED_BARRIERS = NAMED_BARRIERS + WARP_GROUPS
"""Barriers of a block with a count of their own: those with a number, then one for the warps of
each group of four."""
VOTES = COUNTED_BARRIERS + 1
BLOCK_VOTE = COUNTED_BARRIERS
"""Index of the vote at `__syncthreads()`; the others are those of the barriers with a count of
their own."""

BUDGET_STRETCH = 20_000_000
"""Warp instructions between two readings of the processor's clock: an eighth of a second."""
CODE_BLOCK = np.dtype([("length", "u4"), ("look", "u4"), ("sure", "u4")], align=True)
"""Of a basic block: its instructions, and the index, plus 1, of one that may read what others have
written meanwhile (0 where there is none), and whether it is sure to ask for that (looks.py)."""
CODE_PLACE = np.dtype([("offset", "u4"), ("block", "u4")], align=True)
"""A basic block and the offset of its first instruction."""
TRACE_ROOM = np.dtype([("first", "u8"), ("end", "u8")], align=True)
"""Where a warp's trace goes, from `first` on, which moves; behind those of a block's warps one
whose `first` is how many warp instructions it executed. Of a long block the trace begins late:
`end` is then the clock at that time."""


def pointer_to(target: str) -> np.dtype:
    """A field that is a pointer: to a record, to a number type, or `bytes`."""
    return np.dtype("u8", metadata={"points_to": target})


OF_BLOCK: list[tuple[Any, ...]] = [
    ("warps", pointer_to("Warp")),
    ("shared_host", "u8"),  # host address of shared-window address 0
    ("shared_base", "u4"),  # where the block's shared memory starts in its window
    ("cluster_rank", "u4"),
    ("cluster", pointer_to("Cluster")),  # null where blocks are on their own
    ("local_host", "u8"),  # local memory of all lanes of the block, lane after lane
    ("traces", pointer_to("TraceRoom")),  # of its warps; null where nothing is traced
    # what __syncthreads_and, _or, _count gather until all threads have come: a VoteMode; of
    # each barrier with a count of its own, then of __syncthreads()
    ("vote_mode", "u4", VOTES),
    ("vote_any", "u4", VOTES),
    ("vote_missing", "u4", VOTES),
    ("vote_count", "u4", VOTES),
    # threads that have come to each barrier of the block, and how many it waits for; 0: all
    # that live
    ("named_arrived", "u4", COUNTED_BARRIERS),
    ("named_expected", "u4", COUNTED_BARRIERS),
    # rounds of all warps in which nobody has arrived at a barrier object
    ("idle_rounds", "u4"),
    ("ctaid_x", "u4"),
    ("ctaid_y", "u4"),
    ("ctaid_z", "u4"),
    ("begun", "u4"),  # warps that have had a turn
    ("started", "i8"),  # on the clock of its warps
]
"""Fields of a CONTEXT."""

OF_CLOCKS: list[tuple[Any, ...]] = [
    # cycles of all blocks together, as if each were alone, and of the longest block
    ("cycles", "i8"),
    ("longest", "i8"),
    ("longest_block", "u8"),
    # rooms for the trace of a block that is longer than others, their bytes, from how many
    # cycles on, and the block that has them: when it started, its number, its warps
    ("late_traces", pointer_to("TraceRoom")),
    ("late_bytes", "u8"),
    ("late_from", "i8"),
    ("late_started", "i8"),
    ("late_block", "u8"),
    ("late_warps", pointer_to("Warp")),
    # atomics that return a value wait for other blocks from this clock on; those of the last
    # round: the clocks of the first two warps that wait so
    ("horizon", "i8"),
    ("draws", "i8", 2),
]
"""Fields of a CONTEXT about the clocks of warps (block_cycles.py)."""
