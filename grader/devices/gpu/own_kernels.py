"""Runs the grader's own kernels: digests of buffers, and the copy bandwidth of the memory."""

from __future__ import annotations

from statistics import median

import numpy as np
import pycuda.driver as cuda

from grader.devices.gpu.ptx import COPY_BLOCK, COPY_QUADS, DIGEST_BLOCK, PTX, WORD_BYTES

COPY_BYTES = 256 << 20
COPY_RUNS = 41
"""On an H200, the median of 7 runs varies by 4 %, that of 41 by 0.3 %."""


class OwnKernels:
    """The grader's kernels in the current context, for a GPU with this many multiprocessors."""

    def __init__(self, multiprocessors: int) -> None:
        self._module = cuda.module_from_buffer(PTX.encode() + b"\0")
        self._digest = self._module.get_function("digest")
        self._blocks = 4 * multiprocessors
        self._sums = cuda.mem_alloc(WORD_BYTES * DIGEST_BLOCK * self._blocks)

    def digest(self, address: int, size_bytes: int) -> int:
        """A position-dependent 64-bit digest of `size_bytes` from an address that is a multiple of
        WORD_BYTES.

        The bytes behind them fill the last word. Waits for all work on the GPU.
        """
        threads = self._blocks * DIGEST_BLOCK
        sums = np.empty(threads, dtype=np.uint64)
        arguments = map(np.uint64, (address, -(-size_bytes // WORD_BYTES), int(self._sums)))
        self._digest(*arguments, grid=(self._blocks, 1), block=(DIGEST_BLOCK, 1, 1))
        cuda.memcpy_dtoh(sums, self._sums)
        return int(sums.sum(dtype=np.uint64))

    def copy_bandwidth(self, runs: int = COPY_RUNS) -> float:
        """The rate of the best copy kernel in 10^9 B/s, bytes read plus bytes written; the rate of
        each kernel is its median run."""
        source, target = cuda.mem_alloc(COPY_BYTES), cuda.mem_alloc(COPY_BYTES)
        milliseconds = [
            median(self._time_copy(quads, int(target), int(source)) for _ in range(runs))
            for quads in COPY_QUADS
        ]
        return 2 * COPY_BYTES / min(milliseconds) / 1e6

    def _time_copy(self, quads: int, target: int, source: int) -> float:
        kernel = self._module.get_function(f"copy{quads}")
        blocks = COPY_BYTES // (16 * COPY_BLOCK * quads)
        start, end = cuda.Event(), cuda.Event()
        # Keeps the GPU busy until the copy is queued behind it, and fills L2 with lines that the
        # copy does not read first.
        cuda.memset_d32_async(source, quads, COPY_BYTES // 4)
        start.record()
        kernel(np.uint64(target), np.uint64(source), grid=(blocks, 1), block=(COPY_BLOCK, 1, 1))
        end.record()
        end.synchronize()
        return float(start.time_till(end))
