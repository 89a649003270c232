"""What a kernel is run on, and what it must give; the oracles are NumPy's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

Array = np.ndarray
Random = np.random.Generator


@dataclass(frozen=True)
class Case:
    """The arguments of a run, and the outputs that are right, within a relative and an absolute
    tolerance; equal where both are 0.

    `contended`: threads try again where another one was quicker, so that counters are a matter of
    time.
    """

    outputs: Mapping[str, Array | tuple[str, Any]]
    expected: Mapping[str, Array]
    inputs: Mapping[str, Array] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    scalars: Mapping[str, float] = field(default_factory=dict)
    rtol: float = 0.0
    atol: float = 0.0
    contended: bool = False


Make = Callable[[Random], Case]


def uniform(random: Random, *shape: int, dtype: str = "float32") -> Array:
    """Numbers between -1 and 1."""
    return random.uniform(-1, 1, shape).astype(dtype)


def like(array: Array) -> tuple[str, Any]:
    """An output of the array's type and shape that holds nothing yet."""
    return array.dtype.name, array.shape
