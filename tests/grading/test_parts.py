"""A part of an exercise: run beside it, judged for itself, and never the reason why a submission
fails. With a compiler."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import grader
from grader.records import CheckResult, CheckStatus, Score, Status
from grader.report.json import format_score
from grader.spec.draws import draw_cases
from grader.spec.reader import read_exercise
from tests.support.in_process import grade_in_process

ROOT = Path(__file__).resolve().parents[2]
TRANSPOSE = ROOT / "exercises" / "transpose"
GOOD = (ROOT / "tests" / "submissions" / "transpose" / "passed--in_place_bonus.cu").read_text()
SCHEMA = json.loads((ROOT / "grader" / "schemas" / "score.schema.json").read_text())
LINE = "// launch in_place:"
SEED = 7
PRIME = next(
    case for case in draw_cases(read_exercise(TRANSPOSE).parts[0], SEED) if case.name == "prime"
).sizes["n"]


@pytest.fixture(autouse=True)
def _in_process(monkeypatch: pytest.MonkeyPatch) -> None:
    grade_in_process(monkeypatch)


def grade(source: str, tmp_path: Path, cache: Path) -> Score:
    path = tmp_path / "transpose.cu"
    path.write_text(source)
    score = grader.grade(
        TRANSPOSE, path, device="emulated:h100", seed=SEED, cache=cache, model=False
    )
    Draft202012Validator(SCHEMA).validate(json.loads(format_score(score)))
    return score


def bonus(score: Score) -> CheckResult:
    return next(check for check in score.checks if check.name == "in_place")


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_the_bonus_comes_on_top(tmp_path: Path, cache: Path) -> None:
    score = grade(GOOD, tmp_path, cache)
    assert (score.status, score.score, score.exit_code) == (
        Status.PASSED,
        score.judged_points + 5,
        0,
    )
    assert (bonus(score).status, bonus(score).message) == (
        CheckStatus.PASSED,
        "all 8 cases are right",
    )
    assert len([case for case in score.cases if case.part == "in_place"]) == 8
    correctness = next(metric for metric in score.metrics if metric.name == "correctness")
    assert correctness.value == 1


def test_without_a_launch_line_the_default_plan_applies(tmp_path: Path, cache: Path) -> None:
    source = "\n".join(line for line in GOOD.splitlines() if not line.startswith(LINE))
    assert bonus(grade(source, tmp_path, cache)).status is CheckStatus.PASSED


def test_a_file_without_the_kernel_leaves_the_part_out(tmp_path: Path, cache: Path) -> None:
    source = GOOD[: GOOD.index("__device__ void take")].replace(LINE, "//")
    score = grade(source, tmp_path, cache)
    assert (score.status, score.score) == (Status.PASSED, score.judged_points)
    assert (bonus(score).status, bonus(score).message) == (
        CheckStatus.SKIPPED,
        "the file has no kernel transpose_in_place",
    )


FAILURES = {
    "a wrong result": ("if (x > y) put(lower, data, y, x, n);", "", "of 8 cases: "),
    "an access out of bounds": (
        "data[(size_t)(top + j) * n + left + threadIdx.x] = tile",
        "data[(size_t)n * n + 7] = tile",
        "buffer data",
    ),
    "a launch line that cannot be read": (
        f"{LINE} transpose_in_place<<<",
        f"{LINE} transpose_in_place<<",
        "line 5, column",
    ),
    "a kernel that is not there": (
        f"{LINE} transpose_in_place<<<",
        f"{LINE} transpose_inplace<<<",
        "transpose_inplace",
    ),
    "a name that is not known": (
        "dim3(TILE, ROWS)>>>(data, n)",
        "dim3(TILE, RAWS)>>>(data, n)",
        "'RAWS' is not known",
    ),
}


@pytest.mark.parametrize(("old", "new", "words"), FAILURES.values(), ids=FAILURES)
def test_what_goes_wrong_in_a_part_costs_only_the_bonus(
    old: str, new: str, words: str, tmp_path: Path, cache: Path
) -> None:
    score = grade(changed(old, new), tmp_path, cache)
    assert (score.status, score.score, score.exit_code) == (Status.PASSED, score.judged_points, 0)
    assert (bonus(score).status, bonus(score).points) == (CheckStatus.FAILED, 0)
    assert words in bonus(score).message
    assert score.findings == ()


REFUSALS = {
    "a scratch buffer": (
        LINE,
        f"// scratch in_place: float copy[n * n]\n{LINE}",
        "allows no scratch memory: line 5 declares",
    ),
    "a large variable": (
        "    const int x = blockIdx.x * TILE, y",
        "    if (n == 4096) put(lower, copy, 0, 0, n);\n    const int x = blockIdx.x * TILE, y",
        (
            "the kernel transpose_in_place can reach 4,194,304 bytes of them, most of them declared"
            " in line 7"
        ),
    ),
    "none of its own": (
        "{\n    __shared__ float tile",
        "{\n    if (rows == 0) copy[cols] = 1;\n    __shared__ float tile",
        "",
    ),
}
"""Changes of the file with a `__device__` array in it, and what the check of the bonus says then;
nothing where it is earned."""


@pytest.mark.parametrize(("old", "new", "words"), REFUSALS.values(), ids=REFUSALS)
def test_a_bonus_is_refused_for_what_its_own_launches_use(
    old: str, new: str, words: str, tmp_path: Path, cache: Path
) -> None:
    array = "__device__ float copy[1024 * 1024];  // of the exercise itself\n"
    source = changed(
        "__global__ void transpose_shared", array + "__global__ void transpose_shared"
    ).replace(old, new)
    score = grade(source, tmp_path, cache)
    assert (score.status, score.score) == (Status.PASSED, score.judged_points + (0 if words else 5))
    assert bonus(score).status is (CheckStatus.FAILED if words else CheckStatus.PASSED)
    assert words in bonus(score).message
    assert words in bonus(score).hint


def test_a_part_is_not_counted_towards_an_exercise_that_is_wrong(
    tmp_path: Path, cache: Path
) -> None:
    score = grade(
        changed(
            "out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j]", "out[0] = 0"
        ),
        tmp_path,
        cache,
    )
    assert score.status is Status.FAILED
    assert (bonus(score).status, bonus(score).message) == (
        CheckStatus.SKIPPED,
        "Correctness must pass first",
    )


def test_a_wrong_hidden_case_of_a_part_gives_no_sizes_away(tmp_path: Path, cache: Path) -> None:
    score = grade(
        changed("if (x < y) return;", f"if (x < y || n == {PRIME}) return;"), tmp_path, cache
    )
    case = next(case for case in score.cases if not case.passed)
    assert (case.part, case.name, case.hidden) == ("in_place", "prime", True)
    assert "of the elements of `data` are wrong" in case.message
    assert (case.mismatch, case.worst_error) == (None, None)
    written = next(
        each
        for each in json.loads(format_score(score))["cases"]
        if each["part"] and each["name"] == "prime"
    )
    assert written["sizes"] is None


def test_a_fault_in_a_hidden_case_of_a_part_gives_no_bytes_away(
    tmp_path: Path, cache: Path
) -> None:
    score = grade(
        changed(
            "if (x < y) return;",
            f"if (n == {PRIME}) data[n * n + threadIdx.x] = 0; if (x < y) return;",
        ),
        tmp_path,
        cache,
    )
    message = bonus(score).message
    assert message.endswith(" In case 'prime'.")
    assert f"{4 * PRIME * PRIME:,}" not in message
    assert " bytes" not in message
