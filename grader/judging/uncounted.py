"""Counted metrics that miss a part of the data: no counter of Nsight Compute, and none here that is
graded, has sectors or wavefronts of bulk copies and of shared memory of other blocks."""

from __future__ import annotations

from collections.abc import Sequence

from grader.records import Counters, LaunchResult, Uncounted

UNCOUNTED = "data moves by bulk copies or in shared memory of other blocks, which no counter sees"
MOST_UNCOUNTED = 0.01
"""The part of the data that may move past the counters where a metric is judged."""
BULK_ROOM = 1.5
"""How many times as many bytes bulk copies may move through shared memory as ordinary accesses,
which use each of them once or more: the halo of a tile is not used."""
WAVEFRONT_BYTES = 128


def uncounted_metrics(launches: Sequence[LaunchResult]) -> frozenset[str]:
    """The metrics that miss too much of the data of some launches to be judged."""
    c = sum((launch.counters for launch in launches), Counters())
    past = sum((launch.uncounted for launch in launches), Uncounted())
    accesses = (
        c.shared_load_instructions + c.shared_store_instructions + c.shared_atomic_instructions
    )
    by_threads = WAVEFRONT_BYTES * c.shared_wavefronts_ideal
    in_bulk = past.loaded_bytes + past.stored_bytes
    missing = {
        ("global_load_efficiency", "global_load_sectors"): _is_much(
            past.loaded_bytes, c.global_reads.bytes
        ),
        ("global_store_efficiency", "global_store_sectors"): _is_much(
            past.stored_bytes, c.global_writes.bytes
        ),
        ("shared_bank_conflicts", "shared_wavefronts"): (
            _is_much(past.remote_accesses, accesses - past.remote_accesses)
            or _is_much(in_bulk - BULK_ROOM * by_threads, by_threads)
        ),
    }
    return frozenset(name for names, much in missing.items() if much for name in names)


def _is_much(moved: float, counted: float) -> bool:
    """Whether so much beside what is counted matters."""
    return moved > MOST_UNCOUNTED * (moved + max(0, counted))
