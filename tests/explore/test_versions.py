"""Before and after: what the table, the line that sums up and the JSON say of two scores."""

from __future__ import annotations

import io
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cli import main
from grader.errors import UsageError
from grader.explore.versions import find_common_exercise
from grader.records import Failure, MetricValue, Score, Source, Status
from grader.report.terminal import make_console
from grader.report.version_table import (
    Change,
    Versions,
    compare_metrics,
    format_versions,
    print_versions,
    summarise,
)
from tests.support.factories import (
    CROOKED_LINES,
    DOUBTFUL,
    make_case,
    make_failed,
    make_graded,
    make_submission,
)

ROOT = Path(__file__).resolve().parents[2]
CROOKED, GOOD = make_graded(lines=CROOKED_LINES), make_graded()
BROKEN = make_failed(
    Failure(Status.COMPILE_ERROR, "line 11 does not compile", "a caret\n^"),
    make_submission("broken.cu"),
)


def show(versions: Versions) -> str:
    stream = io.StringIO()
    print_versions(versions, console=make_console(stream, environ={}))
    return stream.getvalue()


def timed(score: Score, time_ms: float) -> Score:
    """The score with a time that is known to 5 %."""
    time = MetricValue(
        "time_ms", time_ms, "ms", Source.MEASURED, interval=(0.95 * time_ms, 1.05 * time_ms)
    )
    return replace(
        score,
        metrics=tuple(time if metric.name == "time_ms" else metric for metric in score.metrics),
    )


def test_every_metric_that_one_has_is_a_row_with_its_ratio() -> None:
    rows = {row.name: row for row in compare_metrics(Versions(CROOKED, GOOD))}
    assert rows["shared_bank_conflicts"].old.value == 3100
    assert rows["shared_bank_conflicts"].change is Change.BETTER
    assert rows["shared_bank_conflicts"].ratio == 0
    assert rows["instructions_executed"].change is Change.WORSE  # 407 before, 1000 now
    assert rows["global_load_sectors"].change is Change.SAME
    assert (
        rows["shared_wavefronts"].change is Change.UNKNOWN
    )  # 3300 before, 200 now: neither is better by itself
    assert "time_ms" not in rows


def test_no_ratio_to_zero() -> None:
    rows = {row.name: row for row in compare_metrics(Versions(GOOD, CROOKED))}
    assert rows["shared_bank_conflicts"].ratio is None
    assert rows["shared_bank_conflicts"].change is Change.WORSE


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [
        (1.0, 0.25, "4 x as fast"),
        (0.25, 1.0, "4 x as slow"),
        (1.0, 0.98, "no clear difference in time"),
    ],
)
def test_one_line_sums_up(before: float, after: float, words: str) -> None:
    assert (
        summarise(Versions(timed(CROOKED, before), timed(GOOD, after)))
        == f"{words}; shared bank conflicts 3,100 -> 0; global store efficiency 12.5 % -> 100 %; 25"
        " -> 75 of 100 points"
    )


def test_two_of_a_kind() -> None:
    assert summarise(Versions(GOOD, GOOD)) == "no difference in the graded figures"


def test_the_table() -> None:
    lines = show(Versions(CROOKED, GOOD)).splitlines()
    assert lines[0].startswith("old: transpose.cu: 25 of 100 points, 25 wait for a GPU")
    shown = [line.split() for line in lines]
    assert ["Bank", "conflicts", "0", "25", "25"] in shown
    assert ["Performance", "-", "-", "25"] in shown
    assert ["shared_bank_conflicts", "3,100", "0", "0", "better", "counted"] in shown
    assert lines[-5].startswith("In short: shared bank conflicts 3,100 -> 0")


def test_what_passed_with_the_benefit_of_the_doubt_is_named() -> None:
    text = show(Versions(CROOKED, DOUBTFUL))
    remark = "too close to call on a model, the benefit of the doubt"
    assert f"new: Performance: {remark}\n" in text
    assert "old: Performance" not in text


