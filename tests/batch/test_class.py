"""Who is in a class: those of a roster, those who are to be graded, and nobody who has left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from grader.batch.collect import HandIn, collect
from grader.batch.roster import read_roster, with_absent
from grader.batch.run import Rerun
from grader.cli import main
from grader.errors import UsageError
from tests.batch.test_run import calls
from tests.support.instant import ROOT, hand_ins, run

CANVAS = """\
Student,ID,SIS User ID,SIS Login ID,Section
"    Points Possible",,,,
"Doe, Jane",4711,s1,jane,A
"Roe, John",4712,s2,john,B
"Student, Test",9,,t,
"""


def names(out: Path) -> list[str]:
    return sorted(path.stem for path in (out / "scores").iterdir())


def test_who_is_in_the_roster_and_handed_nothing_in_is_in_the_results(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(CANVAS)
    folder = tmp_path / "subs"
    folder.mkdir()
    (folder / "doejane_4711_815_transpose.cu").write_text("// empty")
    found = with_absent(collect(folder), read_roster(tmp_path / "roster.csv"))
    assert [(each.student, each.student_id, each.absent) for each in found] == [
        ("doejane", "4711", False),
        ("Roe, John", "4712", True),
    ]
    summary = run(tmp_path / "out", found, jobs=1)
    assert [(entry.student, entry.points, entry.reason) for entry in summary.entries][1] == (
        "Roe, John",
        None,
        "nothing was handed in",
    )


def test_names_that_fit_several_rows_are_not_missing(tmp_path: Path) -> None:
    (tmp_path / "roster.csv").write_text(
        "Full name,Identifier\nJane Doe,Participant 1\nJane Doe,Participant 2\n"
    )
    assert len(with_absent([HandIn("Jane Doe")], read_roster(tmp_path / "roster.csv"))) == 1


def test_a_removed_student_leaves_neither_score_nor_page(tmp_path: Path) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 3)
    run(out, found, jobs=1)
    run(out, found[:2], jobs=1)
    assert names(out) == ["student00000", "student00001"]
    assert "student00002" not in (out / "gradebook.csv").read_text()
    run(out, found, jobs=1)
    assert names(out) == ["student00000", "student00001", "student00002"]
    assert len(calls(out)) == 3, "what was graded once is not graded again"


@pytest.mark.parametrize("pattern", ["student00001", "STUDENT00001", "*1", "4711", "s*00001"])
def test_only_takes_a_name_an_id_or_a_pattern(tmp_path: Path, pattern: str) -> None:
    found = hand_ins(tmp_path / "subs", 3)
    found[1] = HandIn(found[1].student, "4711", "canvas", found[1].files)
    summary = run(tmp_path / "out", found, jobs=1, only=(pattern,))
    assert [entry.status is not None for entry in summary.entries] == [False, True, False]


def test_a_name_that_looks_like_a_pattern_is_taken_as_it_is(tmp_path: Path) -> None:
    files = [each.files for each in hand_ins(tmp_path / "subs", 2)]
    found = [HandIn("jane [A]", files=files[0]), HandIn("jane A", files=files[1])]
    summary = run(tmp_path / "out", found, jobs=1, only=("jane [A]",))
    assert [(entry.student, entry.status is not None) for entry in summary.entries] == [
        ("jane [A]", True),
        ("jane A", False),
    ]


def test_only_that_names_nobody_says_so_with_names_that_are_near(tmp_path: Path) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 3)
    run(out, found, jobs=1)
    with pytest.raises(UsageError, match="'studnet00001' matches no student") as error:
        run(out, found, jobs=1, only=("student00000", "studnet00001"), rerun=Rerun.ALL)
    assert "'student00001'" in error.value.advice
    assert len(names(out)) == 3
    assert len(calls(out)) == 3, "nothing was done"


def test_one_student_is_graded_again_by_name(tmp_path: Path) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 3)
    before = {entry.student: entry.message for entry in run(out, found, jobs=1).entries}
    again = run(out, found, jobs=1, only=("student00001",), rerun=Rerun.ALL)
    changed = {entry.student for entry in again.entries if entry.message != before[entry.student]}
    assert changed == {"student00001"}


def test_the_command_takes_a_roster(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, out = tmp_path / "subs", tmp_path / "out"
    folder.mkdir()
    (folder / "doejane_4711_815_transpose.cu").write_text("")
    (tmp_path / "roster.csv").write_text(CANVAS)
    command = ["batch", str(ROOT / "exercises" / "transpose"), str(folder), "--out", str(out)]
    assert main([*command, "--roster", str(tmp_path / "roster.csv"), "--jobs", "1"]) == 0
    assert "nothing was handed in" in capsys.readouterr().out
    assert '"Doe, Jane",4711,s1,jane,A,0' in (out / "gradebook-canvas.csv").read_text()
    (out / "pages" / "left.html").write_text("stale")
    assert main([*command, "--quiet"]) == 0
    assert [path.name for path in (out / "pages").iterdir()] == ["doejane.html"]
    assert len(json.loads((out / "summary.json").read_text())["entries"]) == 1
    assert main([*command, "--only", "doejoan"]) == 2
    assert "Did you mean 'doejane'?" in capsys.readouterr().err
