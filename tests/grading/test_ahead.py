"""The timed run beside the correctness cases: a watch gives the score of a single grading."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.grading.grade import grade_with
from grader.grading.shared_work import SharedWork
from grader.records import Options, RunLimits, Score, Status
from grader.report.json import format_score
from tests.support.small_transpose import SOURCE, make_exercise

TIMED, COUNTED = {"rows": 991, "cols": 640}, {"rows": 48, "cols": 64}
ENDLESS_WHEN_TIMED = "if (rows == 991) for (volatile int i = 0; ; ++i);"
FAULT_WHEN_TIMED = "if (rows == 991) out[1 << 28] = 1.0f;"
WRONG_IN_SOME_CASES = "if (rows == 1) return;"


@pytest.fixture
def exercise(tmp_path: Path) -> Path:
    return make_exercise(tmp_path, TIMED, COUNTED)


def grade(
    exercise: Path, cache: Path, body: str, *, watched: bool, limits: RunLimits | None = None
) -> Score:
    file = exercise / "move.cu"
    file.write_text(SOURCE.replace("BODY", body))
    options = Options("emulated:h100", 7, cache=cache, limits=limits)
    return grade_with(options, exercise, file, shared=SharedWork() if watched else None)


@pytest.mark.parametrize("body", ["", FAULT_WHEN_TIMED, WRONG_IN_SOME_CASES])
def test_a_watch_gives_the_same_score(exercise: Path, cache: Path, body: str) -> None:
    alone, watched = (grade(exercise, cache, body, watched=each) for each in (False, True))
    assert format_score(watched) == format_score(alone)


def test_a_wrong_case_stops_the_timed_run(exercise: Path, cache: Path) -> None:
    """Which has no limit: without a stop, this test does not end."""
    body = WRONG_IN_SOME_CASES + ENDLESS_WHEN_TIMED
    limits = RunLimits(1 << 60, 1e6, 1e6)
    score = grade(exercise, cache, body, watched=True, limits=limits)
    assert score.status is Status.FAILED
    assert score.cases
