"""Digests of memory that is too large to keep twice: whether it holds what it held before."""

from __future__ import annotations

import os

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import DIGEST_BLOCK_BYTES


class Digests:
    """Makes digests with a key of its own, which is drawn afresh.

    Two contents of one size that were chosen without knowing the key have the same digest by a
    chance of at most 1 in 2**64 (cpp/memory/digests.cpp).
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._key = np.frombuffer(_draw_key(), dtype=np.uint64)

    def of(self, view: np.ndarray) -> np.ndarray:
        """The digest of a row of bytes: a sum for each block, as its lower and its upper word."""
        sums = np.empty((-(-len(view) // DIGEST_BLOCK_BYTES), 2), dtype=np.uint64)
        self._runtime.digest(view.ctypes.data, len(view), self._key.ctypes.data, sums.ctypes.data)
        return sums


def _draw_key() -> bytes:
    return os.urandom(DIGEST_BLOCK_BYTES)
