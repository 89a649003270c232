"""The autograder zip, run in a folder laid out like /autograder; and the classroom workflow's own
script."""

from __future__ import annotations

import base64
import csv
import hashlib
import importlib.metadata
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from grader.authoring.autograder import DISTRIBUTION, make_autograder, make_wheel, make_workflow
from grader.cli import main
from grader.errors import GraderError, UsageError
from grader.spec.reader import read_exercise
from tests.authoring.conftest import edit_spec

ROOT = Path(__file__).resolve().parents[2]
PLATFORMS = ROOT / "tests" / "data" / "platforms"
TRANSPOSE = read_exercise(ROOT / "exercises" / "transpose")


@pytest.fixture(scope="module")
def archive() -> zipfile.ZipFile:
    return zipfile.ZipFile(io.BytesIO(make_autograder(TRANSPOSE)))


@pytest.fixture
def autograder(tmp_path: Path, archive: zipfile.ZipFile) -> Path:
    """/autograder as Gradescope lays it out, but for setup.sh's work: the command is the one that
    runs the tests, and the cache is theirs."""
    root = tmp_path / "autograder"
    for folder in ("source", "submission", "results", "venv/bin"):
        (root / folder).mkdir(parents=True)
    (root / "cache").symlink_to(os.environ["XDG_CACHE_HOME"])
    archive.extractall(root / "source")
    shutil.copy(root / "source" / "run_autograder", root)
    (root / "venv" / "bin" / "grade").write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -P -m grader "$@"\n'
    )
    (root / "venv" / "bin" / "grade").chmod(0o755)
    return root


