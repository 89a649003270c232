from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from xml.etree import ElementTree

import pytest

from grader.authoring.sweep import processor
from grader.authoring.sweep.points import parse_sizes
from grader.authoring.sweep.processor import LoopTimer, load_loop
from grader.cli import main
from grader.devices.base import Arrays
from grader.errors import SpecError, UsageError
from grader.report.sweep import C_LOOP, NUMPY
from grader.spec.exercise import Exercise
from grader.spec.reader import read_exercise

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


def test_models_and_counts_every_program_at_every_size(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    plot, table = tmp_path / "sweep.svg", tmp_path / "sweep.json"
    arguments = [
        "--sizes",
        "32,64",
        "rows=32,cols=64",
        "--device",
        "emulated",
        "--plot",
        str(plot),
        "--json",
        str(table),
        "--seed",
        "1",
    ]
    assert main(["sweep", str(ROOT / "exercises" / "transpose"), str(STARTER), *arguments]) == 0
    shown = capsys.readouterr().out
    assert "times are modelled, not measured" in shown
    assert "× C loop" in shown
    assert max(map(len, shown.splitlines())) <= 80
    points = json.loads(table.read_text())["points"]
    assert [point["sizes"] for point in points] == [
        {"rows": 32, "cols": 32},
        {"rows": 64, "cols": 64},
        {"rows": 32, "cols": 64},
    ]
    for point in points:
        rows = {row["program"]: row for row in point["rows"]}
        assert set(rows) == {C_LOOP, NUMPY, "submission", "naive", "reference"}
        assert {rows[label]["source"] for label in (C_LOOP, NUMPY)} == {"measured"}
        assert {rows[label]["source"] for label in ("submission", "naive", "reference")} == {
            "modelled"
        }
        own = rows["submission"]
        assert own["right"] is True
        assert own["bandwidth_gbps"] == pytest.approx(point["useful_bytes"] / own["time_ms"] / 1e6)
        assert own["speedup_over_naive"] == pytest.approx(rows["naive"]["time_ms"] / own["time_ms"])
        assert own["speedup_over_cpu"] == pytest.approx(rows[C_LOOP]["time_ms"] / own["time_ms"])
        assert own["speedup_over_numpy"] == pytest.approx(rows[NUMPY]["time_ms"] / own["time_ms"])
        assert own["blocks_run"] == own["blocks"]
    starter = {row["program"]: row for row in points[0]["rows"]}["submission"]
    assert starter["counters"]["global_load_sectors"] == 32 * 32 * 4 // 32
    drawn = ElementTree.fromstring(plot.read_text())
    assert {text.text for text in drawn.iter("{http://www.w3.org/2000/svg}text")} >= {
        "submission",
        "naive",
        C_LOOP,
        "useful bytes",
    }
    texts = [text.text or "" for text in drawn.iter("{http://www.w3.org/2000/svg}text")]
    assert "Bank conflicts (wavefronts beyond the ideal)" in texts
    assert any("times of kernels modelled" in text and "naive" in text for text in texts)
    assert any("by size, on emulated NVIDIA H100" in text for text in texts)


def test_without_the_model_every_program_is_counted_and_checked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "sweep.json"
    arguments = ["--sizes", "64", "--device", "emulated", "--no-model", "--json", str(table)]
    assert main(["sweep", str(ROOT / "exercises" / "transpose"), str(STARTER), *arguments]) == 0
    shown = capsys.readouterr().out
    assert "modelled:" not in shown
    assert "naive ✓ right" in shown
    (point,) = json.loads(table.read_text())["points"]
    kernels = [row for row in point["rows"] if row["program"] not in (C_LOOP, NUMPY)]
    assert {(row["right"], row["time_ms"], row["source"]) for row in kernels} == {
        (True, None, "counted")
    }


@pytest.mark.slow
def test_a_long_run_is_a_sample_and_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "sweep.json"
    arguments = ["--sizes", "2048", "--device", "emulated", "--json", str(table)]
    assert (
        main(
            [
                "sweep",
                str(ROOT / "exercises" / "gemm_tiled"),
                str(ROOT / "solutions" / "gemm_tiled.cu"),
                *arguments,
            ]
        )
        == 0
    )
    assert "~ counted on a sample of the blocks" in capsys.readouterr().out
    rows = {row["program"]: row for row in json.loads(table.read_text())["points"][0]["rows"]}
    assert 0 < rows["submission"]["blocks_run"] < rows["submission"]["blocks"]
    assert rows["submission"]["right"] is True
    assert rows["submission"]["speedup_over_naive"] > 1


def test_a_loop_that_would_take_too_long_is_not_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(processor, "MOST_SECONDS", 0.05)
    monkeypatch.setattr(processor, "QUICK_WORK", 2 * 4 * 64 * 64)
    exercise = read_exercise(ROOT / "exercises" / "transpose")
    ran = []

    def loop(inputs: Arrays, sizes: Mapping[str, int]) -> Arrays:
        """A processor that moves 4 million elements a second."""
        ran.append(sizes["rows"])
        time.sleep(sizes["rows"] * sizes["cols"] / 4e6)
        return {"out": inputs["in"].T.copy()}

    timer = LoopTimer(exercise, loop, seed=1)
    assert timer.time({"rows": 256, "cols": 256}).time_ms == pytest.approx(16, rel=0.5)
    assert (
        {64, 128, 256} >= set(ran) >= {128, 256}
    )  # one that is far from what is known is approached
    row = timer.time({"rows": 2048, "cols": 2048})
    assert row.time_ms is None
    assert row.note.startswith("more than 0 s, so it was not run: about 1 s")
    assert max(ran) < 2048


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("= in[", "= 2 * in[", "differs from the oracle"),
        ("void reference(", "void other(", "there is no function reference"),
        ("int rows", "integer rows", "g\\+\\+ does not compile it"),
    ],
)
def test_a_bad_loop_is_the_exercise_s_mistake(
    tmp_path: Path, old: str, new: str, complaint: str
) -> None:
    folder = tmp_path / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", folder)
    (tmp_path / "starter").symlink_to(ROOT / "starter")
    text = (folder / "cpu.c").read_text()
    assert old in text
    (folder / "cpu.c").write_text(text.replace(old, new))
    with pytest.raises(SpecError, match=complaint):
        time_loop(read_exercise(folder), tmp_path / "cache")


