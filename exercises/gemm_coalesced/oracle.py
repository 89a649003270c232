"""The expected outputs: `C` is the matrix product of `A` and `B`; and, as a bonus, that
product scaled and added to `C`."""

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


def expected_sgemm(
    inputs: dict[str, np.ndarray], sizes: Mapping[str, int]
) -> dict[str, np.ndarray]:
    """BLAS's SGEMM: `C` (M, N) gets alpha * A @ B + beta * C, where `scale` holds alpha and beta;
    summed in float64.

    The part's tolerance counts 8 * K + 1 products: of integers up to 8, 8 * K of alpha and one of
    beta.
    """
    a, b, c, (alpha, beta) = (inputs[name].astype(np.float64) for name in ("A", "B", "C", "scale"))
    return {"C": alpha * (a @ b) + beta * c}


def library(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """The same in float32, with operators of NumPy, CuPy and PyTorch alike: `grade sweep` compares
    with it. On a GPU this is cuBLAS."""
    return {"C": inputs["A"] @ inputs["B"]}
