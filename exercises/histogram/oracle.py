"""The expected outputs: `counts[v]` is the number of elements of `in` that are v."""

from collections.abc import Mapping

import numpy as np

BINS = 256


def draw_values(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """Like the pixels of a scan: a quarter has the value of the paper, 255, the others are
    uniform."""
    values = rng.integers(0, BINS, shape, dtype=np.int32)
    values[rng.integers(0, 4, shape, dtype=np.int8) == 0] = BINS - 1
    return values


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` has the shape (n,) and `counts` (256,)."""
    return {"counts": np.bincount(inputs["in"], minlength=BINS).astype(np.int32)}


def library(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The same with operators of NumPy, CuPy and PyTorch alike: `grade sweep` compares with it."""
    values = inputs["in"]
    if hasattr(values, "bincount"):
        return {"counts": values.bincount(minlength=BINS)}
    return {"counts": np.bincount(values, minlength=BINS)}
