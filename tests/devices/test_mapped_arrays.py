"""Arrays in files that another process maps."""

from __future__ import annotations

import mmap
import os

import numpy as np
import pytest

from grader.devices.mapped_arrays import (
    SHARED_BYTES,
    SPENT_BYTES,
    find_file,
    gather_shared,
    map_array,
    spend,
)

SHAPE = (SHARED_BYTES // 4096, 1024)
FLOAT = np.dtype(np.float32)


def make() -> np.ndarray:
    half = np.arange(SHAPE[0] * SHAPE[1] // 2, dtype=FLOAT)
    return gather_shared([half, -half], SHAPE, FLOAT)


def test_a_large_array_lies_in_a_file_that_nobody_can_change() -> None:
    array = make()
    file = find_file(array)
    assert file is not None
    assert (array.shape, array[0, 5], array[-1, -1]) == (SHAPE, 5, 1 - array.size // 2)
    assert not array.flags.writeable
    with pytest.raises(PermissionError):
        os.pwrite(file, b"x", 0)
    with pytest.raises(PermissionError):
        os.ftruncate(file, 10)


def test_the_file_of_an_array_is_another_array_s_after_it_was_sent() -> None:
    array = make()
    file = find_file(array)
    assert file is not None
    other = map_array(os.dup(file), SHAPE, FLOAT)
    del array
    assert other[0, 5] == 5


def test_only_the_whole_array_is_the_file_s() -> None:
    array = make()
    assert find_file(array.reshape(-1).view(np.uint8)) is not None
    assert [find_file(each) for each in (array[1:], array.T, array[:, ::2])] == [None] * 3
    assert find_file(np.zeros(SHAPE, FLOAT)) is None


def test_the_file_is_closed_with_the_last_array() -> None:
    array = make()
    part, file = array[3], find_file(array)
    assert file is not None
    del array
    os.fstat(file)
    del part
    with pytest.raises(OSError, match="descriptor"):
        os.fstat(file)


def test_a_small_array_is_an_ordinary_one() -> None:
    array = gather_shared([np.zeros(3, FLOAT), np.ones(3, FLOAT)], (2, 3), FLOAT)
    assert (array.tolist(), find_file(array)) == ([[0, 0, 0], [1, 1, 1]], None)


def test_a_file_that_might_change_or_has_another_size_is_refused() -> None:
    file = find_file(kept := make())
    assert file is not None
    unsealed = os.memfd_create("test")
    os.ftruncate(unsealed, kept.nbytes)
    reader, writer = os.pipe()
    os.close(writer)
    for descriptor, shape in ((unsealed, SHAPE), (os.dup(file), (5, 1024)), (reader, SHAPE)):
        with pytest.raises(ValueError, match="is none"):
            map_array(descriptor, shape, FLOAT)


def test_where_there_are_no_files_in_memory_an_array_is_an_ordinary_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(name: str, flags: int) -> int:
        raise PermissionError(name)

    monkeypatch.setattr(os, "memfd_create", refuse)
    array = make()
    assert (array[0, 5], find_file(array)) == (5, None)


@pytest.mark.parametrize("start", [0, 12, mmap.PAGESIZE])
def test_memory_that_is_spent_goes_back_and_its_neighbours_stay(start: int) -> None:
    """A page of an anonymous map that went back holds zeros."""
    size, page = 2 * SPENT_BYTES + 3 * mmap.PAGESIZE, mmap.PAGESIZE
    pages = np.frombuffer(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE), dtype=np.uint8)
    pages[:] = 1 + np.arange(size) % 255
    before, part = pages.copy(), pages[start : size - page - 5]
    sent = b"".join(map(bytes, spend(part)))
    assert sent == before[start : size - page - 5].tobytes()
    assert np.array_equal(pages[:start], before[:start])
    assert np.array_equal(pages[size - page - 5 :], before[size - page - 5 :])
    kept = page if start % page else 0
    assert not pages[kept + start // page * page : size - 2 * page].any()


def test_memory_of_another_kind_is_spent_as_it_is() -> None:
    array = np.arange(SPENT_BYTES, dtype=np.uint16)
    assert b"".join(map(bytes, spend(array))) == array.tobytes()
    assert array[-1] == 0xFFFF
