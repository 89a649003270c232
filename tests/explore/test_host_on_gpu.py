"""Host programs on a real GPU (--run-gpu), by the very commands that `grade host` prints: compiled,
run, profiled and sanitized."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

import grader
from grader.cli import main
from grader.records import CheckStatus

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).resolve().parents[2]
WRONG = {
    "transpose": "failed--last_row_unwritten",
    "gemm_coalesced": "failed--inputs_rounded_to_tf32",
    "gemm_tiled": "failed--last_column_unwritten",
    "gemm_register_blocked": "failed--rows_and_columns_of_the_patch_exchanged",
}
"""Of each exercise, a submission that is wrong at the program's sizes too."""


def make_commands(
    submission: Path, id_: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """Write the program into the folder; returns the commands that are printed then."""
    target = folder / "my_main.cu"
    assert main(["host", str(ROOT / "exercises" / id_), str(submission), "-o", str(target)]) == 0
    return [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]


def run(command: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        command, shell=True, cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("id_", WRONG)
def test_a_reference_is_right_and_profiles(
    id_: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    compiles, runs, *tools = make_commands(ROOT / "solutions" / f"{id_}.cu", id_, tmp_path, capsys)
    compiled = run(compiles, tmp_path)
    assert compiled.returncode == 0, compiled.stderr
    ran = run(runs, tmp_path)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert " ms, the median of 21 runs" in ran.stdout
    for command in tools:
        if shutil.which(command.split()[0]) is None:
            continue
        used = run(command, tmp_path)
        said = used.stdout + used.stderr
        if "ERR_NVGPUCTRPERM" in said:
            pytest.skip("ncu may not read counters here; what comes before it was right")
        assert used.returncode == 0, said
        if command.startswith("compute-sanitizer"):
            assert "0 errors" in said or "0 hazards" in said, said


@pytest.mark.parametrize(("id_", "name"), WRONG.items())
def test_a_wrong_submission_is_wrong_here_and_in_grading(
    id_: str, name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    submission = ROOT / "tests" / "submissions" / id_ / f"{name}.cu"
    compiles, runs, *_ = make_commands(submission, id_, tmp_path, capsys)
    assert run(compiles, tmp_path).returncode == 0
    ran = run(f"{runs} --once", tmp_path)
    assert ran.returncode == 1, ran.stdout + ran.stderr
    assert " WRONG, worst error " in ran.stdout
    score = grader.grade(ROOT / "exercises" / id_, submission, device="gpu")
    assert score.checks[0].status is CheckStatus.FAILED
