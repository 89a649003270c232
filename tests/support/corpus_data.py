"""Contents of the corpus's buffers: edge values of every type, and how a kernel file names them.

`edges` cycles through the 32 edge values of the type; `edges2` and `edges3` change every 32 and
every 1024 elements, so that 1024 elements of `edges` and `edges2` hold every pair. `zeros`, `iota`
(0, 1, 2 ...), `random` (all bit patterns), `small` (integers -8 to 8), `normal`; `{1, 2.5, 0x10}`
cycles through the numbers given, and `5` is that number everywhere. Types are NumPy's, and
`bfloat16`, which is held as uint16.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable

import numpy as np

EDGES = 32
"""Edge values a type: all pairs of two operands are 1024 elements."""


def numpy_type(name: str) -> np.dtype:
    """The dtype of a type's name. Raises TypeError for one that is none."""
    return np.dtype("uint16" if name == "bfloat16" else name)


def parse_contents(text: str, dtype: str, count: int, *, seed: str) -> np.ndarray:
    """The array that a kernel file describes. `seed` is any text: other texts draw other
    numbers."""
    if text in _NAMED:
        return _NAMED[text](dtype, count, np.random.default_rng(zlib.crc32(seed.encode())))
    numbers = [_parse_number(part, dtype) for part in text.strip("{}").split(",")]
    return np.resize(_from_numbers(numbers, dtype), count)


def edge_values(dtype: str) -> np.ndarray:
    """The 32 edge values of a type."""
    kind = numpy_type(dtype)
    if dtype in _FLOAT_FORMATS:
        bits = _float_edges(*_FLOAT_FORMATS[dtype])
        return np.array(bits, dtype=f"u{kind.itemsize}").view(kind)
    return np.array(_integer_edges(8 * kind.itemsize), dtype=f"u{kind.itemsize}").view(kind)


_FLOAT_FORMATS = {"float16": (5, 10), "bfloat16": (8, 7), "float32": (8, 23), "float64": (11, 52)}
"""Bits of exponent and of fraction."""


def _integer_edges(bits: int) -> list[int]:
    """Counts of shifts, ends of the ranges of narrower types and of this one, and patterns of
    bits."""
    top = 1 << bits - 1
    small = [0, 1, 2, 3, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 65, 100, 127, 128, 255]
    ends = [top - 1, top, top + 1, 2 * top - 1, 2 * top - 2, 2 * top - 7]
    patterns = [
        int(digits * 16, 16) % (2 * top)
        for digits in ("5", "a", "1248", "0ff0", "edb88320", "8001", "00010000")
    ]
    return [value % (2 * top) for value in (*small, *ends, *patterns)]


def _float_edges(exponent_bits: int, fraction_bits: int) -> list[int]:
    """Both zeros, denormals, the ends of the normal range, infinities, NaN payloads, and numbers
    around 1 and its powers."""
    sign = 1 << exponent_bits + fraction_bits
    one = ((1 << exponent_bits - 1) - 1) << fraction_bits
    unit = 1 << fraction_bits
    infinity = ((1 << exponent_bits) - 1) << fraction_bits
    half = unit >> 1
    positive = [
        0,
        1,
        unit - 1,
        unit,
        unit + 1,
        infinity - 1,
        infinity,
        infinity | 1,
        infinity | half | 5 % half,
    ]
    around_one = [
        one,
        one + 1,
        one - 1,
        one - unit,
        one + unit,
        one + half,
        one + half // 2 * 3,
        one + 4 * unit + half + 1,
        one + 9 * unit,
    ]
    tiny = [one - (fraction_bits + 1) * unit, one + fraction_bits * unit + 1]
    both = [0, 1, unit - 1, unit, infinity - 1, infinity, infinity | half | 9 % half]
    both += [one, one + half, one + 2 * unit + 3, one - unit - 1, tiny[0]]
    values = [*positive, *around_one, *tiny, *(sign | value for value in both)]
    assert len(values) == EDGES
    return values


def _edges(period: int) -> Callable[[str, int, np.random.Generator], np.ndarray]:
    def fill(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
        return edge_values(dtype)[np.arange(count) // period % EDGES]

    return fill


def _zeros(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    return np.zeros(count, dtype=numpy_type(dtype))


def _iota(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    return _from_numbers(list(range(count)), dtype)


def _random(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    kind = numpy_type(dtype)
    return rng.integers(0, 256, count * kind.itemsize, dtype=np.uint8).view(kind)


def _small(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    return _from_numbers(rng.integers(-8, 9, count).tolist(), dtype)


def _normal(dtype: str, count: int, rng: np.random.Generator) -> np.ndarray:
    return _from_numbers(rng.standard_normal(count).tolist(), dtype)


def _from_numbers(numbers: list[int] | list[float], dtype: str) -> np.ndarray:
    if dtype == "bfloat16":  # rounded to zero: a few bits more or less do not matter in test data
        return (np.array(numbers, dtype=np.float32).view(np.uint32) >> 16).astype(np.uint16)
    kind = numpy_type(dtype)
    if kind.kind == "f":
        return np.array(numbers, dtype=kind)
    return np.array(
        [int(number) % (1 << 8 * kind.itemsize) for number in numbers], dtype=f"u{kind.itemsize}"
    ).view(kind)


def _parse_number(text: str, dtype: str) -> float:
    return float(text) if dtype in _FLOAT_FORMATS else int(text, 0)


_NAMED: dict[str, Callable[[str, int, np.random.Generator], np.ndarray]] = {
    "edges": _edges(1),
    "edges2": _edges(EDGES),
    "edges3": _edges(EDGES * EDGES),
    "zeros": _zeros,
    "iota": _iota,
    "random": _random,
    "small": _small,
    "normal": _normal,
}
