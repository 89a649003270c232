"""Gradebooks: what Canvas and Moodle need to find a student, and no zero for who has no grade."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from grader.batch.results import SUMMARY, format_gradebook, read_summary, write_summary
from grader.batch.roster import read_roster
from grader.cli import main
from grader.cli.formats import decide, print_pending
from grader.errors import UsageError
from grader.records import BatchEntry, BatchExercise, BatchSummary, PendingRule, Status
from grader.report.class_table import print_summary
from grader.report.feedback import describe_grade
from grader.report.platforms.gradebooks import (
    CANVAS_FILE,
    MOODLE_FILE,
    write_gradebooks,
)
from grader.report.terminal import make_console
from tests.support.classes import make_scores, make_summary, write_class


def entry(
    student: str,
    score: float | None = 60.0,
    status: Status | None = Status.FAILED,
    **others: str | None,
) -> BatchEntry:
    base = BatchEntry(
        student=student,
        exercise="transpose",
        submission="transpose.cu",
        sha256="0" * 64,
        status=status,
        score=score,
        max_score=100,
        judged_points=100,
        seconds=1.0,
        device="d",
        score_path="scores/a.json",
        duplicate_of=None,
        message="60 of 100 points",
    )
    return replace(base, **others)  # type: ignore[arg-type]


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(), newline="")))


def test_canvas_finds_students_by_the_id_in_the_names_of_its_export(tmp_path: Path) -> None:
    write_gradebooks(
        tmp_path,
        make_summary(
            [entry("doejane", platform="canvas", student_id="4711"), entry("roejohn", 100.0)]
        ),
    )
    header, possible, *_ = csv.reader(io.StringIO((tmp_path / CANVAS_FILE).read_text(), newline=""))
    assert header[:5] == ["Student", "ID", "SIS User ID", "SIS Login ID", "Section"]
    assert (possible[0], possible[5]) == ("    Points Possible", "100")
    rows = rows_of(tmp_path / CANVAS_FILE)[1:]
    assert [(row["Student"], row["ID"], row[header[5]]) for row in rows] == [
        ("doejane", "4711", "60"),
        ("roejohn", "", "100"),
    ]


def test_moodle_gets_its_worksheet(tmp_path: Path) -> None:
    write_gradebooks(
        tmp_path, make_summary([entry("Jane Doe", 105.0, platform="moodle", student_id="4711")])
    )
    (row,) = rows_of(tmp_path / MOODLE_FILE)
    assert (row["Identifier"], row["Full name"], row["Grade"], row["Maximum Grade"]) == (
        "Participant 4711",
        "Jane Doe",
        "100",
        "100",
    )
    assert {"Last modified (grade)", "Feedback comments"} <= set(row)


def test_moodles_comment_is_escaped_html(tmp_path: Path) -> None:
    bad = entry("jane", why="<script>alert(1)</script> & more")
    write_gradebooks(tmp_path, make_summary([bad]))
    (row,) = rows_of(tmp_path / MOODLE_FILE)
    assert row["Feedback comments"] == "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"


def test_no_points_follow_from_what_is_not_the_students_doing() -> None:
    assert {status for status in Status if not status.has_points} == {
        Status.UNSUPPORTED,
        Status.GRADER_ERROR,
    }


@pytest.mark.parametrize("status", [*Status, None])
def test_who_has_no_points_has_an_empty_cell_in_every_table(
    tmp_path: Path, status: Status | None
) -> None:
    batch = make_summary([entry("jane", 7.0 if status else None, status)])
    write_gradebooks(tmp_path, batch)
    own = next(csv.DictReader(io.StringIO(format_gradebook(batch))))
    page = io.StringIO()
    print_summary(batch, console=make_console(page))
    shown = "7" if status is not None and status.has_points else ""
    assert rows_of(tmp_path / MOODLE_FILE)[0]["Grade"] == shown
    assert [*rows_of(tmp_path / CANVAS_FILE)[1].values()][-1] == shown
    assert (own["transpose"], own["total"]) == (shown, shown)
    assert ("7 / 100" in page.getvalue(), "mean 7.0" in page.getvalue()) == (
        bool(shown),
        bool(shown),
    )


def grades_of(folder: Path, batch: BatchSummary) -> tuple[str, ...]:
    """A single student's cells: of Moodle, Canvas and our own gradebook, and the sum there."""
    write_gradebooks(folder, batch)
    own = next(csv.DictReader(io.StringIO(format_gradebook(batch))))
    canvas = [*rows_of(folder / CANVAS_FILE)[1].values()][-1]
    return rows_of(folder / MOODLE_FILE)[0]["Grade"], canvas, own["transpose"], own["total"]


