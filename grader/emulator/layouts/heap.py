"""The heap of device code (cpp/memory/heap.cpp): its place, its size, and its records."""

from __future__ import annotations

import numpy as np

from grader.emulator.isa.program import Variable

SYSTEM_WINDOW, MALLOC, FREE = 0x7E00, 0x300, 0x400
"""Upper words of the addresses that stand for functions of the system; lower words of two."""
HEAP_BYTES, HEAP_STEP_BYTES = 8 << 20, 16
"""As large as a GPU makes it that is not asked for another size (`cudaLimitMallocHeapSize`), and
multiples at which pieces lie."""
HEAP_STEPS = HEAP_BYTES // HEAP_STEP_BYTES
HEAP_STATE = np.dtype(
    [
        ("address", "u8"),
        ("host", "u8"),
        ("lock", "u4"),
        ("next", "u4"),  # where nothing was given out yet; this and all below in steps
        ("live", "u4"),  # pieces given out
        ("sizes", "u4", HEAP_STEPS),  # of the piece that starts there and is given out
        # the last piece of each size that was given back, and the one before it
        ("unused", "u4", HEAP_STEPS),
        ("links", "u4", HEAP_STEPS),
    ],
    align=True,
)
HEAP = Variable("heap", HEAP_BYTES)
HEAP_FUNCTIONS = ("malloc", "free")


def make_heap(address: int, host: int) -> np.ndarray:
    """The records of an empty heap at a device address and at a host's."""
    heap = np.zeros(1, dtype=HEAP_STATE)
    heap["address"], heap["host"] = address, host
    return heap
