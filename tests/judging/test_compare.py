"""Expected against got: what counts as wrong, and what is said of it."""

from __future__ import annotations

import numpy as np
import pytest

from grader.errors import WorkerError
from grader.judging.compare import POISON_WORD, is_equal, judge_case, poison
from grader.records import CaseResult, DeviceBuffer, Role
from grader.spec.exercise import Case, Tolerance

EXACT = Tolerance()
LOOSE = Tolerance(absolute=1e-6, relative=1e-5)


def random_matrix(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(3).standard_normal((rows, cols), dtype=np.float32)


def judge(
    expected: np.ndarray,
    got: np.ndarray,
    tolerance: Tolerance = EXACT,
    *,
    hidden: bool = False,
    modified: tuple[str, ...] = (),
) -> CaseResult:
    buffers = [
        DeviceBuffer("in", "float32", (1,), Role.INPUT),
        DeviceBuffer("out", str(got.dtype), got.shape, Role.OUTPUT),
    ]
    case = Case("case", {"rows": got.shape[0]}, hidden)
    return judge_case(
        case, buffers, {"out": expected}, {"out": got}, tolerance, modified_inputs=modified
    )


def with_change(matrix: np.ndarray, index: tuple[object, ...], value: object) -> np.ndarray:
    changed = matrix.copy()
    changed[index] = value
    return changed


def test_equal_outputs_pass() -> None:
    matrix = random_matrix(37, 53)
    result = judge(matrix, matrix.copy())
    assert (result.passed, result.worst_error, result.mismatch) == (True, 0.0, None)


def test_the_oracles_float64_is_rounded_once_for_an_exact_comparison() -> None:
    exact = np.full((2, 2), 0.1, dtype=np.float64)
    assert judge(exact, exact.astype(np.float32)).passed
    assert not judge(exact, np.nextafter(exact.astype(np.float32), np.float32(1))).passed


@pytest.mark.parametrize(("error", "passed"), [(0.9e-5, True), (1.3e-5, False)])
def test_tolerance_is_absolute_plus_relative(error: float, passed: bool) -> None:
    expected = np.ones((4, 4))
    got = with_change(expected, (2, 3), 1 + error)
    result = judge(expected, got, LOOSE)
    assert result.passed is passed
    assert result.worst_error == pytest.approx(error)


def test_reports_the_first_mismatch() -> None:
    matrix = random_matrix(37, 53)
    got = with_change(with_change(matrix, (30, 1), 0.25), (5, 40), matrix[5, 40] + 2)
    result = judge(matrix, got)
    mismatch = result.mismatch
    assert mismatch is not None
    assert mismatch.index == (5, 40)
    assert mismatch.expected == matrix[5, 40]
    assert mismatch.got == matrix[5, 40] + np.float32(2)
    assert (mismatch.wrong_elements, mismatch.total_elements) == (2, 37 * 53)
    assert mismatch.worst_error == pytest.approx(2, rel=0.5)
    assert "2 of 1,961 elements of `out` are wrong" in result.message


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("tolerance", [EXACT, LOOSE, Tolerance(absolute=1e30)])
def test_nan_and_inf_are_wrong_where_a_finite_value_is_expected(
    value: float, tolerance: Tolerance
) -> None:
    matrix = random_matrix(8, 8)
    result = judge(matrix, with_change(matrix, (1, 2), value), tolerance)
    assert result.mismatch is not None
    assert result.mismatch.index == (1, 2)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("tolerance", [EXACT, LOOSE])
def test_the_same_special_value_is_right_where_it_is_expected(
    value: float, tolerance: Tolerance
) -> None:
    matrix = with_change(random_matrix(8, 8), (1, 2), value)
    assert judge(matrix, matrix.copy(), tolerance).passed
    assert not judge(matrix, with_change(matrix, (1, 2), 1.0), tolerance).passed


def test_poison_is_the_pattern_and_a_nan() -> None:
    words = poison((3, 5), np.float32)
    assert words.shape == (3, 5)
    assert np.isnan(words).all()
    assert words.tobytes() == POISON_WORD.to_bytes(4, "little") * 15
    assert poison((3,), np.float16).tobytes() == (POISON_WORD.to_bytes(4, "little") * 2)[:6]
    assert poison((0, 4), np.float64).shape == (0, 4)


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32", "int64", "uint8"])
def test_an_output_that_nobody_wrote_says_so(dtype: str) -> None:
    expected = np.zeros((9, 7), dtype=dtype)
    result = judge(expected, poison((9, 7), dtype))
    assert result.message == "`out` was never written"
    assert result.mismatch is not None
    assert set("".join(result.mismatch.picture)) == {"?"}


def test_counts_the_elements_that_were_never_written() -> None:
    expected = random_matrix(64, 64)
    got = poison((64, 64), np.float32)
    got[:60] = expected[:60]
    result = judge(expected, got)
    assert "256 of 4,096 elements of `out` were never written" in result.message
    assert "the last 4 rows: is the edge handled?" in result.message
    assert result.mismatch is not None
    assert result.mismatch.picture == ("·" * 16,) * 7 + ("?" * 16,)


def test_the_picture_has_at_most_8_rows_of_16_cells() -> None:
    expected = random_matrix(81, 101)
    got = expected.copy()
    got[22:33, 7:14] += 1  # the cells are 11 rows by 7 columns
    got[0, 0] += 1
    mismatch = judge(expected, got).mismatch
    assert mismatch is not None
    assert mismatch.picture[0] == "▒" + "·" * 14
    assert mismatch.picture[2] == "·█" + "·" * 13
    assert len(mismatch.picture) == 8


@pytest.mark.parametrize(
    ("shape", "picture"),
    [
        ((1, 1), ("█",)),
        ((3, 1), ("·", "█", "·")),
        ((5,), ("·█···",)),
        ((2, 2, 2), ("··", "█·", "··", "··")),
    ],
)
def test_any_shape_is_drawn_as_a_matrix(shape: tuple[int, ...], picture: tuple[str, ...]) -> None:
    expected = np.zeros(shape, dtype=np.float32)
    got = expected.copy()
    first = {(1, 1): 0, (3, 1): 1, (5,): 1, (2, 2, 2): 2}[shape]
    got.reshape(-1)[first] = 1
    mismatch = judge(expected, got).mismatch
    assert mismatch is not None
    assert mismatch.picture == picture
    assert mismatch.index == tuple(int(i) for i in np.unravel_index(first, shape))


def test_the_message_of_a_hidden_case_gives_no_sizes_away() -> None:
    expected = random_matrix(101, 211)
    got = expected.copy()
    got[:, 192:] = 0
    result = judge(expected, got, hidden=True)
    assert (
        result.message
        == "some of the elements of `out` are wrong; every wrong element is 0; the wrong elements"
        " all lie in the last columns: is the edge handled?"
    )
    assert (result.mismatch, result.worst_error) == (None, None)


@pytest.mark.parametrize("got", [101.0, 0.25])
def test_what_a_hidden_case_holds_is_not_told(got: float) -> None:
    """A kernel may write a size, and within the tolerance it may add one."""
    expected = np.full((5, 7), 0.0)
    result = judge(expected, expected + got, Tolerance(absolute=0.5), hidden=True)
    assert result.passed == (got < 0.5)
    assert (result.mismatch, result.worst_error) == (None, None)
    assert str(got) not in result.message


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ((slice(100, None), slice(None)), "in the last rows: is the edge handled?"),
        ((slice(7, 8), slice(None)), "in some rows"),
        ((slice(0, 3), slice(4, 9)), "in the first rows of some columns"),
    ],
)
def test_the_place_in_a_hidden_case_has_no_numbers(where: tuple[slice, slice], words: str) -> None:
    expected = random_matrix(101, 211)
    result = judge(expected, with_change(expected, where, np.float32(3)), hidden=True)
    assert result.message.endswith(words)


