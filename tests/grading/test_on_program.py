"""Gradings of whole programs: expected results, files, several sources, hidden runs, and programs
that do not do the work."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Mapping
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import grader
from grader.cli import main
from grader.errors import SpecError
from grader.records import CheckStatus, Score, Status
from grader.report.html.submission import render_submission
from grader.report.json import format_score
from grader.report.score_page import print_score
from grader.spec.reader import read_exercise

Spec = dict[str, Any]

MAIN = """
#include <cstdio>
#include <cstdlib>
void scale(float *data, int n);
int main(int argc, char **argv)
{
    int n = atoi(argv[1]), shift = 0;
    scanf("%d", &shift);
    float *data = (float *)malloc(n * sizeof(float));
    for (int i = 0; i < n; ++i)
        data[i] = i + shift;
    scale(data, n);
    float sum = 0;
    for (int i = 0; i < n; ++i)
        sum += data[i];
    printf("sum %g\\nlast %.3f\\n", sum, data[n - 1]);
    FILE *file = fopen("last.txt", "w");
    fprintf(file, "%g\\n", data[n - 1]);
    fclose(file);
    free(data);
    return n == 3 ? 3 : 0;
}
"""
RIGHT = """
__global__ void twice(float *data, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) data[i] *= 2;
}
void scale(float *data, int n)
{
    float *device;
    if (cudaMalloc(&device, n * sizeof(float))) return;
    if (cudaMemcpy(device, data, n * sizeof(float), cudaMemcpyHostToDevice)) return;
    twice<<<(n + 127) / 128, 128>>>(device, n);
    if (cudaMemcpy(data, device, n * sizeof(float), cudaMemcpyDeviceToHost)) return;
    if (cudaFree(device)) return;
}
"""
ON_HOST = "void scale(float *data, int n) { for (int i = 0; i < n; ++i) data[i] *= 2; }"
ORACLE = """
def expected(args, stdin, files):
    n, shift = int(args[0]), int(stdin or 0)
    values = [2.0 * (i + shift) for i in range(n)]
    return {
        "stdout": f"sum {sum(values):g}\\nlast {values[-1]:.3f}\\n",
        "files": {"last.txt": f"{values[-1]:g}"},
    }
