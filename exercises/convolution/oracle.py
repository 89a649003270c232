"""The expected outputs: each element of `out` is the weighted sum of 7 x 7 elements of `in`."""

from collections.abc import Mapping

import numpy as np

WIDTH = 7
RADIUS = WIDTH // 2
BAND = 16
"""Rows that are computed together: they fit into a processor's cache."""


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` and `out` have the shape (rows, cols), `w` (7, 7); elements outside of `in` are 0."""
    rows, cols = sizes["rows"], sizes["cols"]
    padded = np.pad(inputs["in"].astype(np.float64), RADIUS)
    weights = inputs["w"].astype(np.float64)
    out = np.zeros((rows, cols))
    for top in range(0, rows, BAND):
        band = out[top : top + BAND]
        for i in range(WIDTH):
            near = padded[top + i : top + i + len(band)]
            for j in range(WIDTH):
                band += weights[i, j] * near[:, j : j + cols]
    return {"out": out}


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
