"""What the exercise asks for: `counts[b]` is how many elements of `in` fall into bin b, which is
(element + 8) % 32."""

from collections.abc import Mapping

import numpy as np


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` has the shape (n,) and `counts` (32,)."""
    return {"counts": np.bincount((inputs["in"] + 8) % 32, minlength=32).astype(np.int32)}
