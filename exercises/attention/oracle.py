"""The expected outputs: per head, `out` is the attention of the queries Q to the keys K with the
values V. The arrays have the shape (heads * n, D), head after head."""

import math
from collections.abc import Mapping

import numpy as np

D = 64
Arrays = dict[str, np.ndarray]


def draw_queries(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """Normal values, each row times a factor from 1 to 40: some rows attend to all keys, others to
    a single key, with scores beyond the range of exp."""
    factors = np.exp(rng.uniform(0, math.log(40), (shape[0], 1)))
    return (rng.standard_normal(shape) * factors).astype(np.float16)


def expected(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """Computed in float64."""
    return {"out": _attend(inputs, sizes["n"], np.arange(sizes["heads"] * sizes["n"]))}


def expected_block(
    inputs: Arrays, sizes: Mapping[str, int], rows: np.ndarray, columns: slice
) -> Arrays:
    """These rows and columns of `out` alone: the part that a sample of the blocks computes."""
    return {"out": _attend(inputs, sizes["n"], rows)[:, columns]}


def _attend(inputs: Arrays, n: int, rows: np.ndarray) -> np.ndarray:
    """One head after another: the scores of all heads would need 8 * heads * n² bytes."""
    out = np.empty((len(rows), D))
    for head in np.unique(rows // n):
        mine = rows // n == head
        of_head = slice(head * n, (head + 1) * n)
        keys, values = (inputs[name][of_head].astype(np.float64) for name in "KV")
        weights = inputs["Q"][rows[mine]].astype(np.float64) @ keys.T
        weights /= math.sqrt(D)
        weights -= weights.max(axis=1, keepdims=True)
        np.exp(weights, out=weights)
        out[mine] = weights @ values / weights.sum(axis=1, keepdims=True)
    return out


def library(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """The same in the type of the inputs, with operators of NumPy, CuPy and PyTorch alike: `grade
    sweep` compares with it."""
    shape = (sizes["heads"], sizes["n"], D)
    queries, keys, values = (inputs[name].reshape(shape) for name in "QKV")
    scores = queries @ keys.swapaxes(1, 2) / math.sqrt(D)
    highest = scores.max(2)
    highest = getattr(highest, "values", highest)  # PyTorch also returns the positions
    weights = math.e ** (scores - highest[:, :, None])
    return {"out": (weights @ values / weights.sum(2)[:, :, None]).reshape(-1, D)}
