"""The expected outputs: `out` is the transpose of `in`; and, as a bonus, `data` is transposed
in place."""

from collections.abc import Mapping

import numpy as np


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` has the shape (rows, cols); `out` gets (cols, rows). No arithmetic: the result is
    exact."""
    return {"out": inputs["in"].T}


def expected_in_place(
    inputs: dict[str, np.ndarray], sizes: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """`data` has the shape (n, n) and holds its own transpose afterwards."""
    return {"data": inputs["data"].T}
