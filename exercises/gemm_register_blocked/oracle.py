"""The expected outputs: `C` is the matrix product of `A` and `B`."""

from collections.abc import Mapping

import numpy as np


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`A` has the shape (M, K) and `B` (K, N); `C` gets (M, N), summed in float64."""
    return {"C": inputs["A"].astype(np.float64) @ inputs["B"].astype(np.float64)}


def expected_block(
    inputs: dict[str, np.ndarray], sizes: Mapping[str, int], rows: np.ndarray, columns: slice
) -> dict[str, np.ndarray]:
    """These rows and columns of `C` alone: the part that a sample of the blocks computes."""
    a, b = inputs["A"][rows], inputs["B"][:, columns]
    return {"C": a.astype(np.float64) @ b.astype(np.float64)}


def library(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The same in float32, with operators of NumPy, CuPy and PyTorch alike: `grade sweep` compares
    with it. On a GPU this is cuBLAS."""
    return {"C": inputs["A"] @ inputs["B"]}
