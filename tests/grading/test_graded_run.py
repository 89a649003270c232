"""The two large runs of a submission: the timed one is judged while the device counts, and what is
told is what would be told of one after the other."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import grader
from grader.devices.emulated import inspection
from grader.devices.emulated.sampling import Stage
from grader.grading import graded_run
from grader.grading.baselines import build_baseline
from grader.grading.building import Built
from grader.grading.cases import BENCHMARK
from grader.grading.grade import _open_job
from grader.grading.session import draw_ahead
from grader.grading.tools import Toolchain
from grader.records import Options, Progress, Score, Status, Submission
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case, Exercise
from grader.spec.reader import read_exercise
from tests.support.in_process import grade_in_process
from tests.support.small_transpose import SOURCE, make_exercise

TIMED, COUNTED = {"rows": 992, "cols": 960}, {"rows": 480, "cols": 448}
"""No case has these sizes, and of the first only a sample of the blocks runs."""
WRONG_WHEN_TIMED = "if (rows == 992) { out[(size_t)x * rows + y] = 1.0f; return; }"
FAULT_WHEN_TIMED = "if (rows == 992) out[1 << 28] = 1.0f;"
FAULT_WHEN_COUNTED = "if (rows == 480) out[1 << 28] = 1.0f;"


@pytest.fixture
def exercise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The transpose at small sizes, graded in this process."""
    grade_in_process(monkeypatch)
    monkeypatch.setattr(inspection, "Stage", partial(Stage, whole_instructions=0))
    return make_exercise(tmp_path, TIMED, COUNTED)


def grade(exercise: Path, cache: Path, body: str) -> tuple[Score, list[str]]:
    """The score, and the stages that were shown, in order."""
    file, stages = exercise / "move.cu", []

    def show(step: Progress) -> None:
        if step.stage not in stages:
            stages.append(step.stage)

    file.write_text(SOURCE.replace("BODY", body))
    score = grader.grade(exercise, file, device="emulated:h100", seed=7, progress=show, cache=cache)
    return score, stages


def test_a_sample_is_followed_by_a_run_that_counts(exercise: Path, cache: Path) -> None:
    score, stages = grade(exercise, cache, "")
    assert score.cases[-1].passed
    assert score.cases[-1].sizes == COUNTED
    assert "a sample of" in score.environment["model"]
    assert stages.index("running at the timed size") < stages.index("counting")
    assert score.timings


def test_what_goes_wrong_while_it_is_judged_is_told_where_it_is_right(
    exercise: Path, cache: Path
) -> None:
    score, _ = grade(exercise, cache, FAULT_WHEN_COUNTED)
    assert score.status is Status.RUNTIME_ERROR


def test_where_it_is_wrong_nothing_else_counts(exercise: Path, cache: Path) -> None:
    score, _ = grade(exercise, cache, WRONG_WHEN_TIMED + FAULT_WHEN_COUNTED)
    assert score.status is Status.FAILED, score.message
    assert (score.cases[-1].passed, score.cases[-1].sizes) == (False, TIMED)


def test_where_it_does_not_end_nothing_is_counted(exercise: Path, cache: Path) -> None:
    score, stages = grade(exercise, cache, FAULT_WHEN_TIMED)
    assert score.status is Status.RUNTIME_ERROR
    assert "counting" not in stages


def test_the_inputs_of_the_timed_run_are_drawn_ahead(exercise: Path) -> None:
    read, text = read_exercise(exercise), Submission("move.cu", "", SOURCE)
    expected = make_inputs(read, Case(BENCHMARK, TIMED, hidden=False), 7)
    with draw_ahead(_open_job(Options("emulated:h100", 7), read, text)) as drawn:
        assert drawn is not None
        assert drawn.result().keys() == expected.keys()
        assert all(np.array_equal(drawn.result()[name], expected[name]) for name in expected)
    with draw_ahead(_open_job(Options("emulated:h100", 7, model=False), read, text)) as drawn:
        assert drawn is None


def test_a_baseline_is_compiled_once(
    exercise: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its time and its counters at two sizes are needed."""
    spec = json.loads((exercise / "spec.json").read_text())
    fewer = {"metric": "instructions_executed", "at_most": 2, "relative_to": "baseline"}
    faster = {"metric": "speedup_over_naive", "at_least": 0.1}
    spec["checks"][0]["points"] = 40
    spec["checks"] += [{**each, "title": "x", "points": 20} for each in (fewer, faster)]
    (exercise / "spec.json").write_text(json.dumps(spec))
    compiled = list[str]()

    def build(exercise: Exercise, tools: Toolchain, label: str, *, arch: str) -> Built:
        compiled.append(label)
        return build_baseline(exercise, tools, label, arch=arch)

    monkeypatch.setattr(graded_run, "build_baseline", build)
    score, stages = grade(exercise, cache, "")
    assert {"modelling the naive kernel", "counting the naive kernel"} <= set(stages)
    assert score.checks[-1].value is not None
    assert compiled == ["naive"]
