"""How the blocks of a last, incomplete wave spread over the SMs."""

from __future__ import annotations

from functools import lru_cache
from statistics import NormalDist

import numpy as np

from grader.emulator.timing.kinds import BUSY

WAVES = 4
"""Waves of resident blocks during which blocks still start and end together."""
ENDS_CYCLES, ENDS_PART, ENDS_LOADED = 100.0, 0.002, 0.03
"""Equal blocks end at different times on different SMs. The standard deviation is the sum of some
cycles, a part of the blocks' duration, and a further part at the full bandwidth of DRAM or the L2
(H200: clocks of blocks that compute, exchange through shared memory, or load)."""


def blocks_of_last_wave(ends: np.ndarray, blocks: int, sms: int, loaded: float) -> int:
    """The most blocks of a last, incomplete wave that one of `sms` SMs gets; 0 after many waves,
    when blocks no longer start and end together. `ends`: cycles at which the resident blocks of an
    SM end; `blocks`: of the grid; `loaded`: used fraction of the bandwidth of DRAM or the L2.

    Each block that ends makes place for one. If the blocks of an SM end one after another, the last
    ones are spread evenly. If they end together, a few SMs get as many as they hold, and others
    none: on an H200, 99 blocks after a wave of 396 take as long as 354 (tails/last_wave.cu). If
    DRAM or the L2 is the limit, SMs with fewer blocks leave it to the others, and it matters little
    how blocks are spread."""
    resident, rounds = len(ends), -(-blocks // sms)
    even = rounds % resident if rounds < WAVES * resident else 0
    if not even or loaded > BUSY:
        return even
    mean, left = float(ends.mean()), blocks % (sms * resident)
    deviation = ENDS_CYCLES + mean * (ENDS_PART + ENDS_LOADED * loaded)
    made = ends[None, :] + deviation * _deviations(sms)[:, None]
    first = np.argsort(made, axis=None, kind="stable")[:left]
    return max(even, int(np.bincount(first // resident).max()))


@lru_cache
def _deviations(count: int) -> np.ndarray:
    """Values that stand for `count` draws from the standard normal distribution."""
    return np.array([NormalDist().inv_cdf((index + 0.5) / count) for index in range(count)])