def time_loop(exercise: Exercise, cache: Path) -> None:
    loop = load_loop(exercise, cache)
    assert loop is not None
    assert LoopTimer(exercise, loop, seed=1).time({"rows": 32, "cols": 16}).time_ms is not None


def test_the_loops_of_the_exercises_are_right_and_timed(tmp_path: Path) -> None:
    time_loop(read_exercise(ROOT / "exercises" / "transpose"), tmp_path)


def test_a_time_that_cannot_be_modelled_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "sweep.json"
    arguments = [
        "--sizes",
        "rows=33,cols=64",
        "--device",
        "emulated",
        "--seed",
        "2",
        "--json",
        str(table),
    ]
    assert main(["sweep", str(ROOT / "exercises" / "transpose"), str(STARTER), *arguments]) == 0
    rows = {row["program"]: row for row in json.loads(table.read_text())["points"][0]["rows"]}
    assert (
        rows["submission"]["right"],
        rows["submission"]["time_ms"],
        rows["submission"]["source"],
    ) == (True, None, "counted")
    assert rows["submission"]["note"].startswith("no time: its blocks differ so much")
    assert "submission: no time: its blocks differ" in capsys.readouterr().out


def test_a_wrong_submission_ends_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = tmp_path / "wrong.cu"
    wrong.write_text(
        STARTER.read_text().replace(
            "x = blockIdx.y * TILE + threadIdx.x;", "x = blockIdx.x * TILE + threadIdx.x;"
        )
    )
    arguments = [str(wrong), "--sizes", "rows=96,cols=64", "--device", "emulated"]
    assert main(["sweep", str(ROOT / "exercises" / "transpose"), *arguments]) == 1
    assert "✗ wrong" in capsys.readouterr().out


def test_a_submission_that_does_not_compile_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    broken = tmp_path / "broken.cu"
    broken.write_text("__global__ void f() { x; }\n// launch: f<<<1, 1>>>()\n")
    assert (
        main(
            [
                "sweep",
                str(ROOT / "exercises" / "transpose"),
                str(broken),
                "--sizes",
                "32",
                "--device",
                "emulated",
            ]
        )
        == 1
    )
    assert "undefined" in capsys.readouterr().out


@pytest.mark.gpu
def test_times_every_program_on_a_gpu(tmp_path: Path) -> None:
    plot, table = tmp_path / "sweep.svg", tmp_path / "sweep.json"
    submission = str(ROOT / "solutions" / "gemm_tiled.cu")
    arguments = [
        "--sizes",
        "256,1024",
        "--device",
        "gpu",
        "--plot",
        str(plot),
        "--json",
        str(table),
    ]
    assert main(["sweep", str(ROOT / "exercises" / "gemm_tiled"), submission, *arguments]) == 0
    for point in json.loads(table.read_text())["points"]:
        rows = {row["program"]: row for row in point["rows"]}
        for label in (C_LOOP, NUMPY, "submission", "naive", "reference"):
            assert rows[label]["time_ms"] > 0, rows[label]
            assert rows[label]["gflops"] > 0
        assert rows["submission"]["right"] is True
        assert (
            rows["submission"]["time_ms"] < 2 * rows["reference"]["time_ms"]
        )  # they are the same program
        for label in (label for label in rows if label.startswith("library")):
            assert rows[label]["time_ms"] > 0, rows[label]
    ElementTree.fromstring(plot.read_text())
