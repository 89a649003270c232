"""The device address space of global memory: variables and buffers in one window, with red zones
between them.

A device address is `WINDOW << 32 | offset`; native code adds the host base only after a check of
the address. Variables come first, so that their addresses are equal in every plan: constant bank 4
contains them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from grader.emulator.isa.program import Pointer, Variable
from grader.emulator.layouts.execution import BUFFER
from grader.emulator.layouts.heap import (
    FREE,
    HEAP,
    LAUNCH_KERNEL,
    MALLOC,
    RESERVE_PARAMETERS,
    SYSTEM_WINDOW,
    make_heap,
)
from grader.emulator.run import lazy_pages

WINDOW = 0x6A00
"""Upper 32 bits of every global address. Linux places no memory of a process there: programs lie
below 0x6600, libraries and stacks above 0x6F00, also with the largest randomisation. So the driver
library can reserve the addresses."""
FIRST_OFFSET = 1 << 20
ALIGNMENT = 512
"""cudaMalloc aligns to at least 256 bytes (CUDA C++ Programming Guide, "Size and Alignment
Requirement"); drivers use 512."""
RED_ZONE = 4096
LIMIT = 1 << 32
COMPARED_BYTES = 1 << 18
"""Size of a comparison; its data stays in the caches."""
SUCCEED, MAKE_HANDLE = 0x700, 0x800
HOST_FUNCTIONS = {
    name: SYSTEM_WINDOW << 32 | low
    for name, low in (
        ("vprintf", 0x100),
        ("__assertfail", 0x200),
        ("malloc", MALLOC),
        ("free", FREE),
        ("__cudaCDP2GetParameterBufferV2", RESERVE_PARAMETERS),
        ("__cudaCDP2LaunchDeviceV2", LAUNCH_KERNEL),
        ("__cudaCDP2LaunchDeviceV2_ptsz", LAUNCH_KERNEL),
        ("__cudaCDP2GetLastError", SUCCEED),
        ("__cudaCDP2PeekAtLastError", SUCCEED),
        ("__cudaCDP2StreamCreateWithFlags", MAKE_HANDLE),
        ("__cudaCDP2StreamDestroy", SUCCEED),
        ("__cudaCDP2StreamWaitEvent", SUCCEED),
        ("__cudaCDP2StreamWaitEvent_ptsz", SUCCEED),
        ("__cudaCDP2EventCreateWithFlags", MAKE_HANDLE),
        ("__cudaCDP2EventRecord", SUCCEED),
        ("__cudaCDP2EventRecord_ptsz", SUCCEED),
        ("__cudaCDP2EventRecordWithFlags", SUCCEED),
        ("__cudaCDP2EventRecordWithFlags_ptsz", SUCCEED),
        ("__cudaCDP2EventDestroy", SUCCEED),
    )
}
"""Addresses of the system functions that the emulator provides: those of device code, and those of
the device runtime (cuda_device_runtime_api.h). Kernels run in the order of their launches, so
streams and events of device code need no more than a handle."""
UNKNOWN_FUNCTION = 0x7E00_0000_0000
"""Address of all other system functions; a call of it ends the launch as not emulated."""


@dataclass(frozen=True)
class Region:
    """A buffer: `offset` within the window, size in bytes."""

    name: str
    offset: int
    size_bytes: int

    @property
    def address(self) -> int:
        """The device address of its first byte."""
        return WINDOW << 32 | self.offset


GRID_WORKSPACE = Variable("workspace of the grid", 64)
"""Memory with which a cooperative grid synchronises."""
BANK_OF_PARAMETERS = "constant bank 0"
"""Name of a variable with a copy of constant bank 0, for kernels that pass the address of a
parameter to a function."""


CONSTANT_MEMORY = "constant memory"
"""Name of a variable with a copy of constant bank 3, for accesses by generic addresses."""


def variable_region(name: str) -> str:
    """Name of the region of a `__device__` variable; no buffer has such a name."""
    return f"__device__ {name}"


def variable_addresses(variables: Sequence[Variable]) -> dict[str, int]:
    """Addresses of all variables and system functions. Raises MemoryError if the variables are too
    large."""
    regions = _place({variable.name: variable.size_bytes for variable in variables})
    return {**HOST_FUNCTIONS, **{name: region.address for name, region in regions.items()}}


def fill_pointers(data: bytes, pointers: Iterable[Pointer], addresses: Mapping[str, int]) -> bytes:
    """The data with the addresses of the pointers filled in."""
    filled = bytearray(data)
    for pointer in pointers:
        address = addresses.get(pointer.symbol, UNKNOWN_FUNCTION) + pointer.addend
        filled[pointer.offset : pointer.offset + 8] = address.to_bytes(8, "little")
    return bytes(filled)


def _place(sizes: Mapping[str, int]) -> dict[str, Region]:
    """Places regions in order from FIRST_OFFSET on."""
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


def _find_changed(
    now: np.ndarray, before: np.ndarray | int, where: slice, bits: np.dtype
) -> Iterator[np.ndarray]:
    """GlobalMemory.changed for the elements in the bytes `where`; compares all of them."""
    for at in range(where.start, where.stop, COMPARED_BYTES):
        part = slice(at, min(at + COMPARED_BYTES, where.stop))
        differs = now[part].view(bits) != _wanted(before, part, bits)
        yield at // bits.itemsize + np.flatnonzero(differs)


def _wanted(before: np.ndarray | int, part: slice, bits: np.dtype) -> np.ndarray:
    """The earlier contents of a part of a buffer."""
    if isinstance(before, int):
        size_bytes = part.stop - part.start
        words = np.full(-(-size_bytes // 4), before, dtype="<u4")
        return words.view(np.uint8)[:size_bytes].view(bits)
    return before.reshape(-1).view(np.uint8)[part].view(bits)


class DeviceMemory(Protocol):
    """Global memory of launches: see GlobalMemory. `buffers` are the BUFFER records of its regions,
    in ascending order."""

    @property
    def sparse(self) -> bool: ...

    @property
    def heap_host(self) -> int: ...

    @property
    def written(self) -> np.ndarray | None: ...

    @property
    def regions(self) -> Mapping[str, Region]: ...

    @property
    def buffers(self) -> np.ndarray: ...

    @property
    def bank_address(self) -> int: ...

    @property
    def host_base(self) -> int: ...

    def copy_bank(self, bank: np.ndarray) -> np.ndarray: ...

    def nearest(self, address: int) -> tuple[Region, int] | None: ...


def buffer_records(regions: Iterable[Region]) -> np.ndarray:
    """The BUFFER records of regions in ascending order."""
    return np.array([(each.offset, each.offset + each.size_bytes) for each in regions], BUFFER)


def nearest_region(regions: Collection[Region], address: int) -> tuple[Region, int] | None:
    """The nearest region to an address, and the byte offset from the region's start; None outside
    of the window."""
    if address >> 32 != WINDOW or not regions:
        return None
    offset = address & 0xFFFFFFFF

    def distance(region: Region) -> int:
        return max(region.offset - offset, offset - (region.offset + region.size_bytes - 1), 0)

    region = min(regions, key=distance)
    return region, offset - region.offset


class GlobalMemory:
    """All variables and global buffers of a plan. `sizes` maps each buffer's name to its bytes, in
    order.

    Variables hold their initial values. `sparse`: launches will access little of it.
    """

    def __init__(
        self, sizes: Mapping[str, int], variables: Sequence[Variable] = (), *, sparse: bool = False
    ) -> None:
        self.sparse = sparse
        own = {variable_region(variable.name): variable.size_bytes for variable in variables}
        self.regions = _place({**own, **sizes})
        last = max(
            self.regions.values(),
            key=lambda region: region.offset,
            default=Region("", FIRST_OFFSET, 0),
        )
        used = last.offset + last.size_bytes + RED_ZONE - FIRST_OFFSET
        self._arena = lazy_pages.allocate_pages(used + lazy_pages.PAGE_BYTES, sparse=sparse)
        # The largest buffer starts at a page, and so do buffers at whole pages from it: only these
        # can be mapped from a file.
        largest = max(sizes, key=lambda name: sizes[name], default=None)
        anchor = FIRST_OFFSET if largest is None else self.regions[largest].offset
        self._start = (FIRST_OFFSET - anchor - self._arena.ctypes.data) % lazy_pages.PAGE_BYTES
        self._paged: dict[str, slice] = {}
        self._files: dict[str, int] = {}
        self.written: np.ndarray | None = None
        self.heap_host = 0  # host address of the heap's records
        self._variables = tuple(variables)
        self.reset_variables()

    def reset_variables(self) -> None:
        """Sets all variables to their initial values."""
        addresses = variable_addresses(self._variables)
        if HEAP in self._variables:
            host = self.view(variable_region(HEAP.name)).ctypes.data
            self._heap = make_heap(addresses[HEAP.name], host)
            self.heap_host = self._heap.state.ctypes.data
        for variable in self._variables:
            view = self.view(variable_region(variable.name))
            filled = fill_pointers(variable.initial, variable.pointers, addresses)
            view[: len(filled)] = np.frombuffer(filled, dtype=np.uint8)
            view[len(filled) :] = 0

    def view(self, name: str) -> np.ndarray:
        """The bytes of a buffer, to read or write in place."""
        region = self.regions[name]
        first = self._start + region.offset - FIRST_OFFSET
        return self._arena[first : first + region.size_bytes]

    @property
    def buffers(self) -> np.ndarray:
        return buffer_records(self.regions.values())

    @property
    def bank_address(self) -> int:
        """Address of the copy of constant bank 0; 0 without a copy."""
        region = self.regions.get(variable_region(BANK_OF_PARAMETERS))
        return 0 if region is None else region.address

    def copy_bank(self, bank: np.ndarray) -> np.ndarray:
        """Copies a launch's constant bank 0 to its copy, if there is one. Returns the bank."""
        if self.bank_address:
            self.view(variable_region(BANK_OF_PARAMETERS))[: len(bank)] = bank
        return bank

    def fill(self, name: str, word: int, *, sparse: bool = False) -> None:
        """Fills a buffer with a word of 4 bytes; `sparse`: launches will write little of it."""
        view, sparse = self.view(name), sparse or self.sparse
        if sparse:
            self._files.pop(name, None)  # other pages are mapped
        elif name not in self._files:
            descriptor = lazy_pages.map_offered(view, word)
            if descriptor is not None:
                self._files[name] = descriptor
                return
        self._paged[name] = lazy_pages.fill(view, word, sparse=sparse)

    def take_file(self, name: str) -> int | None:
        """The descriptor of a file with a buffer's contents, which later launches do not change;
        None where no offered file provides its pages (lazy_pages.offer_file)."""
        descriptor = self._files.pop(name, None)
        if descriptor is not None:
            lazy_pages.detach(self.view(name), descriptor)
        return descriptor

    def fill_from(self, name: str, contents: np.ndarray, descriptor: int | None = None) -> None:
        """Fills a buffer with contents; `descriptor`: a file with the same contents, which must not
        change."""
        view = self.view(name)
        assert name not in self._files  # a buffer with contents is never filled with a word
        if descriptor is None:
            self._paged.pop(name, None)
            view[:] = contents.reshape(-1).view(np.uint8)
        else:
            self._paged[name] = lazy_pages.fill_from_file(view, descriptor)

    def changed(self, name: str, before: np.ndarray | int, kind: np.dtype) -> Iterator[np.ndarray]:
        """Indices of a buffer's elements that differ from `before`, in order, in parts that may be
        empty.

        `before`: the contents, or the word, that filled the buffer. `kind`: a type of the elements'
        size.
        """
        bits = np.dtype(f"u{kind.itemsize}")
        now, paged = self.view(name), self._paged.get(name, slice(0, 0))
        yield from _find_changed(now, before, slice(0, paged.start), bits)
        row_bytes, at_once = lazy_pages.PAGE_BYTES, COMPARED_BYTES // lazy_pages.PAGE_BYTES
        rows = now[paged].view(bits).reshape(-1, row_bytes // bits.itemsize)
        if isinstance(before, int):
            wanted = _wanted(before, slice(0, row_bytes), bits)
        else:
            wanted = _wanted(before, paged, bits).reshape(rows.shape)
        touched = lazy_pages.written_pages(now[paged])
        for numbers in (touched[at : at + at_once] for at in range(0, len(touched), at_once)):
            expected = wanted if isinstance(before, int) else wanted[numbers]
            differs = rows[numbers] != expected
            # one index is found faster than a row and a column
            before_rows = (numbers - np.arange(len(numbers))) * rows.shape[1]
            skipped = np.repeat(before_rows, np.count_nonzero(differs, axis=1))
            yield paged.start // bits.itemsize + np.flatnonzero(differs) + skipped
        yield from _find_changed(now, before, slice(paged.stop, len(now)), bits)

    def track_writes(self, unwritten: Collection[str]) -> None:
        """From now on, `written` has a byte per byte from FIRST_OFFSET on: 1 if it was written or
        is outside of the `unwritten` buffers."""
        self.written = lazy_pages.allocate_pages(len(self._arena), sparse=self.sparse)
        lazy_pages.fill(self.written, 0x01010101, sparse=self.sparse)
        for name in unwritten:
            lazy_pages.fill(self.was_written(name), 0, sparse=self.sparse)

    def was_written(self, name: str) -> np.ndarray:
        """Per byte of a buffer: 1 if it was written, else 0."""
        assert self.written is not None
        region = self.regions[name]
        first = region.offset - FIRST_OFFSET
        return self.written[first : first + region.size_bytes]

    @property
    def host_base(self) -> int:
        """Host address of offset 0 of the window. It may wrap; code uses only sums with checked
        offsets."""
        return int(self._arena.ctypes.data + self._start - FIRST_OFFSET)

    def nearest(self, address: int) -> tuple[Region, int] | None:
        """See `nearest_region`."""
        return nearest_region(self.regions.values(), address)
