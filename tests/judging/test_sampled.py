"""Judging the elements that a sample of the blocks wrote."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from grader.devices.base import Arrays, places_of
from grader.judging.compare import judge_sampled
from grader.records import CaseResult, DeviceBuffer, Role
from grader.spec.exercise import Case, Tolerance

SIZE = 100_000
BUFFERS = (DeviceBuffer("y", "float32", (SIZE,), Role.OUTPUT),)
CASE = Case("benchmark", {"n": SIZE}, hidden=False)
EXACT = Tolerance()
EXPECTED = np.arange(SIZE, dtype=np.float32)


def judge(
    *,
    wrong: int | None = None,
    modified: tuple[str, ...] = (),
    tolerance: Tolerance = EXACT,
) -> CaseResult:
    """The first tenth of the elements was written; one of them is `wrong`, by 1."""
    places = np.arange(SIZE // 10, dtype=np.uint32)[::-1]
    values = EXPECTED[places]
    if wrong is not None:
        values[places == wrong] += 1
    got = {"y": values, places_of("y"): places}
    return judge_sampled(CASE, BUFFERS, expected_at, got, tolerance, modified_inputs=modified)


def expected_at(places: Mapping[str, np.ndarray] | None) -> Arrays:
    return {"y": EXPECTED if places is None else EXPECTED[places["y"]]}


def test_right_elements_are_right() -> None:
    assert judge().passed


def test_the_worst_error_within_the_tolerance_is_known() -> None:
    tolerant = judge(wrong=100, tolerance=Tolerance(relative=0.02))
    assert tolerant.passed
    assert tolerant.worst_error == 1.0
    assert judge().worst_error == 0


def test_one_wrong_element_is_wrong() -> None:
    result = judge(wrong=77)
    assert result.is_wrong
    assert result.mismatch is not None
    assert result.mismatch.index == (77,)
    assert (result.mismatch.wrong_elements, result.mismatch.total_elements) == (1, SIZE)


def test_a_wrong_element_of_a_transposed_expectation_is_found() -> None:
    """An oracle's transpose is a view: its flat order in memory is not C's."""
    whole = np.arange(600, dtype=np.float32).reshape(20, 30).T
    places = np.arange(60, dtype=np.uint32)
    values = whole.reshape(-1)[places]
    values[33] += 1
    result = judge_sampled(
        CASE,
        (DeviceBuffer("y", "float32", whole.shape, Role.OUTPUT),),
        lambda at: {"y": whole if at is None else whole.reshape(-1)[at["y"]]},
        {"y": values, places_of("y"): places},
        EXACT,
    )
    assert result.mismatch is not None
    assert result.mismatch.index == (1, 13)
    assert result.mismatch.wrong_elements == 1


def test_a_modified_input_is_wrong() -> None:
    assert judge(modified=("x",)).is_wrong
