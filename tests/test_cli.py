from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

import grader
from grader.cli import COMMANDS, GRADE, main
from grader.cli.common import Command, find_exercise
from grader.cli.course import DOCTOR
from grader.devices.choose import has_pycuda
from grader.devices.gpus import read_gpus
from grader.errors import UsageError

ROOT = Path(__file__).resolve().parents[1]
TRANSPOSE = ROOT / "exercises" / "transpose"
STARTER = ROOT / "starter" / "transpose.cu"
# Bad before anything is compiled, so that a test of the command line is quick.
EMPTY = ROOT / "tests" / "data" / "bad_input" / "compile_error--empty.cu"
SCHEMA = json.loads((ROOT / "grader" / "schemas" / "score.schema.json").read_text())


def test_without_arguments_it_teaches(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    shown = capsys.readouterr().out
    assert "usage: grade EXERCISE SUBMISSION.cu" in shown
    assert len(shown.splitlines()) <= 24
    assert max(map(len, shown.splitlines())) <= 80
    assert set(COMMANDS) <= set(shown.split())


def test_help_prints_the_help_of_a_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "batch"]) == 0
    shown = capsys.readouterr().out
    assert main(["batch", "--help"]) == 0
    assert shown == capsys.readouterr().out


def test_help_of_an_exercise_is_that_of_grading(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "transpose"]) == 0
    assert "exit codes:" in capsys.readouterr().out


def test_help_without_a_name_is_the_first_page(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help"]) == 0
    assert "first steps:" in capsys.readouterr().out


def test_help_suggests_the_command_that_is_meant(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["help", "bacth"]) == 2
    assert "did you mean 'batch'" in capsys.readouterr().err


def test_help_names_devices_and_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for word in (
        "emulated:ID",
        "gpu:N",
        "--peak",
        "exit codes:",
        "grade doctor",
        "--json -",
        *read_gpus(),
    ):
        assert word in shown


@pytest.mark.parametrize("command", COMMANDS)
def test_subcommands_have_help(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    assert f"usage: grade {command}" in capsys.readouterr().out


@pytest.mark.parametrize("command", [GRADE, *COMMANDS.values()], ids=["grade", *COMMANDS])
def test_help_fits_a_hundred_columns(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = command.make_parser().format_help()
    assert [line for line in shown.splitlines() if len(line) > 100] == []


def test_help_names_every_subcommand(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    usage, _, _ = capsys.readouterr().out.partition("\n\n")
    assert {name for name in COMMANDS if f" {name} " not in usage} == set()


def test_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    version = importlib.metadata.version("cuda-exercise-grader")
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.split() == ["grade", version]
    assert grader.__version__ == version


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([str(TRANSPOSE)], "the following arguments are required: SUBMISSION.cu"),
        ([str(TRANSPOSE), str(EMPTY), "--sed", "3"], "unrecognized arguments: --sed"),
        ([str(TRANSPOSE), str(EMPTY), "--seed", "x"], "invalid int value"),
        ([str(TRANSPOSE), str(EMPTY), "--seed", "-1"], "the seed -1 is out of range"),
        ([str(TRANSPOSE), str(EMPTY), "--seed", str(2**53)], "out of range"),
        ([str(TRANSPOSE), str(EMPTY), "--device", "gpu:first"], "there is no GPU 'first'"),
        (
            [str(TRANSPOSE), str(EMPTY), "--device", "emulated", "--peak", "fast"],
            "--peak 'fast' is no peak",
        ),
        (
            [str(TRANSPOSE), str(EMPTY), "--device", "emulated", "--peak", "3352"],
            "--peak is for a GPU",
        ),
        ([str(TRANSPOSE), str(EMPTY), "--device", "tpu"], "there is no device 'tpu'"),
        ([str(TRANSPOSE), str(EMPTY), "--device", "emulated:h10"], "did you mean 'h100'"),
        (
            [str(TRANSPOSE), str(EMPTY), "--json", "/no/such/folder/score.json"],
            "its folder does not exist",
        ),
        ([str(TRANSPOSE), str(EMPTY), "--json", str(ROOT)], "it is a folder"),
        ([str(TRANSPOSE), str(EMPTY), "--json", ""], "the name is empty"),
        (
            [str(TRANSPOSE), str(EMPTY), "--json", "-", "--annotate"],
            "both print on standard output",
        ),
        (
            [str(TRANSPOSE), str(EMPTY), "--json", "/proc/score.json"],
            "no file can be created in its folder",
        ),
    ],
)
def test_bad_usage_says_what_is_wrong(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert complaint in captured.err
    assert captured.out == ""


@pytest.mark.parametrize(
    ("words", "meant", "listed"),
    [
        (["bath"], "did you mean 'batch'?", "Commands: list, start"),
        (["bath", "transpose", "work"], "did you mean 'batch'?", "find_the_bugs, gemm_coalesced"),
        (["trnspose", "mine.cu"], "did you mean 'transpose'?", "find_the_bugs, gemm_coalesced"),
        (["--fresh", "trnspose", "mine.cu"], "did you mean 'transpose'?", "find_the_bugs, gemm_c"),
        (["start", "gemm_tiles"], "did you mean 'gemm_tiled'?", "find_the_bugs, gemm_coalesced"),
        (["exercises/trnspose", "mine.cu"], "did you mean 'transpose'?", "Exercises nearby"),
        (["mine.cu"], "the exercise comes first", "grade EXERCISE mine.cu\nExercises: "),
        (["transpose.cu"], "the exercise comes first", "grade transpose transpose.cu"),
        (["transpose", "mime.cu"], "did you mean 'mine.cu'?", "files here: mine.cu, other.cu."),
        (["transpose", "work/a.cu"], "work/a.cu does not exist", "There is none in work."),
        (["transpose", "wrk/a.cu"], "wrk/a.cu does not exist", "There is no folder wrk."),
        (["transpose", "mine.cu", "--anotate"], "did you mean '--annotate'?", "usage: grade"),
        (["transpose", "mine.cu", "--jsn=a"], "did you mean '--json'?", "usage: grade"),
        (
            ["batch", "transpose", "work", "--out", "r", "--job", "1"],
            "mean '--jobs'?",
            "usage: grade b",
        ),
    ],
)
def test_a_misspelt_word_names_the_nearest(
    words: list[str],
    meant: str,
    listed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("exercises", "starter"):
        (tmp_path / name).symlink_to(ROOT / name)
    (tmp_path / "work").mkdir()
    for name in ("mine.cu", "other.cu"):
        (tmp_path / name).touch()
    assert main(words) == 2
    told = capsys.readouterr().err
    assert meant in told
    assert listed in told


def test_a_word_like_no_other_is_given_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["quux"]) == 2
    assert "there is no command and no exercise 'quux'\n" in capsys.readouterr().err


@pytest.mark.skipif(has_pycuda(), reason="PyCUDA is installed here")
def test_a_gpu_without_pycuda_says_how_to_get_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(TRANSPOSE), str(EMPTY), "--device", "gpu"]) == 2
    shown = capsys.readouterr().err
    assert "needs PyCUDA" in shown
    assert "pip install -e '.[gpu]'" in shown


def test_json_on_stdout_is_all_that_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(TRANSPOSE), str(EMPTY), "--json", "-"]) == 1
    score = json.loads(capsys.readouterr().out)
    Draft202012Validator(SCHEMA).validate(score)
    assert score["status"] == "compile_error"


