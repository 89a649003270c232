"""Baselines on the emulated device: counted for goals relative to them; a failure is a SpecError."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import grader
from grader.errors import SpecError
from grader.grading.grade import grade_with
from grader.grading.session import run_limits
from grader.records import CheckResult, CheckStatus, Options, Progress, Score, Status
from grader.spec.reader import read_exercise
from tests.support.in_process import grade_in_process

ROOT = Path(__file__).resolve().parents[2]
SIDE = 64
NAIVE_STORES = SIDE * SIDE  # a sector for every element
Course = Callable[..., Path]

FEWER_STORES = {
    "metric": "global_store_sectors",
    "title": "Fewer sectors written",
    "points": 20,
    "at_most": 0.2,
    "zero_at": 1,
    "relative_to": "baseline",
    "requires": ["correctness"],
}
LIKE_THE_REFERENCE = {
    "metric": "instructions_executed",
    "title": "As few instructions as the reference",
    "points": 20,
    "at_most": 1,
    "relative_to": "reference",
    "requires": ["correctness"],
}


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    grade_in_process(monkeypatch)


@pytest.fixture
def course(tmp_path: Path) -> Course:
    """A copy of the transpose exercise with a small benchmark and these checks after
    correctness."""

    def make(
        *checks: dict[str, Any], starter: Callable[[str], str] = str, reference: bool = True
    ) -> Path:
        exercise = tmp_path / "exercises" / "transpose"
        shutil.copytree(ROOT / "exercises" / "transpose", exercise)
        spec = json.loads((exercise / "spec.json").read_text())
        del spec["parts"]
        spec["checks"] = [{**spec["checks"][0], "points": 100 - 20 * len(checks)}, *checks]
        spec["benchmark"]["emulated"] = {"rows": SIDE, "cols": SIDE}
        (exercise / "spec.json").write_text(json.dumps(spec))
        (tmp_path / "starter").mkdir()
        (tmp_path / "starter" / "transpose.cu").write_text(
            starter((ROOT / "starter" / "transpose.cu").read_text())
        )
        if reference:
            (tmp_path / "solutions").symlink_to(ROOT / "solutions")
        return exercise

    return make


def grade(exercise: Path, file: str, cache: Path, seen: list[str] | None = None) -> Score:
    def show(step: Progress) -> None:
        if seen is not None and step.stage not in seen:
            seen.append(step.stage)

    return grader.grade(
        exercise,
        ROOT / file,
        device="emulated:h100",
        seed=7,
        progress=show,
        cache=cache,
        model=False,
    )


def check(score: Score, name: str) -> CheckResult:
    return next(check for check in score.checks if check.name == name)


def test_a_goal_relative_to_the_baseline(course: Course, cache: Path) -> None:
    stages: list[str] = []
    score = grade(course(FEWER_STORES), "solutions/transpose.cu", cache, stages)
    stores = check(score, "global_store_sectors")
    assert (stores.status, stores.value, stores.relative_value) == (
        CheckStatus.PASSED,
        SIDE * SIDE / 8,
        NAIVE_STORES,
    )
    assert stores.threshold == "<= 0.2 x the baseline's 4,096"
    assert "counting the naive kernel" in stages


def test_the_baseline_is_counted_again_after_a_change_of_the_oracle(
    course: Course, cache: Path
) -> None:
    """Functions of the oracle fill inputs, and counts may depend on them."""
    exercise, stages = course(FEWER_STORES), list[str]()
    grade(exercise, "solutions/transpose.cu", cache)
    with (exercise / "oracle.py").open("a") as oracle:
        oracle.write("# another input\n")
    grade(exercise, "solutions/transpose.cu", cache, stages)
    assert "counting the naive kernel" in stages


def test_half_of_the_baseline_earns_partial_credit(course: Course, cache: Path) -> None:
    score = grade(
        course(FEWER_STORES), "tests/submissions/transpose/failed--naive_coalesced_reads.cu", cache
    )
    stores = check(
        score, "global_store_sectors"
    )  # its warps are two rows of 16 threads: two elements a sector
    assert (stores.status, stores.points) == (CheckStatus.PARTIAL, 12.5)
    assert (stores.value, stores.relative_value) == (NAIVE_STORES / 2, NAIVE_STORES)


def test_a_goal_relative_to_the_reference(course: Course, cache: Path) -> None:
    instructions = check(
        grade(course(LIKE_THE_REFERENCE), "solutions/transpose.cu", cache), "instructions_executed"
    )
    assert instructions.status is CheckStatus.PASSED
    assert instructions.value == instructions.relative_value


def test_a_reference_that_is_not_shipped_leaves_the_check_unmeasured(
    course: Course, cache: Path
) -> None:
    score = grade(course(LIKE_THE_REFERENCE, reference=False), "solutions/transpose.cu", cache)
    instructions = check(score, "instructions_executed")
    assert (instructions.status, instructions.message) == (
        CheckStatus.NOT_MEASURED,
        "the reference is not shipped with this exercise",
    )
    assert score.judged_points == 80


def test_nothing_else_is_run_where_no_goal_needs_it(course: Course, cache: Path) -> None:
    stages: list[str] = []
    grade(course(), "solutions/transpose.cu", cache, stages)
    assert not [stage for stage in stages if stage.startswith("counting the")]


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("__global__ void transpose_naive(", "__global__ void transpose_naive(oops ", "oops"),
        (
            "transpose_naive(float* out, const float* in, int rows, int cols)\n{",
            "\\g<0>\n    out[(size_t)rows * cols] = 1;",
            "buffer out",
        ),
        (
            "transpose_naive(float* out, const float* in, int rows, int cols)\n{",
            "\\g<0>\n    return;",
            "never written",
        ),
    ],
    ids=["compile", "bounds", "result"],
)
def test_a_baseline_that_fails_is_the_exercise_s_mistake(
    course: Course, cache: Path, old: str, new: str, words: str
) -> None:
    def break_it(source: str) -> str:
        assert old in source
        return source.replace(old, new.replace("\\g<0>", old))

    with pytest.raises(SpecError, match="the naive program of the exercise 'transpose'") as caught:
        grade(course(FEWER_STORES, starter=break_it), "solutions/transpose.cu", cache)
    assert words in str(caught.value)
    assert caught.value.problems[0].file.endswith("starter/transpose.cu")


def test_limits_of_the_submission_do_not_limit_baselines(
    tmp_path: Path,
) -> None:
    """The naive kernel executes eight times the instructions of the reference."""
    by_authors = ROOT / "tests" / "by_authors"
    exercise = by_authors / "exercises" / "sum_reduction"
    own = replace(read_exercise(exercise).limits, warp_instructions=500_000)
    options = Options("emulated:h100", seed=1, cache=tmp_path, model=False, limits=run_limits(own))
    score = grade_with(options, exercise, by_authors / "solutions" / "sum_reduction.cu")
    counted = next(check for check in score.checks if check.name == "instructions_executed")
    assert counted.status is CheckStatus.PASSED, counted.message
    naive = grade_with(options, exercise, by_authors / "starter" / "sum_reduction.cu")
    assert naive.status is Status.TIMEOUT