"""
SPEC: Spec = {
    "schema_version": 1,
    "title": "Twice",
    "program": {
        "supplied": ["main.cu"],
        "submit": ["twice.cu"],
        "runs": {
            "public": [
                {"name": "five", "args": ["5"], "stdin": "1"},
                {"name": "other exit code", "args": ["3"], "exit_code": 3},
            ],
            "hidden": [
                {
                    "name": "more",
                    "sizes": {"n": {"from": 40, "to": 60}},
                    "args": ["{n}"],
                    "stdin": "{n}",
                }
            ],
        },
        "expected": "oracle",
        "outputs": ["last.txt"],
        "measured": {"sizes": {"n": 1024}, "args": ["{n}"]},
        "tolerance": {"relative": 1e-4},
        "least": {"threads": "n", "to_device_bytes": "4 * n"},
    },
    "limits": {"processor_seconds": 20, "wall_seconds": 60, "compile_seconds": 60},
    "checks": [
        {"metric": "correctness", "title": "right", "points": 40, "at_least": 1},
        {"metric": "host_findings", "title": "host", "points": 20, "at_most": 0},
        {"metric": "sanitized", "title": "kernels", "points": 20, "at_least": 1},
        {
            "metric": "global_load_efficiency",
            "title": "loads",
            "points": 20,
            "at_least": 0.99,
            "kernel": "twice",
            "requires": ["correctness"],
        },
    ],
}


def write_exercise(
    root: Path, spec: Spec = SPEC, *, starter: str = RIGHT, solution: str | None = None
) -> Path:
    folder = root / "exercises" / "twice"
    (folder / "files").mkdir(parents=True)
    (folder / "spec.json").write_text(json.dumps(spec))
    (folder / "oracle.py").write_text(ORACLE)
    (folder / "files" / "main.cu").write_text(MAIN)
    (root / "starter").mkdir()
    (root / "starter" / "twice.cu").write_text(starter)
    if solution is not None:
        (root / "solutions").mkdir()
        (root / "solutions" / "twice.cu").write_text(solution)
    return folder


def changed(change: Callable[[Spec], object]) -> Spec:
    spec = copy.deepcopy(SPEC)
    change(spec)
    return spec


def grade(root: Path, text: str, cache: Path, spec: Spec = SPEC, **others: Any) -> Score:  # noqa: ANN401 - of write_exercise
    submission = root / "twice.cu"
    submission.write_text(text)
    return grader.grade(write_exercise(root, spec, **others), submission, seed=5, cache=cache)


def statuses(score: Score) -> Mapping[str, CheckStatus]:
    return {check.name: check.status for check in score.checks}


def wrong(score: Score) -> dict[str, str]:
    return {case.name: case.message for case in score.cases if not case.passed}


def test_a_right_program_passes(tmp_path: Path, cache: Path) -> None:
    score = grade(tmp_path, RIGHT, cache)
    assert (score.status, score.score, wrong(score)) == (Status.PASSED, 100, {})
    assert [case.name for case in score.cases] == [
        *("five", "other exit code", "more", "measured run")
    ]
    assert [line.line for line in score.lines] == [2, 4, 5, 6]


def test_the_reference_gives_the_expected_output(tmp_path: Path, cache: Path) -> None:
    spec = changed(lambda spec: spec["program"].update(expected="reference"))
    score = grade(tmp_path, RIGHT.replace("*= 2", "*= 3"), cache, spec, solution=RIGHT)
    assert wrong(score)["five"] == "line 1 of the output is 'sum 45', and not 'sum 30'"
    assert wrong(score)["more"] == "the output is wrong"
    assert score.status is Status.FAILED


def test_without_the_reference_its_output_is_an_error_of_the_grader(
    tmp_path: Path, cache: Path
) -> None:
    spec = changed(lambda spec: spec["program"].update(expected="reference"))
    score = grade(tmp_path, RIGHT, cache, spec)
    assert score.status is Status.GRADER_ERROR
    assert "reference" in score.message


def test_work_on_the_host_is_wrong(tmp_path: Path, cache: Path) -> None:
    score = grade(tmp_path, ON_HOST, cache)
    assert wrong(score) == {
        "measured run": "it copies 0 bytes to the device, and the task needs 4,096"
    }
    assert statuses(score)["correctness"] is CheckStatus.FAILED


def test_mistakes_in_host_code_have_their_lines(tmp_path: Path, cache: Path) -> None:
    score = grade(tmp_path, RIGHT.replace("    if (cudaFree(device)) return;\n", ""), cache)
    assert statuses(score)["host_findings"] is CheckStatus.FAILED
    assert "twice.cu, line 10" in score.checks[1].hint
    found = json.loads(format_score(score))["host_findings"]
    places = [(each["kind"], each["place"]["file"], each["place"]["line"]) for each in found]
    assert places == [("leak", "twice.cu", 10)]
    assert [(place["file"], place["function"]) for place in found[0]["stack"]] == [
        ("twice.cu", "scale(float*, int)"),
        ("main.cu", "main"),
    ]


def test_a_wrong_result_is_shown_with_the_mistakes_in_host_code(
    tmp_path: Path, cache: Path
) -> None:
    text = RIGHT.replace(
        "data, n * sizeof(float), cudaMemcpyH", "data, 2 * n * sizeof(float), cudaMemcpyH"
    )
    spec = changed(lambda spec: spec["checks"][1].update(requires=["correctness"]))
    score = grade(tmp_path, text.replace("*= 2", "*= 3"), cache, spec)
    assert statuses(score)["host_findings"] is CheckStatus.SKIPPED
    report = StringIO()
    print_score(score, console=Console(file=report, width=200))
    assert (
        "Found in host code\n  twice.cu, line 11: cudaMemcpy touches 40 bytes" in report.getvalue()
    )
    assert "twice.cu, line 11: cudaMemcpy touches 40 bytes" in render_submission(
        score, student="student", title="twice", source=text
    )


def test_findings_in_kernels_are_counted(tmp_path: Path, cache: Path) -> None:
    score = grade(tmp_path, RIGHT.replace("if (i < n) data", "data"), cache)
    assert score.status is Status.RUNTIME_ERROR
    assert "In case 'five'" in score.message


def test_a_compile_error_shows_nvccs_message(tmp_path: Path, cache: Path) -> None:
    score = grade(tmp_path, RIGHT.replace("*= 2", "*= two"), cache)
    assert score.status is Status.COMPILE_ERROR
    assert 'identifier "two" is undefined' in score.detail
    assert str(Path("/tmp")) not in score.detail


def test_a_hidden_run_reveals_nothing(tmp_path: Path, cache: Path) -> None:
    leak = 'printf("size %d\\n", n); fprintf(stderr, "size %d\\n", n); if (n > 30) exit(9);'
    text = RIGHT.replace("    float *device;", f"    {leak}\n    float *device;")
    score = grade(tmp_path, f"#include <cstdio>\n#include <cstdlib>\n{text}", cache)
    hidden = next(case for case in score.cases if case.hidden)
    assert hidden.message == "the exit code is 9, and not 0"


def test_a_program_of_several_files_is_a_folder(
    tmp_path: Path, cache: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = changed(lambda spec: spec["program"].update(submit=["twice.cu", "kernel.cuh"]))
    kernel, host = RIGHT.split("void scale")
    texts = {"twice.cu": f'#include "kernel.cuh"\nvoid scale{host}', "kernel.cuh": kernel}
    folder = write_exercise(tmp_path, spec)
    for place in ("starter/twice", "mine"):
        (tmp_path / place).mkdir()
        for name, text in texts.items():
            (tmp_path / place / name).write_text(text)
    score = grader.grade(folder, tmp_path / "mine", seed=5, cache=cache)
    assert (score.status, score.score) == (Status.PASSED, 100)
    assert main(["batch", str(folder), str(tmp_path), "--out", str(tmp_path / "out")]) == 2
    assert "a submission for twice is a folder of several files" in capsys.readouterr().err


MISTAKES: dict[str, tuple[Callable[[Spec], object], str]] = {
    "a file is missing": (
        lambda spec: spec["program"]["supplied"].append("no.cu"),
        "$.program.supplied[1]: there is no file files/no.cu in the exercise",
    ),
    "a path leaves the folder": (
        lambda spec: spec["program"]["submit"].append("../a.cu"),
        "$.program.submit[1]: must be a path below the folder",
    ),
    "an unknown size": (
        lambda spec: spec["program"]["runs"]["public"][0].update(args=["{m}"]),
        "$.program.runs.public[0].args[0]: there is no size 'm'",
    ),
    "a field of kernels": (
        lambda spec: spec.update(useful_bytes="4"),
        "$.useful_bytes: this field belongs to exercises that grade kernels",
    ),
    "a metric of kernels": (
        lambda spec: spec["checks"][1].update(metric="bandwidth_fraction", at_least=1),
        "$.checks[1].metric: bandwidth_fraction grades kernels",
    ),
    "two runs of a name": (
        lambda spec: spec["program"]["runs"]["public"][1].update(name="five"),
        "$.program.runs.public[1].name: there are two runs named 'five'",
    ),
    "no expected output": (
        lambda spec: spec["program"].update(expected="spec"),
        "$.program.runs.public[0].stdout: this field is missing",
    ),
    "no runs": (
        lambda spec: spec["program"].pop("runs"),
        "$.program.runs: this field is missing",
    ),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_of_the_spec_has_its_path(tmp_path: Path, name: str) -> None:
    change, message = MISTAKES[name]
    with pytest.raises(SpecError) as caught:
        read_exercise(write_exercise(tmp_path, changed(change)))
    assert message in str(caught.value)
