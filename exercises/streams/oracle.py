"""The expected output of main.cu: the cascade of filters in float64."""

from collections.abc import Mapping, Sequence

import numpy as np

GROUP, STAGES, RATE = 128, 32, 0.5


def make_signals(count: int, seed: int) -> np.ndarray:
    bits = np.arange(count, dtype=np.uint32) * np.uint32(2654435761)
    bits += np.uint32(seed * 40503 % (1 << 32))
    bits ^= bits >> np.uint32(15)
    bits *= np.uint32(2246822519)
    return (bits >> np.uint32(22)) / 64.0 - 8.0 + np.arange(count) % GROUP / 32.0


def smooth(signals: np.ndarray) -> np.ndarray:
    """`signals`: groups × samples × GROUP."""
    groups, samples, _ = signals.shape
    state = np.zeros((STAGES, groups, GROUP))
    out = np.empty_like(signals)
    for t in range(samples):
        value = signals[:, t]
        for stage in state:
            stage += RATE * (value - stage)
            value = stage
        out[:, t] = value
    return out


def expected(args: Sequence[str], stdin: str, files: Mapping[str, bytes]) -> str:
    groups, samples, seed = map(int, args)
    signals = make_signals(groups * samples * GROUP, seed)
    out = smooth(signals.reshape(groups, samples, GROUP)).reshape(groups, -1)
    weights = np.arange(samples * GROUP, dtype=np.int64) * 40503 % 1024 / 1024.0
    sums = (out * weights).sum(axis=1)
    return "".join(
        f"group {g}: {sums[g]:.3f} {out[g, 0]:.4f} {out[g, -1]:.4f}\n" for g in range(groups)
    )
