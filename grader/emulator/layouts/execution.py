"""Records that Python, the steps of kernels and the runtime in C++ share, as NumPy structured
dtypes: one source of their offsets.

The runtime gets them as C++ structs (cpp/header.py). Every pointer is a 64-bit host address.
`CONTEXT` belongs to one host thread, `WARP` to one resident warp, `SLOT` to one memory instruction
on one host thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.emulator.layouts.blocks import OF_BLOCK, OF_CLOCKS, pointer_to

FUNCTION_PREFIX = "emulator_"
"""What the names of the runtime's functions begin with."""
WARP_LANES = 32
CACHE_LINE = 64
FULL_MASK = 0xFFFFFFFF
CONVERGENCE_BARRIERS = 18
"""B0 to B15, and two more on which `__syncwarp()` and collective operations of lanes from several
places wait."""
WARPSYNC_BARRIER, COLLECTIVE_BARRIER = 16, 17
UNIFORM_REGISTERS = 80
PATH_SLOTS = 32
"""A warp of 32 lanes is never split into more than 32 paths."""
NO_PATH = 0xFFFFFFFF

SHARED_HIGH, LOCAL_WINDOW = 0x7F10, 0x7F20
"""Upper words of generic addresses of shared and of local memory; the lower word is the address in
the space."""

CLUSTER_SHIFT = 24
"""Shared-window addresses of a block begin with its rank in its cluster."""

WAIT_NONE, WAIT_APART = -1, -2
WAIT_BLOCK = CONVERGENCE_BARRIERS
WAIT_PHASE, WAIT_TURN, WAIT_CLUSTER = 19, 20, 21
WAIT_NAMED = 32
"""`wait` of a path: WAIT_NONE is runnable. So is WAIT_APART, for which the hardware has yet to
execute the instruction that leads to its block: nobody else is where it is. 0 to 17 waits at that
convergence barrier, WAIT_BLOCK at `__syncthreads()`, WAIT_PHASE until phases of barrier objects
end, WAIT_TURN until others have had a turn, WAIT_CLUSTER at the cluster's barrier, WAIT_NAMED + n
at the block's barrier n with a count of its own."""
DISPATCH, SLICE_END, DRAWS = 0xFFFF, 0xFFFE, 0xFFFB
"""What a step returns when the dispatcher has to find out where to go on, when the instructions
that it may execute are spent, and in front of an atomic that other blocks execute first; other
values are FaultCodes."""
CELL_HEAD_BYTES = 8
"""A cell is the address of a step, then the words of data that it reads, up to a multiple of 8
bytes."""
CONSTANT_BANKS = 8
COUNTS_PER_BLOCK = 3
SHARED_POISON_BYTE = 0xFF
"""Shared memory starts as all ones: a quiet NaN as float, so that a value nobody wrote is seen in
the result."""


BANKS, BANK_BYTES, SECTOR_BYTES = 32, 4, 32
"""Of shared memory, and of global memory."""

DIGEST_BLOCK_BYTES = 8192
"""Of a row of bytes that is digested, what makes one sum: a key of this size stays in the first
cache."""

COSTS = 4


class Cost:
    """What an access adds to a slot's totals, in their order."""

    REQUESTS, PASSES, PASSES_IDEAL, BYTES = range(COSTS)


class AccessFlag:
    """What tells an access from others of its space, width and direction.

    SIGNED: a load extends the sign of what is narrower than a word. PART: of the bytes only the
    first is sure to be accessed. UNTRACED: the timing model is not told. COPIED: what it costs is
    not added to the slot's totals. LATER: the data is moved later. Of atomics in shared memory,
    TURNS says that lanes that meet at one address take turns there, TWICE that the data goes
    through twice, as a compare-and-swap's does, ONE_A_BANK that of the lanes with a bank only the
    first goes through. MATRIX: the lanes' rows are those of matrices, which go through one after
    another. BULK: lanes stand for units of one thread's copy.
    """

    SIGNED = 1
    PART = 2
    UNTRACED = 4
    TURNS = 8
    TWICE = 16
    COPIED = 32
    MATRIX = 64
    ONE_A_BANK = 128
    LATER = 256
    BULK = 512


class TraceWord:
    """Words of what a warp leaves behind for the timing model, see cpp/timing/tracing.h. LONGEST: a
    warp's room ends so many words before its memory does.
    """

    BLOCK, ACCESS = 2 << 30, 3 << 30
    SPACE_SHIFT = 24
    GLOBAL, SHARED, LOCAL, CONSTANT = 0, 1, 2, 3
    LONGEST = 3 + WARP_LANES


