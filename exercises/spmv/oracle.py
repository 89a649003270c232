"""The expected outputs: `y` is the product of a matrix in CSR form and the vector `x`."""

from collections.abc import Mapping

import numpy as np

BAND = 64
"""Columns to each side of the diagonal that a row may use."""
LONGEST = 16
"""Length of the longest rows, in medians."""


def draw_first(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """Where each row begins, shape (rows + 1,). Lengths follow a log-normal distribution, cut off
    at LONGEST times the median: otherwise a single row decides the time of a slow kernel."""
    weights = np.minimum(rng.lognormal(0, 1, sizes["rows"]), LONGEST)
    lengths = rng.multinomial(sizes["count"], weights / weights.sum())
    return np.concatenate([[0], lengths.cumsum()]).astype(np.int32)


def draw_columns(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """The column of each element, shape (count,): near the diagonal, in any order."""
    diagonal = np.arange(shape[0], dtype=np.int64) * sizes["cols"] // shape[0]
    return ((diagonal + rng.integers(-BAND, BAND, shape[0])) % sizes["cols"]).astype(np.int32)


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`y` has the shape (rows,); summed in float64."""
    products = inputs["value"].astype(np.float64) * inputs["x"][inputs["column"]]
    sums = np.concatenate([[0.0], products.cumsum()])
    return {"y": np.diff(sums[inputs["first"]])}
