"""`grade batch` and `grade show` as commands: usage, the plain lines of progress, and what is
printed."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pytest

from grader.cli import main
from grader.devices.choose import has_pycuda
from tests.support.instant import ROOT

TRANSPOSE = str(ROOT / "exercises" / "transpose")
BROKEN = ROOT / "tests" / "submissions" / "transpose" / "compile_error--missing_brace.cu"


@pytest.fixture
def subs(tmp_path: Path) -> Path:
    """Two students with the same file, which is bad before anything is compiled."""
    folder = tmp_path / "subs"
    folder.mkdir()
    for student in ("jane", "[red]zoe\x1b[2J"):
        (folder / f"{student}.cu").write_bytes(b"\0")
    return folder


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ([TRANSPOSE, "SUBS"], "the following arguments are required: --out"),
        (["SUBS", "--out", "OUT"], "the following arguments are required: SUBMISSIONS"),
        ([TRANSPOSE, "SUBS/none", "--out", "OUT"], "does not exist"),
        ([TRANSPOSE, str(BROKEN), "--out", "OUT"], "neither a folder nor a zip"),
        ([TRANSPOSE, str(ROOT / "docs"), "--out", "OUT"], "there is no .cu file"),
        ([TRANSPOSE, "SUBS", "--out", "/proc/none"], "cannot write to /proc/none"),
        ([TRANSPOSE, TRANSPOSE + "/", "SUBS", "--out", "OUT"], "two exercises have the same name"),
        ([TRANSPOSE, "SUBS", "--out", "OUT", "--jobs", "0"], "'0' is not a positive number"),
        ([TRANSPOSE, "SUBS", "--out", "OUT", "--timeout", "x"], "'x' is not a positive number"),
        ([TRANSPOSE, "SUBS", "--out", "OUT", "--device", "emulated:h10"], "did you mean 'h100'"),
        ([TRANSPOSE, "SUBS", "--out", "OUT", "--seed", "-1"], "out of range"),
    ],
)
def test_bad_usage(
    arguments: list[str],
    complaint: str,
    subs: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    places = {"SUBS": str(subs), "SUBS/none": str(subs / "none"), "OUT": str(tmp_path / "out")}
    assert main(["batch", *(places.get(argument, argument) for argument in arguments)]) == 2
    assert complaint in capsys.readouterr().err


@pytest.mark.skipif(has_pycuda(), reason="PyCUDA is installed here")
@pytest.mark.parametrize("device", ["gpu:all", "gpu:0,1"])
def test_gpus_without_pycuda_say_how_to_get_it(
    device: str, subs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["batch", TRANSPOSE, str(subs), "--out", str(tmp_path / "out"), "--device", device])
        == 2
    )
    assert "PyCUDA" in capsys.readouterr().err


def test_bad_members_of_a_zip_are_told_and_the_rest_is_graded(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive, out = tmp_path / "class.zip", tmp_path / "out"
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("lab: 3/jane.cu", b"\0")
        packed.writestr("../\x1b[2Jevil.cu", b"\0")
        packed.writestr("z" * 300 + ".cu", b"\0")
    assert (
        main(
            [
                "batch",
                TRANSPOSE,
                str(archive),
                "--out",
                str(out),
                "--device",
                "emulated",
                "--jobs",
                "1",
            ]
        )
        == 0
    )
    said = capsys.readouterr()
    assert "evil.cu'" in said.err
    assert "its path leads out of the archive" in said.err
    assert "\x1b" not in said.err + said.out
    assert (out / "set-aside.csv").read_text().count("\n") == 3
    rows = (out / "gradebook.csv").read_text()
    assert "lab: 3,,0,100,100,compile_error" in rows
    assert "was set aside: it cannot have this name here" in rows


def test_a_class_is_graded_and_shown(
    subs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    arguments = [
        "batch",
        TRANSPOSE,
        str(subs),
        "--out",
        str(out),
        "--device",
        "emulated",
        "--jobs",
        "1",
    ]
    assert main(arguments) == 0
    first = capsys.readouterr()
    assert "[2/2] jane: compile_error" in first.err or "[2/2] [red]zoe" in first.err
    assert "transpose: 2 submissions: 2 compile_error; mean 0.0 of 100 points" in first.out
    assert "\x1b" not in first.out + first.err
    assert "[red]zoe" in first.out
    assert main(arguments) == 0
    assert capsys.readouterr().err == ""  # nothing was graded
    assert main(["show", str(out)]) == 0
    assert capsys.readouterr().out == first.out
    score = json.loads((out / "scores" / "jane.json").read_text())
    assert (score["submission"]["name"], score["status"]) == ("jane.cu", "compile_error")


def test_show_names_what_is_no_batch(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["show", str(tmp_path)]) == 2
    assert "summary.json cannot be read" in capsys.readouterr().err
    (tmp_path / "summary.json").write_text("{}")
    assert main(["show", str(tmp_path)]) == 2
    assert "not the summary of a batch" in capsys.readouterr().err
