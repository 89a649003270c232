"""The bytes of global memory that a checked launch accessed, from the tags of its granules."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum

import numpy as np

from grader.emulator.layouts.checked import INSTRUCTION_MASK, INSTRUCTION_SHIFT, Trait
from grader.emulator.run.memory import FIRST_OFFSET, Region


class Access(Enum):
    """Atomic accesses include volatile and scoped ones: they do not race with each other."""

    READ = "read"
    WRITE = "write"
    ATOMIC_READ = "atomic read"
    ATOMIC_WRITE = "atomic write"


Touched = Mapping[Access, np.ndarray]
"""Ascending rows of first offset and end in the window."""


def find_touched(
    tags: np.ndarray, traits: np.ndarray, shift: int, regions: Iterable[Region]
) -> Touched:
    """The accesses to these regions. `tags`: rows of the last writers and of readers, per granule
    of 2**`shift` bytes; of several writers of a granule, the last counts."""
    found: dict[Access, list[np.ndarray]] = {}
    kinds = ((Access.WRITE, Access.ATOMIC_WRITE), (Access.READ, Access.ATOMIC_READ))
    for region in regions:
        start = region.offset - FIRST_OFFSET
        first, end = start >> shift, -(-(start + region.size_bytes) >> shift)
        for row, (plain, atomic) in zip(tags, kinds, strict=True):
            part = row[first:end]
            used = part != 0
            if not used.any():
                continue
            is_atomic = np.zeros(len(part), bool)
            instructions = part[used] >> INSTRUCTION_SHIFT & INSTRUCTION_MASK
            is_atomic[used] = traits[instructions] & Trait.ATOMIC != 0
            for access, chosen in ((plain, used & ~is_atomic), (atomic, is_atomic)):
                ranges = (_find_ranges(chosen) + first << shift) + FIRST_OFFSET
                found.setdefault(access, []).append(ranges)
    return {access: np.concatenate(parts) for access, parts in found.items()}


def _find_ranges(chosen: np.ndarray) -> np.ndarray:
    """Rows of start and end of the runs of True."""
    edges = np.flatnonzero(np.diff(chosen.astype(np.int8), prepend=0, append=0))
    return edges.reshape(-1, 2)
