"""A file that is written for another exercise is reported as such."""

from __future__ import annotations

import functools
import re
from pathlib import Path

import pytest

from grader.grading import other_exercise
from grader.grading.other_exercise import find_other_exercise, name_other_exercise
from grader.records import Failure, Status, Submission
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission

ROOT = Path(__file__).resolve().parents[2]
FAILED = Failure(Status.LAUNCH_ERROR, "line 11: 'N' is no constant", "the line", "Define it.")


def read(name: str) -> Submission:
    found = read_submission(ROOT / name)
    assert isinstance(found, Submission)
    return found


def judge(exercise: str, submission: Submission) -> Failure:
    return name_other_exercise(FAILED, read_exercise(ROOT / "exercises" / exercise), submission)


@pytest.mark.parametrize(
    ("exercise", "file", "found"),
    [
        ("transpose", "solutions/gemm_tiled.cu", "gemm_tiled"),
        ("transpose", "starter/gemm_tensor_cores.cu", "gemm_tensor_cores"),
        ("transpose", "starter/reduction.cu", "reduction"),
        ("gemm_tiled", "starter/transpose.cu", "transpose"),
        ("reduction", "solutions/gemm_coalesced.cu", "gemm_coalesced"),
    ],
)
def test_names_the_exercise_of_the_file(exercise: str, file: str, found: str) -> None:
    failure = judge(exercise, read(file))
    name = Path(file).name
    assert failure.message == f"{name} is written for the exercise {found}, not for {exercise}"
    assert failure.advice == f"Grade it with its exercise: grade {found} {name}"
    assert failure.detail == "line 11: 'N' is no constant\nthe line"
    assert failure.status is Status.LAUNCH_ERROR


def test_a_file_without_launch_lines_is_known_by_its_kernels() -> None:
    starter = read("starter/transpose.cu")
    plain = Submission("mine.cu", "0", re.sub(r"// launch:.*", "", starter.text))
    assert "written for the exercise transpose" in judge("gemm_tiled", plain).message


@pytest.mark.parametrize("text", ["(out, in, rowz, cols)", "(out, in, rows, cols, N)"])
def test_a_wrong_name_in_the_exercises_own_launch_line_stays_a_wrong_name(text: str) -> None:
    starter = read("starter/transpose.cu")
    wrong = Submission("mine.cu", "0", starter.text.replace("(out, in, rows, cols)\n", f"{text}\n"))
    assert wrong.text != starter.text
    assert judge("transpose", wrong) == FAILED


def test_other_failures_stay() -> None:
    fault = Failure(Status.RUNTIME_ERROR, "no")
    transpose = read_exercise(ROOT / "exercises/transpose")
    assert name_other_exercise(fault, transpose, read("solutions/gemm_tiled.cu")) == fault


KNOWN = [
    (folder.name, file)
    for folder in sorted((ROOT / "exercises").iterdir())
    for file in (
        *sorted((ROOT / "tests/submissions" / folder.name).glob("*.cu")),
        *(ROOT / of / f"{folder.name}.cu" for of in ("starter", "solutions")),
    )
]


def test_no_known_file_is_taken_for_one_of_another_exercise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read_once = functools.cache(read_exercise)  # else each file reads all 16 exercises
    monkeypatch.setattr(other_exercise, "read_exercise", read_once)
    for name, file in KNOWN:
        submission = read_submission(file)
        if isinstance(submission, Submission):
            exercise = read_once(ROOT / "exercises" / name)
            assert find_other_exercise(exercise, submission) is None, file


@pytest.mark.parametrize("kind", ["starter", "solutions"])
def test_the_launched_kernel_names_the_exercise(kind: str) -> None:
    tiled = read_exercise(ROOT / "exercises/gemm_tiled")
    assert find_other_exercise(tiled, read(f"{kind}/gemm_coalesced.cu")) == "gemm_coalesced"
