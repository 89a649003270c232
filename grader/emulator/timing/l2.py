"""Requests to the L2 and their hits, as Nsight Compute counts them (`lts__t_sectors`)."""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.timing.footprint import Traffic
from grader.emulator.timing.timing_records import Statistics


@dataclass(frozen=True)
class Requests:
    """Sectors that a launch requests from the L2, and those that it holds."""

    sectors: float
    hits: float


def count_requests(
    found: Statistics, scale: float, traffic: Traffic, visits: float, partitions: int
) -> Requests:
    """The requests of a launch that executes `scale` times the simulated instructions. `visits`:
    the mean number of SMs that load a sector.

    The L2 of an A100 or H100 has two partitions. An SM asks the near one; each is the home of half
    of the addresses, and asks the other for the rest. So half of the reads that miss, and half of
    the stores and atomics, count twice. A sector that SMs of both partitions load misses in both.
    DRAM reads a pair of sectors for a missing one: only the first request of a pair misses. A fill
    of a partially stored sector is a request that misses. (784 launches on an H200:
    benchmarks/traffic.py.)
    """
    loads, read = found.l1_misses * scale, traffic.read + found.lost * scale
    others = max(0.0, found.l2_bytes / SECTOR_BYTES * scale - loads)
    far = 1.0 - 1.0 / partitions
    both = far * 2.0 * (1.0 - 2.0 ** (1.0 - max(1.0, visits)))
    near_misses = min(loads, read * traffic.first)
    local = found.local_misses * scale
    misses = near_misses * (1.0 + 0.5 * both) + far * read + (1.0 + far) * local
    sectors = loads + far * read * (1.0 + both) + (1.0 + far) * others + traffic.filled
    return Requests(sectors, max(0.0, sectors - misses - traffic.filled - traffic.updated))
