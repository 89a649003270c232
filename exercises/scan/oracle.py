"""The expected outputs: `out[i]` is the sum of `in[0]` to `in[i]`, in 32 bits."""

from collections.abc import Mapping

import numpy as np


def draw_numbers(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """All 32 bits are random: sums wrap around, and no order of the additions changes them."""
    return rng.integers(-(2**31), 2**31, shape, dtype=np.int32)


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` and `out` have the shape (n,)."""
    return {"out": inputs["in"].cumsum(dtype=np.int32)}


def library(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The same with operators of NumPy, CuPy and PyTorch alike: `grade sweep` compares with it."""
    return {"out": inputs["in"].cumsum(0)}