def test_ragged_edges_of_a_hidden_case_have_no_numbers() -> None:
    expected = random_matrix(101, 211)
    got = with_change(
        with_change(expected, (slice(96, None),), np.float32(3)),
        (slice(None), slice(208, None)),
        np.float32(3),
    )
    assert judge(expected, got, hidden=True).message.endswith(
        "in the last rows and the last columns: is the edge handled?"
    )


@pytest.mark.parametrize("tolerance", [EXACT, LOOSE])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_wrong_elements_that_are_not_finite_have_no_worst_error(
    value: float, tolerance: Tolerance
) -> None:
    matrix = random_matrix(8, 8)
    result = judge(matrix, with_change(matrix, (1, 2), value), tolerance)
    assert result.worst_error == np.inf
    assert judge(
        matrix, with_change(with_change(matrix, (1, 2), value), (3, 3), 1e6), tolerance
    ).worst_error == pytest.approx(1e6)


def test_a_written_input_fails_the_case() -> None:
    matrix = random_matrix(4, 4)
    result = judge(matrix, matrix.copy(), modified=("in",))
    assert not result.passed
    assert "wrote to its input `in`" in result.message


def test_a_missing_output_is_the_workers_fault() -> None:
    with pytest.raises(WorkerError, match="'out'"):
        judge_case(
            Case("case", {}, False),
            [DeviceBuffer("out", "float32", (2,), Role.OUTPUT)],
            {"out": np.zeros(2)},
            {},
            EXACT,
        )


def test_a_large_transpose_that_was_not_transposed_is_told() -> None:
    expected = np.arange(2048 * 2048, dtype=np.float32).reshape(2048, 2048)
    assert "the transpose of the expected output" in judge(expected, expected.T.copy()).message


@pytest.mark.parametrize("shape", [(1, 1), (255, 257), (256, 256), (700, 300)])
@pytest.mark.parametrize("place", [None, (0, 0), (-1, -1), (-1, 0)])
def test_a_transposed_view_is_compared_element_by_element(
    shape: tuple[int, int], place: tuple[int, int] | None
) -> None:
    want = np.arange(shape[0] * shape[1], dtype=np.float32).reshape(shape[::-1]).T
    got = want.copy(order="C")
    if place is not None:
        got[place] = -5
    assert is_equal(want, got) == (place is None)


def test_what_is_no_number_equals_nothing() -> None:
    array = np.full((300, 300), np.nan, dtype=np.float32)
    assert not is_equal(array, array)
    assert not is_equal(array.T, array)