class FaultCode:
    """Why native code stopped; 0 while all is well."""

    NONE = 0
    SHARED_BOUNDS = 1
    SHARED_ALIGNMENT = 2
    GLOBAL_BOUNDS = 3
    GLOBAL_ALIGNMENT = 4
    BARRIER = 5
    BUDGET = 6
    TRAP = 7
    CONSTANT_BOUNDS = 8
    LOCAL_BOUNDS = 9
    LOCAL_ALIGNMENT = 10
    UNSUPPORTED = 11
    INTERNAL = 12
    ASSERT = 13
    ABSENT_LANES = 14
    ENDLESS_WAIT = 15
    NO_ROOM = 16
    BAD_FREE = 18
    TOO_MANY_ARRIVALS = 17


class Repeat:
    """When a barrier's instruction is executed once more as lanes that wait at it may go on."""

    NEVER, WHERE_SEVERAL_MEET, ALWAYS, AS_OTHERS_LEFT = 0, 1, 2, 3


class JumpTable:
    """Where computed branches may go: to targets of jumps and calls, or behind calls."""

    JUMPS, RETURNS = 0, 1


BUFFER = np.dtype([("first", "u8"), ("end", "u8")], align=True)
"""A global buffer: window-relative addresses of its first byte and one past its last."""


def _whole_lines(fields: list[Any]) -> np.dtype:
    """A record that fills whole cache lines."""
    size = np.dtype(fields, align=True).itemsize
    return np.dtype([*fields, ("padding", "u1", -size % CACHE_LINE or CACHE_LINE)], align=True)


PATTERNS = 16
"""So many access patterns are remembered of an instruction, each at a place that a hash of its
addresses gives: warps of a block often have one each."""
COPY = np.dtype(
    [
        # the pattern of its source, and both bases within a line, where these matter
        ("source", "u8"),
        ("bases", "u4"),
        # see Cost
        ("global_cost", "u2", COSTS),
        ("shared_cost", "u2", COSTS),
    ],
    align=True,
)
"""A whole warp's asynchronous copy, and what it adds to the totals."""
_PATTERN = [
    # lane address minus base, the lowest active lane's; 0 where inactive
    ("deltas", "u4", WARP_LANES),
    ("mask", "u4"),
    ("lowest", "i4"),  # smallest and largest delta of an active lane
    ("highest", "i4"),
    ("low_bits", "u4"),  # or of all active deltas: alignment
    ("kind", "u4"),  # PatternKind
    ("group", "u4"),  # lanes of a group, for the kinds that have groups
    ("meeting", "u4"),  # lanes whose bytes another lane touches too (checked mode)
    # the bases at which the pattern is well aligned within a buffer: their first, and how many
    # follow
    ("first_base", "u8"),
    ("more_bases", "u8"),
    ("serial", "u8"),  # tells it from all others that the thread has met
    # of each base modulo 32, what an access adds to the totals: see Cost; zeros where unknown
    ("costs", "u2", (SECTOR_BYTES, COSTS)),
    ("copy", COPY),  # the last one whose target this was
]
PATTERN = _whole_lines(_PATTERN)
_WORST = ("rank", "mask", "width", "flags", "passes", "passes_ideal", "bytes", "block", "warp")
WORST = np.dtype([*((name, "u4") for name in _WORST), ("addresses", "u4", WARP_LANES)], align=True)
"""The access that cost most beyond what it needs: see `note_worst` of cpp/memory/patterns.h."""
_SLOT = [
    ("patterns", PATTERN, PATTERNS),
    ("current", "u4"),  # the pattern of the last access
    # bounds of the buffer that the last access fell into
    ("first", "i8"),
    ("end", "i8"),
    ("last_base", "u8"),  # of a store: where the next one is likely to go
    ("bulk_kind", "u4"),  # of copies of many bytes: what accesses it remembers
    ("requests_total", "u8"),
    ("passes_total", "u8"),  # wavefronts (shared) or sectors (global)
    ("passes_ideal_total", "u8"),
    ("bytes_total", "u8"),  # distinct bytes (global)
    ("elsewhere_total", "u8"),  # accesses to shared memory of other blocks, which count nothing
    ("worst", WORST),
]
SLOT = _whole_lines(_SLOT)

SMALLEST_GROUP = 4
"""Lanes whose data is moved as one vector, at the least."""


