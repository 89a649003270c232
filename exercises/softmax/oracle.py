"""The expected outputs: each row of `out` is the softmax of the same row of `in`."""

import math
from collections.abc import Mapping

import numpy as np


def draw_rows(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """Normal values around a centre of each row, from -200 to 200. A quarter of the rows begin with
    masked elements, -infinity, at most half of the row."""
    rows, cols = shape
    values = rng.standard_normal(shape, dtype=np.float32)
    values *= 2
    values += rng.uniform(-200, 200, (rows, 1)).astype(np.float32)
    for row in np.flatnonzero(rng.integers(0, 4, rows) == 0):
        values[row, : rng.integers(0, cols // 2 + 1)] = -np.inf
    return values


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` and `out` have the shape (rows, cols); computed in float64."""
    return {"out": _softmax(inputs["in"])}


def expected_block(
    inputs: dict[str, np.ndarray], sizes: Mapping[str, int], rows: np.ndarray, columns: slice
) -> dict[str, np.ndarray]:
    """These rows and columns of `out` alone: the part that a sample of the blocks computes."""
    return {"out": _softmax(inputs["in"][rows])[:, columns]}


def _softmax(values: np.ndarray) -> np.ndarray:
    exponentials = values.astype(np.float64)
    exponentials -= exponentials.max(axis=1, keepdims=True)
    np.exp(exponentials, out=exponentials)
    exponentials /= exponentials.sum(axis=1, keepdims=True)
    return exponentials


def library(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The same in float32, with operators of NumPy, CuPy and PyTorch alike: `grade sweep` compares
    with it."""
    values = inputs["in"]
    highest = values.max(1)
    highest = getattr(highest, "values", highest)  # PyTorch also returns the positions
    exponentials = math.e ** (values - highest[:, None])
    return {"out": exponentials / exponentials.sum(1)[:, None]}
