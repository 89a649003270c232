from __future__ import annotations

import functools
import json
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import grader
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import UsageError
from grader.grading import on_emulated
from grader.grading.cases import BENCHMARK
from grader.grading.grade import choose_device
from grader.records import CheckStatus, GivenPeak, Progress, Score, Source, Status
from grader.report.json import format_score

ROOT = Path(__file__).resolve().parents[1]
TRANSPOSE = ROOT / "exercises" / "transpose"
STARTER = ROOT / "starter" / "transpose.cu"
REFERENCE = ROOT / "solutions" / "transpose.cu"
SCHEMA = json.loads((ROOT / "grader" / "schemas" / "score.schema.json").read_text())


@pytest.fixture(scope="module")
def starter(cache: Path) -> Score:
    return grader.grade(TRANSPOSE, STARTER, device="emulated", seed=7, cache=cache)


@pytest.fixture(scope="module")
def reference(cache: Path) -> Score:
    return grader.grade(TRANSPOSE, REFERENCE, device="emulated", seed=7, cache=cache)


def statuses(score: Score) -> dict[str, CheckStatus]:
    return {check.name: check.status for check in score.checks if not check.bonus}


def withheld_points(score: Score) -> float:
    """Those of checks that the model knows too little for: the speed-up's, as long as it hardly
    knows the naive kernel, whose stores bind it."""
    unsure = [check for check in score.checks if "does not know this kind" in check.message]
    assert {check.name for check in unsure} <= {"speedup_over_naive"}
    assert {check.status for check in unsure} <= {CheckStatus.NOT_MEASURED}
    return sum(check.max_points for check in unsure)


def test_the_reference_gets_all_points_that_can_be_judged(reference: Score) -> None:
    withheld = withheld_points(reference)
    assert reference.status is (Status.INCONCLUSIVE if withheld else Status.PASSED)
    assert reference.exit_code == (1 if withheld else 0)
    assert reference.pending_points == withheld
    assert reference.score == reference.judged_points == reference.max_score - withheld
    judged = {*statuses(reference).values()} - ({CheckStatus.NOT_MEASURED} if withheld else set())
    assert judged == {CheckStatus.PASSED}
    (bandwidth,) = (each for each in reference.checks if each.name == "bandwidth_fraction")
    assert bandwidth.source is Source.MODELLED
    (launch,) = reference.model
    assert launch.bounds[0].resource == "DRAM bandwidth"
    assert len(launch.bounds) == 3


def test_without_the_model_the_times_are_left_out(cache: Path) -> None:
    score = grader.grade(TRANSPOSE, REFERENCE, device="emulated", seed=7, cache=cache, model=False)
    assert score.status is Status.PASSED
    assert 0 < score.score == score.judged_points == score.max_score < score.marks.full
    assert score.marks.grade() == score.marks.full == 100
    assert statuses(score)["bandwidth_fraction"] is CheckStatus.EXCLUDED
    assert score.model == ()


def test_the_starter_is_right_and_loses_points_to_bank_conflicts(starter: Score) -> None:
    assert starter.status is Status.FAILED
    assert starter.exit_code == 1
    assert 0 < starter.score < starter.judged_points
    assert starter.judged_points == starter.max_score - withheld_points(starter)
    assert statuses(starter)["correctness"] is CheckStatus.PASSED
    assert statuses(starter)["shared_bank_conflicts"] is CheckStatus.FAILED
    conflicts = next(check for check in starter.checks if check.name == "shared_bank_conflicts")
    assert (
        conflicts.value == 65_011_712
    )  # 32 wavefronts for 1, 31 of them too many, 8192 * 8192 / 32 times
    line = next(
        n
        for n, text in enumerate(STARTER.read_text().splitlines(), 1)
        if "= tile[threadIdx.x]" in text
    )
    assert f"line {line}" in conflicts.hint
    assert "32 wavefronts" in conflicts.hint


@pytest.mark.parametrize("name", ["starter", "reference"])
def test_the_score_is_valid_and_says_how_it_came_about(
    name: str, request: pytest.FixtureRequest
) -> None:
    score: Score = request.getfixturevalue(name)
    Draft202012Validator(SCHEMA).validate(json.loads(format_score(score)))
    assert score.seed == 7
    assert {"grader", "python", "numpy", "llvmlite", "nvcc", "nvdisasm", "platform"} <= set(
        score.environment
    )
    assert score.cases[-1].name == BENCHMARK
    assert all(case.passed for case in score.cases)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_score(starter: Score, cache: Path) -> None:
    assert grader.grade(TRANSPOSE, STARTER, device="emulated", seed=7, cache=cache) == starter


def test_the_same_seed_gives_the_same_score_and_progress_tells_what_goes_on(cache: Path) -> None:
    steps: list[Progress] = []
    grade = functools.partial(
        grader.grade, TRANSPOSE, STARTER, device="emulated", seed=7, cache=cache, model=False
    )
    assert grade(progress=steps.append) == grade()
    stages = list(dict.fromkeys(step.stage for step in steps))
    assert stages == ["compiling", "checking cases", "counting", "judging"]
    assert all(step.total is None or 0 <= step.done <= step.total for step in steps)


@pytest.mark.parametrize("device", ["", "cpu", "emulated:h1000"])
def test_devices_that_there_are_not(device: str) -> None:
    with pytest.raises(UsageError):
        grader.grade(TRANSPOSE, STARTER, device=device)


def test_a_peak_is_for_a_gpu() -> None:
    with pytest.raises(UsageError, match="--peak is for a GPU"):
        choose_device("emulated", GivenPeak(3352.0))


def test_a_worker_that_dies_is_the_graders_fault(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = functools.partial(RemoteDevice, command=[sys.executable, "-c", "raise SystemExit(9)"])
    monkeypatch.setattr(on_emulated, "RemoteDevice", broken)
    score = grader.grade(TRANSPOSE, STARTER, device="emulated", seed=7, cache=cache)
    assert score.status is Status.GRADER_ERROR
    assert score.exit_code == 3
    assert score.score == 0
    assert score.judged_points == 0
    assert "exit code 9" in score.message


def test_a_machine_without_nvcc_says_how_to_get_it(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADER_NVCC", "/no/such/nvcc")
    score = grader.grade(TRANSPOSE, STARTER, device="emulated", seed=7, cache=cache)
    assert score.status is Status.GRADER_ERROR
    assert "nvcc" in score.message
    assert score.advice


def test_grading_works_without_the_reference(tmp_path: Path, cache: Path) -> None:
    for name in ("exercises", "starter"):
        (tmp_path / name).symlink_to(ROOT / name)
    score = grader.grade(
        tmp_path / "exercises" / "transpose",
        STARTER,
        device="emulated",
        seed=7,
        cache=cache,
        model=False,
    )
    assert score.status is Status.FAILED
