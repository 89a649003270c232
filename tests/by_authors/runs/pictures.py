"""Pictures, stencils and convolutions."""

from __future__ import annotations

import numpy as np

from tests.by_authors.runs.cases import Case, Make, Random, like, uniform


def transposed_convolution(random: Random) -> Case:
    x, w = uniform(random, 3, 7, 9), uniform(random, 3, 2, 4, 4)
    whole = np.zeros((2, 2 * 7 + 2, 2 * 9 + 2))
    for row in range(7):
        for col in range(9):
            patch = np.einsum("i,iokl->okl", x[:, row, col], w)
            whole[:, 2 * row : 2 * row + 4, 2 * col : 2 * col + 4] += patch
    y = whole[:, 1:-1, 1:-1].astype(np.float32)
    return Case(
        {"y": like(y)},
        {"y": y},
        {"x": x, "w": w},
        {"in_channels": 3, "out_channels": 2, "height": 7, "width": 9},
        atol=1e-5,
    )


def sobel(random: Random) -> Case:
    image = random.integers(0, 256, (45, 37), dtype=np.uint8)
    around = np.pad(image.astype(np.int32), 1, mode="edge")
    smooth = around[:-2] + 2 * around[1:-1] + around[2:]
    gx = smooth[:, 2:] - smooth[:, :-2]
    smooth = around[:, :-2] + 2 * around[:, 1:-1] + around[:, 2:]
    gy = smooth[2:] - smooth[:-2]
    size = np.sqrt((gx * gx + gy * gy).astype(np.float32))
    edges = np.minimum(255, np.rint(size)).astype(np.uint8)
    sizes = {"width": 37, "height": 45}
    return Case({"edges": like(edges)}, {"edges": edges}, {"image": image}, sizes)


CASES: tuple[Make, ...] = (transposed_convolution, sobel)
