"""Records that Python, the steps of kernels and the C++ runtime share, as NumPy structured dtypes:
the only source of their offsets.

cpp/header.py writes them as C++ structs. Every pointer is a 64-bit host address. A `CONTEXT`
belongs to a host thread, a `WARP` to a resident warp, a `SLOT` to a memory instruction on a host
thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from grader.emulator.layouts.blocks import OF_BLOCK, OF_CLOCKS, flags, pointer_to, words

FUNCTION_PREFIX = "emulator_"
"""Prefix of the names of the runtime's exported functions."""
WARP_LANES = 32
CACHE_LINE = 64
FULL_MASK = 0xFFFFFFFF
CONVERGENCE_BARRIERS = 18
"""B0 to B15, and two more for `__syncwarp()` and for collective operations whose lanes arrive from
several places."""
WARPSYNC_BARRIER, COLLECTIVE_BARRIER = 16, 17
UNIFORM_REGISTERS = 80
PATH_SLOTS = 32
"""A warp of 32 lanes splits into at most 32 paths."""
NO_PATH = 0xFFFFFFFF

SHARED_HIGH, LOCAL_WINDOW = 0x7F10, 0x7F20
"""Upper words of generic addresses; the lower word is the address in that space."""

CLUSTER_SHIFT = 24
"""The upper bits of a block's shared-window addresses hold its rank in its cluster."""

WAIT_NONE, WAIT_APART = -1, -2
WAIT_BLOCK = CONVERGENCE_BARRIERS
WAIT_PHASE, WAIT_TURN, WAIT_CLUSTER = 19, 20, 21
WAIT_NAMED = 32
"""`wait` of a path. WAIT_NONE: runnable. WAIT_APART: runnable, but not together with other paths,
because the hardware executes an instruction before the path's block. 0 to 17: waits at that
convergence barrier. WAIT_BLOCK: at `__syncthreads()`. WAIT_PHASE: until phases of barrier objects
end. WAIT_TURN: until others have had a turn. WAIT_CLUSTER: at the cluster's barrier.
WAIT_NAMED + n: at the block's counted barrier n."""
DISPATCH, SLICE_END, DRAWS = 0xFFFF, 0xFFFE, 0xFFFB
"""Return values of a step, apart from FaultCodes. DISPATCH: the dispatcher has to find the next
block. SLICE_END: the instructions of the slice are spent. DRAWS: the next instruction is an atomic,
and other blocks execute theirs first."""
CELL_HEAD_BYTES = 8
"""A cell is the address of a step, then its data words, padded to a multiple of 8 bytes."""
CONSTANT_BANKS = 8
COUNTS_PER_BLOCK = 3
SHARED_POISON_BYTE = 0xFF
"""Shared memory starts as quiet NaNs, so that an unwritten value shows in the result."""


BANKS, BANK_BYTES, SECTOR_BYTES = 32, 4, 32
"""Banks of shared memory and their width; sectors of global memory."""

DIGEST_BLOCK_BYTES = 8192
"""Bytes of a row per digest sum: a key of this size stays in the L1 cache."""

COSTS = 4


class Cost:
    """Indices of the totals that an access adds to its slot."""

    REQUESTS, PASSES, PASSES_IDEAL, BYTES = range(COSTS)


class AccessFlag:
    """Properties of an access beyond its space, width and direction.

    SIGNED: a load sign-extends values narrower than a word. PART: only the first byte is certainly
    accessed. UNTRACED: the timing model gets no record. COPIED: the cost is not added to the slot's
    totals. LATER: the data moves later. MATRIX: the lanes' addresses are rows of matrices, which
    move one after another. BULK: lanes stand for parts of one thread's copy. For atomics in shared
    memory, TURNS: lanes with equal addresses take turns; TWICE: the data passes twice, as for a
    compare-and-swap; ONE_A_BANK: of the lanes that use a bank, only the first passes.
    """

    SIGNED, PART, UNTRACED, TURNS, TWICE, COPIED, MATRIX, ONE_A_BANK, LATER, BULK = flags(10)


class Follow:
    """Accesses by which blocks may wait for each other (cpp/memory/written.cpp). READS: a load or a
    compare-and-swap. STRONG: `volatile` or atomic. FETCHES: an atomic that returns a value."""

    READS, WRITES, STRONG, FETCHES = flags(4)


class TraceWord:
    """Words of a warp's trace (cpp/timing/tracing.h). LONGEST: the most words of a record; a
    warp's trace ends that many words before its buffer does.
    """

    BLOCK, ACCESS = 2 << 30, 3 << 30
    SPACE_SHIFT = 24
    ELSEWHERE_SHIFT = 16
    """In the passes of an access to shared memory: packets to other blocks of the cluster."""
    GLOBAL, SHARED, LOCAL, CONSTANT = 0, 1, 2, 3
    LONGEST = 3 + WARP_LANES


