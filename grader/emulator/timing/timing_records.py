"""Records of the timing model that Python and the C++ runtime share.

A record is a class of annotated fields: `int` and `float` have 64 bits, `Annotated[int, "i4"]`
names another NumPy format, and `Annotated[int, "Line *"]` is a host address. cpp/header.py writes
them as C++ structs in the namespace `timing`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from grader.emulator.timing.analysis_records import ANALYSIS_RECORDS
from grader.emulator.timing.stalls import Profile, Span

LINE_BYTES, LINE_SECTORS = 128, 4
CODE_LINE = 8
"""Instructions in a line of 128 bytes."""
PAIR_SECTORS = 2
"""Sectors of a DRAM read (ncu's dram__bytes_read of strided loads on an H200)."""
PAGE_LINES = 2
"""Lines that DRAM moves together, or opens a row for."""
FLOAT_ATOMIC, SWAP_ATOMIC = 2, 3
AWAITS_BLOCKS, AWAITS_EARLIER, AWAITS_SINGLE, PUBLISHES = 1, 2, 3, 1
"""`CodeRow.argument` of a load or atomic: the warp waits there for all blocks of the grid, or reads
results of blocks that started before, several at once or one after another. Of a store: a result
for other blocks."""
ENDS_GROUP, LEFT_SHARED = 1, 2
"""`CodeRow.argument` of a product of a warp group: it ends a group; A lies in shared memory."""
OBJECT_SET, OBJECT_COPIES = 1, 2
"""`CodeRow.argument` of an operation on a barrier object: it initialises the object; it arrives
after the thread's asynchronous copies."""
MERGING_LINES = 24
"""Lines that wait to leave an SM; later stores to them are merged."""
WAYS = 16
"""Lines per set of the L1, and of the L2."""
BROUGHT_LINES, PREFETCHED_LINES = 1 << 18, 1 << 15
"""Lines that an SM remembers, of 2,000 to 7,000 that its warps use at a time."""
LOST = 2.0
"""Before data is used again, the L2 loses this number times (accessed - capacity) / capacity of it,
at most all (H200: repeated reads of 24 to 96 MB)."""
SCOREBOARDS, COPY_GROUPS = 6, 8
OBJECTS = 64
"""Barrier objects of a block that the simulation follows."""
QUEUED_ACCESSES = 12
"""Instructions of a sub-partition that wait for the load/store unit; further ones cannot issue."""
QUEUED_PRODUCTS = 7
"""Products of warp groups that a tensor core holds: an H200 issues 16 products of 64 x N x 16 until
the ninth has ended, for N = 8 to 256."""
SUB_PARTITIONS = 4
REGISTER_BANKS, OPERANDS, NO_REGISTER = 2, 3, 255
NEVER = 1e300


# --- the simulated SM: times are in cycles --------------------------------------------------------


class Warp:
    """A warp. The steps `position` to `last`, then `first` to `begun`, are not issued yet; the next
    can issue from cycle `ready` on. `latest`: the code of the last issued step."""

    dependencies_end: float
    """When the next step's dependencies are met; NEVER at a barrier and at the end."""
    unit: int
    """The unit that the next step occupies."""
    place: int
    """Index of its block's place in the SM."""
    position: int
    last: int
    first: int
    begun: int
    latest: int
    ready: float
    board: Annotated[list[float], f"{SCOREBOARDS}f8"]
    """When each scoreboard is free."""
    at_barrier: bool
    groups: Annotated[list[float], f"{COPY_GROUPS}f8"]
    """When each of the latest groups of asynchronous copies has arrived."""
    committed: int
    """Number of groups so far."""
    open_copy: float
    """When the copies that belong to no group yet arrive."""
    stored: float
    """When the L2 receives the last store since the last fence."""
    loads_from: float
    """When the L1 is empty after the warp's last fence."""
    copied: float
    """When the last asynchronous copy arrives."""
    awaited: int
    """The barrier object whose phase the warp waits for; NO_OBJECT or RELEASED (timing.h)."""
    looked_back: bool
    """Whether the warp has waited for the results of earlier blocks."""
    phase_end: float
    """When the last phase for which the warp waited ends; `waiting`: its threads that waited."""
    waiting: int
    products: Annotated[list[float], f"{COPY_GROUPS}f8"]
    """When each of the latest groups of products has ended."""
    multiplied: int
    """Number of these groups so far."""
    open_product: float
    """When the products that belong to no group yet end."""


class Block:
    """A place for a block. `number`: the block's index in the order of blocks; the lines of its
    streams are `shift` further on."""

    number: int
    started: float
    published: float
    """When it stored its first result for other blocks; 0 for never."""
    shift: int
    living: int
    arrived: int
    objects: int
    """Number of its barrier objects."""


class Object:
    """A barrier object of a block. Until its phase `phase` ends, `pending` of `expected` threads
    have to arrive and `copied` bytes or copies are missing. `latest`: the last arrival so far;
    `end`: of the phase before."""

    address: int
    expected: int
    pending: int
    copied: int
    phase: int
    latest: float
    end: float


class Partition:
    """A sub-partition: when its pipes (by Unit) accept another instruction, when its register banks
    are free, and the last issuing warp. No instruction issues before `next_ready`."""

    pipes: Annotated[list[float], "9f8"]
    banks: Annotated[list[float], f"{REGISTER_BANKS}f8"]
    kept: Annotated[list[int], f"{REGISTER_BANKS * OPERANDS}i8"]
    """Content of the register cache, per bank and operand: a register of a warp, or 0."""
    latest: int
    read_ready: float
    """When the next instruction can read its registers."""
    next_ready: float
    products: Annotated[list[float], f"{QUEUED_PRODUCTS}f8"]
    """When the tensor core has finished the latest of `multiplied` products of warp groups."""
    multiplied: int
    accesses: Annotated[list[float], f"{QUEUED_ACCESSES}f8"]
    """When the load/store unit has finished the latest of `accessed` instructions."""
    accessed: int


class CacheLine:
    """A line of a cache. `sectors`: the mask of valid sectors, which arrive at `ready`; above it
    the mask of sectors that were stored and not read from the L2 since; in the L2, of sectors that
    differ from DRAM. `waiting`: loads that have waited for the latest arrival."""

    tag: int
    sectors: int
    ready: float
    used: float
    waiting: int


class Merging:
    """Sectors and words of a line that is about to leave the SM."""

    tag: int
    sectors: int
    words: int


class Shared:
    """When the units that all warps share are free, and when another block can start; fractions of
    sectors that are still to be passed to DRAM (`…_credit`), sectors that passed through the L2,
    the state of the random numbers, the number of stored lines, and of started and ended blocks."""

    lsu_free: float
    tags_free: float
    port_free: float
    l2_free: float
    busiest_free: float
    store_port_free: float
    dram_free: float
    start_free: float
    divergence_free: float
    bulk_free: float
    """Of the unit for bulk copies; `cluster_free`: of the path to shared memory of other SMs."""
    cluster_free: float
    texture_free: float
    objects_free: float
    prefetch_free: float
    """When DRAM has read all prefetches."""
    write_credit: float
    wait_credit: float
    passed: float
    stored: float
    stored_before: float
    """When the L2 receives the last store, and the last store of a warp other than `storer`."""
    storer: int
    fence_free: float
    fence_end: float
    """The end of the running system-scope fences, and of the fences that wait for them."""
    next_fence_end: float
    invalidated: float
    """When a fence last emptied the L1."""
    system_free: float
    fetch_free: float
    fetched: int
    """Lines of instructions that were fetched."""
    random: int
    released: int
    """Whether the last instruction ended a phase for which warps wait."""
    merging: int
    issuer: int
    """The warp that issues."""
    lines_brought: int
    """Lines that the SM has brought to the L2, also again after the L2 has lost them."""
    started: int
    ended: int


class Statistics:
    """Results of a simulation: instructions, busy cycles of the pipes (summed over sub-partitions)
    and of the units, bytes, sectors. `full_*`: up to the time when the first place stays empty."""

    issued: float
    fma: float
    alu: float
    lsu: float
    l2_bytes: float
    dram_bytes: float
    store_cycles: float
    l1_misses: float
    local_misses: float
    lost: float
    """Sectors that DRAM reads again because the L2 has lost them."""
    stored: float
    cycles: float
    full_cycles: float
    full_issued: float
    load_sectors: float
    load_hits: float
    slept: float
    """Cycles that warps slept, and waited for fences, system calls and instructions."""
    fenced: float
    called: float
    awaiting_code: float
    calls: float
    """Number of system calls, and the cycles that they take of all SMs together."""
    call_cycles: float


@dataclass(frozen=True)
class Parameters:
    """Cycles, unless the name contains another unit. `float_halves`: halves of the float pipe that
    execute float instructions; `unmerged_cycles`: `l2_sector_cycles` of sectors that each SM gets
    by itself; `dram_write_part`: see parameters.Share."""

    float_halves: float
    double_cycles: float
    shared_latency: float
    l1_latency: float
    l2_latency: float
    l2_spread: float
    dram_latency: float
    fill_cycles: float
    l2_sector_cycles: float
    unmerged_cycles: float
    store_line_cycles: float
    store_sector_cycles: float
    partial_sector_cycles: float
    stored_read_cycles: float
    dram_byte_cycles: float
    block_launch: float
    store_queue: float
    read_row_cycles: float
    write_row_cycles: float
    dram_write_part: float
    dram_wait_part: float
    l1_lines: float
    l2_lines: float
    kept_lines: float
    """Lines that an SM brings to the L2 until it loses a line; 0: it loses none."""
    atomic_cycles: float
    atomic_slice_cycles: float
    atomic_pass_cycles: float
    memory_issue: float
    barrier_latency: float
    blocks_wait: float
    dispatch_cycles: float
    dram_spread: float
    dram_wait: float
    access_cycles: float
    jump_cycles: float
    indirect_jump: float
    ns_cycles: float
    block_fence: float
    gpu_fence: float
    empty_fence_pass: float
    fence_pass: float
    system_fence_pass: float
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


class Brought:
    """A line that a warp has brought to the L2, and the lines that its SM had brought then. `line`:
    1 + its number."""

    line: int
    warp: int
    place: int


class Prefetched:
    """A line that the SM has prefetched to the L2, where it arrives at `ready`, and the lines that
    the SM had brought there then. `line`: 1 + its number."""

    line: int
    ready: float
    place: int


class Source:
    """A buffer from which the SM loads. `read_part`: sectors that DRAM reads per sector that misses
    in the L1; `misses`: these sectors so far; `owed`: those since DRAM last read; `credit`: pairs
    that DRAM is still to read."""

    first_line: int
    end_line: int
    read_part: float
    misses: float
    owed: float
    credit: float


class SM:
    """An SM with all its state. `begins`: the step with which each warp of the streams begins;
    behind its last step it goes on with its first. `order`: the blocks to run, as indices into the
    streams; `ends`: the cycle at which each ended. Lines of the L1, and of the SM's share of the L2
    (none without local memory), are in order of sets; `traced_warps`: warps of the streams;
    `warp_count`, `block_count`: resident warps and blocks; `local_words`: words of a lane's local
    memory. `profile`: null unless requested."""

    table: Annotated[int, "CodeRow *"]
    first: Annotated[int, "int64_t *"]
    begins: Annotated[int, "int64_t *"]
    steps: Annotated[int, "Step *"]
    accesses: Annotated[int, "Access *"]
    lines: Annotated[int, "Line *"]
    order: Annotated[int, "int64_t *"]
    ends: Annotated[int, "double *"]
    warps: Annotated[int, "Warp *"]
    blocks: Annotated[int, "Block *"]
    objects: Annotated[int, "Object *"]
    partitions: Annotated[int, "Partition *"]
    l1: Annotated[int, "CacheLine *"]
    l2: Annotated[int, "CacheLine *"]
    merging: Annotated[int, "Merging *"]
    brought: Annotated[int, "Brought *"]
    """Null if the L2 keeps all lines."""
    prefetched: Annotated[int, "Prefetched *"]
    """Null without prefetches."""
    sources: Annotated[int, "Source *"]
    """The last one holds all lines that the others do not."""
    shared: Annotated[int, "Shared *"]
    statistics: Annotated[int, "Statistics *"]
    p: Annotated[int, "Parameters *"]
    traced_warps: int
    order_count: int
    warp_count: int
    block_count: int
    l1_lines: int
    l2_lines: int
    local_words: int
    code_lines: Annotated[int, "int64_t *"]
    """Per line of code: the number of fetched lines when it was fetched, 0 for never; null if the
    instruction cache holds all executed code."""
    profile: Annotated[int, "Profile *"]


RECORDS = {
    each.__name__: each
    for each in (
        *ANALYSIS_RECORDS,
        *(Warp, Block, Object, Partition, CacheLine, Merging, Shared, Statistics, Parameters),
        *(Span, Profile, Brought, Prefetched, Source, SM),
    )
}