@pytest.mark.parametrize(
    ("score", "rule", "grade"),
    [
        (75.0, None, ""),
        (75.0, PendingRule.LOST, "75"),
        (75.0, PendingRule.SCALED, "100"),
        (47.17, None, ""),
        (47.17, PendingRule.LOST, "47.17"),
        (47.17, PendingRule.SCALED, "62.89"),
    ],
)
def test_pending_points_make_an_empty_cell_unless_the_instructor_decides(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    score: float,
    rule: PendingRule | None,
    grade: str,
) -> None:
    """75 points are judged and 25 pending."""
    pending = replace(entry("jane", score, Status.INCONCLUSIVE), judged_points=75)
    batch = decide(make_summary([pending]), rule)
    assert grades_of(tmp_path, batch) == (grade,) * 4
    print_pending(batch)
    told = capsys.readouterr().out
    assert ("No final grade for 1 with pending points: jane." in told) is (rule is None)


def test_excluded_checks_leave_the_total_and_grades_are_of_the_full_points(tmp_path: Path) -> None:
    """With --no-model 80 of the 100 points of `reduction` count."""
    perfect = replace(entry("jane", 80.0, Status.PASSED), judged_points=80, total_points=80)
    assert grades_of(tmp_path, make_summary([perfect])) == ("100",) * 4
    assert describe_grade(perfect) == ("The grade is 100 of 100 points.",)


def test_a_summary_of_an_earlier_version_has_pending_points_too(tmp_path: Path) -> None:
    old = replace(entry("jane", 75.0, Status.PASSED), judged_points=75)
    assert grades_of(tmp_path, make_summary([old])) == ("",) * 4


