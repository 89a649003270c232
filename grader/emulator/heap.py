"""The heap of device code: what `malloc`, `new`, `free` and `delete` in a kernel give out and take
back."""

from __future__ import annotations

from threading import Lock

from grader.emulator.program import Variable

HEAP = Variable("heap", 8 << 20)
"""Where it lies: as large as a GPU makes it that is not asked for another size
(`cudaLimitMallocHeapSize`)."""
HEAP_FUNCTIONS = ("malloc", "free")
_STEP, _HEAD_BYTES = 16, 64
"""Pieces lie at multiples of 16, and cost 64 bytes more than they hold (an H200's lie 80 bytes
apart, or more)."""


class Heap:
    """Pieces of a memory of `size_bytes` that starts at an address. What was given back is given
    out again only when there is nothing else, so that its next owner and the last are rarely
    confused."""

    def __init__(self, address: int, size_bytes: int) -> None:
        self._next, self._end = address + _HEAD_BYTES, address + size_bytes
        self._sizes: dict[int, int] = {}
        self._given_back: dict[int, list[int]] = {}
        self._lock = Lock()

    def take(self, size_bytes: int) -> int:
        """The address of a piece; 0 where there is no room."""
        size = -(-max(size_bytes, 1) // _STEP) * _STEP
        with self._lock:
            address = self._next
            if address + size <= self._end:
                self._next += size + _HEAD_BYTES
            elif self._given_back.get(size):
                address = self._given_back[size].pop()
            else:
                return 0
            self._sizes[address] = size
            return address

    def give_back(self, address: int) -> bool:
        """Take a piece back; whether it was given out, and not yet given back."""
        with self._lock:
            size = self._sizes.pop(address, None)
            if size is None:
                return address == 0
            self._given_back.setdefault(size, []).append(address)
            return True
