"""Memory in pages: fills, writes, and the list of written pages."""

from __future__ import annotations

import os
from collections.abc import Iterator

import numpy as np
import pytest

from grader.emulator import GlobalMemory, offer_file
from grader.emulator.run import lazy_pages
from grader.emulator.run.lazy_pages import LARGE_BYTES, PAGE_BYTES

WORD = 0x7FC0DEAD
SIZE = LARGE_BYTES + 3 * PAGE_BYTES + 20
"""Size of a large buffer that shares its last page."""
WHOLE = LARGE_BYTES + 3 * PAGE_BYTES
FLOAT = np.dtype(np.float32)


@pytest.fixture(params=[True, False], ids=["page_map", "no_page_map"])
def shows_writes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether the system shows written pages."""
    if not request.param:
        monkeypatch.setattr(lazy_pages, "_shows_written_pages", lambda: False)
    return bool(request.param)


@pytest.fixture
def file() -> Iterator[int]:
    """A file in memory whose words are their own numbers."""
    descriptor = os.memfd_create("test")
    os.write(descriptor, np.arange(SIZE // 4, dtype=np.uint32).tobytes())
    yield descriptor
    os.close(descriptor)


def changed(memory: GlobalMemory, name: str, before: np.ndarray | int) -> list[int]:
    return [int(place) for part in memory.changed(name, before, FLOAT) for place in part]


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("size", [20, 3 * PAGE_BYTES, SIZE])
def test_finds_writes_since_a_buffer_was_filled(
    size: int, sparse: bool, shows_writes: bool
) -> None:
    memory = GlobalMemory({"a": size, "b": size}, sparse=sparse)
    memory.fill("a", WORD)
    memory.fill("b", WORD)
    words = memory.view("b").view(np.uint32)
    assert (words == WORD).all()
    last = size // 4 - 1
    words[[0, last // 2, last]] = 1, WORD, 2
    assert (changed(memory, "a", WORD), changed(memory, "b", WORD)) == ([], [0, last])


def test_a_buffer_that_was_filled_again_is_as_new() -> None:
    memory = GlobalMemory({"a": SIZE}, sparse=True)
    for _ in range(2):
        memory.fill("a", WORD)
        assert changed(memory, "a", WORD) == []
        memory.view("a")[:] = 0
        assert len(changed(memory, "a", WORD)) == SIZE // 4


@pytest.mark.parametrize("kind", ["uint8", "float16", "float64"])
def test_elements_of_every_size_are_found(kind: str) -> None:
    memory = GlobalMemory({"a": LARGE_BYTES}, sparse=True)
    memory.fill("a", WORD)
    elements = memory.view("a").view(kind)
    elements[[3, 70_000]] = 0
    assert [int(place) for part in memory.changed("a", WORD, np.dtype(kind)) for place in part] == [
        3,
        70_000,
    ]


def test_a_file_is_held_without_a_copy_and_is_not_written_to(file: int, shows_writes: bool) -> None:
    contents = np.arange(SIZE // 4, dtype=np.uint32)
    memory = GlobalMemory({"a": SIZE})
    memory.fill_from("a", contents, file)
    words = memory.view("a").view(np.uint32)
    assert np.array_equal(words, contents)
    assert changed(memory, "a", contents) == []
    words[[5, SIZE // 4 - 1]] = 1, 2
    assert changed(memory, "a", contents) == [5, SIZE // 4 - 1]
    assert os.pread(file, 4, 20) == (5).to_bytes(4, "little")


def test_a_file_behind_a_buffer_of_parts_of_pages_is_copied(file: int) -> None:
    memory = GlobalMemory({"a": 1000, "b": SIZE})
    contents = np.arange(SIZE // 4, dtype=np.uint32)
    memory.fill_from("b", contents, file)
    assert np.array_equal(memory.view("b").view(np.uint32), contents)
    memory.view("b")[7] = 9
    assert changed(memory, "b", contents) == [1]


def test_contents_without_a_file_are_copied() -> None:
    contents = np.arange(100, dtype=np.float32)
    memory = GlobalMemory({"a": 400})
    memory.fill_from("a", contents)
    memory.view("a").view(np.float32)[99] = -1
    assert changed(memory, "a", contents) == [99]
    assert contents[99] == 99


def test_the_page_map_is_used_only_if_it_shows_writes() -> None:
    """An empty page map must not be used: no page would seem to be written."""
    pages = lazy_pages.allocate_pages(LARGE_BYTES, sparse=True)
    lazy_pages.fill(pages, WORD, sparse=True)
    pages[5 * PAGE_BYTES] = 1
    written = lazy_pages.written_pages(pages).tolist()
    assert written == (
        [5] if lazy_pages._shows_written_pages() else list(range(len(pages) // PAGE_BYTES))
    )


def test_without_files_in_memory_all_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lazy_pages, "_pattern_file", lambda _: None)
    memory = GlobalMemory({"a": SIZE}, sparse=True)
    memory.fill("a", WORD)
    memory.view("a")[-1] = 0
    assert changed(memory, "a", WORD) == [SIZE // 4 - 1]


@pytest.mark.parametrize("sparse", [True, False])
def test_marks_written_bytes(sparse: bool) -> None:
    memory = GlobalMemory({"a": SIZE, "b": SIZE}, sparse=sparse)
    memory.track_writes(["b"])
    assert memory.was_written("a").all()
    assert not memory.was_written("b").any()


@pytest.fixture
def offered() -> Iterator[int]:
    """A file of whole pages that repeats WORD, which is offered to buffers."""
    descriptor = os.memfd_create("test")
    os.write(descriptor, np.full(WHOLE // 4, WORD, dtype=np.uint32).tobytes())
    offer_file(descriptor, WORD)
    yield descriptor
    os.close(descriptor)
    lazy_pages._offered.clear()


def test_an_offered_file_receives_the_writes_until_it_is_taken(offered: int) -> None:
    memory = GlobalMemory({"small": 20, "a": WHOLE, "b": WHOLE})
    for name in ("small", "a", "b"):
        memory.fill(name, WORD)
        assert not changed(memory, name, WORD)
    words = memory.view("a").view(np.uint32)
    words[[0, 5000]] = 7
    assert changed(memory, "a", WORD) == [0, 5000]
    memory.fill("a", WORD)  # again, as for a run in the opposite order
    assert not changed(memory, "a", WORD)
    words[3] = 8
    assert (memory.take_file("a"), memory.take_file("b")) == (offered, None)
    words[4] = 9
    assert words[:6].tolist() == [WORD, WORD, WORD, 8, 9, WORD]
    kept = np.frombuffer(os.pread(offered, 24, 0), np.uint32)
    assert kept.tolist() == [WORD, WORD, WORD, 8, WORD, WORD]


@pytest.mark.parametrize(("size", "word"), [(2 * WHOLE, WORD), (WHOLE, WORD + 1), (SIZE, WORD)])
def test_other_buffers_take_no_offered_file(size: int, word: int, offered: int) -> None:
    memory = GlobalMemory({"a": size})
    memory.fill("a", word)
    assert not changed(memory, "a", word)
    assert memory.take_file("a") is None


def test_a_sample_of_the_blocks_gives_an_offered_file_up(offered: int) -> None:
    memory = GlobalMemory({"a": WHOLE})
    memory.fill("a", WORD)
    memory.fill("a", WORD, sparse=True)
    assert memory.take_file("a") is None
