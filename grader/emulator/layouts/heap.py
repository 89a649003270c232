"""The heap of device code (cpp/memory/heap.cpp): its size and its records."""

from __future__ import annotations

import numpy as np

from grader.emulator.isa.program import Variable

SYSTEM_WINDOW, MALLOC, FREE = 0x7E00, 0x300, 0x400
"""Upper word of the addresses of system functions; lower words of two of them."""
HEAP_BYTES, HEAP_STEP_BYTES = 8 << 20, 16
"""The GPU's default size (`cudaLimitMallocHeapSize`), and the allocation unit."""
HEAP_STEPS = HEAP_BYTES // HEAP_STEP_BYTES
HEAP_STATE = np.dtype(
    [
        ("address", "u8"),
        ("host", "u8"),
        ("lock", "u4"),
        ("next", "u4"),  # start of the unused rest; this and all below in steps
        ("live", "u4"),  # allocated pieces
        ("sizes", "u4", HEAP_STEPS),  # of the allocated piece that starts there
        # the last freed piece of each size, and for a freed piece the one before it
        ("unused", "u4", HEAP_STEPS),
        ("links", "u4", HEAP_STEPS),
    ],
    align=True,
)
HEAP = Variable("heap", HEAP_BYTES)
HEAP_FUNCTIONS = ("malloc", "free")


def make_heap(address: int, host: int) -> np.ndarray:
    """The records of an empty heap at a device address and a host address."""
    heap = np.zeros(1, dtype=HEAP_STATE)
    heap["address"], heap["host"] = address, host
    return heap
