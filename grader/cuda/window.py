"""The memory of the emulated devices: one window of 4 GiB that the program and its session share,
and the regions in it, which come and go."""

from __future__ import annotations

import fcntl
import mmap
import os
from bisect import bisect_left
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from grader.emulator import GRID_WORKSPACE
from grader.emulator.layouts.heap import HEAP_BYTES, Heap, make_heap
from grader.emulator.run.lazy_pages import make_zeros
from grader.emulator.run.memory import (
    ALIGNMENT,
    FIRST_OFFSET,
    LIMIT,
    RED_ZONE,
    WINDOW,
    Region,
    buffer_records,
    nearest_region,
)

HEAP_OFFSET, CLIENT_OFFSET = 128 << 20, 768 << 20
"""Variables of modules lie below the heap, which has up to 512 MiB, and allocations of the program
from CLIENT_OFFSET on."""
BANK_BYTES = 64 << 10
_SEALS = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class Space(IntEnum):
    """Kinds of memory, as in the message ALLOCATE."""

    DEVICE = 0
    HOST = 1
    MANAGED = 2
    ARRAY = 3


SEEN_BY_ALL = (Space.HOST, Space.MANAGED)


class WindowFull(Exception):  # noqa: N818 - a property of the program
    """The session's own part of the window is full."""


class Occupied(Exception):  # noqa: N818 - a property of a message
    """A region lies outside of the window, or on another region; or there is no such region."""


@dataclass(frozen=True)
class Owned:
    """A region with its device and its kind of memory."""

    region: Region
    device: int
    space: Space


@dataclass(frozen=True, eq=False)
class DeviceView:
    """The memory that kernels of a device see: an emulator's DeviceMemory. `written` is a byte per
    byte of the window from FIRST_OFFSET on, in the checked mode. `shared_with_host`: the program
    may write to it while a kernel runs."""

    regions: Mapping[str, Region]
    buffers: np.ndarray
    host_base: int
    bank: np.ndarray
    bank_address: int
    heap_host: int
    written: np.ndarray | None
    shared_with_host: bool
    sparse: bool = True

    def copy_bank(self, bank: np.ndarray) -> np.ndarray:
        """Copies constant bank 0 to the place whose address kernels may take."""
        self.bank[: len(bank)] = bank
        return bank

    def nearest(self, address: int) -> tuple[Region, int] | None:
        """See `nearest_region`."""
        return nearest_region(tuple(self.regions.values()), address)


