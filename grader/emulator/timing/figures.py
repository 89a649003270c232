"""The figures of a GPU that the timing model works with. Cycles are of the SM clock; sources are in
notes and in gpus.json's comments."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.timing.footprint import L2_SET_BYTES, Capacity, Rows
from grader.emulator.timing.meetings import Slice


@dataclass(frozen=True)
class Figures:
    """One GPU. The first part is published; the second was fitted on tests/data/truth for the H100
    and holds for all (see benchmarks/model.py)."""

    multiprocessors: int
    clock_mhz: float
    dram_gbps: float
    l2_bytes: int
    l1_bytes: int
    """L1 and shared memory together, of one SM."""
    float_lanes: int
    """float32 lanes of a sub-partition: 32 (two halves of 16, of which one multiplies integers too)
    or 16."""
    double_lanes: float
    load_lanes: int
    """Lanes of the SM's load/store unit: a warp's access takes 32 / load_lanes cycles of it at
    least."""
    l1_latency: int
    shared_latency: int
    l2_latency: int
    dram_latency: int
    """Of a read from an idle DRAM, on the average."""
    l2_bytes_per_cycle: float
    """Read by all SMs together."""
    dram_channels: int
    """That open rows each for itself: of HBM pseudo channels (32 of a stack of HBM3, 16 of HBM2),
    of GDDR6 those of 16 bits, of GDDR7 those of 8."""
    l2_slices: int
    shared_carveouts: tuple[int, ...]
    """Sizes in bytes that shared memory can take of `l1_bytes`."""
    tensor_clock_mhz: float = math.inf
    """What the clock comes down to in a launch that uses tensor cores for less than float64."""
    launch_us: float = 2.7
    next_launch_us: float = 1.5
    """The same right behind another launch."""
    block_launch: float = 250.0
    dram_spread: float = 130.0
    """Mean cycles by which a read from an idle DRAM takes longer than the quickest one: a warp
    waits for its slowest lane."""
    dram_queue: float = 135.0
    """Mean cycles that a read waits in DRAM's queues where half of the bandwidth is used; at a load
    of r it is r / (1 - r) times that."""
    dram_part: float = 0.945
    """Part of the theoretical bandwidth that reading whole rows reaches."""
    turn_part: float = 0.12
    """What turning between reading and writing costs DRAM: so many bytes for each one of those of
    which it moves fewer."""
    fill_cycles: float = 0.35
    store_line_turn: float = 1.3
    """Cycles of a slice of the L2 for a line that is stored to, and for each of its sectors: one
    that is written whole, and one that is written in part."""
    store_sector_turn: float = 1.14
    partial_sector_turn: float = 1.43
    stored_read_turn: float = 4.0
    """Cycles of a slice of the L2 for a sector that is read after it was stored, beyond those of
    reading it."""
    lsu_queue: float = 40.0
    store_queue: float = 1500.0
    atomic_turn: float = 1.46
    """Cycles of a slice of the L2 for words of a sector that atomics meet at."""
    atomic_wait: float = 267.0
    """Cycles that a slice of the L2 waits for DRAM at an atomic whose words it does not hold, while
    so many others go on."""
    atomic_window: float = 50.0
    atomic_chain: float = 3.5
    """Cycles until a float can be added to a word again."""
    atomic_swap: float = 500.0
    """Cycles from a compare-and-swap that stands until another thread's of the same word can."""
    read_row_ns: float = 4.6
    """Time in which a channel of DRAM opens a row for a read, and for a write or what it fills up:
    what it moves of the row takes no more time, up to so many nanoseconds."""
    write_row_ns: float = 6.0
    held_part: float = 0.6
    """Part of the L2 that holds what was used last: local memory, and what one launch leaves to the
    next one."""
    shared_part: float = 0.5
    """Part of the L2 that holds what blocks share at random: its halves keep copies."""
    dispatch_cycles: float = 1.2
    """From the start of a block to that of the next one, on all SMs together."""
    memory_issue: float = 2.0
    barrier_latency: float = 12.0
    block_fence: float = 18.0
    """Cycles from a fence to the next instruction of its warp: for the block, the GPU, the system
    (fences of the system that come while one is under way go together, behind it). H200, as all of
    fences: benchmarks/kernels/costs/fences_*."""
    gpu_fence: float = 275.0
    system_fence: float = 1035.0
    empty_fence_pass: float = 3.4
    """After so many cycles an SM takes another fence: behind one for a block whose warp has stored
    nothing, and behind another."""
    fence_pass: float = 10.0
    store_answer: float = 325.0
    """Cycles until the L2 has answered a store, and more where other warps of the SM store."""
    busy_answer: float = 200.0
    invalidation: float = 250.0
    """Cycles from a fence that empties the L1 to its warp's next load (H200: fences_and_l1.cu)."""
    print_ns: float = 2120.0
    """Of all SMs for a warp's `printf` (the buffer of texts has one end, which the host sees), for
    each further lane, and of the warp alone; the same for `malloc` or `free`, half of a pair in the
    quickest of many patterns (H200: prints_*.cu, heap.cu)."""
    print_lane_ns: float = 230.0
    print_latency_ns: float = 20900.0
    heap_ns: float = 350.0
    heap_lane_ns: float = 140.0
    heap_latency_ns: float = 5500.0
    prefetch_pair: float = 2.5
    """Cycles of the load/store unit for 64 bytes that are prefetched (H200: prefetches.cu)."""
    code_bytes: int = 128 * 1024
    """Of instructions, beyond which a loop finds none of its lines in the SM's cache again, and the
    cycles from line to line then (H200: straight_lines.cu, 5.99 to 6.17 an instruction)."""
    fetch_line: float = 48.0
    jump_cycles: float = 4.0
    """From the end of the stall count of an instruction that control goes elsewhere behind."""
    indirect_jump: float = 25.0
    """Of a jump by a table, beyond that (H200: jump_tables.cu)."""

    def with_tensor_cores(self) -> Figures:
        """The figures in a launch that uses tensor cores for less than float64."""
        return replace(self, clock_mhz=min(self.clock_mhz, self.tensor_clock_mhz))

    @property
    def pass_cycles(self) -> float:
        """Cycles of a slice of the L2 for what passes it on the way to the other half, of each
        request: every second one does. A read takes 64 bytes of the bandwidth for all its passes,
        three for two reads."""
        return 64 * self.l2_slices / self.l2_bytes_per_cycle / 3

    @property
    def slice(self) -> Slice:
        """What atomics take of a slice of the L2."""
        return Slice(
            self.atomic_turn,
            self.pass_cycles,
            self.atomic_wait,
            self.atomic_window,
            self.atomic_chain,
            self.atomic_swap,
        )

    def byte_cycles(self, active: int, part: float = 1.0) -> float:
        """Cycles of an SM in which its share of a part of DRAM's bandwidth moves a byte, where so
        many SMs are active."""
        return self.clock_mhz * 1e6 * active / (self.dram_gbps * 1e9 * part)

    @property
    def capacity(self) -> Capacity:
        """What the L2 holds of what blocks touch at random."""
        return Capacity(
            self.shared_part * self.l2_bytes / SECTOR_BYTES, self.l2_bytes / L2_SET_BYTES
        )

    @property
    def rows(self) -> Rows:
        """Bytes that a channel of DRAM moves in the time in which it opens a row."""
        channel_gbps = self.dram_gbps / self.dram_channels
        return Rows(self.read_row_ns * channel_gbps, self.write_row_ns * channel_gbps)
