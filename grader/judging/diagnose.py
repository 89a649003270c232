"""Says in words how a wrong matrix is wrong: what it holds instead, or where the wrong elements
lie.

Each guess is a rule `(i, j) -> (row, column)`: "the output holds at (i, j) what belongs at (row,
column)". A rule is tried on a sample of the wrong elements only, so that its cost does not grow
with the matrix. Of a hidden case no number of rows or columns is told, because its size could
follow from them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Indices = NDArray[np.int64]
Mask = NDArray[np.bool_]
Moves = Callable[[Indices, Indices, tuple[int, int]], tuple[Indices, Indices]]

_SAMPLE = 4096
_ENOUGH = 8
"""Fewer sampled elements than this prove no rule."""
_TILES = (32, 16, 64, 8)
_WIDEST_EDGE = 64
ASKS_FOR_THE_EDGE = ": is the edge handled?"
"""How the words on elements at an edge end."""


@dataclass(frozen=True)
class _Guess:
    words: str
    moves: Moves


@dataclass(frozen=True)
class _Sample:
    """Some wrong elements that were written: their rows, their columns and what they hold."""

    rows: Indices
    columns: Indices
    held: np.ndarray


def diagnose(
    expected: np.ndarray,
    got: np.ndarray,
    *,
    wrong: Mask,
    unwritten: Mask,
    absolute: float,
    relative: float,
    hidden: bool = False,
) -> str:
    """One clause on a wrong matrix, or "" when nothing simple explains it. All arrays are rows x
    columns."""
    if unwritten.all():
        return ""
    sample = _draw_sample(got, wrong, unwritten)
    held = _held_value(sample, wrong)
    moved = "" if held else _moved(sample, expected, absolute, relative)
    return "; ".join(
        part for part in (held, moved or _tiles(wrong) or _place(wrong, hidden=hidden)) if part
    )


def _draw_sample(got: np.ndarray, wrong: Mask, unwritten: Mask) -> _Sample:
    """At most _SAMPLE wrong elements, the same ones for the same arrays."""
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


def _held_value(sample: _Sample, wrong: Mask) -> str:
    subject = "every element" if wrong.all() else "every wrong element"
    if not sample.held.size:
        return ""
    if sample.held.size > 1 and np.all(sample.held == 0):
        return f"{subject} is 0"
    if not np.isfinite(sample.held).any():
        return f"{subject} is NaN or infinite"
    return ""


# --- does the output hold the right values in the wrong places? -----------------------------------


def _moved(sample: _Sample, expected: np.ndarray, absolute: float, relative: float) -> str:
    shape = (expected.shape[0], expected.shape[1])
    if min(shape) == 1 and max(shape) < _ENOUGH:
        return ""
    return next(
        (
            guess.words
            for guess in _GUESSES
            if _explains(guess, sample, expected, shape, absolute, relative)
        ),
        "",
    )


def _explains(
    guess: _Guess,
    sample: _Sample,
    expected: np.ndarray,
    shape: tuple[int, int],
    absolute: float,
    relative: float,
) -> bool:
    rows, columns = guess.moves(sample.rows, sample.columns, shape)
    inside = (rows >= 0) & (rows < shape[0]) & (columns >= 0) & (columns < shape[1])
    tried = int(np.count_nonzero(inside))
    if tried < _ENOUGH or 2 * tried < sample.rows.size:
        return False
    belongs = expected[rows[inside], columns[inside]].astype(np.float64)
    held = sample.held[inside]
    with np.errstate(invalid="ignore"):
        agreeing = np.abs(held - belongs) <= absolute + relative * np.abs(belongs)
    return bool(np.count_nonzero(agreeing) >= 0.99 * tried and np.ptp(belongs) > 0)


def _untransposed(i: Indices, j: Indices, shape: tuple[int, int]) -> tuple[Indices, Indices]:
    flat = i * shape[1] + j
    return flat % shape[0], flat // shape[0]


def _tiles_in_place(tile: int) -> Moves:
    return lambda i, j, _: (i // tile * tile + j % tile, j // tile * tile + i % tile)


def _blocks_unswapped(tile: int) -> Moves:
    return lambda i, j, _: (j // tile * tile + i % tile, i // tile * tile + j % tile)


def _shifted(down: int, right: int) -> Moves:
    return lambda i, j, _: (i + down, j + right)


_GUESSES = (
    _Guess(
        "the output holds the transpose of what is expected (an untransposed copy)", _untransposed
    ),
    *(
        _Guess(
            f"each {t}x{t} tile lies where its mirror image belongs: are the block indices swapped"
            " for the output?",
            _blocks_unswapped(t),
        )
        for t in _TILES
    ),
    *(
        _Guess(
            f"each {t}x{t} tile is in its place, but is not transposed inside", _tiles_in_place(t)
        )
        for t in _TILES
    ),
    _Guess(
        "every wrong element holds its right neighbour's value: is a column index off by one?",
        _shifted(0, 1),
    ),
    _Guess(
        "every wrong element holds its left neighbour's value: is a column index off by one?",
        _shifted(0, -1),
    ),
    _Guess(
        "every wrong element holds the value that belongs one row below: is a row index off by"
        " one?",
        _shifted(1, 0),
    ),
    _Guess(
        "every wrong element holds the value that belongs one row above: is a row index off by"
        " one?",
        _shifted(-1, 0),
    ),
)


# --- where do the wrong elements lie? -------------------------------------------------------------


def _tiles(wrong: Mask) -> str:
    """Whether exactly the tiles off the diagonal are wrong."""
    if wrong.shape[0] != wrong.shape[1]:
        return ""
    return next(
        (
            f"the wrong elements form whole {t}x{t} tiles off the diagonal"
            for t in _TILES
            if _only_off_diagonal(wrong, t)
        ),
        "",
    )


def _only_off_diagonal(wrong: Mask, tile: int) -> bool:
    size = wrong.shape[0]
    if size <= tile or any(wrong[k : k + tile, k : k + tile].any() for k in range(0, size, tile)):
        return False
    on_diagonal = sum(min(tile, size - k) ** 2 for k in range(0, size, tile))
    return bool(np.count_nonzero(wrong) >= 0.9 * (wrong.size - on_diagonal))


def _place(wrong: Mask, *, hidden: bool) -> str:
    rows, columns = wrong.shape
    bad_rows, bad_columns = np.flatnonzero(wrong.any(axis=1)), np.flatnonzero(wrong.any(axis=0))
    if wrong.all():
        return ""
    if bad_rows.size * bad_columns.size == 1:
        return ""
    across = _span("column", int(bad_columns[0]), int(bad_columns[-1]), columns, hidden=hidden)
    down = _span("row", int(bad_rows[0]), int(bad_rows[-1]), rows, hidden=hidden)
    if not across and not down:
        return _ragged_edges(wrong, hidden=hidden)
    at_edge = any(text.startswith("the last ") for text in (across, down))
    question = ASKS_FOR_THE_EDGE if at_edge else ""
    return (
        "the wrong elements all lie in"
        f" {' of '.join(text for text in (down, across) if text)}{question}"
    )


def _span(noun: str, first: int, last: int, size: int, *, hidden: bool) -> str:
    """Words for the rows or columns first to last (both included) of `size`; "" for all of them. No
    numbers if `hidden`."""
    if first == 0 and last == size - 1:
        return ""
    end = "last" if last == size - 1 else "first" if first == 0 else None
    if hidden:
        return f"the {end} {noun}s" if end else f"some {noun}s"
    if first == last and last < size - 1:
        return f"{noun} {first}"
    count = last - first + 1
    if end and count <= _WIDEST_EDGE:
        return f"the {end} {noun}" if count == 1 else f"the {end} {count} {noun}s"
    return f"{noun}s {first} and up" if end == "last" else f"{noun}s {first} to {last}"


def _ragged_edges(wrong: Mask, *, hidden: bool) -> str:
    """Whether only the partial tiles at the right and lower edges are wrong."""
    rows, columns = wrong.shape
    for tile in sorted(_TILES):
        full_rows, full_columns = rows // tile * tile, columns // tile * tile
        if full_rows and full_columns and not wrong[:full_rows, :full_columns].any():
            down = _span("row", full_rows, rows - 1, rows, hidden=hidden)
            across = _span("column", full_columns, columns - 1, columns, hidden=hidden)
            return f"the wrong elements all lie in {down} and {across}{ASKS_FOR_THE_EDGE}"
    return ""