def test_json_goes_to_a_file_beside_the_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "score.json"
    assert main([str(TRANSPOSE), str(EMPTY), "--json", str(target), "--seed", "5"]) == 1
    assert json.loads(target.read_text())["seed"] == 5
    assert "the file is empty" in capsys.readouterr().out


def test_without_a_seed_each_run_draws_its_own(capsys: pytest.CaptureFixture[str]) -> None:
    seeds = set()
    for _ in range(2):
        main([str(TRANSPOSE), str(EMPTY), "--json", "-"])
        seeds.add(json.loads(capsys.readouterr().out)["seed"])
    assert len(seeds) == 2


def test_quiet_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(TRANSPOSE), str(EMPTY), "--quiet"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "compile_error: compile_error--empty.cu: the file is empty\n"
    assert captured.err == ""


def test_a_bare_name_is_looked_for_in_exercises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert find_exercise("transpose") == Path("exercises/transpose")
    assert find_exercise("exercises/transpose") == Path("exercises/transpose")
    with pytest.raises(UsageError, match="no exercise 'nothing'"):
        find_exercise("nothing")


def test_a_name_cannot_control_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    main([str(TRANSPOSE), str(tmp_path / "\x1b[31mred.cu")])
    assert "\x1b" not in capsys.readouterr().err


def test_a_fault_of_the_grader_is_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(_: object) -> int:
        raise ZeroDivisionError("half a sector")

    monkeypatch.setitem(COMMANDS, "doctor", DOCTOR._replace(run=fail))
    monkeypatch.delenv("GRADER_DEBUG", raising=False)
    assert main(["doctor"]) == 3
    assert "ZeroDivisionError: half a sector" in capsys.readouterr().err
    monkeypatch.setenv("GRADER_DEBUG", "1")
    with pytest.raises(ZeroDivisionError):
        main(["doctor"])


