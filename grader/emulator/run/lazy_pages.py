"""Large memory whose pages are allocated on the first write, and the list of written pages. A file
in memory that is filled already may provide the pages of a buffer.

A page that repeats a word, or is part of a file, is mapped and copied on the first write
(`MAP_PRIVATE`). If little of a buffer is accessed, filling it then takes no time, and memory only
for written pages. If all of it is accessed, huge pages cost a tenth of that.
"""

from __future__ import annotations

import contextlib
import ctypes
import functools
import mmap
import os
from pathlib import Path

import numpy as np
from numpy.typing import DTypeLike

PAGE_BYTES = mmap.PAGESIZE
PATTERN_BYTES = 2 << 20
"""Size of the pattern that repeats a word; it fits in the caches."""
LARGE_BYTES = 8 << 20
"""From this size on, it is faster to fill pages on the first write, at a few microseconds each."""

_MAP_FIXED, _MAP_NORESERVE = 0x10, 0x4000
_offered: list[tuple[int, int]] = []
_PAGEMAP = Path("/proc/self/pagemap")
_PRESENT, _SWAPPED, _OF_FILE = (np.uint64(1 << bit) for bit in (63, 62, 61))
"""Bits of an entry of a process' page map (Linux: Documentation/admin-guide/mm/pagemap.rst)."""


def allocate_pages(size_bytes: int, *, sparse: bool) -> np.ndarray:
    """Uninitialised bytes; large arrays start at a page. `sparse`: the caller will write little of
    it."""
    if size_bytes < LARGE_BYTES:
        return np.empty(size_bytes, np.uint8)
    return _reserve(size_bytes, mmap.MADV_NOHUGEPAGE if sparse else mmap.MADV_HUGEPAGE)


def make_zeros(count: int, kind: DTypeLike, *, sparse: bool) -> np.ndarray:
    """Zeroed elements; `sparse`: as for `allocate_pages`."""
    size_bytes = count * np.dtype(kind).itemsize
    if not sparse or size_bytes < LARGE_BYTES:
        return np.zeros(count, kind)
    return allocate_pages(size_bytes, sparse=True).view(kind)


def fill(view: np.ndarray, word: int, *, sparse: bool) -> slice:
    """Fills a part of such memory with a word of 4 bytes.

    With `sparse`, returns the range of bytes whose pages take memory only once they are written.
    """
    pattern = _pattern_file(word) if sparse else None
    paged = slice(0, 0) if pattern is None else _find_pages(view)
    for part in (view[: paged.start], view[paged.stop :]):
        whole = len(part) // 4 * 4
        part[:whole].view("<u4")[:] = word
        part[whole:] = np.frombuffer(word.to_bytes(4, "little"), np.uint8)[: len(part) - whole]
    if pattern is not None:
        for at in range(paged.start, paged.stop, PATTERN_BYTES):
            _map(view[at : min(at + PATTERN_BYTES, paged.stop)], pattern)
    return paged


def offer_file(descriptor: int, word: int) -> None:
    """Offers a file in memory, filled with a word of 4 bytes, to the next buffer of its size that
    is filled with this word."""
    _offered.append((descriptor, word))


def map_offered(view: np.ndarray, word: int) -> int | None:
    """Maps an offered file of this size and word over a buffer: writes to the buffer change it.
    Returns its descriptor; None where there is no such file."""
    whole = _find_pages(view) == slice(0, len(view))
    for descriptor, of_word in _offered:
        if whole and of_word == word and os.fstat(descriptor).st_size == len(view):
            _offered.remove((descriptor, of_word))
            # a fault for each page would take three times as long
            _map(view, descriptor, mmap.MAP_SHARED | mmap.MAP_POPULATE)
            return descriptor
    return None


def detach(view: np.ndarray, descriptor: int) -> None:
    """From now on, writes to a buffer do not change the file that was mapped over it."""
    _map(view, descriptor)


