"""The expected outputs: `out` contains the keys of `in` in ascending order."""

from collections.abc import Mapping

import numpy as np

MASKS = (0xFFFFFFFF, 0x000000FF, 0xFF000000, 0x80000001, 0x00FFF000)
"""Bits of the keys of a small case that differ."""
LARGE = 50_000


def draw_keys(
    rng: np.random.Generator, shape: tuple[int, ...], sizes: Mapping[str, int]
) -> np.ndarray:
    """Random keys of 32 bits; in half of the small cases only some of their bits are random."""
    keys = rng.integers(0, 1 << 32, shape, dtype=np.uint32)
    if shape[0] >= LARGE or rng.random() < 0.5:
        return keys
    return keys & np.uint32(rng.choice(MASKS)) | np.uint32(0x00100100)


def expected(inputs: dict[str, np.ndarray], sizes: Mapping[str, int]) -> dict[str, np.ndarray]:
    """`in` and `out` have the shape (n,)."""
    return {"out": np.sort(inputs["in"])}
