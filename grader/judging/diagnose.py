"""Finds a pattern in a wrong matrix: the values of its wrong elements, or their positions.

Each hypothesis is a rule `(i, j) -> (row, column)`: "the output at (i, j) has the value that
belongs to (row, column)". A rule is tried on a sample of the wrong elements only, so that its cost
does not grow with the matrix.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from grader.records.diagnoses import Diagnosis, Holds, Move, Span
from grader.spec.exercise import Tolerance

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
Moves = Callable[[Indices, Indices, tuple[int, int]], tuple[Indices, Indices]]

_SAMPLE = 4096
_ENOUGH = 8
"""Fewer sampled elements than this prove no rule."""
_TILES = (32, 16, 64, 8)


@dataclass(frozen=True)
class _Sample:
    """Some wrong elements that were written: their rows, columns and values."""

    rows: Indices
    columns: Indices
    held: np.ndarray


def diagnose(
    expected: np.ndarray, got: np.ndarray, *, wrong: Mask, unwritten: Mask, tolerance: Tolerance
) -> Diagnosis:
    """The explanation of a wrong matrix. All arrays are rows x columns."""
    if unwritten.all():
        return Diagnosis()
    sample = _draw_sample(got, wrong, unwritten)
    all_wrong = bool(wrong.all())
    holds = _find_held(sample)
    if holds is None and (moved := _find_move(sample, expected, tolerance)) is not None:
        return Diagnosis(all_wrong, move=moved[0], tile=moved[1])
    if (tile := _find_tiles(wrong)) is not None:
        return Diagnosis(all_wrong, holds, off_diagonal=tile)
    return Diagnosis(all_wrong, holds) if all_wrong else _find_place(wrong, holds)


def _draw_sample(got: np.ndarray, wrong: Mask, unwritten: Mask) -> _Sample:
    """At most _SAMPLE wrong elements, always the same for the same arrays."""
    flat, never = wrong.reshape(-1), unwritten.reshape(-1)
    if flat.size <= 1 << 20:
        found = np.flatnonzero(flat & ~never)
    else:
        found = np.unique(np.random.default_rng(0).integers(0, flat.size, 1 << 16))
        found = found[flat[found] & ~never[found]]
    if found.size > _SAMPLE:
        found = np.sort(np.random.default_rng(0).choice(found, _SAMPLE, replace=False))
    rows, columns = np.divmod(found.astype(np.int64), got.shape[1])
    return _Sample(rows, columns, got[rows, columns].astype(np.float64))


def _find_held(sample: _Sample) -> Holds | None:
    if sample.held.size > 1 and np.all(sample.held == 0):
        return Holds.ZERO
    if sample.held.size and not np.isfinite(sample.held).any():
        return Holds.NOT_FINITE
    return None


# --- does the output hold the right values in the wrong places? -----------------------------------


def _find_move(
    sample: _Sample, expected: np.ndarray, tolerance: Tolerance
) -> tuple[Move, int] | None:
    """The first rule that explains the sample, with its tile's width."""
    shape = (expected.shape[0], expected.shape[1])
    if min(shape) == 1 and max(shape) < _ENOUGH:
        return None
    return next(
        (
            (move, tile)
            for move, tile, moves in _list_rules()
            if _explains(moves(sample.rows, sample.columns, shape), sample, expected, tolerance)
        ),
        None,
    )


def _explains(
    places: tuple[Indices, Indices], sample: _Sample, expected: np.ndarray, tolerance: Tolerance
) -> bool:
    """Whether the sample has the expected values of these places."""
    rows, columns = places
    inside = (
        (rows >= 0) & (rows < expected.shape[0]) & (columns >= 0) & (columns < expected.shape[1])
    )
    tried = int(np.count_nonzero(inside))
    if tried < _ENOUGH or 2 * tried < sample.rows.size:
        return False
    belongs = expected[rows[inside], columns[inside]].astype(np.float64)
    held = sample.held[inside]
    with np.errstate(invalid="ignore"):
        allowed = tolerance.absolute + tolerance.relative * np.abs(belongs)
        agreeing = np.abs(held - belongs) <= allowed
    return bool(np.count_nonzero(agreeing) >= 0.99 * tried and np.ptp(belongs) > 0)


def _list_rules() -> Iterator[tuple[Move, int, Moves]]:
    yield Move.UNTRANSPOSED, 0, _untransposed
    yield from ((Move.BLOCKS_UNSWAPPED, tile, _blocks_unswapped(tile)) for tile in _TILES)
    yield from ((Move.TILES_IN_PLACE, tile, _tiles_in_place(tile)) for tile in _TILES)
    yield Move.FROM_THE_RIGHT, 0, _shifted(0, 1)
    yield Move.FROM_THE_LEFT, 0, _shifted(0, -1)
    yield Move.FROM_BELOW, 0, _shifted(1, 0)
    yield Move.FROM_ABOVE, 0, _shifted(-1, 0)


def _untransposed(i: Indices, j: Indices, shape: tuple[int, int]) -> tuple[Indices, Indices]:
    flat = i * shape[1] + j
    return flat % shape[0], flat // shape[0]


def _tiles_in_place(tile: int) -> Moves:
    return lambda i, j, _: (i // tile * tile + j % tile, j // tile * tile + i % tile)


def _blocks_unswapped(tile: int) -> Moves:
    return lambda i, j, _: (j // tile * tile + i % tile, i // tile * tile + j % tile)


def _shifted(down: int, right: int) -> Moves:
    return lambda i, j, _: (i + down, j + right)


# --- where do the wrong elements lie? -------------------------------------------------------------


def _find_tiles(wrong: Mask) -> int | None:
    """The width of the tiles off the diagonal, where exactly these are wrong."""
    if wrong.shape[0] != wrong.shape[1]:
        return None
    return next((tile for tile in _TILES if _is_off_diagonal(wrong, tile)), None)


def _is_off_diagonal(wrong: Mask, tile: int) -> bool:
    size = wrong.shape[0]
    if size <= tile or any(wrong[k : k + tile, k : k + tile].any() for k in range(0, size, tile)):
        return False
    on_diagonal = sum(min(tile, size - k) ** 2 for k in range(0, size, tile))
    return bool(np.count_nonzero(wrong) >= 0.9 * (wrong.size - on_diagonal))


def _find_place(wrong: Mask, holds: Holds | None) -> Diagnosis:
    """The rows and columns of the wrong elements, where they are not everywhere."""
    found = [np.flatnonzero(wrong.any(axis=axis)) for axis in (1, 0)]
    if all(bad.size == 1 for bad in found):
        return Diagnosis(holds=holds)
    rows, columns = (
        Span(int(bad[0]), int(bad[-1]), size) for bad, size in zip(found, wrong.shape, strict=True)
    )
    if rows.is_all and columns.is_all:
        return _find_ragged_edges(wrong, holds)
    return Diagnosis(holds=holds, rows=rows, columns=columns)


def _find_ragged_edges(wrong: Mask, holds: Holds | None) -> Diagnosis:
    """Whether only the partial tiles at the right and lower edges are wrong."""
    rows, columns = wrong.shape
    for tile in sorted(_TILES):
        down, right = rows // tile * tile, columns // tile * tile
        if down and right and not wrong[:down, :right].any():
            edges = Span(down, rows - 1, rows), Span(right, columns - 1, columns)
            return Diagnosis(holds=holds, rows=edges[0], columns=edges[1], ragged=True)
    return Diagnosis(holds=holds)
