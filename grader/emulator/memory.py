"""The fake address space of global memory: variables and buffers in one window, with red zones
between them.

A device address is `WINDOW << 32 | offset`; native code adds the host base only after an address
was checked. Variables come first, so that their addresses are the same in every plan: constant bank
4 holds them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.program import Pointer, Variable

WINDOW = 0x7F00
"""Upper 32 bits of every global address, chosen to look like a real one and to be no host
address."""
FIRST_OFFSET = 1 << 20
ALIGNMENT = 512
"""cudaMalloc aligns to 256 bytes at least (CUDA C++ Programming Guide, "Size and Alignment
Requirement"); drivers give 512."""
RED_ZONE = 4096
LIMIT = 1 << 32
HOST_FUNCTIONS = {"vprintf": 0x7E00_0000_0100, "__assertfail": 0x7E00_0000_0200}
"""Addresses that stand for the functions of the system which the emulator itself provides."""
UNKNOWN_FUNCTION = 0x7E00_0000_0000
"""What stands for all others: a call of it is told as not emulated."""


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


def variable_region(name: str) -> str:
    """What the region of a `__device__` variable is called; no buffer has such a name."""
    return f"__device__ {name}"


def variable_addresses(variables: Sequence[Variable]) -> dict[str, int]:
    """The address of every variable, and of the system's functions. Raises MemoryError where they
    are too large."""
    regions = _place({variable.name: variable.size_bytes for variable in variables})
    return {**HOST_FUNCTIONS, **{name: region.address for name, region in regions.items()}}


def fill_pointers(data: bytes, pointers: Iterable[Pointer], addresses: Mapping[str, int]) -> bytes:
    """The data with the addresses that the pointers name."""
    filled = bytearray(data)
    for pointer in pointers:
        address = addresses.get(pointer.symbol, UNKNOWN_FUNCTION) + pointer.addend
        filled[pointer.offset : pointer.offset + 8] = address.to_bytes(8, "little")
    return bytes(filled)


def _place(sizes: Mapping[str, int]) -> dict[str, Region]:
    """Regions in order from FIRST_OFFSET on."""
    regions: dict[str, Region] = {}
    position = FIRST_OFFSET
    for name, size in sizes.items():
        regions[name] = Region(name, position, size)
        position += (size + RED_ZONE + ALIGNMENT - 1) // ALIGNMENT * ALIGNMENT
    if position > LIMIT:
        raise MemoryError(
            f"the buffers need {position - FIRST_OFFSET} bytes; the emulated device has"
            f" {LIMIT - FIRST_OFFSET}"
        )
    return regions


class GlobalMemory:
    """All variables and global buffers of a plan, laid out once. `sizes` maps each buffer's name to
    its bytes, in order.

    Variables hold their initial values.
    """

    def __init__(self, sizes: Mapping[str, int], variables: Sequence[Variable] = ()) -> None:
        own = {variable_region(variable.name): variable.size_bytes for variable in variables}
        self.regions = _place({**own, **sizes})
        last = max(
            self.regions.values(),
            key=lambda region: region.offset,
            default=Region("", FIRST_OFFSET, 0),
        )
        self._arena = np.empty(
            last.offset + last.size_bytes + RED_ZONE - FIRST_OFFSET + 2 * ALIGNMENT, dtype=np.uint8
        )
        self._start = -self._arena.ctypes.data % ALIGNMENT
        self.written: np.ndarray | None = None
        self._variables = tuple(variables)
        self.reset_variables()

    def reset_variables(self) -> None:
        """Put their initial values into all variables."""
        addresses = variable_addresses(self._variables)
        for variable in self._variables:
            view = self.view(variable_region(variable.name))
            filled = fill_pointers(variable.initial, variable.pointers, addresses)
            view[: len(filled)] = np.frombuffer(filled, dtype=np.uint8)
            view[len(filled) :] = 0

    def view(self, name: str) -> np.ndarray:
        """The bytes of a buffer, to fill or to read in place."""
        region = self.regions[name]
        first = self._start + region.offset - FIRST_OFFSET
        return self._arena[first : first + region.size_bytes]

    def track_writes(self, unwritten: Collection[str]) -> None:
        """From now on, `written` has a byte for each byte from FIRST_OFFSET on: 1 where it was
        written, or is in no buffer of these."""
        self.written = np.ones(len(self._arena), dtype=np.uint8)
        for name in unwritten:
            self.was_written(name)[:] = 0

    def was_written(self, name: str) -> np.ndarray:
        """Of each byte of a buffer, whether it was written, as 0 or 1."""
        assert self.written is not None
        region = self.regions[name]
        first = region.offset - FIRST_OFFSET
        return self.written[first : first + region.size_bytes]

    @property
    def host_base(self) -> int:
        """Host address that corresponds to offset 0 of the window (may wrap; only sums with checked
        offsets are used)."""
        return int(self._arena.ctypes.data + self._start - FIRST_OFFSET)

    def nearest(self, address: int) -> tuple[Region, int] | None:
        """The buffer that an address misses by the least, and the byte offset from its start; None
        outside the window."""
        if address >> 32 != WINDOW or not self.regions:
            return None
        offset = address & 0xFFFFFFFF

        def distance(region: Region) -> int:
            return max(region.offset - offset, offset - (region.offset + region.size_bytes - 1), 0)

        region = min(self.regions.values(), key=distance)
        return region, offset - region.offset