class PatternKind:
    """How the data of an access pattern is moved.

    GENERAL: lane by lane. CONTIGUOUS: as one vector. BROADCAST: from one address to all lanes.
    Likewise for each group of neighbouring lanes, CONTIGUOUS_GROUPS and BROADCAST_GROUPS: a block
    16 threads wide has two rows in a warp. DISTINCT: lane by lane, and a store may do so in any
    order, for no two lanes have the same address.
    """

    GENERAL = 0
    CONTIGUOUS = 1
    BROADCAST = 2
    CONTIGUOUS_GROUPS = 3
    BROADCAST_GROUPS = 4
    DISTINCT = 5


_WARP = [
    ("tid_x", "u4", WARP_LANES),
    ("tid_y", "u4", WARP_LANES),
    ("tid_z", "u4", WARP_LANES),
    # per lane: who waits with it at the barrier
    ("participants", "u4", (CONVERGENCE_BARRIERS, WARP_LANES)),
    # at which barriers lanes wait as BMOV said last, not BSSY
    ("restored", "u4", CONVERGENCE_BARRIERS),
    # per lane: the basic block behind its collective operation
    ("collective_return", "u4", WARP_LANES),
    ("path_mask", "u4", PATH_SLOTS),
    ("path_pc", "u4", PATH_SLOTS),
    ("path_wait", "i4", PATH_SLOTS),
    # which of the warp's paths got its slot later
    ("path_age", "u4", PATH_SLOTS),
    # of a path that waits for phases: the lanes whose phase has not ended, and the predicate that
    # gets them when it has; by lane, the barrier object and a word whose highest bit is the phase
    ("path_missing", "u4", PATH_SLOTS),
    ("path_truths", pointer_to("uint32_t"), PATH_SLOTS),
    ("awaited", "u4", WARP_LANES),
    ("awaited_phases", "u4", WARP_LANES),
    ("return_address", "u4", (2, WARP_LANES)),  # Rpc.LO, Rpc.HI
    ("uniform", "u4", UNIFORM_REGISTERS),
    ("predicates", "u4", 8),  # one mask of lanes each
    ("uniform_predicates", "u4", 8),  # 0 or 1
    ("initial", "u4"),  # lanes that exist
    ("live", "u4"),  # lanes that have not exited
    ("mask", "u4"),  # the running path: its lanes and its basic block
    ("pc", "u4"),
    ("at_barrier", "u4"),  # lanes that wait at __syncthreads()
    ("at_named", "u4"),  # and at barriers with a count of their own
    ("barrier_instruction", "u4"),
    ("voted_count", "u4"),  # what the last barrier with a vote found
    ("voted_truth", "u4"),
    ("path_count", "u4"),  # path slots in use are below this
    ("path_clock", "u4"),  # how many paths have got a slot
    # slots of the path that goes on from a barrier at once, and of the other side of the last
    # branch, while it has not run; NO_PATH: there is none
    ("path_resumed", "u4"),
    ("path_other_side", "u4"),
    # the basic block at which all paths that were there became the running one; NO_PATH: it runs
    # since something else
    ("gathered_at", "u4"),
    # checked mode: how often lanes have waited for each other, at `__syncwarp()`
    ("meetings", "u4"),
    # how often they had when all of them last did: what was done before is ordered
    ("synced", "u4"),
    # for each lane, up to when what each other one did is ordered before what it does
    ("met", "u4", (WARP_LANES, WARP_LANES)),
    ("cluster_arrivals", "u4"),  # how often it has come to the barrier of its cluster
    ("index", "u4"),
    ("waits", "u4"),  # whether it was found to wait in a loop (cpp/warps/waiting.cpp)
    ("slice", "u4"),  # instructions that it may execute until it is looked at
    ("spent", "u4"),  # those of the slice that it has executed
    ("clock", "i8"),  # cycles, as if the warp were alone (block_cycles.py)
    ("stale", "u4"),  # turns in a row in which nothing has changed for it
    ("waits_at", "u4"),  # the instruction that reads what it waits for
    # where the warp's next trace record goes, and the address from which on there is no room: see
    # cpp/timing/tracing.h
    ("trace", pointer_to("uint32_t")),
    ("trace_end", pointer_to("uint32_t")),
]
WARP = _whole_lines(_WARP)
"""The part of a warp's record that is the same for all kernels; its registers lie behind it."""


def warp_layout(registers: int) -> np.dtype:
    """The record of one warp that uses `registers` registers."""
    lanes = ("registers", "u4", (max(registers, 1), WARP_LANES))
    return np.dtype([*_WARP, ("padding", "u1", WARP["padding"].shape), lanes], align=True)


