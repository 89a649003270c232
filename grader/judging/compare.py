"""Compares the outputs of a correctness case with the oracle's, and maps the differences.

NumPy works on whole arrays or pieces of them: 8192 x 8192 elements take about a second.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from grader.devices.base import places_of
from grader.errors import WorkerError
from grader.judging.diagnose import diagnose
from grader.messages.causes import cause_of_output
from grader.messages.outputs import describe_modified, describe_wrong
from grader.records import POISON_WORD, CaseResult, DeviceBuffer, FindingKind, Mismatch, Role
from grader.records.diagnoses import Diagnosis
from grader.spec.exercise import Case, Tolerance

Arrays = dict[str, np.ndarray]
Mask = NDArray[np.bool_]

RIGHT, SOME_WRONG, ALL_WRONG, NEVER_WRITTEN = "·", "▒", "█", "?"
"""The glyphs of `Mismatch.picture`."""

PICTURE_ROWS, PICTURE_COLUMNS = 8, 16

_CHUNK = 1 << 17
_TILE, _PADDING = 256, 16
"""Rows and columns of the tiles in which a transposed matrix is copied, and the elements between
their columns (benchmarks/moving.py)."""
ExpectedAt = Callable[[Mapping[str, np.ndarray] | None], Arrays]
"""The expected outputs at these places (indices in the flat buffer, by output), as flat arrays; the
whole outputs for None."""


@dataclass(frozen=True)
class Comparison:
    """Differences of an output: masks of the output's shape, and the largest finite |got -
    expected|.

    `worst_error` is infinite when elements are wrong and none of them has a finite error.
    `unwritten` marks wrong elements that still hold the poison.
    """

    wrong: Mask
    unwritten: Mask
    worst_error: float

    @property
    def wrong_elements(self) -> int:
        """Number of wrong elements, including elements that were never written."""
        return int(np.count_nonzero(self.wrong))


def poison(shape: Sequence[int], dtype: DTypeLike) -> np.ndarray:
    """An array of `shape` and `dtype` whose bytes repeat POISON_WORD, little end first."""
    kind = np.dtype(dtype)
    size_bytes = int(np.prod(shape, dtype=np.int64)) * kind.itemsize
    words = np.full(-(-size_bytes // 4), POISON_WORD, dtype="<u4")
    return words.view(np.uint8)[:size_bytes].view(kind).reshape(tuple(shape))


def judge_case(
    case: Case,
    buffers: Sequence[DeviceBuffer],
    expected: Arrays,
    got: Arrays,
    tolerance: Tolerance,
    *,
    modified_inputs: Sequence[str] = (),
    raced: bool = False,
) -> CaseResult:
    """Judge a case by every output among `buffers`; the result describes the first wrong output.

    `expected` and `got` hold the outputs by name, of equal shapes. A NaN or Inf where the expected
    value is finite is wrong, and so is a buffer in `modified_inputs`. `raced`: the threads raced,
    so the positions and values of wrong elements are random. Raises WorkerError when an output is
    missing from `got`.
    """
    worst_error = 0.0
    for buffer in buffers:
        if buffer.role is not Role.OUTPUT:
            continue
        if buffer.name not in got or got[buffer.name].shape != expected[buffer.name].shape:
            raise WorkerError(
                f"the device did not return the contents of the output {buffer.name!r}"
            )
        want, have = expected[buffer.name], np.ascontiguousarray(got[buffer.name])
        if tolerance.exact and want.dtype == have.dtype and is_equal(want, have):
            continue
        want = np.ascontiguousarray(want)
        comparison = compare(want, have, tolerance)
        if comparison.wrong_elements:
            diagnosis = _diagnose(want, have, comparison, tolerance, raced=raced)
            return _wrong_case(
                case, buffer.name, want, have, comparison, diagnosis, modified_inputs
            )
        worst_error = max(worst_error, comparison.worst_error)
    return judge_inputs(case, worst_error, modified_inputs)


def judge_inputs(case: Case, worst_error: float, modified_inputs: Sequence[str]) -> CaseResult:
    """The result of a case whose outputs are right: it is passed if its inputs are unchanged."""
    if not modified_inputs:
        return _case_result(case, "right", worst_error, passed=True)
    cause = FindingKind.INPUT_MODIFIED.value
    return _case_result(case, describe_modified(modified_inputs), worst_error, cause=cause)


def compare(expected: np.ndarray, got: np.ndarray, tolerance: Tolerance) -> Comparison:
    """Compare two C-contiguous arrays of the same shape; `expected` may have a wider dtype (the
    oracle's float64)."""
    if tolerance.exact and expected.dtype == got.dtype and np.array_equal(expected, got):
        nothing = np.zeros(got.shape, dtype=np.bool_)
        return Comparison(nothing, nothing, 0.0)
    wrong, worst_error = _find_wrong(expected.reshape(-1), got.reshape(-1), tolerance)
    unwritten = holds_poison(got.reshape(-1)) & wrong if wrong.any() else np.zeros_like(wrong)
    return Comparison(wrong.reshape(got.shape), unwritten.reshape(got.shape), worst_error)


def is_equal(expected: np.ndarray, got: np.ndarray) -> bool:
    """Whether two arrays of the same shape hold equal values. `got` is C-contiguous; `expected` may
    be a view in another order and is not copied as a whole. Large arrays take all processors.
    """
    if expected.ndim != 2 or expected.flags.c_contiguous:
        want, have = expected.reshape(-1), got.reshape(-1)
        pieces = (slice(at, at + _CHUNK) for at in range(0, got.size, _CHUNK))
        return all(np.array_equal(want[piece], have[piece]) for piece in pieces)
    rows = (slice(top, top + _TILE) for top in range(0, got.shape[0], _TILE))
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return all(pool.map(lambda some: _is_equal_in(expected[some], got[some]), rows))


def _is_equal_in(expected: np.ndarray, got: np.ndarray) -> bool:
    """Whether a row of tiles of a matrix in another order equals that of `got`."""
    padded = np.empty((_TILE, _TILE + _PADDING), dtype=expected.dtype)
    columns = (slice(left, left + _TILE) for left in range(0, got.shape[1], _TILE))
    return all(
        np.array_equal(_copy_tile(expected[:, some], padded), got[:, some]) for some in columns
    )


def _copy_tile(tile: np.ndarray, padded: np.ndarray) -> np.ndarray:
    """A copy of a tile of a matrix in column order. `padded` has padding between columns, because
    columns at a distance of a power of two share their sets in a processor's cache."""
    rows, columns = tile.shape
    copy = padded[:columns, :rows]
    copy[...] = tile.T
    return copy.T


def draw_picture(comparison: Comparison) -> tuple[str, ...]:
    """A map of the output as a matrix (its last axis across): at most 8 x 16 cells, one glyph each.

    All cells represent the same number of rows and columns, except the last row and column of
    cells.
    """
    wrong = _as_matrix(comparison.wrong)
    rows, columns = wrong.shape
    height, width = -(-rows // PICTURE_ROWS), -(-columns // PICTURE_COLUMNS)
    ones = np.ones((1, columns), dtype=np.bool_)
    return tuple(
        "".join(
            _glyph(int(bad), int(empty), int(size))
            for bad, empty, size in zip(
                _count_cells(wrong[top : top + height], width),
                _count_cells(_as_matrix(comparison.unwritten)[top : top + height], width),
                _count_cells(ones, width) * min(height, rows - top),
                strict=True,
            )
        )
        for top in range(0, rows, height)
    )


def _find_wrong(expected: np.ndarray, got: np.ndarray, tolerance: Tolerance) -> tuple[Mask, float]:
    """The mask of wrong elements of two flat arrays and the worst finite error, in pieces that stay
    in the cache."""
    wrong = np.empty(got.shape, dtype=np.bool_)
    worst = 0.0
    wrong_and_finite = 0
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, got.size, _CHUNK):
            piece = slice(start, start + _CHUNK)
            # Exact means equal in the output's type: the oracle's float64 is rounded to it once.
            want = (
                expected[piece].astype(got.dtype) if tolerance.exact else expected[piece]
            ).astype(np.float64)
            have = got[piece].astype(np.float64)
            error = np.abs(have - want)
            right = error <= tolerance.absolute + tolerance.relative * np.abs(want)
            finite = np.isfinite(error)
            finite_count = int(np.count_nonzero(finite))
            if finite_count < error.size:
                right = np.where(
                    np.isfinite(want),
                    right & finite,
                    (have == want) | (np.isnan(have) & np.isnan(want)),
                )
                error = error[finite]
            if finite_count:
                worst = max(worst, float(error.max()))
            np.logical_not(right, out=wrong[piece])
            wrong_and_finite += int(np.count_nonzero(wrong[piece] & finite))
    return wrong, float("inf") if wrong.any() and not wrong_and_finite else worst


def holds_poison(got: np.ndarray) -> Mask:
    """The elements of a flat array that hold the poison, if the array starts at a word of the
    pattern."""
    if got.dtype.itemsize == 4:
        return np.asarray(got.view(np.uint32) == POISON_WORD)
    pattern = poison(got.shape, got.dtype).view(np.uint8)
    same = got.view(np.uint8) == pattern
    return np.asarray(same.reshape(got.size, -1).all(axis=1))


def _wrong_case(
    case: Case,
    buffer: str,
    expected: np.ndarray,
    got: np.ndarray,
    comparison: Comparison,
    diagnosis: Diagnosis,
    modified_inputs: Sequence[str],
) -> CaseResult:
    first = int(np.argmax(comparison.wrong))
    mismatch = Mismatch(
        buffer=buffer,
        index=tuple(int(i) for i in np.unravel_index(first, got.shape)),
        expected=float(expected.reshape(-1)[first]),
        got=float(got.reshape(-1)[first]),
        wrong_elements=comparison.wrong_elements,
        total_elements=got.size,
        worst_error=comparison.worst_error,
        picture=draw_picture(comparison),
    )
    unwritten, total = int(np.count_nonzero(comparison.unwritten)), comparison.wrong.size
    message = describe_wrong(
        buffer,
        wrong=comparison.wrong_elements,
        unwritten=unwritten,
        total=total,
        modified=modified_inputs,
        diagnosis=diagnosis,
        hidden=case.hidden,
    )
    cause = cause_of_output(diagnosis, unwritten=unwritten, total=total, modified=modified_inputs)
    return _case_result(case, message, comparison.worst_error, mismatch=mismatch, cause=cause)


def _diagnose(
    expected: np.ndarray,
    got: np.ndarray,
    comparison: Comparison,
    tolerance: Tolerance,
    *,
    raced: bool,
) -> Diagnosis:
    """An explanation of the wrong elements; after a race only a move of values."""
    found = diagnose(
        _as_matrix(expected),
        _as_matrix(got),
        wrong=_as_matrix(comparison.wrong),
        unwritten=_as_matrix(comparison.unwritten),
        tolerance=tolerance,
    )
    return Diagnosis(found.all_wrong, move=found.move, tile=found.tile) if raced else found


def _case_result(
    case: Case,
    message: str,
    worst_error: float,
    *,
    passed: bool = False,
    mismatch: Mismatch | None = None,
    cause: str | None = None,
) -> CaseResult:
    """The result; for a hidden case without figures of its outputs, since a kernel could write the
    sizes there."""
    shown = not case.hidden
    return CaseResult(
        case.name,
        case.hidden,
        dict(case.sizes),
        passed,
        message,
        worst_error=worst_error if shown else None,
        mismatch=mismatch if shown else None,
        cause=cause,
    )


def _as_matrix(array: np.ndarray) -> np.ndarray:
    """Any array as rows and columns: a vector is a single row, leading axes become rows."""
    columns = array.shape[-1] if array.ndim else 1
    return array.reshape(-1, max(1, columns)) if array.size else array.reshape(0, max(1, columns))


def _count_cells(band: np.ndarray, width: int) -> np.ndarray:
    """Number of true elements in each cell of `width` columns of a band of rows."""
    per_column = np.add.reduce(band.view(np.uint8), axis=0, dtype=np.uint32)
    return np.asarray(
        np.add.reduceat(per_column, np.arange(0, band.shape[1], width), dtype=np.int64)
    )


def _glyph(wrong: int, unwritten: int, size: int) -> str:
    if not wrong:
        return RIGHT
    if 2 * unwritten > wrong:
        return NEVER_WRITTEN
    return ALL_WRONG if wrong == size else SOME_WRONG


def judge_sampled(
    case: Case,
    buffers: Sequence[DeviceBuffer],
    expected: ExpectedAt,
    got: Arrays,
    tolerance: Tolerance,
    *,
    modified_inputs: Sequence[str] = (),
) -> CaseResult:
    """Judges the written elements; `devices.base.places_of` describes `got`. If an element is
    wrong, the elements that no block of the sample wrote count as right."""
    names = [buffer.name for buffer in buffers if buffer.role is Role.OUTPUT]
    wanted = expected({name: got[places_of(name)] for name in names})
    found = [compare(wanted[name], got[name], tolerance) for name in names]
    if not any(each.wrong_elements for each in found):
        worst_error = max((each.worst_error for each in found), default=0.0)
        return judge_inputs(case, worst_error, modified_inputs)
    whole = expected(None)
    for name in names:
        # In C's order: a flat copy of a transpose would not be the transpose's own memory.
        have = whole[name].astype(got[name].dtype, order="C")
        have.reshape(-1)[got[places_of(name)]] = got[name]
        got = {**got, name: have}
    return judge_case(case, buffers, whole, got, tolerance, modified_inputs=modified_inputs)
