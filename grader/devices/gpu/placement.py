"""The places of a plan's buffers in one allocation, and the guard bands around them.

Every buffer has a guard band before and after it. A band starts at the first byte behind its
buffer, so that a store behind the last element damages it. Its words are NaNs as floats: a kernel
that reads a band cannot compute a plausible result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from grader.records import DeviceBuffer

GUARD_WORD = 0x7FF5A5A5
BAND_BYTES = 256 << 10
"""Least size of a guard band: enough for an overshoot of a few rows, small compared with the
buffers."""
ALIGNMENT_BYTES = 512
"""The alignment of textures in linear memory; cudaMalloc aligns to 256, on which vector accesses of
students rely."""

ReadBytes = Callable[[int, int], np.ndarray]
"""(offset, size in bytes) of the allocation to its present contents as uint8."""


@dataclass(frozen=True)
class Place:
    name: str
    offset: int
    size_bytes: int

    @property
    def end(self) -> int:
        return self.offset + self.size_bytes


@dataclass(frozen=True)
class Placement:
    """All buffers in the order of their places; `size_bytes` includes the last band."""

    places: tuple[Place, ...]
    size_bytes: int

    @property
    def bands(self) -> tuple[tuple[int, int], ...]:
        """(start, end) of each guard band: between neighbours, before the first and behind the last
        buffer."""
        starts = (0, *(place.end for place in self.places))
        ends = (*(place.offset for place in self.places), self.size_bytes)
        return tuple(zip(starts, ends, strict=True))


@dataclass(frozen=True)
class Damage:
    """The damage in a guard band nearest to a buffer: the first damaged byte behind its end, or the
    last damaged 4-byte word before its start.

    `offset_bytes` is relative to the buffer's start.
    """

    place: Place
    offset_bytes: int


def place_buffers(buffers: Sequence[DeviceBuffer]) -> Placement:
    """Places for all buffers, in order, each aligned and between bands."""
    places, end = [], 0
    for buffer in buffers:
        offset = _round_up(end + BAND_BYTES)
        places.append(Place(buffer.name, offset, buffer.size_bytes))
        end = places[-1].end
    return Placement(tuple(places), _round_up(end + BAND_BYTES))


def find_damage(placement: Placement, read: ReadBytes) -> Damage | None:
    """The first damage in the order of the places; None when no band has changed."""
    for index, (start, end) in enumerate(placement.bands):
        changed = np.flatnonzero(read(start, end - start) != guard_bytes(start, end))
        if changed.size:
            before = placement.places[index - 1] if index else None
            after = placement.places[index] if index < len(placement.places) else None
            return _nearest(start + int(changed[0]), start + int(changed[-1]), before, after)
    return None


def guard_bytes(start: int, end: int) -> np.ndarray:
    """The contents of a guard band from byte `start` to byte `end` of the allocation."""
    first = start // 4 * 4
    words = np.full(-(-(end - first) // 4), GUARD_WORD, dtype="<u4")
    return words.view(np.uint8)[start - first : end - first]


def _nearest(first: int, last: int, before: Place | None, after: Place | None) -> Damage:
    """Damage from byte `first` to byte `last` of the band between two buffers belongs to the nearer
    buffer."""
    if after is None or (before is not None and first - before.end < after.offset - last):
        assert before is not None
        return Damage(before, first - before.offset)
    return Damage(after, (last - after.offset) // 4 * 4)


def _round_up(size: int) -> int:
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
