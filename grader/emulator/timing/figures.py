"""Figures of a GPU for the timing model. Cycles are of the SM clock. The notes and the comments of
gpus.json have the sources."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

PAIR_BLOCKS, PORTABLE_BLOCKS = 2, 8
"""Clusters of up to this number of blocks fill every SM, or run on every GPU with clusters."""
CLUSTER_PART, LARGE_CLUSTER_PART = 124 / 132, 112 / 132
"""Part of the SMs that clusters of more than PAIR_BLOCKS and of more than PORTABLE_BLOCKS use: they
do not fill each group of SMs (`cudaOccupancyMaxActiveClusters` on an H200: 248 clusters of 4 blocks
of 256 threads, 124 of 8, 14 of 16 blocks of 1,024)."""


@dataclass(frozen=True)
class Figures:
    """A GPU. The first figures are published; the others were fitted on tests/data/truth for the
    H100 and are used for all GPUs (benchmarks/model.py)."""

    multiprocessors: int
    clock_mhz: float
    dram_gbps: float
    l2_bytes: int
    l1_bytes: int
    """L1 and shared memory of an SM together."""
    float_lanes: int
    """float32 lanes of a sub-partition: 32 (two halves of 16, of which only one multiplies
    integers) or 16."""
    double_lanes: float
    load_lanes: int
    """Lanes of the SM's load/store unit, which a warp's access occupies for at least
    32 / load_lanes cycles."""
    l1_latency: int
    shared_latency: int
    l2_latency: int
    dram_latency: int
    """Mean latency of a read from an idle DRAM."""
    l2_bytes_per_cycle: float
    """Read bandwidth for all SMs together."""
    dram_channels: int
    """Channels that open rows independently. HBM: pseudo channels (32 per stack of HBM3, 16 of
    HBM2); GDDR6: channels of 16 bits; GDDR7: channels of 8 bits."""
    l2_slices: int
    shared_carveouts: tuple[int, ...]
    """Possible sizes of shared memory, in bytes of `l1_bytes`."""
    measured: bool = False
    """Whether times of this GPU are known (measured.json)."""
    l2_partitions: int = 2
    """Parts of the L2 that keep copies of each other's data."""
    tensor_clock_mhz: float = math.inf
    """Clock in launches that use tensor cores for types below float64."""
    l2_spread: float = 64.0
    """Cycles by which the farthest slice of the L2 answers later than the nearest, whose latency is
    `l2_latency` (an H200's loads take 259 to 329 cycles)."""
    launch_us: float = 2.7
    next_launch_us: float = 1.5
    """Fixed cost of a launch right after another launch."""
    block_launch: float = 250.0
    dram_spread: float = 130.0
    """Mean cycles by which a read from an idle DRAM takes longer than the fastest read: a warp
    waits for its slowest lane."""
    dram_queue: float = 135.0
    """Mean cycles that a read waits in DRAM's queues at half of the bandwidth; at load r, it waits
    r / (1 - r) times as long."""
    dram_part: float = 0.945
    """Fraction of the theoretical bandwidth for reads of whole rows."""
    turn_part: float = 0.12
    """Cost of switches between reads and writes: bytes per byte of the direction with less
    traffic."""
    fill_cycles: float = 0.2
    store_line_turn: float = 1.3
    """Cycles of an L2 slice for a stored line, and for each of its sectors that is written
    completely (`store_sector_turn`) or partially (`partial_sector_turn`)."""
    store_sector_turn: float = 1.14
    partial_sector_turn: float = 1.43
    stored_read_turn: float = 4.0
    """Additional cycles of an L2 slice for reading a sector that was stored before."""
    store_queue: float = 1500.0
    atomic_turn: float = 1.46
    """Cycles of an L2 slice for words of a sector with contended atomics."""
    atomic_wait: float = 267.0
    """Cycles that an L2 slice waits for DRAM at an atomic whose words it does not hold, while up to
    `atomic_window` others proceed."""
    atomic_window: float = 50.0
    atomic_chain: float = 3.5
    """Cycles from the addition of a float to a word until the next."""
    atomic_swap: float = 500.0
    """Cycles from a successful compare-and-swap until another thread's swap of the same word can
    succeed."""
    read_row_ns: float = 4.6
    """Time in which a DRAM channel opens a row for a read (and for a write or a fill,
    `write_row_ns`). The data of the row takes no extra time up to this duration."""
    write_row_ns: float = 6.0
    held_part: float = 0.6
    """Fraction of the L2 for the most recently used data: local memory, and data that a launch
    leaves for the next launch."""
    shared_part: float = 0.5
    """Fraction of the L2 for data that blocks access at random: its halves hold copies."""
    dispatch_cycles: float = 1.2
    """Cycles between the starts of two blocks, over all SMs."""
    memory_issue: float = 3.0
    barrier_latency: float = 12.0
    poll_wait: float = 690.0
    """Cycles from the last arrival at a barrier of the grid until the slowest block has seen it,
    without the latency of a read; `poll_turn`: of an L2 slice for each block's arrival, and for
    each block that reads if all take more than `poll_round` cycles (H200: grid_barriers.cu)."""
    poll_turn: float = 3.4
    poll_round: float = 2360.0
    block_fence: float = 18.0
    """Cycles from a fence to the warp's next instruction, for block, GPU and system scope. Fences
    of system scope that arrive during another are completed together after it (fence figures:
    H200, benchmarks/kernels/costs/fences_*)."""
    gpu_fence: float = 275.0
    system_fence: float = 1035.0
    empty_fence_pass: float = 3.4
    """Cycles after which an SM accepts another fence: after a block-scope fence of a warp without
    stores, and after others (`fence_pass`). Nothing moves between the SM and the L2 during the
    `fence_pass` of a fence for the GPU, or the `system_fence_pass` of one for the system."""
    fence_pass: float = 10.0
    system_fence_pass: float = 35.0
    store_answer: float = 325.0
    """Cycles until the L2 has answered a store, and additional cycles if other warps of the SM
    store (`busy_answer`)."""
    busy_answer: float = 200.0
    invalidation: float = 250.0
    """Cycles from a fence that empties the L1 to the warp's next load (H200: fences_and_l1.cu)."""
    print_ns: float = 2120.0
    """Cost of a warp's `printf` for all SMs (the text buffer has one end, which the host reads),
    for each further lane, and latency for the warp itself; the heap figures are the same for
    `malloc` or `free`: half of a pair in the fastest of many patterns (H200: prints_*.cu,
    heap.cu)."""
    print_lane_ns: float = 230.0
    print_latency_ns: float = 20900.0
    heap_ns: float = 350.0
    heap_lane_ns: float = 140.0
    heap_latency_ns: float = 5500.0
    prefetch_pair: float = 2.5
    """Cycles of the load/store unit per 64 prefetched bytes (H200: prefetches.cu)."""
    code_bytes: int = 128 * 1024
    """Size of code from which on a loop finds none of its lines in the SM's instruction cache; each
    line then takes `fetch_line` cycles (H200: straight_lines.cu, 5.99 to 6.17 per instruction)."""
    fetch_line: float = 48.0
    jump_cycles: float = 4.0
    """Cycles of a taken branch after its stall count."""
    indirect_jump: float = 25.0
    """Additional cycles of a branch by jump table (H200: jump_tables.cu)."""

    def with_tensor_cores(self) -> Figures:
        """The figures for launches that use tensor cores for types below float64."""
        return replace(self, clock_mhz=min(self.clock_mhz, self.tensor_clock_mhz))

    @property
    def pass_cycles(self) -> float:
        """Cycles of an L2 slice per request for traffic that passes it on the way to the other
        half, which is every second request. A read takes 64 bytes of bandwidth for all its passes,
        three for two reads."""
        return 64 * self.l2_slices / self.l2_bytes_per_cycle / 3

    def usable(self, cluster_blocks: int) -> int:
        """The SMs that clusters of this number of blocks can use."""
        if cluster_blocks <= PAIR_BLOCKS:
            return self.multiprocessors
        part = CLUSTER_PART if cluster_blocks <= PORTABLE_BLOCKS else LARGE_CLUSTER_PART
        return round(part * self.multiprocessors)

    def blocks_wait(self, blocks: int) -> float:
        """Cycles from the last arrival at a barrier of a grid of `blocks` blocks until a block can
        see it."""
        turns = self.poll_turn * blocks
        return self.poll_wait + turns + max(0.0, turns - self.poll_round)

    def byte_cycles(self, active: int, part: float = 1.0) -> float:
        """Cycles in which an SM's share of a fraction `part` of DRAM's bandwidth moves a byte, with
        this number of active SMs."""
        return self.clock_mhz * 1e6 * active / (self.dram_gbps * 1e9 * part)
