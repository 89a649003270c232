"""The expected outputs: `out` is the attention of the queries Q to the keys K with the values V."""

import math
from collections.abc import Mapping

import numpy as np

D = 64
ROWS_AT_ONCE = 512
Arrays = dict[str, np.ndarray]


def draw_queries(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """Normal values, each row times a factor from 1 to 40: some rows attend to all keys, others to
    a single key, with scores beyond the range of exp."""
    factors = np.exp(rng.uniform(0, math.log(40), (shape[0], 1)))
    return (rng.standard_normal(shape) * factors).astype(np.float16)


def expected(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """Q, K, V and `out` have the shape (n, D); computed in float64."""
    return {"out": _attend(inputs, np.arange(sizes["n"]))}


def expected_block(
    inputs: Arrays, sizes: Mapping[str, int], rows: np.ndarray, columns: slice
) -> Arrays:
    """These rows and columns of `out` alone: the part that a sample of the blocks computes."""
    return {"out": _attend(inputs, rows)[:, columns]}


def _attend(inputs: Arrays, rows: np.ndarray) -> np.ndarray:
    """Some rows at a time: the scores of all rows would need 8 n² bytes."""
    keys, values = (inputs[name].astype(np.float64) for name in "KV")
    out = np.empty((len(rows), D))
    for first in range(0, len(rows), ROWS_AT_ONCE):
        some = slice(first, first + ROWS_AT_ONCE)
        weights = inputs["Q"][rows[some]].astype(np.float64) @ keys.T
        weights /= math.sqrt(D)
        weights -= weights.max(axis=1, keepdims=True)
        np.exp(weights, out=weights)
        out[some] = weights @ values / weights.sum(axis=1, keepdims=True)
    return out


def library(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """The same in the type of the inputs, with operators of NumPy, CuPy and PyTorch alike: `grade
    sweep` compares with it."""
    scores = inputs["Q"] @ inputs["K"].T / math.sqrt(D)
    highest = scores.max(1)
    highest = getattr(highest, "values", highest)  # PyTorch also returns the positions
    weights = math.e ** (scores - highest[:, None])
    return {"out": weights @ inputs["V"] / weights.sum(1)[:, None]}
