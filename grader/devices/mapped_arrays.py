"""Arrays that another process can map: each is a file in memory that is read-only once it holds the
array. Arrays whose memory is returned to the system while they are sent. And files in which another
process writes an array."""

from __future__ import annotations

import fcntl
import mmap
import os
import threading
import weakref
from collections.abc import Iterable, Iterator

import numpy as np

SHARED_BYTES = 8 << 20
"""Arrays from this size on are shared: a copy of a smaller array is cheaper than a file."""
LARGE_BYTES = 128 << 20
"""From this size on, it matters that memory is returned early, provided ahead, and used once."""
SPENT_BYTES = 8 << 20
"""The size of the pieces of an array that is sent while its memory is returned."""
_SEALS = fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SEAL


class _Mapped(mmap.mmap):
    """A file that stays mapped as a whole as long as an array of it exists."""

    descriptor: int


def gather_shared(
    pieces: Iterable[np.ndarray], shape: tuple[int, ...], dtype: np.dtype
) -> np.ndarray:
    """A read-only array of the pieces, shared if it is large; see
    `spec.draws.gather_in_memory`."""
    from grader.spec.draws import gather_in_memory  # loads the exercises, which no worker needs

    size_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    if size_bytes < SHARED_BYTES:
        return gather_in_memory(pieces, shape, dtype)
    try:
        descriptor = os.memfd_create("array", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    except OSError:  # some sandboxes forbid it
        return gather_in_memory(pieces, shape, dtype)
    with open(descriptor, "wb", closefd=False) as file:  # written, not mapped: no page is zeroed
        for piece in pieces:
            file.write(piece.data)
    seal(descriptor)
    return map_array(descriptor, shape, dtype)


def map_array(descriptor: int, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """The read-only array in a file; the file is closed when the array is deleted. Raises
    ValueError where the file has another size, or is not sealed."""
    size_bytes = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
    try:
        sealed = fcntl.fcntl(descriptor, fcntl.F_GET_SEALS) & _SEALS == _SEALS
    except OSError:  # no file in memory
        sealed = False
    if not sealed or not size_bytes or os.fstat(descriptor).st_size != size_bytes:
        os.close(descriptor)
        raise ValueError("the file of an array is none")
    mapped = _Mapped(descriptor, size_bytes, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
    mapped.descriptor = descriptor
    weakref.finalize(mapped, os.close, descriptor)
    return np.frombuffer(mapped, dtype=dtype).reshape(shape)


def find_file(array: np.ndarray) -> int | None:
    """The descriptor of the file that holds exactly this array; None without such a file."""
    owner, whole = _find_owner(array)
    if not isinstance(owner, _Mapped):
        return None
    same = array.ctypes.data == whole.ctypes.data and array.nbytes == whole.nbytes
    return owner.descriptor if same and array.flags.c_contiguous else None


def spend(array: np.ndarray) -> Iterator[memoryview]:
    """The bytes of a contiguous array in pieces. A piece is invalid once the next piece is
    requested: its mapped pages are returned to the system."""
    owner, whole = _find_owner(array)
    pages = owner if isinstance(owner, mmap.mmap) else None
    data, first = array.data.cast("B"), array.ctypes.data - whole.ctypes.data
    spent = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE
    for at in range(0, array.nbytes, SPENT_BYTES):
        piece = data[at : at + SPENT_BYTES]
        yield piece
        end = (first + at + len(piece)) // mmap.PAGESIZE * mmap.PAGESIZE
        if pages is not None and end > spent:
            pages.madvise(mmap.MADV_DONTNEED, spent, end - spent)
            spent = end


class FilledFile:
    """A file in memory, of whole pages, that a thread fills with a word of 4 bytes. A process that
    gets its descriptor can map it, write an array in it, seal it, and send it back: then its pages
    are provided once, and before they are needed."""

    def __init__(self, size_bytes: int, word: int) -> None:
        self.size_bytes = size_bytes
        self.descriptor = os.memfd_create("output", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        weakref.finalize(self, os.close, self.descriptor)
        piece = np.full(min(SPENT_BYTES, size_bytes) // 4, word, dtype="<u4")
        self._thread = threading.Thread(target=self._fill, args=(piece.data,), daemon=True)
        self._thread.start()

    def wait(self) -> None:
        """Returns once it is filled."""
        self._thread.join()

    def _fill(self, piece: memoryview) -> None:
        for at in range(0, self.size_bytes, piece.nbytes):
            os.write(self.descriptor, piece[: (self.size_bytes - at) // piece.itemsize])


def fill_file(size_bytes: int, word: int) -> FilledFile | None:
    """A file for an array of this size; None for small arrays, for sizes of no whole pages, and
    where the system forbids such files."""
    if size_bytes < LARGE_BYTES or size_bytes % mmap.PAGESIZE:
        return None
    try:
        return FilledFile(size_bytes, word)
    except OSError:
        return None


def seal(descriptor: int) -> None:
    """Makes a file read-only for ever. Raises OSError where a process can write to it."""
    fcntl.fcntl(descriptor, fcntl.F_ADD_SEALS, _SEALS)


def _find_owner(array: np.ndarray) -> tuple[object, np.ndarray]:
    """The object that owns the memory of an array, and the array of this whole memory."""
    owner: object = array
    while isinstance(owner, np.ndarray):
        whole, owner = owner, owner.base
    if isinstance(owner, memoryview):  # numpy's reference to a buffer
        owner = owner.obj
    return owner, whole