@pytest.mark.parametrize("code", [0, 1, None])
def test_an_exit_from_below_is_no_verdict(
    code: int | None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def leave(_: object) -> int:
        sys.exit(code)

    monkeypatch.setitem(COMMANDS, "doctor", DOCTOR._replace(run=leave))
    monkeypatch.delenv("GRADER_DEBUG", raising=False)
    assert main(["doctor"]) == 3
    assert f"called exit({code})" in capsys.readouterr().err


def test_json_that_cannot_be_written_does_not_take_the_report_along(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([str(TRANSPOSE), str(EMPTY), "--json", "/dev/full"]) == 3
    captured = capsys.readouterr()
    assert "the file is empty" in captured.out
    assert "/dev/full" in captured.err
    assert "bug of the grader" not in captured.err


GRADE_EMPTY = (str(TRANSPOSE), str(EMPTY))


@pytest.mark.parametrize("redirection", [">/dev/full", ">&-"])
@pytest.mark.parametrize(
    "arguments",
    [
        GRADE_EMPTY,
        (*GRADE_EMPTY, "--quiet"),
        (*GRADE_EMPTY, "--json", "-"),
        ("--help",),
        ("doctor",),
        (),
    ],
    ids=["report", "quiet", "json", "help", "doctor", "nothing"],
)
def test_output_that_cannot_be_printed_is_one_plain_sentence(
    arguments: tuple[str, ...], redirection: str
) -> None:
    done = run_in_shell(arguments, redirection)
    assert done.returncode == 3
    assert "standard output" in done.stderr
    assert "bug of the grader" not in done.stderr
    assert "Exception" not in done.stderr
    assert "Traceback" not in done.stderr


def test_a_report_that_cannot_be_printed_does_not_take_the_json_along(tmp_path: Path) -> None:
    target = tmp_path / "score.json"
    assert run_in_shell((*GRADE_EMPTY, "--json", str(target)), ">/dev/full").returncode == 3
    assert json.loads(target.read_text())["status"] == "compile_error"


def test_json_may_go_into_a_pipe() -> None:
    done = run_in_shell((*GRADE_EMPTY, "--json", "/dev/stderr"), "")
    assert done.returncode == 1
    assert '"status": "compile_error"' in done.stderr


def test_without_stderr_the_exit_code_still_tells() -> None:
    assert run_in_shell(("no-such-exercise", str(EMPTY)), "2>&-").returncode == 2


def run_in_shell(arguments: tuple[str, ...], redirection: str) -> subprocess.CompletedProcess[str]:
    command = [
        "/bin/sh",
        "-c",
        f'exec "$@" {redirection}',
        "sh",
        sys.executable,
        "-m",
        "grader",
        *arguments,
    ]
    environ = {
        name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"
    }  # with it argparse tells no failure
    return subprocess.run(
        command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False
    )


def test_control_c_ends_with_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "doctor", DOCTOR._replace(run=interrupt))
    assert main(["doctor"]) == 130


def test_a_reader_that_goes_away_leaves_no_traceback() -> None:
    read_end, write_end = os.pipe()
    os.close(read_end)
    command = [sys.executable, "-m", "grader", str(TRANSPOSE), str(EMPTY)]
    done = subprocess.run(
        command, cwd=ROOT, stdout=write_end, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(write_end)
    assert done.returncode == 141
    assert "Traceback" not in done.stderr
    assert "Exception" not in done.stderr


def test_the_api_loads_on_use() -> None:
    program = (
        "import sys, grader; assert 'numpy' not in sys.modules; grader.grade; grader.Score; assert"
        " 'numpy' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_threads_of_numpy_sleep_while_they_have_no_work() -> None:
    program = (
        "import time; from grader.cli import main; main(['list']); import numpy;"
        " start = time.process_time(); a = numpy.ones((300, 300)); a @ a; time.sleep(0.3);"
        " assert time.process_time() - start < 0.04, time.process_time() - start"
    )
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True)


def test_annotate_prints_the_source_with_its_figures(capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(
            [
                str(TRANSPOSE),
                str(STARTER),
                "--device",
                "emulated",
                "--no-model",
                "--annotate",
                "--quiet",
            ]
        )
        == 1
    )
    shown = capsys.readouterr().out
    words = " ".join(shown.split())  # lines are wrapped
    assert "counted by the emulated device at rows = 2,048, cols = 2,048" in words
    (hot,) = (line for line in shown.split("\n") if line.startswith("> 51 "))
    assert hot.split()[-5:] == ["4,194,304", "4,063,232", "4.0", "100", "%"]


def test_a_page_of_one_submission_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    assert main([str(TRANSPOSE), str(EMPTY), "--html", str(page), "--quiet"]) == 1
    text = page.read_text(encoding="utf-8")
    assert "all submissions" not in text
    assert EMPTY.name in text
    assert main([str(TRANSPOSE), str(EMPTY), "--html", str(tmp_path), "--quiet"]) == 2
    assert "cannot write the page" in capsys.readouterr().err


def test_annotate_has_nothing_to_add_to_what_is_no_source(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main([str(TRANSPOSE), str(EMPTY), "--annotate", "--quiet"]) == 1
    assert capsys.readouterr().out.count("\n") == 1
