"""Counted metrics that cannot be judged, with the reason.

No counter of Nsight Compute, and no graded counter of the emulated device, has sectors or
wavefronts of bulk copies and of shared memory of other blocks. Where threads wait for each other in
a loop, the number of its rounds depends on time: a lock that all blocks take costs an H200 13 of 15
points for coalesced writes, and would cost none here; a scan in which each block waits for its
neighbour reads 20 million sectors on an H100, and 4 million here.
"""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Counters, LaunchResult, Uncounted

UNCOUNTED = "data moves by bulk copies or in shared memory of other blocks, which no counter sees"
WAITED = "threads wait for each other in loops, so this number depends on time"
MOST_UNCOUNTED = 0.01
"""The part of the data that may move past the counters where a metric is judged."""
BULK_TOLERANCE = 1.5
"""How many times as many bytes bulk copies may move through shared memory as ordinary accesses,
which use each of them once or more: the halo of a tile is not used."""
WAVEFRONT_BYTES = 128


_LOADS = ("global_load_efficiency", "global_load_sectors")
_STORES = ("global_store_efficiency", "global_store_sectors", "global_store_sectors_per_block")
_SHARED = ("shared_bank_conflicts", "shared_wavefronts")


def uncounted_metrics(
    launches: Sequence[LaunchResult], emulated: Sequence[LaunchResult] | None = None
) -> dict[str, str]:
    """The metrics that these launches do not decide, with the reason. `emulated`: the same launches
    on the emulated device, which alone counts the data of bulk copies.
    """
    moved = launches if emulated is None else emulated
    c = sum((launch.counters for launch in moved), Counters())
    past = sum((launch.uncounted for launch in moved), Uncounted())
    by_threads = WAVEFRONT_BYTES * c.shared_wavefronts_ideal
    in_bulk = past.loaded_bytes + past.stored_bytes
    missing = {
        _LOADS: _is_much(past.loaded_bytes, c.global_reads.bytes),
        _STORES: _is_much(past.stored_bytes, c.global_writes.bytes),
        _SHARED: (
            _is_much(past.remote_accesses, c.shared_instructions - past.remote_accesses)
            or _is_much(in_bulk - BULK_TOLERANCE * by_threads, by_threads)
        ),
    }
    waited = any(launch.waited for launch in launches)
    reasons = dict.fromkeys((*_LOADS, *_STORES, "instructions_executed") if waited else (), WAITED)
    return reasons | {name: UNCOUNTED for names, much in missing.items() if much for name in names}


def _is_much(moved: float, counted: float) -> bool:
    """Whether so much beside what is counted matters."""
    return moved > MOST_UNCOUNTED * (moved + max(0, counted))