class FaultCode:
    """Why native code stopped; 0 if it did not."""

    NONE, SHARED_BOUNDS, SHARED_ALIGNMENT, GLOBAL_BOUNDS, GLOBAL_ALIGNMENT, BARRIER = range(6)
    BUDGET, TRAP, CONSTANT_BOUNDS, LOCAL_BOUNDS, LOCAL_ALIGNMENT, UNSUPPORTED = range(6, 12)
    INTERNAL, ASSERT, ABSENT_LANES, ENDLESS_WAIT, OUT_OF_MEMORY = range(12, 17)
    BAD_FREE, TOO_MANY_ARRIVALS = 18, 17


class Repeat:
    """When a barrier's instruction executes again as its waiting lanes are released."""

    NEVER, IF_SEVERAL_PATHS, ALWAYS, AS_OTHERS_LEFT = 0, 1, 2, 3


class JumpTable:
    """Targets of computed branches: jump and call targets, or the blocks behind calls."""

    JUMPS, RETURNS = 0, 1


BUFFER = np.dtype([("first", "u8"), ("end", "u8")], align=True)
"""A global buffer: window-relative addresses of its first byte and of its end."""


def _whole_lines(fields: list[Any]) -> np.dtype:
    """Pads the record to whole cache lines."""
    size = np.dtype(fields, align=True).itemsize
    return np.dtype([*fields, ("padding", "u1", -size % CACHE_LINE or CACHE_LINE)], align=True)


PATTERNS = 16
"""Access patterns that a slot remembers, each at the index that a hash of its addresses gives: the
warps of a block often have different patterns."""
COPY = np.dtype(
    [
        # serial number of the source's pattern, and both bases within a line if they matter
        ("source", "u8"),
        ("bases", "u4"),
        # see Cost
        ("global_cost", "u2", COSTS),
        ("shared_cost", "u2", COSTS),
    ],
    align=True,
)
"""Costs of an asynchronous copy of a whole warp."""
_PATTERN = [
    # per lane: address minus base (the lowest active lane's address); 0 if inactive
    ("deltas", "u4", WARP_LANES),
    ("mask", "u4"),
    ("lowest", "i4"),  # smallest and largest delta of an active lane
    ("highest", "i4"),
    ("low_bits", "u4"),  # bitwise or of all active deltas, for the alignment check
    ("kind", "u4"),  # PatternKind
    ("group", "u4"),  # lanes per group, for kinds with groups
    ("overlapping", "u4"),  # lanes that share bytes with another lane (checked mode)
    # the bases at which all lanes are aligned and within the buffer: the first, and the number of
    # further bases
    ("first_base", "u8"),
    ("more_bases", "u8"),
    ("serial", "u8"),  # unique among the patterns of a host thread
    # totals that an access adds, by base modulo 32: see Cost; zeros if unknown
    ("costs", "u2", (SECTOR_BYTES, COSTS)),
    ("copy", COPY),  # the last copy with this pattern as its target
]
PATTERN = _whole_lines(_PATTERN)
_WORST = ("rank", "mask", "width", "flags", "passes", "passes_ideal", "bytes", "block", "warp")
WORST = np.dtype([*words(*_WORST), *words("addresses", shape=WARP_LANES)], align=True)
"""The access with the highest cost beyond its minimum: `keep_worst` of cpp/memory/patterns.h."""
_SLOT = [
    ("patterns", PATTERN, PATTERNS),
    ("current", "u4"),  # the pattern of the last access
    # bounds of the buffer of the last access
    ("first", "i8"),
    ("end", "i8"),
    ("last_base", "u8"),  # for a store: predicts the place of the next store
    ("bulk_kind", "u4"),  # for bulk copies: the kind of access that the patterns belong to
    ("requests_total", "u8"),
    ("passes_total", "u8"),  # wavefronts (shared) or sectors (global)
    ("passes_ideal_total", "u8"),
    ("bytes_total", "u8"),  # distinct bytes (global)
    ("elsewhere_total", "u8"),  # accesses to shared memory of other blocks; they add no totals
    ("worst", WORST),
]
SLOT = _whole_lines(_SLOT)

SMALLEST_GROUP = 4
"""Fewest lanes whose data moves as one vector."""


