from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.authoring.sweep import parse_sizes
from grader.cli import main
from grader.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
STARTER = ROOT / "starter" / "transpose.cu"


@pytest.mark.parametrize(
    ("texts", "points"),
    [
        (["128,512"], [{"rows": 128, "cols": 128}, {"rows": 512, "cols": 512}]),
        (["cols=1024,rows=512"], [{"rows": 512, "cols": 1024}]),
        (["4", "rows=1,cols=2"], [{"rows": 4, "cols": 4}, {"rows": 1, "cols": 2}]),
    ],
)
def test_reads_sizes(texts: list[str], points: list[dict[str, int]]) -> None:
    assert parse_sizes(texts, ["rows", "cols"]) == points


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("x", "'x' in --sizes is no size"),
        ("128,", "'' in --sizes is no size"),
        ("0", "'0' in --sizes is no size"),
        ("-3", "'-3' in --sizes is no size"),
        ("9999999999", "is no size"),
        ("rows=4", "leaves out cols"),
        ("rows=4,rows=5", "'rows' in --sizes rows=4,rows=5 is given twice"),
        ("depth=4", "'depth' in --sizes depth=4 is no size of this exercise"),
    ],
)
def test_says_what_is_no_size(text: str, complaint: str) -> None:
    with pytest.raises(UsageError, match=complaint):
        parse_sizes([text], ["rows", "cols"])


def test_counts_every_program_at_every_size(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plot, table = tmp_path / "sweep.svg", tmp_path / "sweep.json"
    arguments = ["--sizes", "32,64", "rows=33,cols=64", "--device", "emulated", "--plot", str(plot), "--json", str(table)]
    assert main(["sweep", str(ROOT / "exercises" / "transpose"), str(STARTER), *arguments]) == 0
    shown = capsys.readouterr().out
    assert "models no times" in shown
    points = json.loads(table.read_text())["points"]
    assert [point["sizes"] for point in points] == [{"rows": 32, "cols": 32}, {"rows": 64, "cols": 64}, {"rows": 33, "cols": 64}]
    for point in points:
        rows = {row["program"]: row for row in point["rows"]}
        assert set(rows) >= {"NumPy", "submission", "naive", "reference"}
        assert rows["NumPy"]["time_ms"] > 0
        assert rows["submission"]["right"] is True
        assert rows["submission"]["time_ms"] is None
    starter = {row["program"]: row for row in points[0]["rows"]}["submission"]
    assert starter["counters"]["global_load_sectors"] == 32 * 32 * 4 // 32
    drawn = ElementTree.fromstring(plot.read_text())
    assert {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")} >= {"submission", "naive", "useful bytes"}


def test_a_wrong_submission_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.cu"
    wrong.write_text(STARTER.read_text().replace("x = blockIdx.y * TILE + threadIdx.x;", "x = blockIdx.x * TILE + threadIdx.x;"))
    arguments = [str(wrong), "--sizes", "rows=96,cols=64", "--device", "emulated"]
    assert main(["sweep", str(ROOT / "exercises" / "transpose"), *arguments]) == 1
    assert "✗ wrong" in capsys.readouterr().out


def test_a_submission_that_does_not_compile_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    broken = tmp_path / "broken.cu"
    broken.write_text("__global__ void f() { x; }\n// launch: f<<<1, 1>>>()\n")
    assert main(["sweep", str(ROOT / "exercises" / "transpose"), str(broken), "--sizes", "32", "--device", "emulated"]) == 1
    assert "undefined" in capsys.readouterr().out


@pytest.mark.gpu
def test_times_every_program_on_a_gpu(tmp_path: Path) -> None:
    plot, table = tmp_path / "sweep.svg", tmp_path / "sweep.json"
    submission = str(ROOT / "solutions" / "gemm_tiled.cu")
    arguments = ["--sizes", "256,1024", "--device", "gpu", "--plot", str(plot), "--json", str(table)]
    assert main(["sweep", str(ROOT / "exercises" / "gemm_tiled"), submission, *arguments]) == 0
    for point in json.loads(table.read_text())["points"]:
        rows = {row["program"]: row for row in point["rows"]}
        for label in ("NumPy", "submission", "naive", "reference"):
            assert rows[label]["time_ms"] > 0, rows[label]
            assert rows[label]["gflops"] > 0
        assert rows["submission"]["right"] is True
        assert rows["submission"]["time_ms"] < 2 * rows["reference"]["time_ms"]  # they are the same program
        for label in (label for label in rows if label.startswith("library")):
            assert rows[label]["time_ms"] > 0, rows[label]
    ElementTree.fromstring(plot.read_text())