CONTEXT = np.dtype(
    [
        # scratch: the lanes' addresses, their upper words, and up to eight data words a lane
        ("lane_addresses", "u4", WARP_LANES),
        ("lane_uppers", "u4", WARP_LANES),
        ("lane_data", "u4", 8 * WARP_LANES),
        # where the words of the present access lie: in lane_data, or in the warp's registers
        ("words", pointer_to("uint32_t")),
        ("constants", pointer_to("uint8_t")),  # constant bank 0
        # host addresses and sizes of all constant banks, by their numbers
        ("banks", "u8", CONSTANT_BANKS),
        ("bank_bytes", "u4", CONSTANT_BANKS),
        ("shared_bytes", "u4"),
        ("shared_allocated", "u4"),  # SR_SMEMSZ
        # of what threads may access, where the part lies that the system reserves
        ("system_shared_first", "u4"),
        ("system_shared_bytes", "u4"),
        ("global_window", "u4"),  # upper 32 bits of every valid global address
        ("local_bytes", "u4"),  # local memory of one lane
        ("global_host", "u8"),  # host address of the global window's address 0; may wrap
        *OF_BLOCK,
        ("block_end", "u4"),
        ("buffers", pointer_to("Buffer")),
        ("buffer_count", "u4"),
        ("fault_code", "u4"),
        ("fault_instruction", "u4"),
        ("fault_warp", "u4"),
        ("fault_lane", "u4"),
        # where a waiting thread goes on, in place of fault_instruction; 0 when that holds
        ("fault_block", "u4"),
        ("fault_other", "u4"),  # likewise, of another thread
        ("fault_mask", "u4"),  # the lanes of the warp that do not come to a barrier
        ("fault_address", "u8"),
        ("slots", pointer_to("Slot")),
        ("patterns_learned", "u8"),
        # COUNTS_PER_BLOCK numbers per basic block: executions, threads, repetitions of its last
        # instruction
        ("block_counts", pointer_to("uint64_t")),
        # warp instructions that may be executed before the processor's clock is read
        ("budget", "i8"),
        ("block_budget", "i8"),  # the budget when the block started
        ("reserve", "i8"),  # warp instructions that may be executed after that
        ("processor_end", "i8"),  # processor time of this process at which the launch ends, in ns
        *OF_CLOCKS,
        ("multiprocessors", "u4"),
        ("warp_count", "u4"),
        ("warp_bytes", "u4"),
        ("grid_x", "u4"),
        ("grid_y", "u4"),
        ("grid_z", "u4"),
        ("cluster_x", "u4"),
        ("cluster_y", "u4"),
        ("cluster_z", "u4"),
        ("cluster_blocks", "u4"),
        ("block_x", "u4"),
        ("block_y", "u4"),
        ("block_z", "u4"),
        # the kernel's cells, with steps for whole and for split warps, and where each basic block
        # begins in them
        ("converged", pointer_to("uint8_t")),
        ("diverged", pointer_to("uint8_t")),
        ("entries", pointer_to("uint32_t")),
        # by JumpTable
        ("jump_tables", "u8", 2),
        ("jump_counts", "u4", 2),
        (
            "host_functions",
            "u8",
        ),  # callback for functions of the system: `i32 (context, warp, mask)`
        ("heap", pointer_to("HeapState")),  # null where the code has no malloc
        ("textures", pointer_to("Texture")),  # by their handles, from 1 on
        ("texture_count", "u4"),
        ("call_target", "u8"),  # the function's address
        ("checked_state", pointer_to("CheckedState")),  # of the checked mode only
        # 0, or: warps run in the opposite order, and so do each so many blocks
        ("reversed", "u8"),
        ("shared_poison", "u4"),  # the byte that shared memory holds when a block starts
        ("code_blocks", pointer_to("CodeBlock")),
        ("may_wait", "u4"),  # whether any of them has such a read
        # blocks at a time that may wait for each other (cpp/warps/residents.cpp); 0: none may
        ("most_resident", "u8"),
        ("residents", pointer_to("Residents")),
        ("under_way", pointer_to("UnderWay")),  # work that goes on, of all its blocks
        ("blocks_begun", "u8"),
        ("waited", "u4"),  # whether any warp has waited in a loop
    ],
    align=True,
)


def zeros_in_lines(count: int, kind: np.dtype) -> np.ndarray:
    """`count` records of zeros that start at a cache line: vectors in them then cross none."""
    memory = np.zeros(count * kind.itemsize + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + count * kind.itemsize].view(kind)
