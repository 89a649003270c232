"""Bad input end to end: every file of data/bad_input has its verdict in its name, and a sentence
that says what to do."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from grader.cli import main
from tests.support.in_process import grade_in_process

ROOT = Path(__file__).resolve().parents[1]
BAD_INPUT = ROOT / "tests" / "data" / "bad_input"
TRANSPOSE = ROOT / "exercises" / "transpose"

# By file (<status>--<what is wrong>): what the sentence says, and what the advice says.
SENTENCES: dict[str, tuple[str, str]] = {
    "compile_error--binary": ("the file is binary", "Hand in the .cu source"),
    "compile_error--empty": ("the file is empty", "Save the file"),
    "compile_error--only_white_space": ("the file is empty", "Save the file"),
    "compile_error--not_utf8": ("line 1 is not valid UTF-8", "UTF-8"),
    "compile_error--syntax": ('line 4: expected a ";" at the end of the line', "first error first"),
    "compile_error--unknown_identifier": (
        'line 7: identifier "input" is undefined',
        "first error first",
    ),
    "compile_error--error_directive": (
        "line 1: #error this is the student's own message",
        "first error first",
    ),
    "compile_error--static_shared_memory": (
        "65,536 bytes of static __shared__ memory .tile 65,536.; at most 49,152 are allowed",
        "smaller tile",
    ),
    "compile_error--no_kernel": ("no __global__ kernel", "__global__ void"),
    "rejected--include_of_the_reference": (
        "neither to the CUDA toolkit nor to the C\\+\\+ standard library",
        "include only headers",
    ),
    "rejected--absolute_include": (
        "neither to the CUDA toolkit nor to the C\\+\\+ standard library",
        "include only headers",
    ),
    "launch_error--keyword_typo": (
        "line 1, column 4: '// lauch:' starts no launch line; did you mean '// launch:'",
        "Correct it",
    ),
    "launch_error--missing_chevron": (
        "line 1, column 54: expected ',' or '>>>'",
        "has the form: // launch: kernel<<<",
    ),
    "launch_error--unknown_name": (
        "line 1, column 45: 'colls' is not known here; did you mean 'cols'",
        "cols, in, out, rows",
    ),
    "launch_error--unknown_kernel": (
        "'transpose_shard'; did you mean 'transpose_shared'",
        "kernels are: transpose_shared",
    ),
    "launch_error--argument_count": (
        "takes 4 arguments .* but 3 are given",
        "one argument for each parameter",
    ),
    "launch_error--argument_type": (
        "argument 2 is the integer 'rows', but the kernel's parameter is a pointer",
        "Give a buffer's name",
    ),
    "launch_error--argument_too_wide": (
        "argument 3 is \\d+, which does not fit",
        "wider parameter",
    ),
    "launch_error--too_many_threads": ("has 2048 threads; at most 1024", "smaller block"),
    "launch_error--too_much_shared_memory": (
        "needs 300000 bytes of shared memory",
        "smaller tiles",
    ),
    "launch_error--zero_grid": ("the grid's x is 0: 'cols / 32'", "ceil_div"),
    "launch_error--huge_grid": ("the grid's y is 70000: at most 65535", "Let each thread do more"),
    "launch_error--division_by_zero": ("line 1, column 41: division by zero", "has the form"),
    "launch_error--macro_is_no_integer": (
        "line 2, column 36: 'ceil_div' takes integers, not floats",
        "integer",
    ),
    "launch_error--python_call": ("'__import__' cannot be called here", "has the form"),
    "launch_error--python_lambda": ("line 1, column 43: expected '\\)'", "has the form"),
    "runtime_error--out_of_bounds": (
        "line 6: 4-byte store .* out of bounds: .* the end of buffer out",
        "index",
    ),
    "runtime_error--misaligned": (
        "line 7: 4-byte load .* no multiple of 4: byte 2 of buffer in",
        "multiple of 4",
    ),
    "runtime_error--wild_pointer": ("line 8: 4-byte load .* out of bounds", "index"),
    "runtime_error--trap": (r"line 7: the kernel stopped itself with __trap\(\)", "condition"),
    "unsupported--surface_reduction": (
        "does not know the instruction .* kernel transpose_shared .*line \\d+",
        "not your mistake",
    ),
}

# Those that run to their end and are wrong: what the case says.
WRONG_CASES: dict[str, str] = {
    "failed--writes_its_input": "the kernel wrote to its input `in`",
    "failed--writes_nothing": "`out` was never written",
    "failed--copies_instead": "untransposed copy",
}

COUNTING, WAITING = "timeout--loop_that_misses_its_end", "timeout--endless_loop"


Grade = Callable[..., tuple[int, dict[str, Any], str]]


@pytest.fixture
def grade(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Grade:
    """Runs the command; gives its exit code, the JSON score, and what a person sees."""

    def run(submission: Path, *, exercise: Path = TRANSPOSE) -> tuple[int, dict[str, Any], str]:
        score = tmp_path / "score.json"
        code = main(
            [
                str(exercise),
                str(submission),
                "--json",
                str(score),
                "--seed",
                "1",
                "--device",
                "emulated",
                "--no-model",
            ]
        )
        shown = capsys.readouterr().out
        return code, json.loads(score.read_text()), shown

    return run


def copy_exercise(tmp_path: Path, **limits: float) -> Path:
    """The exercise in a place of its own, with other limits."""
    folder = tmp_path / "course" / "exercises" / "transpose"
    shutil.copytree(TRANSPOSE, folder)
    (tmp_path / "course" / "starter").mkdir()
    shutil.copy(ROOT / "starter" / "transpose.cu", tmp_path / "course" / "starter")
    spec = json.loads((folder / "spec.json").read_text())
    spec["limits"] |= limits
    (folder / "spec.json").write_text(json.dumps(spec))
    return folder


def test_every_file_has_its_sentence() -> None:
    assert {path.stem for path in BAD_INPUT.glob("*.cu")} == {
        *(*SENTENCES, *WRONG_CASES, COUNTING, WAITING)
    }


@pytest.mark.parametrize("name", SENTENCES)
def test_a_bad_submission_has_its_status_and_a_sentence(
    name: str, grade: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not name.startswith("runtime_error"):  # what does not run needs no worker
        grade_in_process(monkeypatch)
    code, score, shown = grade(BAD_INPUT / f"{name}.cu")
    message, advice = SENTENCES[name]
    assert score["status"] == name.split("--")[0]
    assert code == 1
    assert score["score"] == 0
    assert re.search(message, score["message"]), score["message"]
    assert re.search(advice, score["advice"]), score["advice"]
    assert score["advice"], "the student is told what to try"
    assert squeeze(score["message"]) in squeeze(shown)
    assert squeeze(score["advice"]) in squeeze(shown)


@pytest.mark.parametrize("name", WRONG_CASES)
def test_a_wrong_submission_is_told_what_its_cases_show(name: str, grade: Grade) -> None:
    code, score, _ = grade(BAD_INPUT / f"{name}.cu")
    assert (code, score["status"]) == (1, "failed")
    wrong = [case for case in score["cases"] if not case["passed"]]
    assert any(re.search(WRONG_CASES[name], case["message"]) for case in wrong), [
        case["message"] for case in wrong
    ]


def test_nothing_of_a_forbidden_file_is_shown(grade: Grade) -> None:
    _, score, shown = grade(BAD_INPUT / "rejected--absolute_include.cu")
    first_entry = Path("/etc/passwd").read_text().split(":")[0] + ":"
    assert first_entry not in json.dumps(score)
    assert first_entry not in shown


def test_an_endless_loop_ends_at_the_limit_of_the_spec(grade: Grade, tmp_path: Path) -> None:
    code, score, _ = grade(
        BAD_INPUT / f"{COUNTING}.cu", exercise=copy_exercise(tmp_path, processor_seconds=1)
    )
    assert (code, score["status"]) == (1, "timeout")
    assert score["findings"][0]["kind"] == "wall_limit"
    assert "1 s of processor time, is over" in score["message"]
    assert "loop" in score["advice"]


def test_a_loop_that_waits_for_what_nobody_does_ends_at_once(grade: Grade) -> None:
    code, score, _ = grade(BAD_INPUT / f"{WAITING}.cu")
    assert (code, score["status"]) == (1, "timeout")
    assert (score["findings"][0]["kind"], score["findings"][0]["line"]) == ("endless_wait", 6)
    assert "waits forever" in score["message"]


def test_a_missing_submission_is_bad_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(TRANSPOSE), str(tmp_path / "nowhere.cu")]) == 2
    error = capsys.readouterr().err
    assert "nowhere.cu does not exist" in error
    assert "Name the .cu file" in error


def test_a_folder_is_no_submission(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(TRANSPOSE), str(tmp_path)]) == 2
    assert "is a folder" in capsys.readouterr().err


def test_a_folder_that_is_no_exercise_is_bad_usage(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([str(tmp_path), str(ROOT / "starter" / "transpose.cu")]) == 2
    assert "not an exercise: it holds no spec.json" in capsys.readouterr().err


def test_a_misspelt_exercise_is_bad_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(TRANSPOSE.with_name("transpos")), str(ROOT / "starter" / "transpose.cu")]) == 2
    error = capsys.readouterr().err
    assert "did you mean 'transpose'" in error


def test_all_mistakes_of_a_spec_are_listed_at_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_exercise(tmp_path)
    spec = json.loads((folder / "spec.json").read_text())
    spec["title"] = 3
    spec["buffers"][0]["shape"] = ["cols", "row"]
    spec["checks"][1]["metric"] = "bandwith_fraction"
    spec["checks"][4]["requires"] = ["nothing"]
    (folder / "spec.json").write_text(json.dumps(spec))
    assert main([str(folder), str(ROOT / "starter" / "transpose.cu")]) == 2
    error = capsys.readouterr().err
    for path in (
        "$.title",
        "$.buffers[0].shape[1]",
        "$.checks[1].metric",
        "$.checks[4].requires[0]",
    ):
        assert path in error, error


def test_an_oracle_that_breaks_is_the_exercises_fault(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copy_exercise(tmp_path)
    (folder / "oracle.py").write_text(
        "def expected(inputs, sizes):\n    return {'out': inputs['in']}\n"
    )
    assert main([str(folder), str(ROOT / "starter" / "transpose.cu")]) == 2
    assert "oracle.py" in capsys.readouterr().err


def squeeze(text: str) -> str:
    """Without white space: a terminal wraps lines."""
    return "".join(text.split())
