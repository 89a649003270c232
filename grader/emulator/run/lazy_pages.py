"""Large memory in pages of the system: what takes none until it is written, and which pages were.

A page that stands for a word, or for a part of a file, is mapped, and copied when it is first
written (`MAP_PRIVATE`). Where little of a buffer is touched, filling it takes no time then, and no
memory but that of the pages which are written. Where all of it is, huge pages cost a tenth of that.
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
"""A word is repeated to so many bytes, which the caches hold."""
LARGE_BYTES = 8 << 20
"""From here on it pays to fill pages where they are written: each costs a few microseconds."""

_MAP_FIXED, _MAP_NORESERVE = 0x10, 0x4000
_PAGEMAP = Path("/proc/self/pagemap")
_PRESENT, _SWAPPED, _OF_FILE = (np.uint64(1 << bit) for bit in (63, 62, 61))
"""Bits of an entry of a process' page map (Linux: Documentation/admin-guide/mm/pagemap.rst)."""


def make_room(size_bytes: int, *, sparse: bool) -> np.ndarray:
    """Bytes that hold anything; large room starts at a page. `sparse`: little of it will be
    written."""
    if size_bytes < LARGE_BYTES:
        return np.empty(size_bytes, np.uint8)
    return _reserve(size_bytes, mmap.MADV_NOHUGEPAGE if sparse else mmap.MADV_HUGEPAGE)


def make_zeros(count: int, kind: DTypeLike, *, sparse: bool) -> np.ndarray:
    """A row of elements that are 0; `sparse`: as for `make_room`."""
    size_bytes = count * np.dtype(kind).itemsize
    if not sparse or size_bytes < LARGE_BYTES:
        return np.zeros(count, kind)
    return make_room(size_bytes, sparse=True).view(kind)


def fill(view: np.ndarray, word: int, *, sparse: bool) -> slice:
    """Fill a part of such memory with a word of 4 bytes.

    `sparse`: little of it will be written; returns which bytes are pages that take memory only once
    they are.
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


def fill_from_file(view: np.ndarray, descriptor: int) -> slice:
    """Let a part of such memory hold what a file of its size holds, and goes on to hold; returns
    which bytes are pages that take memory only once they are written."""
    paged = _find_pages(view)
    if paged.start:  # the file starts at a page
        paged = slice(0, 0)
    if paged.stop:
        _map(view[paged], descriptor)
    os.preadv(descriptor, [view[paged.stop :].data], paged.stop)
    return paged


def written_pages(view: np.ndarray) -> np.ndarray:
    """The numbers of the pages, of those that `fill` or `fill_from_file` returned, which may have
    been written since: only these where the system tells, else all of them."""
    if not _system_tells():
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
    """The bytes that are whole pages, of a large view of reserved memory; none of any other."""
    owner: object = view
    while isinstance(owner, np.ndarray):
        owner = owner.base
    if isinstance(owner, memoryview):  # what numpy holds a buffer by
        owner = owner.obj
    if len(view) < LARGE_BYTES or not isinstance(owner, mmap.mmap):
        return slice(0, 0)
    first = -view.ctypes.data % PAGE_BYTES
    return slice(first, first + (len(view) - first) // PAGE_BYTES * PAGE_BYTES)


@functools.cache
def _pattern_file(word: int) -> int | None:
    """A file in memory that repeats a word; None where the system has no such files."""
    try:
        descriptor = os.memfd_create("word", os.MFD_CLOEXEC)
    except OSError:
        return None
    os.write(descriptor, np.full(PATTERN_BYTES // 4, word, dtype="<u4").tobytes())
    return descriptor


def _map(view: np.ndarray, descriptor: int) -> None:
    """Put a file's first pages in the place of pages; they are copied when they are written."""
    access = mmap.PROT_READ | mmap.PROT_WRITE
    address = view.ctypes.data
    if _mmap()(address, len(view), access, mmap.MAP_PRIVATE | _MAP_FIXED, descriptor, 0) != address:
        raise MemoryError(f"mmap: {os.strerror(ctypes.get_errno())}")


@functools.cache
def _mmap() -> ctypes._NamedFuncPointer:
    """The C library's `mmap`: Python's own maps nothing at a given address."""
    function = ctypes.CDLL(None, use_errno=True).mmap
    integer = ctypes.c_int
    function.argtypes = [
        ctypes.c_void_p,
        ctypes.c_size_t,
        integer,
        integer,
        integer,
        ctypes.c_long,
    ]
    function.restype = ctypes.c_void_p
    return function


@functools.cache
def _system_tells() -> bool:
    """Whether the page map says which pages were written; some sandboxes have one that says
    nothing."""
    probe = make_room(LARGE_BYTES, sparse=True)
    if not fill(probe, 1, sparse=True).stop:
        return False
    probe[PAGE_BYTES] = 0
    int(probe[2 * PAGE_BYTES])
    try:
        told = _read_written(probe)[:3]
    except OSError:
        return False
    return bool(np.array_equal(told, [False, True, False]))


def _read_written(view: np.ndarray) -> np.ndarray:
    """Of each page whether it is no longer one of the file that was mapped. Raises OSError."""
    count, first = len(view) // PAGE_BYTES, view.ctypes.data // PAGE_BYTES
    with _PAGEMAP.open("rb", buffering=0) as pages:
        pages.seek(8 * first)
        raw = pages.read(8 * count)
    if len(raw) != 8 * count:
        raise OSError("the page map is too short")
    entries = np.frombuffer(raw, dtype=np.uint64)
    own = (entries & _PRESENT != 0) & (entries & _OF_FILE == 0)
    return np.asarray(own | (entries & _SWAPPED != 0))
