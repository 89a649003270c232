"""What the exercise asks for: `out` is the transpose of `in`."""

from collections.abc import Mapping

import numpy as np


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` has the shape (rows, cols); `out` gets (cols, rows). No arithmetic: the result is exact."""
    return {"out": inputs["in"].T}
