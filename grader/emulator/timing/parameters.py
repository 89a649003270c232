"""The parameters of a simulated SM: a GPU's figures in cycles of its clock, and the SM's share of
resources that all SMs use."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np

from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.footprint import Traffic
from grader.emulator.timing.timing_records import LINE_BYTES, PAIR_SECTORS, WAYS, Parameters

BLOCK_SHARED_BYTES = 1024
"""Shared memory per block that the system reserves."""
MOST_BLOCKS, ROOMY_BYTES = 32, 102_400
"""Most blocks of an SM, and size of shared memory beyond which the driver allocates only the
necessary size."""


_FIELDS = {each.name for each in fields(Parameters)}


@dataclass(frozen=True)
class Share:
    """DRAM's work for an SM. `read`, `write`: sectors that DRAM moves per sector that the SM reads
    or writes, at a fraction `part` of its bandwidth. `rows`: time to open rows relative to the time
    to move bytes. `others`: fraction of the SM's reads for which another SM requests the same
    sector at the same time; both wait for it. `read_wait`, `write_wait`: bytes that DRAM could move
    while L2 slices wait for rows, per sector that the SM reads or writes. `merged`: see
    walks.merged_part; `of_buffers`: `read` of each buffer."""

    read: float
    write: float
    part: float
    rows: float = 0.0
    others: float = 0.0
    read_wait: float = 0.0
    write_wait: float = 0.0
    merged: float = 0.0
    of_buffers: float | np.ndarray = 1.0

    def at_most(self, read: float) -> Share:
        """This share with no more than `read`."""
        of_buffers = np.minimum(self.of_buffers, read)
        return replace(self, read=min(self.read, read), of_buffers=of_buffers)


def choose_carveout(f: Figures, fitting: int, shared_bytes: int) -> int:
    """Bytes of the L1 that become shared memory if `fitting` blocks fit an SM: the smallest size
    that holds them, or the next. Equal to the choice of an H200's driver for 46 of 48 kernels
    (launch__shared_mem_config_size of Nsight Compute)."""
    sizes, needed = f.shared_carveouts, fitting * (shared_bytes + BLOCK_SHARED_BYTES)
    enough = needed + (fitting < MOST_BLOCKS)
    place = next((n for n, size in enumerate(sizes) if size >= enough), len(sizes) - 1)
    more = 2 < fitting < MOST_BLOCKS / 2 and sizes[place] <= ROOMY_BYTES
    return sizes[min(place + more, len(sizes) - 1)]


def find_share(
    f: Figures, traffic: Traffic, loaded: np.ndarray, stored: float, together: float
) -> Share:
    """DRAM's work for SMs that read `loaded` sectors (of each buffer, then all others), and store.
    `together`: the fraction of their reads for which the L2 does not hold the sector, or several
    SMs request it at once."""
    moved = SECTOR_BYTES * (traffic.read + traffic.written)
    turned = f.turn_part * SECTOR_BYTES * min(traffic.read, traffic.written)
    lost = traffic.read_lost + traffic.write_lost
    of_buffers = np.minimum(PAIR_SECTORS, traffic.loads / np.maximum(1.0, loaded[:-1]))
    all_loaded, stored = max(1.0, float(loaded.sum())), max(1.0, stored)
    return Share(
        read=traffic.read / all_loaded,
        write=traffic.written / stored,
        part=f.dram_part / (1.0 + (lost + turned) / max(1.0, moved)),
        rows=lost / max(1.0, moved),
        others=max(0.0, together - traffic.read / all_loaded),
        read_wait=traffic.read_lost / all_loaded,
        write_wait=traffic.waited / stored,
        of_buffers=of_buffers,
    )


def find_parameters(
    f: Figures,
    active: int,
    dram: Share,
    *,
    blocks: int,
    carveout: int,
    atomic_cycles: float,
    wait: float,
    kept_lines: float,
) -> Parameters:
    """The parameters of one of `active` SMs of this GPU. `blocks`: of the grid; `carveout`: see
    choose_carveout; `atomic_cycles`: cycles of the L2 per turn of an atomic, for one SM; `wait`:
    mean delay of a read in DRAM's queues; `kept_lines`: see Parameters."""
    sectors_per_cycle = f.l2_bytes_per_cycle / SECTOR_BYTES
    sector_cycles = active / sectors_per_cycle
    byte_cycles = f.byte_cycles(active)
    turn = active / f.l2_slices
    all_cycles = f.clock_mhz / 1e3 * active  # an SM's share of what is serial for all SMs
    own = {name: value for name, value in vars(f).items() if name in _FIELDS}
    made = {
        "float_halves": f.float_lanes / 16,
        "double_cycles": 32.0 / f.double_lanes,
        "dram_latency": f.dram_latency - f.dram_spread,
        "l2_sector_cycles": sector_cycles * (1.0 - dram.merged),
        "unmerged_cycles": sector_cycles,
        "store_line_cycles": f.store_line_turn * turn,
        "store_sector_cycles": f.store_sector_turn * turn,
        "partial_sector_cycles": f.partial_sector_turn * turn,
        "stored_read_cycles": f.stored_read_turn * turn,
        "dram_byte_cycles": byte_cycles / dram.part,
        "read_row_cycles": dram.read_wait * byte_cycles / f.dram_part,
        "write_row_cycles": dram.write_wait * byte_cycles / f.dram_part,
        "dram_write_part": dram.write,
        "dram_wait_part": dram.others,
        "l1_lines": max(WAYS, (f.l1_bytes - carveout) // LINE_BYTES),
        "l2_lines": max(WAYS, f.held_part * f.l2_bytes / active // LINE_BYTES),
        "atomic_cycles": atomic_cycles,
        "atomic_slice_cycles": f.atomic_turn * turn,
        "atomic_pass_cycles": f.pass_cycles * turn,
        "blocks_wait": f.blocks_wait(blocks),
        "dispatch_cycles": f.dispatch_cycles * active,
        "dram_wait": wait,
        "kept_lines": kept_lines,
        "access_cycles": 32 / f.load_lanes,
        "ns_cycles": f.clock_mhz / 1e3,
        "print_pass": f.print_ns * all_cycles,
        "print_lane": f.print_lane_ns * all_cycles,
        "print_latency": f.print_latency_ns * f.clock_mhz / 1e3,
        "heap_pass": f.heap_ns * all_cycles,
        "heap_lane": f.heap_lane_ns * all_cycles,
        "heap_latency": f.heap_latency_ns * f.clock_mhz / 1e3,
    }
    return Parameters(**own | made)
