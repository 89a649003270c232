"""The whole way on a real GPU (--run-gpu): verdicts, who counts, bad input and what a student may
try."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import grader
from grader.judging.timing import CHECKPOINTS
from grader.records import CheckResult, CheckStatus, Score, Status
from grader.report.json import format_score

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = json.loads((ROOT / "grader" / "schemas" / "score.schema.json").read_text())
REFERENCE = ROOT / "solutions" / "transpose.cu"
STARTER = ROOT / "starter" / "transpose.cu"
BAD_INPUT = ROOT / "tests" / "data" / "bad_input"
BAD = sorted(
    file.stem
    for file in BAD_INPUT.glob("*.cu")
    if file.stem.startswith(("runtime_error", "failed"))
)
WALL_SECONDS = 3

COUNTS_ITS_RUNS = """
// launch: transpose<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 32)>>>(out, in, rows, cols)
__device__ int runs;
__global__ void transpose(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (x == 0 && y == 0) atomicAdd(&runs, 1);
    if (LIMIT && x < cols && y < rows) out[(size_t)x * rows + y] = in[(size_t)y * cols + x];
}
"""

Grade = Callable[..., Score]


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The exercise with a short wall limit."""
    root = tmp_path_factory.mktemp("course")
    for name in ("starter", "solutions"):
        (root / name).symlink_to(ROOT / name)
    exercise = root / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", exercise)
    spec = json.loads((exercise / "spec.json").read_text())
    spec["limits"]["wall_seconds"] = WALL_SECONDS
    (exercise / "spec.json").write_text(json.dumps(spec))
    return exercise


@pytest.fixture(scope="module")
def grade(impatient: Path, cache: Path) -> Grade:
    def run(file: Path) -> Score:
        score = grader.grade(impatient, file, device="gpu", cache=cache)
        Draft202012Validator(SCHEMA).validate(json.loads(format_score(score)))
        return score

    return run


@pytest.fixture(scope="module")
def reference(grade: Grade) -> Score:
    return grade(REFERENCE)


def check(score: Score, name: str) -> CheckResult:
    return next(check for check in score.checks if check.name == name)


def test_the_reference_earns_every_point(reference: Score) -> None:
    assert (reference.status, reference.score) == (
        Status.PASSED,
        reference.max_score,
    ), reference.message
    assert {timing.plan for timing in reference.timings} == {"submission", "naive", "reference"}
    assert all(len(timing.samples_ms) >= CHECKPOINTS[0] for timing in reference.timings)


def test_the_submission_that_is_the_reference_is_as_fast(reference: Score) -> None:
    medians = {timing.plan: timing.median_ms for timing in reference.timings}
    assert medians["submission"] == pytest.approx(medians["reference"], rel=0.01)


def test_auto_takes_the_gpu(cache: Path) -> None:
    score = grader.grade(ROOT / "exercises" / "transpose", STARTER, cache=cache)
    assert score.device is not None
    assert score.device.kind == "gpu"
    assert score.status is Status.FAILED
    assert check(score, "shared_bank_conflicts").status is CheckStatus.FAILED


def test_without_ncu_the_emulated_device_counts(
    grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_NCU", "/no/such/ncu")
    score = grade(STARTER)
    assert check(score, "shared_bank_conflicts").value == 4_063_232  # at 2048 x 2048
    assert score.environment["counters"].startswith(
        "emulated device, rows = 2,048, cols = 2,048, because Nsight Compute"
    )


@pytest.mark.parametrize("name", BAD)
def test_bad_input_has_its_verdict(name: str, grade: Grade) -> None:
    score = grade(BAD_INPUT / f"{name}.cu")
    assert score.status is Status(name.split("--")[0]), score.message
    assert score.message
    assert score.timings == ()


def test_an_endless_loop_ends_at_the_wall_limit_and_the_next_one_grades(grade: Grade) -> None:
    score = grade(BAD_INPUT / "timeout--endless_loop.cu")
    assert score.status is Status.TIMEOUT
    assert f"the time limit of this exercise, {WALL_SECONDS} s, is over" in score.message
    assert grade(REFERENCE).status is Status.PASSED


@pytest.mark.parametrize(("limit", "right"), [("runs <= 1", True), ("runs < 1", False)])
def test_a_kernel_cannot_count_its_runs(
    limit: str, *, right: bool, grade: Grade, tmp_path: Path
) -> None:
    """One that stops working after its first run works in all of them: its variables are as at a
    program's start."""
    file = tmp_path / "counts.cu"
    file.write_text(COUNTS_ITS_RUNS.replace("LIMIT", limit))
    score = grade(file)
    assert (check(score, "correctness").status is CheckStatus.PASSED) == right
    assert score.environment.get("device_variables", "").startswith("4 bytes") == right
