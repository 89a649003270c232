"""The place of buffers in the host's memory."""

from __future__ import annotations

import mmap

import pytest

from grader.emulator import GlobalMemory

LARGE = 16 << 20


@pytest.mark.parametrize(
    ("sizes", "aligned"),
    [
        ({"in": LARGE, "out": 4}, ["in"]),
        ({"out": 4, "in": LARGE}, ["in"]),
        ({"in": LARGE, "out": LARGE, "sum": 4}, ["in", "out"]),
        ({"bins": 1000, "in": LARGE, "weights": LARGE}, ["in", "weights"]),
    ],
)
def test_large_buffers_start_at_a_page(sizes: dict[str, int], aligned: list[str]) -> None:
    """Otherwise a file with their contents is copied, not mapped."""
    memory = GlobalMemory(sizes)
    for name in aligned:
        assert memory.view(name).ctypes.data % mmap.PAGESIZE == 0
    for name, size in sizes.items():
        assert len(memory.view(name)) == size
