from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from grader.devices.gpu.placement import (
    ALIGNMENT_BYTES,
    BAND_BYTES,
    Placement,
    find_damage,
    guard_bytes,
    place_buffers,
)
from grader.messages.phrases import beside
from grader.records import DeviceBuffer, Role, Spot

A = DeviceBuffer("a", "float32", (10, 3), Role.INPUT)
EMPTY = DeviceBuffer("empty", "float64", (0,), Role.SCRATCH)
B = DeviceBuffer("b", "int8", (77,), Role.OUTPUT)


@pytest.fixture
def placement() -> Placement:
    return place_buffers([A, EMPTY, B])


@pytest.fixture
def memory(placement: Placement) -> np.ndarray:
    """An allocation after a run that wrote to the buffers only."""
    contents = guard_bytes(0, placement.size_bytes).copy()
    for place in placement.places:
        contents[place.offset : place.end] = 0
    return contents


def damage(placement: Placement, memory: np.ndarray) -> tuple[str, int, str] | None:
    found = find_damage(placement, lambda offset, size_bytes: memory[offset : offset + size_bytes])
    return (
        None
        if found is None
        else (
            found.place.name,
            found.offset_bytes,
            beside(Spot(None, None, found.place.name, found.offset_bytes, found.place.size_bytes)),
        )
    )


def test_buffers_are_aligned_and_apart(placement: Placement) -> None:
    assert [(place.name, place.size_bytes) for place in placement.places] == [
        ("a", 120),
        ("empty", 0),
        ("b", 77),
    ]
    assert all(place.offset % ALIGNMENT_BYTES == 0 for place in placement.places)
    assert placement.places[0].offset >= BAND_BYTES
    assert all(right.offset - left.end >= BAND_BYTES for left, right in pairwise(placement.places))
    assert placement.size_bytes - placement.places[-1].end >= BAND_BYTES


def test_bands_and_buffers_fill_the_allocation(placement: Placement) -> None:
    inside = sum(place.size_bytes for place in placement.places)
    assert sum(end - start for start, end in placement.bands) + inside == placement.size_bytes


def test_whole_bands_are_no_damage(placement: Placement, memory: np.ndarray) -> None:
    assert damage(placement, memory) is None


@pytest.mark.parametrize(
    ("buffer", "offset", "words"),
    [
        ("a", 120, "right behind the end of buffer a (120 bytes)"),
        ("a", 124, "4 bytes past the end of buffer a (120 bytes)"),
        ("a", -4, "4 bytes before the start of buffer a"),
        ("b", -40, "40 bytes before the start of buffer b"),
        ("b", 77, "right behind the end of buffer b (77 bytes)"),
        ("b", 77 + BAND_BYTES - 1, f"{BAND_BYTES - 1:,} bytes past the end of buffer b (77 bytes)"),
    ],
)
def test_one_damaged_byte_is_named_by_the_nearest_buffer(
    placement: Placement, memory: np.ndarray, buffer: str, offset: int, words: str
) -> None:
    place = next(place for place in placement.places if place.name == buffer)
    memory[place.offset + offset] ^= 1
    assert damage(placement, memory) == (buffer, offset, words)


def test_of_a_damaged_stretch_the_byte_nearest_to_its_buffer_is_named(
    placement: Placement, memory: np.ndarray
) -> None:
    first, _, last = placement.places
    memory[first.end + 8 : first.end + 4096] = 0
    assert damage(placement, memory) == ("a", 128, "8 bytes past the end of buffer a (120 bytes)")
    memory[:] = guard_bytes(0, placement.size_bytes)
    memory[last.offset - 4096 : last.offset - 8] = 0
    assert damage(placement, memory) == ("b", -12, "12 bytes before the start of buffer b")


def test_what_reads_a_band_gets_no_number() -> None:
    assert np.isnan(guard_bytes(0, 4096).view(np.float32)).all()
    assert np.isnan(guard_bytes(0, 4096).view(np.float64)).all()