def test_a_version_that_fails_is_one_line_beside_the_others_figures() -> None:
    text = show(Versions(GOOD, BROKEN))
    assert "new: broken.cu: compile error: line 11 does not compile\n" in text
    assert "caret" not in text
    assert ["instructions_executed", "1,000", "-", "counted"] in [
        line.split() for line in text.splitlines()
    ]
    wrong = make_graded(cases=(make_case(), make_case("ragged", passed=False)))
    assert "; ragged: 612 of 37,481 elements of `out` are wrong\n" in show(Versions(GOOD, wrong))


def test_json_holds_both_scores_and_the_comparison() -> None:
    plain = json.loads(format_versions(Versions(CROOKED, GOOD)))
    assert plain["old"]["score"] == 25
    assert plain["new"]["score"] == 75
    assert plain["metrics"]["shared_bank_conflicts"] == {
        "old": 3100,
        "new": 0,
        "ratio": 0,
        "change": "better",
    }


def test_the_exercise_is_found_by_file_names_or_by_the_kernel(tmp_path: Path) -> None:
    exercises = ROOT / "exercises"
    starter, solution = (ROOT / place / "transpose.cu" for place in ("starter", "solutions"))
    assert find_common_exercise(exercises, starter, solution).name == "transpose"
    mine = tmp_path / "mine.cu"
    mine.write_text(starter.read_text())
    assert find_common_exercise(exercises, starter, mine).name == "transpose"
    mine.write_text((ROOT / "starter" / "gemm_register_blocked.cu").read_text())
    with pytest.raises(
        UsageError, match="may be for any of gemm_coalesced, gemm_register_blocked, gemm_tiled"
    ):
        find_common_exercise(exercises, mine, mine)
    with pytest.raises(UsageError, match="have no kernel in common"):
        find_common_exercise(exercises, starter, mine)


def test_a_version_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    missing, starter = tmp_path / "missing.cu", ROOT / "starter" / "transpose.cu"
    with pytest.raises(UsageError, match=r"missing\.cu cannot be read: No such file") as caught:
        find_common_exercise(ROOT / "exercises", starter, missing)
    assert caught.value.advice == "Name two .cu files."


def test_an_exercise_with_mistakes_is_nobodys_unless_files_have_its_name(tmp_path: Path) -> None:
    for name in ("transpose", "broken"):
        shutil.copytree(ROOT / "exercises" / "transpose", tmp_path / "exercises" / name)
    (tmp_path / "starter").mkdir()
    shutil.copy(ROOT / "starter" / "transpose.cu", tmp_path / "starter")
    (tmp_path / "exercises" / "broken" / "spec.json").write_text('{"title": 3}')
    paths = {}
    for name in ("mine", "old/broken", "new/broken"):
        paths[name] = tmp_path / f"{name}.cu"
        paths[name].parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / "starter" / "transpose.cu", paths[name])

    def find(old: str, new: str) -> str:
        return find_common_exercise(tmp_path / "exercises", paths[old], paths[new]).name

    assert find("mine", "mine") == "transpose"
    assert find("old/broken", "new/broken") == "broken"


@pytest.mark.parametrize(
    "names",
    [
        ["one.cu"],
        ["a", "b", "c", "d"],
        ["no_such_exercise", "a.cu", "b.cu"],
        ["transpose", "a.cu", "b.cu"],
    ],
)
def test_bad_usage(
    names: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    assert main(["compare", *names]) == 2
    assert capsys.readouterr().err.startswith("grade: ")


def test_a_real_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With a version that does not compile, so that one grading is enough."""
    bad, target = tmp_path / "bad.cu", tmp_path / "both.json"
    bad.write_text("__global__ void transpose_shared(float* out) { out[0] = nothing; }\n")
    command = [
        "compare",
        str(ROOT / "exercises" / "transpose"),
        str(bad),
        str(ROOT / "solutions" / "transpose.cu"),
    ]
    assert (
        main([*command, "--device", "emulated", "--no-model", "--seed", "1", "--json", str(target)])
        == 0
    )
    shown = capsys.readouterr().out
    assert "old: bad.cu: compile error: bad.cu does not compile: line 1: " in shown
    assert "In short: 0 -> 60 of 60 points" in shown
    plain = json.loads(target.read_text())
    assert plain["old"]["seed"] == plain["new"]["seed"] == 1
    assert plain["metrics"]["shared_bank_conflicts"] == {
        "old": None,
        "new": 0,
        "ratio": None,
        "change": None,
    }
