"""Digests of memory that is too large to copy, to test whether its contents have changed."""

from __future__ import annotations

import os

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import DIGEST_BLOCK_BYTES


class Digests:
    """Computes digests with a random key.

    For two different contents of equal size, chosen without the key, the probability of equal
    digests is at most 1 in 2**64 (cpp/memory/digests.cpp).
    """

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._key = np.frombuffer(_draw_key(), dtype=np.uint64)

    def of(self, view: np.ndarray) -> np.ndarray:
        """The digest of a row of bytes: (blocks, 2) words, a sum per block as lower and upper
        word."""
        sums = np.empty((-(-len(view) // DIGEST_BLOCK_BYTES), 2), dtype=np.uint64)
        self._runtime.digest(view.ctypes.data, len(view), self._key.ctypes.data, sums.ctypes.data)
        return sums


def _draw_key() -> bytes:
    return os.urandom(DIGEST_BLOCK_BYTES)
