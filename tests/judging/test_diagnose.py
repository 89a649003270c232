"""Words for how a matrix is wrong: one wrong kernel each, imitated in NumPy."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from grader.judging.diagnose import diagnose
from grader.messages.outputs import describe_diagnosis
from grader.spec.exercise import Tolerance


def say(expected: np.ndarray, got: np.ndarray) -> str:
    never = np.zeros(got.shape, dtype=bool)
    found = diagnose(expected, got, wrong=expected != got, unwritten=never, tolerance=Tolerance())
    return describe_diagnosis(found)


def random_matrix(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(5).standard_normal((rows, cols), dtype=np.float32)


def by_tiles(
    matrix: np.ndarray, change: Callable[[np.ndarray, np.ndarray, int, int], None], tile: int = 32
) -> np.ndarray:
    result = matrix.copy()
    for i in range(0, matrix.shape[0], tile):
        for j in range(0, matrix.shape[1], tile):
            change(result, matrix, i, j)
    return result


def leave_untransposed_inside(result: np.ndarray, matrix: np.ndarray, i: int, j: int) -> None:
    result[i : i + 32, j : j + 32] = matrix[i : i + 32, j : j + 32].T


def leave_blocks_unswapped(result: np.ndarray, matrix: np.ndarray, i: int, j: int) -> None:
    result[i : i + 32, j : j + 32] = matrix[j : j + 32, i : i + 32]


@pytest.mark.parametrize("shape", [(64, 64), (37, 53), (100, 7)])
def test_an_untransposed_copy(shape: tuple[int, int]) -> None:
    matrix = random_matrix(*shape)
    assert "untransposed copy" in say(matrix, matrix.T.reshape(shape))


def test_tiles_in_place_but_not_transposed_inside() -> None:
    matrix = random_matrix(128, 64)
    assert "each 32x32 tile is in its place, but is not transposed inside" in say(
        matrix, by_tiles(matrix, leave_untransposed_inside)
    )


def test_block_indices_not_swapped() -> None:
    matrix = random_matrix(128, 128)
    assert "are the block indices swapped" in say(matrix, by_tiles(matrix, leave_blocks_unswapped))


@pytest.mark.parametrize(
    ("axis", "step", "words"),
    [
        (1, -1, "right neighbour's"),
        (1, 1, "left neighbour's"),
        (0, -1, "one row below"),
        (0, 1, "one row above"),
    ],
)
def test_off_by_one(axis: int, step: int, words: str) -> None:
    matrix = random_matrix(40, 50)
    assert words in say(matrix, np.roll(matrix, step, axis))


def test_whole_tiles_off_the_diagonal() -> None:
    matrix = random_matrix(100, 100)
    got = random_matrix(100, 100)[::-1].copy()
    for k in range(0, 100, 32):
        got[k : k + 32, k : k + 32] = matrix[k : k + 32, k : k + 32]
    assert say(matrix, got) == "the wrong elements form whole 32x32 tiles off the diagonal"


@pytest.mark.parametrize(
    ("rows", "columns", "words"),
    [
        (slice(None), slice(96, None), "the last 5 columns: is the edge handled?"),
        (slice(96, None), slice(None), "the last row: is the edge handled?"),
        (slice(0, 3), slice(None), "the first 3 rows"),
        (slice(20, 31), slice(None), "rows 20 to 30"),
        (slice(None), slice(7, 8), "column 7"),
        (slice(20, 31), slice(100, None), "rows 20 to 30 of the last column: is the edge handled?"),
    ],
)
def test_where_the_wrong_elements_lie(rows: slice, columns: slice, words: str) -> None:
    matrix = random_matrix(97, 101)
    got = matrix.copy()
    got[rows, columns] = np.random.default_rng(8).standard_normal(got[rows, columns].shape)
    assert say(matrix, got) == f"the wrong elements all lie in {words}"


def test_both_ragged_edges() -> None:
    matrix = random_matrix(97, 101)
    got = matrix.copy()
    noise = np.random.default_rng(8).standard_normal(got.shape, dtype=np.float32)
    got[96:], got[:, 96:] = noise[96:], noise[:, 96:]
    assert (
        say(matrix, got)
        == "the wrong elements all lie in the last row and the last 5 columns: is the edge handled?"
    )


def test_zeros_and_not_numbers_are_named() -> None:
    matrix = random_matrix(20, 20)
    assert say(matrix, np.zeros_like(matrix)) == "every element is 0"
    assert say(matrix, np.full_like(matrix, np.inf)) == "every element is NaN or infinite"


def test_noise_is_not_explained() -> None:
    matrix = random_matrix(64, 64)
    scattered = np.random.default_rng(1).random(matrix.shape) < 0.3
    assert say(matrix, np.where(scattered, matrix + 1, matrix)) == ""


def test_few_equal_values_prove_no_rule() -> None:
    constant = np.ones((64, 64), dtype=np.float32)
    assert "transpose" not in say(constant, constant * 2)
    assert say(np.ones((1, 1), dtype=np.float32), np.full((1, 1), 2, dtype=np.float32)) == ""