class PatternKind:
    """How the data of an access pattern moves.

    GENERAL: lane by lane. CONTIGUOUS: as one vector. BROADCAST: from one address to all lanes.
    CONTIGUOUS_GROUPS and BROADCAST_GROUPS: the same for each group of neighbouring lanes; a block
    16 threads wide has two rows in a warp. DISTINCT: lane by lane, for stores in any order, because
    all addresses differ.
    """

    GENERAL, CONTIGUOUS, BROADCAST, CONTIGUOUS_GROUPS, BROADCAST_GROUPS, DISTINCT = range(6)


_WARP = [
    *words("tid_x", "tid_y", "tid_z", shape=WARP_LANES),
    # per lane: the mask of participants at each barrier
    ("participants", "u4", (CONVERGENCE_BARRIERS, WARP_LANES)),
    # lanes whose participation was set last by BMOV, not BSSY, per barrier
    ("restored", "u4", CONVERGENCE_BARRIERS),
    # per lane: the basic block after its collective operation
    ("collective_return", "u4", WARP_LANES),
    *words("path_mask", "path_pc", shape=PATH_SLOTS),
    ("path_wait", "i4", PATH_SLOTS),
    # higher for paths that got their slot later
    ("path_age", "u4", PATH_SLOTS),
    # for a path that waits for phases: the lanes whose phase has not ended, and the predicate that
    # receives them; per lane: the barrier object, and a word whose highest bit is the phase
    ("path_missing", "u4", PATH_SLOTS),
    ("path_truths", pointer_to("uint32_t"), PATH_SLOTS),
    *words("awaited", "awaited_phases", shape=WARP_LANES),
    ("return_address", "u4", (2, WARP_LANES)),  # Rpc.LO, Rpc.HI
    ("uniform", "u4", UNIFORM_REGISTERS),
    ("predicates", "u4", 8),  # a lane mask per predicate
    ("uniform_predicates", "u4", 8),  # 0 or 1
    ("initial", "u4"),  # lanes that exist
    ("live", "u4"),  # lanes that have not exited
    *words("mask", "pc"),  # the running path: its lanes and its basic block
    ("at_barrier", "u4"),  # lanes that wait at __syncthreads()
    ("at_named", "u4"),  # lanes that wait at counted barriers
    ("barrier_instruction", "u4"),
    *words("voted_count", "voted_truth"),  # results of the last barrier with a vote
    ("path_count", "u4"),  # all used path slots have lower indices
    ("path_clock", "u4"),  # number of paths that have got a slot
    # slots of the path that continues from a barrier at once, and of the other side of the last
    # branch while it has not run; NO_PATH: none
    *words("path_resumed", "path_other_side"),
    # the basic block at which all present paths became the running path; NO_PATH: the running path
    # started otherwise
    ("gathered_at", "u4"),
    # checked mode: synchronisations of lanes so far, at `__syncwarp()`
    ("sync_count", "u4"),
    # `sync_count` when all lanes last took part: earlier accesses are ordered
    ("synced", "u4"),
    # per pair of lanes: the value of `sync_count` up to which the second lane's accesses are
    # ordered before those that the first lane makes from now on
    ("ordered_until", "u4", (WARP_LANES, WARP_LANES)),
    ("cluster_arrivals", "u4"),  # arrivals at the barrier of its cluster
    ("index", "u4"),
    ("waits", "u4"),  # whether it waits in a loop (cpp/warps/waiting.cpp)
    ("slice", "u4"),  # instructions until the next test for a wait loop
    ("spent", "u4"),  # instructions of the slice that it has executed
    ("clock", "i8"),  # cycles, as if the warp were alone (block_cycles.py)
    ("since", "i8"),  # the clock at the start of its slice
    ("stale", "u4"),  # consecutive turns without a change for it
    ("waits_at", "u4"),  # the instruction that reads the awaited value
    # next trace record of the warp, and the end of its trace: see cpp/timing/tracing.h
    ("trace", pointer_to("uint32_t")),
    ("trace_end", pointer_to("uint32_t")),
]
WARP = _whole_lines(_WARP)
"""The part of a warp's record that is equal for all kernels; the registers follow it."""


def warp_layout(registers: int) -> np.dtype:
    """The record of a warp with this many registers."""
    lanes = ("registers", "u4", (max(registers, 1), WARP_LANES))
    return np.dtype([*_WARP, ("padding", "u1", WARP["padding"].shape), lanes], align=True)