def fill_from_file(view: np.ndarray, descriptor: int) -> slice:
    """Fills a part of such memory with a file of its size, which must not change. Returns the range
    of bytes whose pages take memory only once they are written."""
    paged = _find_pages(view)
    if paged.start:  # the file starts at a page
        paged = slice(0, 0)
    if paged.stop:
        _map(view[paged], descriptor)
    os.preadv(descriptor, [view[paged.stop :].data], paged.stop)
    return paged


def written_pages(view: np.ndarray) -> np.ndarray:
    """Numbers of the pages that may have been written since `fill` or `fill_from_file` returned
    their range: exactly the written pages if the system shows them, else all."""
    if not _shows_written_pages():
        return np.arange(len(view) // PAGE_BYTES)
    return np.flatnonzero(_read_written(view))


def _reserve(size_bytes: int, advice: int) -> np.ndarray:
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | _MAP_NORESERVE
    try:
        memory = mmap.mmap(-1, size_bytes, flags=flags)
    except OSError as error:
        raise MemoryError(f"no {size_bytes:,} bytes of address space: {error}") from None
    with contextlib.suppress(OSError):  # a system without huge pages
        memory.madvise(advice)
    return np.frombuffer(memory, dtype=np.uint8)


def _find_pages(view: np.ndarray) -> slice:
    """The range of whole pages in a large view of reserved memory; empty for other views."""
    owner: object = view
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, memoryview):  # NumPy's reference to a buffer
        owner = owner.obj
    if len(view) < LARGE_BYTES or not isinstance(owner, mmap.mmap):
        return slice(0, 0)
    first = -view.ctypes.data % PAGE_BYTES
    return slice(first, first + (len(view) - first) // PAGE_BYTES * PAGE_BYTES)


@functools.cache
def _pattern_file(word: int) -> int | None:
    """A file in memory that repeats a word; None if the system does not support such files."""
    try:
        descriptor = os.memfd_create("word", os.MFD_CLOEXEC)
    except OSError:
        return None
    os.write(descriptor, np.full(PATTERN_BYTES // 4, word, dtype="<u4").tobytes())
    return descriptor


def _map(view: np.ndarray, descriptor: int, kind: int = mmap.MAP_PRIVATE) -> None:
    """Maps a file's first pages over these pages; by default, a write copies them."""
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address = view.ctypes.data
    if _mmap()(address, len(view), access, kind | _MAP_FIXED, descriptor, 0) != address:
        raise MemoryError(f"mmap: {os.strerror(ctypes.get_errno())}")


@functools.cache
def _mmap() -> ctypes._NamedFuncPointer:
    """`mmap` of the C library: Python's `mmap` cannot map at a given address."""
    function = ctypes.CDLL(None, use_errno=True).mmap
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    function.restype = ctypes.c_void_p
    return function


@functools.cache
def _shows_written_pages() -> bool:
    """Whether the page map shows written pages; in some sandboxes it does not."""
    probe = allocate_pages(LARGE_BYTES, sparse=True)
    if not fill(probe, 1, sparse=True).stop:
        return False
    probe[PAGE_BYTES] = 0
    int(probe[2 * PAGE_BYTES])
    try:
        written = _read_written(probe)[:3]
    except OSError:
        return False
    return bool(np.array_equal(written, [False, True, False]))


def _read_written(view: np.ndarray) -> np.ndarray:
    """Whether each page was replaced by a private copy. Raises OSError."""
    count, first = len(view) // PAGE_BYTES, view.ctypes.data // PAGE_BYTES
    with _PAGEMAP.open("rb", buffering=0) as pages:
        pages.seek(8 * first)
        raw = pages.read(8 * count)
    if len(raw) != 8 * count:
        raise OSError("the page map is too short")
    entries = np.frombuffer(raw, dtype=np.uint64)
    own = (entries & _PRESENT != 0) & (entries & _OF_FILE == 0)
    return np.asarray(own | (entries & _SWAPPED != 0))