def run_autograder(root: Path) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "AUTOGRADER_ROOT": str(root)}
    return subprocess.run(
        ["bash", str(root / "run_autograder")],
        cwd=root,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


def results_of(root: Path) -> dict[str, object]:
    results = json.loads((root / "results" / "results.json").read_text())
    Draft202012Validator(json.loads((PLATFORMS / "gradescope.schema.json").read_text())).validate(
        results
    )
    assert isinstance(results, dict)
    return results


def test_the_zip_has_what_gradescope_needs_and_no_reference(archive: zipfile.ZipFile) -> None:
    names = archive.namelist()
    exercise = {
        "exercises/transpose/spec.json",
        "exercises/transpose/oracle.py",
        "starter/transpose.cu",
    }
    assert {"setup.sh", "run_autograder", *exercise} <= set(names)
    assert all(
        archive.getinfo(name).external_attr >> 16 & 0o111 for name in ("setup.sh", "run_autograder")
    )
    reference = (ROOT / "solutions" / "transpose.cu").read_bytes()
    assert not [name for name in names if archive.read(name) == reference or "solutions" in name]
    for name in ("setup.sh", "run_autograder"):
        assert subprocess.run(["bash", "-n"], input=archive.read(name), check=False).returncode == 0
        assert b"@id@" not in archive.read(name)


def test_the_wheel_is_whole() -> None:
    name, content = make_wheel()
    wheel = zipfile.ZipFile(io.BytesIO(content))
    assert re.fullmatch(r"cuda_exercise_grader-[\d.]+-py3-none-any\.whl", name)
    folder = name.removesuffix("-py3-none-any.whl") + ".dist-info"
    record = {
        row[0]: row[1] for row in csv.reader(io.StringIO(wheel.read(f"{folder}/RECORD").decode()))
    }
    assert set(record) == set(wheel.namelist())
    for each in set(record) - {f"{folder}/RECORD"}:
        digest = (
            base64.urlsafe_b64encode(hashlib.sha256(wheel.read(each)).digest())
            .rstrip(b"=")
            .decode()
        )
        assert record[each] == f"sha256={digest}"
    assert {
        "grader/schemas/spec.schema.json",
        "grader/report/html/templates/style.css",
        "grader/devices/gpus.json",
    } <= set(record)
    assert b"Requires-Dist: numpy" in wheel.read(f"{folder}/METADATA")
    assert b"grade = grader.cli:main" in wheel.read(f"{folder}/entry_points.txt")


def test_a_grader_whose_metadata_are_missing_makes_no_wheel(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Without them nobody knows what it depends on."""
    known = importlib.metadata.distribution(DISTRIBUTION)
    monkeypatch.setattr(type(known), "read_text", lambda self, name: None)
    with pytest.raises(GraderError, match="lacks its metadata"):
        make_wheel()

    def find_none(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", find_none)
    with pytest.raises(GraderError, match="is not installed") as caught:
        make_wheel()
    assert caught.value.advice == "Install it with pip."


def time_at_a_small_size(exercises: Path) -> None:
    """Let the copy of the exercise be timed at a size that takes no time to model."""
    edit_spec(
        exercises / "transpose",
        lambda spec: spec["benchmark"].update(gpu={"rows": 256, "cols": 256}),
    )


def test_grades_an_upload(autograder: Path) -> None:
    time_at_a_small_size(autograder / "source" / "exercises")
    shutil.copy(ROOT / "starter" / "transpose.cu", autograder / "submission" / "my solution.cu")
    done = run_autograder(autograder)
    assert done.returncode == 0, done.stderr
    results = results_of(autograder)
    assert results["score"] == sum(test.get("score", 0) for test in results["tests"])  # type: ignore[attr-defined]
    assert 0 < float(str(results["score"])) < 100


def test_a_file_that_does_not_compile_is_a_zero_with_its_reason(autograder: Path) -> None:
    (autograder / "submission" / "a.cu").write_text("int x = ;\n")
    assert run_autograder(autograder).returncode == 0
    results = results_of(autograder)
    assert results["score"] == 0
    assert "does not compile" in str(results["output"])


@pytest.mark.parametrize("names", [(), ("a.cu", "b.cu")])
def test_an_upload_that_is_not_one_file_is_told_so(
    autograder: Path, names: tuple[str, ...]
) -> None:
    for name in names:
        (autograder / "submission" / name).write_text("")
    assert run_autograder(autograder).returncode == 0
    assert "transpose.cu" in str(results_of(autograder)["output"])


def test_a_fault_of_the_grader_leaves_no_result(autograder: Path) -> None:
    (autograder / "submission" / "a.cu").write_text("")
    (autograder / "results" / "results.json").write_text('{"score": 100}')
    (autograder / "source" / "exercises" / "transpose" / "oracle.py").unlink()
    assert run_autograder(autograder).returncode == 1
    assert not (autograder / "results" / "results.json").exists()


# --- GitHub Classroom -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("repository", "ref"),
    [("x", "main"), ("a/b\n  evil: 1", "main"), ("a/b", '"\nx: 1'), ("a/b", "${{ secrets }}")],
)
def test_the_workflow_takes_names_only(repository: str, ref: str) -> None:
    with pytest.raises(UsageError):
        make_workflow(TRANSPOSE, repository=repository, ref=ref)


# --- the command line -----------------------------------------------------------------------------


def test_format_and_json_combine(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    starter, exercise = (
        str(ROOT / "starter" / "transpose.cu"),
        str(ROOT / "exercises" / "transpose"),
    )
    common = [exercise, starter, "--device", "emulated", "--no-model"]
    assert main([*common, "--format", "junit", "--json", str(tmp_path / "score.json")]) == 1
    assert capsys.readouterr().out.startswith("<?xml")
    assert json.loads((tmp_path / "score.json").read_text())["exercise"] == "transpose"
    assert (
        main([*common, "--format", "github", "-o", str(tmp_path / "result.json"), "--json", "-"])
        == 1
    )
    assert json.loads(capsys.readouterr().out)["exercise"] == "transpose"
    assert json.loads((tmp_path / "result.json").read_text())["version"] == 1


@pytest.mark.parametrize(
    "options",
    [
        ["-o", "x"],
        ["--format=github", "--json=-"],
        ["--format=github", "--output=-"],
        ["--format=x"],
    ],
)
def test_what_does_not_combine_is_bad_usage(options: list[str]) -> None:
    assert (
        main(
            [
                str(ROOT / "exercises" / "transpose"),
                str(ROOT / "starter" / "transpose.cu"),
                *options,
            ]
        )
        == 2
    )


def test_the_commands_write_files_and_replace_none(tmp_path: Path) -> None:
    exercise = str(ROOT / "exercises" / "transpose")
    target, workflow = tmp_path / "a.zip", tmp_path / "classroom.yml"
    for arguments in (
        ["gradescope-zip", exercise, "-o", str(target)],
        ["classroom-workflow", exercise, "--repository", "a/b", "-o", str(workflow)],
    ):
        assert main(arguments) == 0
        assert main(arguments) == 2
        assert main([*arguments, "--force"]) == 0
    assert zipfile.is_zipfile(target)
    assert 'repository: "a/b"' in workflow.read_text()
