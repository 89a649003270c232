"""The heap of device code (cpp/memory/heap.cpp): its size and its records."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from grader.emulator.isa.program import Variable
from grader.emulator.layouts.blocks import pointer_to

SYSTEM_WINDOW, MALLOC, FREE = 0x7E00, 0x300, 0x400
"""Upper word of the addresses of system functions; lower words of two of them."""
RESERVE_PARAMETERS, LAUNCH_KERNEL = 0x500, 0x600
"""Lower words of cudaGetParameterBufferV2 and cudaLaunchDeviceV2."""
LAUNCH_WORDS, LAUNCH_HEAD_BYTES, LAUNCH_PARAMETER_BYTES = 9, 64, 4096
"""The arguments of cudaGetParameterBufferV2 as words: kernel (two), grid, block, dynamic shared
memory. They lie before the memory for the parameters, of which a kernel has up to 4 KiB."""
HEAP_BYTES, HEAP_STEP_BYTES = 8 << 20, 16
"""The GPU's default size (`cudaLimitMallocHeapSize`), and the allocation unit."""
HEAP_STATE = np.dtype(
    [
        ("address", "u8"),
        ("host", "u8"),
        ("steps", "u4"),  # its size in allocation units
        ("lock", "u4"),
        ("next", "u4"),  # start of the unused rest; this and all below in steps
        ("live", "u4"),  # allocated pieces
        # a number per step: the size of the allocated piece that starts there; the last freed
        # piece of this size; for a freed piece, the piece that was freed before it
        ("sizes", pointer_to("uint32_t")),
        ("unused", pointer_to("uint32_t")),
        ("links", pointer_to("uint32_t")),
    ],
    align=True,
)
HEAP = Variable("heap", HEAP_BYTES)
HEAP_FUNCTIONS = ("malloc", "free")


@dataclass(frozen=True)
class Heap:
    """The HEAP_STATE record of a heap, and the arrays that it points to."""

    state: np.ndarray
    arrays: np.ndarray


def make_heap(address: int, host: int, size_bytes: int = HEAP_BYTES) -> Heap:
    """An empty heap at a device address and a host address."""
    state, steps = np.zeros(1, dtype=HEAP_STATE), size_bytes // HEAP_STEP_BYTES
    arrays = np.zeros((3, steps + 1), dtype=np.uint32)
    state["address"], state["host"], state["steps"] = address, host, steps
    for name, row in zip(("sizes", "unused", "links"), arrays, strict=True):
        state[name] = row.ctypes.data
    return Heap(state, arrays)
