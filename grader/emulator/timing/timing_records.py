"""Records of the timing model that Python and the runtime in C++ share.

A record is a class of annotated fields: `int` and `float` have 64 bits, `Annotated[int, "i4"]`
names another format of NumPy, and `Annotated[int, "Line *"]` is a host address. The runtime gets
them as C++ structs in the namespace `timing` (cpp/header.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from grader.emulator.timing.analysis_records import Meetings, Region, Totals, Touched, Walks
from grader.emulator.timing.profile_records import Profile, Span

LINE_BYTES, LINE_SECTORS = 128, 4
CODE_LINE = 8
"""Instructions of a line."""
PAIR_SECTORS = 2
"""Sectors that DRAM reads at once (ncu's dram__bytes_read of strided loads on an H200)."""
PAGE_LINES = 2
"""Lines that DRAM moves together, or opens a row for."""
FLOAT_ATOMIC, SWAP_ATOMIC = 2, 3
MERGING_LINES = 24
"""Lines that wait to leave an SM: stores to them that follow go with them."""
WAYS = 16
"""Of a set of the L1, and of the L2."""
SCOREBOARDS = 6
COPY_GROUPS = 8
SUB_PARTITIONS = 4
REGISTER_BANKS, OPERANDS, NO_REGISTER = 2, 3, 255
NEVER = 1e300


# --- code and traces ------------------------------------------------------------------------------


class CodeRow:
    """An instruction: its class, and the control bits of its encoding. `argument` is the count of
    `DEPBAR.LE SB0, n`, else 0."""

    unit: int
    kind: int
    latency: int
    passes: int
    """How often it passes its pipe, or its queue."""
    stall: int
    write_scoreboard: int
    read_scoreboard: int
    wait_mask: int
    sources: int
    """The registers of its operands, a byte each, NO_REGISTER where it is none."""
    reuse: int
    """A mask of the operands that the register cache keeps."""
    argument: int
    atomic: int
    """0 for none, 1 for one of integers, 2 for one of floats, 3 for compare-and-swap."""
    past_l1: int
    """Whether a load asks the L2 in any case (1), or unless its line is on its way (2)."""


class Step:
    """An instruction that a warp executes: its index in the code, and that of its access, -1 for
    none."""

    code: Annotated[int, "i4"]
    access: Annotated[int, "i4"]


class Access:
    """What so many lanes' access asks for: `wavefronts` and `tags` in cycles, and the lines `first`
    to `end`.

    An instruction with two accesses (asynchronous copies) has the second one right behind the
    first.
    """

    first: int
    end: int
    wavefronts: Annotated[int, "i4"]
    tags: Annotated[int, "i4"]
    space: Annotated[int, "i1"]
    lanes: Annotated[int, "i1"]


class Line:
    """A line of an access, with masks of the sectors that it touches, and of the sectors and words
    that it covers.

    Of atomics, `rounds` are the turns that the line's slice of the L2 takes for it, and `chain` the
    lanes at the word where the most meet.
    """

    number: int
    touched: Annotated[int, "i1"]
    whole: Annotated[int, "i1"]
    rounds: Annotated[int, "u1"]
    chain: Annotated[int, "u1"]
    words: Annotated[int, "u4"]


class Trace:
    """The `words` of all warps, warp after warp (cpp/timing/tracing.h), and their expansion.

    `ends` has a 0 in front of the ends of warps; `starts` and `sizes` are of basic blocks; `widths`
    are the bytes a lane moves, by instruction, and `atomics` tell which are atomics. `first` has
    the steps at which each warp's begin, and their end.
    """

    words: Annotated[int, "uint32_t *"]
    ends: Annotated[int, "int64_t *"]
    starts: Annotated[int, "int64_t *"]
    sizes: Annotated[int, "int64_t *"]
    widths: Annotated[int, "int64_t *"]
    atomics: Annotated[int, "int64_t *"]
    first: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    warp_count: int
    step_count: int
    access_count: int
    line_count: int


# --- the simulated SM: times are in cycles --------------------------------------------------------


class Warp:
    """A warp: the steps `position` to `last` are still to be issued, the next one from the cycle
    `ready` on."""

    met: float
    """When what the next one waits for has come; NEVER at a barrier and at the end."""
    unit: int
    """What the next one occupies."""
    place: int
    """Its block's, among those of the SM."""
    position: int
    last: int
    ready: float
    board: Annotated[list[float], f"{SCOREBOARDS}f8"]
    """When each scoreboard is free."""
    at_barrier: bool
    groups: Annotated[list[float], f"{COPY_GROUPS}f8"]
    """When each of the latest groups of asynchronous copies has arrived."""
    committed: int
    """Groups so far."""
    open_copy: float
    """When the copies that belong to no group yet have arrived."""
    stored: float
    """When the L2 has what it stored last, since its last fence."""
    loads_from: float
    """When the L1 is empty after its last fence."""


class Block:
    """A place for a block. `number` is the block's own in the order of blocks; it finds the lines
    of its streams `shift` further on."""

    number: int
    shift: int
    living: int
    arrived: int


class Partition:
    """A sub-partition: when its pipes (by Unit) can take another instruction, its register
    banks are read to the end, and the warp that issued last. Nothing can be issued before
    `next_ready`."""

    pipes: Annotated[list[float], "8f8"]
    banks: Annotated[list[float], f"{REGISTER_BANKS}f8"]
    kept: Annotated[list[int], f"{REGISTER_BANKS * OPERANDS}i8"]
    """What the register cache keeps of each bank for each operand: a register of a warp, or 0."""
    latest: int
    read_ready: float
    """When the next instruction can read its registers."""
    next_ready: float


class CacheLine:
    """A line of a cache: the mask of the sectors that it holds, which have arrived at `ready`, and
    above it that of the sectors that were stored and not read from the L2 since; in the L2, of
    those that differ from DRAM's."""

    tag: int
    sectors: int
    ready: float
    used: float


class Merging:
    """Sectors and words of a line that are on their way out of the SM."""

    tag: int
    sectors: int
    words: int


class Shared:
    """When the units that all warps share are free, and another block can start; the parts of a
    sector that are still to be passed to DRAM, sectors that passed through the L2, the state of the
    random numbers, how many lines were stored, and how many blocks started and ended."""

    lsu_free: float
    tags_free: float
    port_free: float
    l2_free: float
    busiest_free: float
    store_port_free: float
    dram_free: float
    start_free: float
    divergence_free: float
    read_credit: float
    owed_sectors: float
    write_credit: float
    wait_credit: float
    passed: float
    stored: float
    stored_before: float
    """When the L2 has the last store, and the last one of another warp than `storer`."""
    storer: int
    fence_free: float
    fence_end: float
    """The end of the fences of the system that are under way, and of those that wait for them."""
    next_fence_end: float
    invalidated: float
    """When a fence emptied the L1 last."""
    system_free: float
    fetch_free: float
    fetched: int
    """Lines of instructions that were fetched."""
    random: int
    merging: int
    started: int
    ended: int


class Statistics:
    """Of a simulation: instructions, busy cycles of the pipes (of all sub-partitions together) and
    of the units, bytes, sectors. `full_*` are of the time until the first place stays empty."""

    issued: float
    fma: float
    alu: float
    lsu: float
    l2_bytes: float
    dram_bytes: float
    store_cycles: float
    l1_misses: float
    stored: float
    cycles: float
    float64: float
    special: float
    full_cycles: float
    full_issued: float
    load_sectors: float
    load_hits: float
    slept: float
    """Cycles for which warps slept, and waited for fences, calls of the system and instructions."""
    fenced: float
    called: float
    awaiting_code: float
    calls: float
    """Of the system, and the cycles that they take of all SMs' together."""
    call_cycles: float


@dataclass(frozen=True)
class Parameters:
    """Cycles, where no other unit is in the name. `float_halves`: how many halves of the float pipe
    take float instructions; `dram_read_part` and `dram_write_part`: see parameters.Load."""

    fma_cycles: float
    float_halves: float
    alu_cycles: float
    double_cycles: float
    special_cycles: float
    shared_latency: float
    l1_latency: float
    l2_latency: float
    dram_latency: float
    fill_cycles: float
    l2_sector_cycles: float
    store_line_cycles: float
    store_sector_cycles: float
    partial_sector_cycles: float
    stored_read_cycles: float
    dram_byte_cycles: float
    lsu_queue: float
    block_launch: float
    store_queue: float
    read_row_cycles: float
    write_row_cycles: float
    dram_read_part: float
    dram_write_part: float
    dram_wait_part: float
    l1_lines: float
    l2_lines: float
    atomic_cycles: float
    atomic_slice_cycles: float
    atomic_pass_cycles: float
    memory_issue: float
    barrier_latency: float
    fill_port_cycles: float
    line_port_cycles: float
    partial_port_cycles: float
    dispatch_cycles: float
    dram_spread: float
    dram_wait: float
    access_cycles: float
    jump_cycles: float
    divergence_cycles: float
    indirect_jump: float
    ns_cycles: float
    block_fence: float
    gpu_fence: float
    empty_fence_pass: float
    fence_pass: float
    store_answer: float
    busy_answer: float
    invalidation: float
    system_fence: float
    print_pass: float
    print_lane: float
    print_latency: float
    heap_pass: float
    heap_lane: float
    heap_latency: float
    prefetch_pair: float
    fetch_line: float


class SM:
    """An SM with all that it works on. `order` are the blocks to run, as indices into the streams;
    `ends` tells when each of them ended. Lines of the L1, and of the SM's share of the L2, of which
    there are none where nothing uses local memory, lie set by set; `traced_warps` are those of the
    streams, `warp_count` and `block_count` the resident ones. `local_words` are of a lane's local
    memory. `profile`: none where nobody asks."""

    table: Annotated[int, "CodeRow *"]
    first: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    order: Annotated[int, "int64_t *"]
    ends: Annotated[int, "double *"]
    warps: Annotated[int, "Warp *"]
    blocks: Annotated[int, "Block *"]
    partitions: Annotated[int, "Partition *"]
    l1: Annotated[int, "CacheLine *"]
    l2: Annotated[int, "CacheLine *"]
    merging: Annotated[int, "Merging *"]
    shared: Annotated[int, "Shared *"]
    statistics: Annotated[int, "Statistics *"]
    p: Annotated[int, "Parameters *"]
    traced_warps: int
    access_count: int
    order_count: int
    warp_count: int
    block_count: int
    l1_lines: int
    l2_lines: int
    local_words: int
    code_lines: Annotated[int, "int64_t *"]
    """How many lines of instructions were fetched up to each of the code's, 0 for none; null where
    the instruction cache holds all that is executed."""
    profile: Annotated[int, "Profile *"]


RECORDS = {
    each.__name__: each
    for each in (
        *(CodeRow, Step, Access, Line, Trace, Totals, Region, Touched, Walks, Meetings),
        *(Warp, Block, Partition, CacheLine, Merging, Shared, Statistics, Parameters),
        *(Span, Profile, SM),
    )
}
