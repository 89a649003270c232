"""The fake address space of global memory: buffers in one window, with red zones between them.

A device address is `WINDOW << 32 | offset`; native code adds the host base only after an address was checked.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

WINDOW = 0x7F00
"""Upper 32 bits of every global address, chosen to look like a real one and to be no host address."""
FIRST_OFFSET = 1 << 20
ALIGNMENT = 512
"""cudaMalloc aligns to 256 bytes at least (CUDA C++ Programming Guide, "Size and Alignment Requirement"); drivers give 512."""
RED_ZONE = 4096
LIMIT = 1 << 32


@dataclass(frozen=True)
class Region:
    """One buffer: `offset` within the window, size in bytes."""

    name: str
    offset: int
    size_bytes: int

    @property
    def address(self) -> int:
        """The device address of its first byte."""
        return WINDOW << 32 | self.offset


class GlobalMemory:
    """All global buffers of a plan, laid out once. `sizes` maps each buffer's name to its bytes, in order."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.regions: dict[str, Region] = {}
        position = FIRST_OFFSET
        for name, size in sizes.items():
            self.regions[name] = Region(name, position, size)
            position += (size + RED_ZONE + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
        if position > LIMIT:
            raise MemoryError(f"the buffers need {position - FIRST_OFFSET} bytes; the emulated device has {LIMIT - FIRST_OFFSET}")
        self._arena = np.empty(position - FIRST_OFFSET + 2 * ALIGNMENT, dtype=np.uint8)
        self._start = -self._arena.ctypes.data % ALIGNMENT

    def view(self, name: str) -> np.ndarray:
        """The bytes of a buffer, to fill or to read in place."""
        region = self.regions[name]
        first = self._start + region.offset - FIRST_OFFSET
        return self._arena[first : first + region.size_bytes]

    @property
    def host_base(self) -> int:
        """Host address that corresponds to offset 0 of the window (may wrap; only sums with checked offsets are used)."""
        return int(self._arena.ctypes.data + self._start - FIRST_OFFSET)

    def nearest(self, address: int) -> tuple[Region, int] | None:
        """The buffer that an address misses by the least, and the byte offset from its start; None outside the window."""
        if address >> 32 != WINDOW or not self.regions:
            return None
        offset = address & 0xFFFFFFFF

        def distance(region: Region) -> int:
            return max(region.offset - offset, offset - (region.offset + region.size_bytes - 1), 0)

        region = min(self.regions.values(), key=distance)
        return region, offset - region.offset
