"""The heap of device code: its place, its size, and its records, which runtime/heap.cpp keeps."""

from __future__ import annotations

import numpy as np

from grader.emulator.layout import HEAP_BYTES, HEAP_STATE
from grader.emulator.program import Variable

HEAP = Variable("heap", HEAP_BYTES)
HEAP_FUNCTIONS = ("malloc", "free")


def make_heap(address: int, host: int) -> np.ndarray:
    """The records of an empty heap at a device address and at a host's."""
    heap = np.zeros(1, dtype=HEAP_STATE)
    heap["address"], heap["host"] = address, host
    return heap