CONTEXT = np.dtype(
    [
        # scratch: the lanes' addresses, their upper words, and up to eight data words a lane
        *words("lane_addresses", "lane_uppers", shape=WARP_LANES),
        ("lane_data", "u4", 8 * WARP_LANES),
        # data words of the current access: in lane_data, or in the warp's registers
        ("words", pointer_to("uint32_t")),
        ("constants", pointer_to("uint8_t")),  # constant bank 0
        # host addresses and sizes of all constant banks, by bank number
        ("banks", "u8", CONSTANT_BANKS),
        ("bank_bytes", "u4", CONSTANT_BANKS),
        ("shared_bytes", "u4"),
        ("shared_allocated", "u4"),  # SR_SMEMSZ
        # the part of the accessible shared memory that the system reserves
        *words("system_shared_first", "system_shared_bytes"),
        ("global_window", "u4"),  # upper 32 bits of every valid global address
        ("local_bytes", "u4"),  # local memory per lane
        ("global_host", "u8"),  # host address of the global window's address 0; may wrap
        *OF_BLOCK,
        ("block_end", "u4"),
        ("buffers", pointer_to("Buffer")),
        *words("buffer_count", "fault_code", "fault_instruction", "fault_warp", "fault_lane"),
        # basic block at which a waiting thread continues, used instead of fault_instruction; 0:
        # use fault_instruction
        ("fault_block", "u4"),
        ("fault_other", "u4"),  # the same for another thread
        ("fault_mask", "u4"),  # lanes of the warp that do not reach a barrier
        ("fault_address", "u8"),
        ("slots", pointer_to("Slot")),
        ("patterns_learned", "u8"),
        # COUNTS_PER_BLOCK numbers per basic block: executions, threads, repetitions of its last
        # instruction
        ("block_counts", pointer_to("uint64_t")),
        # warp instructions until the next reading of the processor's clock
        ("budget", "i8"),
        ("block_budget", "i8"),  # the budget at the start of the block
        ("reserve", "i8"),  # further warp instructions after `budget`
        ("processor_end", "i8"),  # CPU time of this process, in ns, at which the launch ends
        *OF_CLOCKS,
        *words("multiprocessors", "warp_count", "warp_bytes"),
        *words("grid_x", "grid_y", "grid_z"),
        *words("cluster_x", "cluster_y", "cluster_z", "cluster_blocks"),
        *words("block_x", "block_y", "block_z"),
        # the kernel's cells for converged and for diverged warps, and the offset of each basic
        # block in them
        ("converged", pointer_to("uint8_t")),
        ("diverged", pointer_to("uint8_t")),
        ("entries", pointer_to("uint32_t")),
        # by JumpTable
        ("jump_tables", "u8", 2),
        ("jump_counts", "u4", 2),
        # callback for functions of the system: `i32 (context, warp, mask)`
        ("host_functions", "u8"),
        ("heap", pointer_to("HeapState")),  # null where the code has no malloc
        ("textures", pointer_to("Texture")),  # by handle, from 1 on
        ("texture_count", "u4"),
        ("call_target", "u8"),  # the function's address
        ("checked_state", pointer_to("CheckedState")),  # in the checked mode only
        # 0: ascending order; n: descending order of warps, and of blocks within each group of n
        ("reversed", "u8"),
        ("shared_poison", "u4"),  # initial byte of shared memory
        ("code_blocks", pointer_to("CodeBlock")),
        ("may_wait", "u4"),  # whether a basic block has a `shared_read`
        # resident blocks that may wait for each other (cpp/warps/residents.cpp); 0: none may
        ("most_resident", "u8"),
        ("residents", pointer_to("Residents")),
        ("under_way", pointer_to("UnderWay")),  # asynchronous work of all its blocks
        ("blocks_begun", "u8"),
        ("waited", "u4"),  # whether any warp has waited in a loop
        # waits of blocks for other blocks; rounds of loops that wait and count them
        *words("block_waits", "counting"),
        ("waits_in", pointer_to("uint8_t")),  # per basic block: whether a warp waited in its loop
        # a WRITTEN for each word of global memory; null if no block waits for another
        ("written", pointer_to("Written")),
        ("written_words", "u8"),
        ("chunks", pointer_to("Chunk")),  # of these words
        # the number of chunks whose records are kept; whether a block may wait for lost ones
        *words("chunks_kept", "reads_lost"),
        ("host_wait", "i8"),  # ns for which stalled blocks wait on: a program may write a value
    ],
    align=True,
)


def zeros_in_lines(count: int, kind: np.dtype) -> np.ndarray:
    """Zeroed records that start at a cache line, so that vectors in them do not cross lines."""
    memory = np.zeros(count * kind.itemsize + CACHE_LINE, dtype=np.uint8)
    start = -memory.ctypes.data % CACHE_LINE
    return memory[start : start + count * kind.itemsize].view(kind)
