"""The expected outputs: each element of `out` is the weighted sum of 7 x 7 elements of `in`."""

from collections.abc import Mapping

import numpy as np

WIDTH = 7
RADIUS = WIDTH // 2


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` and `out` have the shape (rows, cols), `w` (7, 7); elements outside of `in` are 0."""
    return {"out": _sum_of_shifts(inputs["in"].astype(np.float64), inputs["w"].astype(np.float64))}


def _sum_of_shifts(image: np.ndarray, weights: np.ndarray) -> np.ndarray:
    rows, cols = image.shape
    out = np.zeros_like(image)
    for i in range(WIDTH):
        for j in range(WIDTH):
            down, right = i - RADIUS, j - RADIUS
            top, bottom = max(0, -down), min(rows, rows - down)
            left, end = max(0, -right), min(cols, cols - right)
            if top < bottom and left < end:
                shifted = image[top + down : bottom + down, left + right : end + right]
                out[top:bottom, left:end] += weights[i, j] * shifted
    return out


def library(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The same in float32, with operators of NumPy, CuPy and PyTorch alike: `grade sweep` compares
    with it."""
    image, weights = inputs["in"], inputs["w"]
    rows, cols = sizes["rows"], sizes["cols"]
    out = image * 0
    for i in range(WIDTH):
        for j in range(WIDTH):
            down, right = i - RADIUS, j - RADIUS
            top, bottom = max(0, -down), max(0, min(rows, rows - down))
            left, end = max(0, -right), max(0, min(cols, cols - right))
            if top < bottom and left < end:
                shifted = image[top + down : bottom + down, left + right : end + right]
                out[top:bottom, left:end] += weights[i, j] * shifted
    return {"out": out}
