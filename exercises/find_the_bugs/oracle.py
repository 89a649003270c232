"""The expected outputs of the example and of the six kernels."""

from collections.abc import Mapping

import numpy as np

TILE, BINS, KINDS = 256, 16, 64
Arrays = dict[str, np.ndarray]


def expected(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """Each element plus its right neighbour; the last element has none."""
    values = inputs["in"].astype(np.float64)
    return {"out": values + np.append(values[1:], 0)}


def expected_reverse(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """Each tile in reverse order."""
    return {"out": np.concatenate([tile[::-1] for tile in _tiles(inputs["in"])])}


def expected_subtract(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """Each element minus the sum of its tile."""
    tiles = (tile.astype(np.float64) for tile in _tiles(inputs["in"]))
    return {"out": np.concatenate([tile - tile.sum() for tile in tiles])}


def expected_mirror(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """Each row in reverse order."""
    return {"out": inputs["in"][:, ::-1]}


def expected_histogram(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """The number of bytes of each row in each bin: `counts` has the shape (rows, BINS)."""
    bins = inputs["in"] // (256 // BINS)
    counts = [np.bincount(row, minlength=BINS) for row in bins]
    return {"counts": np.array(counts, np.int32)}


def expected_smooth(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """The mean of each element and the next element of its tile; the last is followed by the
    first."""
    tiles = (tile.astype(np.float64) for tile in _tiles(inputs["in"]))
    return {"out": np.concatenate([(tile + np.roll(tile, -1)) / 2 for tile in tiles])}


def expected_last(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
    """The largest index of each kind, or -1."""
    found = np.full(KINDS, -1, np.int32)
    np.maximum.at(found, inputs["in"] % KINDS, np.arange(sizes["n"], dtype=np.int32))
    return {"found": found}


def _tiles(values: np.ndarray) -> list[np.ndarray]:
    return [values[first : first + TILE] for first in range(0, len(values), TILE)]