@dataclass
class Window:
    """The window, in a file in memory that cannot change its size. `checked`: it keeps which bytes
    were written."""

    checked: bool = False
    descriptor: int = -1
    owned: list[Owned] = field(default_factory=list)
    peers: set[tuple[int, int]] = field(default_factory=set)
    heap_bytes: int = HEAP_BYTES
    named: int = 0

    def __post_init__(self) -> None:
        self.descriptor = os.memfd_create("cuda-window", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.descriptor, LIMIT)
        fcntl.fcntl(self.descriptor, fcntl.F_ADD_SEALS, _SEALS)
        flags = mmap.MAP_SHARED | getattr(mmap, "MAP_NORESERVE", 0x4000)
        self.bytes = np.frombuffer(mmap.mmap(self.descriptor, LIMIT, flags=flags), np.uint8)
        self._written = (
            make_zeros(LIMIT - FIRST_OFFSET, np.uint8, sparse=True) if self.checked else None
        )
        self._used: Counter[str] = Counter()
        self._heaps: dict[int, Heap] = {}
        self._views: dict[int, DeviceView] = {}
        self._free = FIRST_OFFSET
        self._heap_end = HEAP_OFFSET
        self.bank = self.place("constant bank 0", BANK_BYTES, 0, Space.MANAGED)

    def place(self, name: str, size_bytes: int, device: int, space: Space) -> Region:
        """Places a region of the session: in order, so that equal programs have equal addresses.
        Raises WindowFull."""
        self._used[name] += 1
        if self._used[name] > 1:
            name = f"{name} ({self._used[name]})"
        region = Region(name, self._free, max(1, size_bytes))
        after = self._free + region.size_bytes + RED_ZONE
        if after > HEAP_OFFSET:
            raise WindowFull
        self._free = -(-after // ALIGNMENT) * ALIGNMENT
        self._insert(Owned(region, device, space))
        self.mark(region.offset, region.size_bytes)
        return region

    def add_heap(self, device: int) -> None:
        """Gives the kernels of a device a heap, of the size that the program set before. Raises
        WindowFull."""
        if device in self._heaps:
            return
        region = Region(f"heap of device {device}", self._heap_end, self.heap_bytes)
        if region.offset + region.size_bytes + RED_ZONE > CLIENT_OFFSET:
            raise WindowFull
        self._heap_end += -(-(region.size_bytes + RED_ZONE) // ALIGNMENT) * ALIGNMENT
        self._insert(Owned(region, device, Space.DEVICE))
        self._heaps[device] = make_heap(
            region.address, self.host_base + region.offset, region.size_bytes
        )
        self.mark(region.offset, region.size_bytes)

    def allocate(self, offset: int, size_bytes: int, device: int, space: Space) -> None:
        """A region of the program. Raises Occupied."""
        if offset < CLIENT_OFFSET or size_bytes < 1 or offset + size_bytes > LIMIT:
            raise Occupied
        self.named += 1
        self._insert(Owned(Region(f"allocation {self.named}", offset, size_bytes), device, space))
        self.mark(offset, size_bytes, written=space in SEEN_BY_ALL)

    def free(self, offset: int) -> None:
        """Removes the region at an offset. Raises Occupied."""
        index = self._index(offset)
        if index == len(self.owned) or self.owned[index].region.offset != offset:
            raise Occupied
        del self.owned[index]
        self._views.clear()

    def mark(self, offset: int, size_bytes: int, *, written: bool = True) -> None:
        """Notes that bytes have contents, or none; only in the checked mode."""
        if self._written is not None:
            self._written[offset - FIRST_OFFSET :][:size_bytes] = written

    def connect(self, device: int, peer: int, *, enabled: bool) -> None:
        """Lets kernels of a device access a peer's memory, or not."""
        (self.peers.add if enabled else self.peers.discard)((device, peer))
        self._views.clear()

    def view(self, device: int) -> DeviceView:
        """The present regions for kernels of a device."""
        known = self._views.get(device)
        if known is None:
            seen = [each.region for each in self.owned if self._sees(device, each)]
            heap = self._heaps.get(device)
            last = self.owned[-1].region if self.owned else self.bank
            past = last.offset + last.size_bytes + RED_ZONE - FIRST_OFFSET
            known = DeviceView(
                {region.name: region for region in seen},
                buffer_records(seen),
                self.host_base,
                self.of(self.bank),
                self.bank.address,
                0 if heap is None else heap.state.ctypes.data,
                None if self._written is None else self._written[:past],
                any(map(_is_shared_with_host, self.owned)),
            )
            self._views[device] = known
        return known

    def of_program(self) -> tuple[Region, ...]:
        """The regions that the program allocates, and its variables."""
        own = f"__device__ {GRID_WORKSPACE.name}"
        return tuple(
            region
            for region in (each.region for each in self.owned)
            if region.offset >= CLIENT_OFFSET
            or (region.name.startswith("__device__ ") and not region.name.startswith(own))
        )

    def size_at(self, offset: int) -> int:
        """The size of the region that starts at an offset; 0 if there is none."""
        index = self._index(offset)
        found = self.owned[index].region if index < len(self.owned) else self.bank
        return found.size_bytes if found.offset == offset else 0

    @property
    def host_base(self) -> int:
        """Host address of offset 0."""
        return int(self.bytes.ctypes.data)

    def of(self, region: Region) -> np.ndarray:
        """The bytes of a region, in place."""
        return self.bytes[region.offset : region.offset + region.size_bytes]

    def _sees(self, device: int, each: Owned) -> bool:
        shared = each.space in SEEN_BY_ALL
        return shared or each.device == device or (device, each.device) in self.peers

    def _index(self, offset: int) -> int:
        return bisect_left(self.owned, offset, key=lambda each: each.region.offset)

    def _insert(self, owned: Owned) -> None:
        region = owned.region
        index = self._index(region.offset)
        before = self.owned[index - 1].region if index else Region("", 0, 0)
        after = self.owned[index].region.offset if index < len(self.owned) else LIMIT
        if before.offset + before.size_bytes > region.offset:
            raise Occupied
        if region.offset + region.size_bytes > after:
            raise Occupied
        self.owned.insert(index, owned)
        self._views.clear()


def _is_shared_with_host(each: Owned) -> bool:
    return each.space in SEEN_BY_ALL and each.region.offset >= CLIENT_OFFSET


def offset_of(address: int) -> int:
    """The offset of a device address in the window; negative or beyond LIMIT for other
    addresses."""
    return address - (WINDOW << 32)
