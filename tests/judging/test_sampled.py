"""Judging what a sample of the blocks wrote: right elements, coverage within the error of the
sample, and nothing twice."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest

from grader.devices.base import Arrays, places_of
from grader.judging.sampled import judge_sampled, unseen_share
from grader.records import (
    CaseResult,
    Coverage,
    DeviceBuffer,
    Dim3,
    Execution,
    LaunchResult,
    Role,
    Sample,
)
from grader.records import Counters as NoCounters
from grader.spec.exercise import Case, Tolerance
from grader.words.outputs import WRITES_A_PART, WRITES_AGAIN, WRITES_MORE

SIZE, BLOCKS, SPREAD = 100_000, 1_000, 100
BUFFERS = (DeviceBuffer("y", "float32", (SIZE,), Role.OUTPUT),)
CASE = Case("benchmark", {"n": SIZE}, hidden=False)
EXPECTED = np.arange(SIZE, dtype=np.float32)


def launch(error: float = 0.0) -> LaunchResult:
    sample = Sample(BLOCKS, 0, SPREAD, error)
    return LaunchResult(
        "k", Dim3(BLOCKS), Dim3(100), 16, 0, 0, 0, 1.0, NoCounters(), (), sample=sample
    )


def judge(
    elements: int,
    *,
    repeated: int = 0,
    error: float = 0.0,
    launches: int = 1,
    wrong: int | None = None,
) -> CaseResult | str:
    """The first `elements` were written, all by the spread; one of them is `wrong`."""
    places = np.arange(elements, dtype=np.uint32)[::-1]
    values = EXPECTED[places]
    if wrong is not None:
        values[places == wrong] += 1
    execution = Execution(
        (launch(),) * (launches - 1) + (launch(error),),
        coverage=(Coverage("y", 0, elements, repeated),),
    )
    got = {"y": values, places_of("y"): places}
    return judge_sampled(CASE, BUFFERS, expected_at, got, Tolerance(), execution)


def expected_at(places: Mapping[str, np.ndarray] | None) -> Arrays:
    return {"y": EXPECTED if places is None else EXPECTED[places["y"]]}


def test_blocks_that_write_their_part_of_all_are_right() -> None:
    result = judge(SIZE // 10)
    assert isinstance(result, CaseResult)
    assert result.passed


def test_one_wrong_element_is_wrong() -> None:
    result = judge(SIZE // 10, wrong=77)
    assert isinstance(result, CaseResult)
    assert not result.passed
    assert result.mismatch is not None
    assert result.mismatch.index == (77,)
    assert (result.mismatch.wrong_elements, result.mismatch.total_elements) == (1, SIZE)


@pytest.mark.parametrize(
    ("elements", "words"),
    [(0, "`y` was never written"), (SIZE // 20, "about 50 % of `y` are never written")],
)
def test_what_blocks_leave_out_is_missing(elements: int, words: str) -> None:
    result = judge(elements)
    assert isinstance(result, CaseResult)
    assert (result.passed, words in result.message) == (False, True)


def test_the_error_of_the_sample_is_allowed_for() -> None:
    elements = SIZE // 10 * 95 // 100
    within, beyond = judge(elements, error=4 * SIZE * 0.01), judge(elements, error=4 * SIZE * 0.005)
    assert isinstance(within, CaseResult)
    assert isinstance(beyond, CaseResult)
    assert (within.passed, beyond.passed) == (True, False)


def test_what_cannot_be_told_is_not_verified() -> None:
    assert judge(SIZE // 10, repeated=1) == WRITES_AGAIN
    assert judge(SIZE // 5) == WRITES_MORE
    assert judge(SIZE // 20, launches=2) == WRITES_A_PART


@pytest.mark.parametrize(
    ("blocks", "spread", "share"),
    [(65_536, 684, 0.02), (1_000_000, 684, 0.02), (4096, 684, 0.0184), (16, 16, 0.0)],
)
def test_the_share_of_blocks_that_can_go_unseen(blocks: int, spread: int, share: float) -> None:
    assert unseen_share(blocks, spread) == pytest.approx(share, rel=0.02)