def test_a_roster_of_the_platform_itself_gives_the_ids(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    roster.write_text(
        '\ufeffStudent,ID,SIS User ID,SIS Login ID,Section\n"Doe, Jane",4711,s1,jane,A\n"Roe,'
        ' John",4712,s2,john,B\n'
    )
    batch = make_summary([entry("jane"), entry("s2"), entry("nobody")])
    write_gradebooks(
        tmp_path, batch, read_roster(roster).find, assignments={"transpose": "Lab 3 (9)"}
    )
    rows = rows_of(tmp_path / CANVAS_FILE)[1:]
    assert [(row["Student"], row["ID"], row["Section"], row["Lab 3 (9)"]) for row in rows] == [
        ("Doe, Jane", "4711", "A", "60"),
        ("Roe, John", "4712", "B", "60"),
        ("nobody", "", "", "60"),
    ]


def test_a_name_that_fits_two_rows_fits_none(tmp_path: Path) -> None:
    roster = tmp_path / "roster.csv"
    lines = (
        "Full name;Identifier;Email address",
        "Jane Doe;Participant 1;a@x",
        "Jane Doe;Participant 2;b@x",
        "John Roe;Participant 3;c@x",
    )
    roster.write_text("\n".join(lines))
    write_gradebooks(
        tmp_path, make_summary([entry("Jane Doe"), entry("john roe")]), read_roster(roster).find
    )
    assert [row["Identifier"] for row in rows_of(tmp_path / MOODLE_FILE)] == ["", "Participant 3"]


@pytest.mark.parametrize("text", ["", "a,b\n1,2\n"])
def test_a_roster_that_names_nobody_is_bad_usage(tmp_path: Path, text: str) -> None:
    (tmp_path / "roster.csv").write_text(text)
    with pytest.raises(UsageError, match="none of the columns"):
        read_roster(tmp_path / "roster.csv")


def test_a_name_is_no_formula(tmp_path: Path) -> None:
    write_gradebooks(
        tmp_path,
        make_summary(
            [entry('=HYPERLINK("http://x")', message="\n=1+1\x1b[31m"), entry("@x\r\n-1")]
        ),
    )
    for name in (CANVAS_FILE, MOODLE_FILE):
        cells = [
            cell
            for row in csv.reader(io.StringIO((tmp_path / name).read_text(), newline=""))
            for cell in row
        ]
        assert not [
            cell
            for cell in cells
            if cell.startswith(("=", "+", "@", "\t", "\r")) or "\n" in cell or "\x1b" in cell
        ]


def test_several_exercises_are_columns_in_canvas_and_files_for_moodle(tmp_path: Path) -> None:
    batch = make_summary([entry("jane"), replace(entry("jane", 7.0), exercise="gemm_tiled")])
    batch = replace(batch, exercises=(*batch.exercises, BatchExercise("gemm_tiled", "Tiles", 50)))
    names = {path.name for path in write_gradebooks(tmp_path, batch)}
    assert names == {
        CANVAS_FILE,
        "gradebook-moodle-transpose.csv",
        "gradebook-moodle-gemm_tiled.csv",
    }
    assert [*rows_of(tmp_path / CANVAS_FILE)[1].values()][5:] == ["60", "7"]
    assert rows_of(tmp_path / "gradebook-moodle-gemm_tiled.csv")[0]["Grade"] == "7"


def test_fields_of_removed_late_policies_are_ignored(tmp_path: Path) -> None:
    summary = make_summary([entry("jane")])
    write_summary(tmp_path, summary)
    document = json.loads((tmp_path / SUMMARY).read_text())
    document["late_rules"] = {"percent_per_day": 10}
    document["entries"][0] |= {"late": {"days": 1}, "marked_late": True, "submitted": "x"}
    (tmp_path / SUMMARY).write_text(json.dumps(document))
    assert read_summary(tmp_path) == summary


GERMAN = (
    "ID",
    "Vollständiger Name",
    "E-Mail-Adresse",
    "Status",
    "Bewertung",
    "Bestwertung",
    "Bewertung kann geändert werden",
    "Zuletzt geändert (Abgabe)",
    "Zuletzt geändert (Bewertung)",
    "Feedback als Kommentar",
)


def test_later_gradebooks_keep_names_ids_and_titles(tmp_path: Path) -> None:
    write_summary(tmp_path, write_class(tmp_path, make_scores(2), ["jane", "joe"]))
    roster = tmp_path / "canvas.csv"
    roster.write_text("student,Student,ID,SIS User ID\njane,Jane Doe,77,u1\njoe,Joe Roe,78,u2\n")
    named = ["--roster", str(roster), "--assignment", "Lab 3 (4711)"]
    assert main(["gradebook", str(tmp_path), *named]) == 0
    assert main(["gradebook", str(tmp_path)]) == 0
    book = (tmp_path / "gradebook-canvas.csv").read_text()
    (_, jane, _) = rows = list(csv.DictReader(book.splitlines()))
    assert "Lab 3 (4711)" in rows[0]
    assert (jane["Student"], jane["ID"], jane["SIS User ID"]) == ("Jane Doe", "77", "u1")


@pytest.mark.parametrize("online_text", [(), ("Texteingabe online",)])
def test_moodle_s_headers_are_those_of_the_roster(
    tmp_path: Path, online_text: tuple[str, ...]
) -> None:
    """Moodle finds the columns by their headers, in the language of the site."""
    write_summary(tmp_path, write_class(tmp_path, make_scores(1), ["Jane Doe"]))
    roster = tmp_path / "moodle.csv"
    header = (*GERMAN[:8], *online_text, *GERMAN[8:])
    cells = ["Teilnehmer/in4711", "Jane Doe", "jane@uni.example", *[""] * (len(header) - 3)]
    roster.write_text(";".join(header) + "\n" + ";".join(cells) + "\n")
    assert main(["gradebook", str(tmp_path), "--roster", str(roster)]) == 0
    read = csv.DictReader((tmp_path / "gradebook-moodle.csv").read_text().splitlines())
    (row,) = read
    assert tuple(row) == GERMAN
    assert (row["ID"], row["E-Mail-Adresse"]) == ("Teilnehmer/in4711", "jane@uni.example")
    assert row["Bestwertung"] == "100"
