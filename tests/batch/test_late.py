"""Late work: what a policy says, by what times are known, and what it costs beside the points."""

from __future__ import annotations

import csv
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from grader.batch.collect import collect
from grader.batch.late_policy import LatePolicy, check_extensions, read_policy
from grader.batch.lateness import LateWork, judge_lateness
from grader.batch.results import format_gradebook, read_summary, write_summary
from grader.batch.roster import fold
from grader.batch.times import parse_time, read_times
from grader.cli import main
from grader.errors import UsageError
from grader.records import BatchEntry, Status
from grader.report.late_work import describe_lateness, describe_rules
from tests.support.classes import make_entry, make_scores, make_summary, write_class
from tests.support.factories import make_graded

BERLIN = ZoneInfo("Europe/Berlin")
DUE = datetime(2026, 11, 20, 23, 59, tzinfo=BERLIN)
POLICY = LatePolicy({"transpose": DUE}, BERLIN, "Europe/Berlin", 10, cap_percent=50)
FILE = """\
timezone = "Europe/Berlin"
due = 2026-11-20T23:59:00
grace_minutes = 15
percent_per_day = 10
cap_percent = 50

[extensions]
"Jane Doe" = 2026-11-23T23:59:00
4711 = 3
"""


def entry(**changes: object) -> BatchEntry:
    base = make_entry("jane", make_graded(), "scores/jane.json", source_path=None)
    base = replace(base, score=80.0, judged_points=100.0, status=Status.FAILED)
    return replace(base, **changes)  # type: ignore[arg-type]


def after(**late: float) -> BatchEntry:
    return entry(submitted=(DUE + timedelta(**late)).isoformat(sep=" ", timespec="seconds"))


@pytest.mark.parametrize(
    ("late", "days", "final"),
    [
        ({"minutes": -1}, 0, 80.0),
        ({"minutes": 0}, 0, 80.0),
        ({"minutes": 1}, 1, 70.0),
        ({"hours": 24}, 1, 70.0),
        ({"hours": 24, "minutes": 1}, 2, 60.0),
        ({"days": 9}, 9, 30.0),
    ],
)
def test_every_day_begun_costs_up_to_the_cap(
    late: dict[str, float], days: int, final: float
) -> None:
    judged = judge_lateness(after(**late), LateWork(POLICY))
    assert judged.days == days
    assert replace(entry(), late=judged).final == final
    assert entry().points == 80.0


def test_grace_only_moves_the_border_and_the_days_count_from_when_it_was_due() -> None:
    policy = LateWork(replace(POLICY, grace=timedelta(minutes=15)))
    assert judge_lateness(after(minutes=15), policy).days == 0
    assert judge_lateness(after(minutes=16), policy).days == 1
    assert judge_lateness(after(hours=24, minutes=1), policy).days == 2


def test_a_part_of_the_points_earned_and_never_below_zero() -> None:
    earned = LateWork(replace(POLICY, percent_of="earned"))
    assert judge_lateness(after(hours=30), earned).penalty == 16.0
    low = replace(after(days=9), score=20.0)
    assert replace(low, late=judge_lateness(low, LateWork(POLICY))).final == 0.0


def test_an_extension_is_of_one_student_by_name_or_id() -> None:
    extended = LateWork(replace(POLICY, extensions={"jane": DUE + timedelta(days=2)}))
    judged = judge_lateness(after(days=1), extended)
    assert (judged.days, judged.extended) == (0, True)
    by_id = LateWork(replace(POLICY, extensions={"4711": timedelta(days=3)}))
    assert judge_lateness(replace(after(days=2), student_id="4711"), by_id).days == 0
    assert judge_lateness(after(days=2), by_id).days == 2


def test_canvas_s_mark_says_that_it_is_late_and_not_by_how_much() -> None:
    marked = entry(platform="canvas", marked_late=True)
    judged = judge_lateness(marked, LateWork(POLICY))
    assert (judged.days, judged.percent, judged.penalty) == (None, None, None)
    assert replace(marked, late=judged).final is None, "not a guess"
    decided = LateWork(replace(POLICY, unknown_percent=20))
    assert replace(marked, late=judge_lateness(marked, decided)).final == 60.0
    assert judge_lateness(entry(platform="canvas"), decided).days == 0


def test_the_file_s_own_time_counts_only_where_it_is_asked_for() -> None:
    own = entry(file_time=(DUE + timedelta(days=3)).astimezone(UTC).isoformat())
    assert judge_lateness(own, LateWork(POLICY)).days is None
    asked = judge_lateness(own, LateWork(replace(POLICY, file_times=True)))
    assert (asked.days, asked.source) == (3, "the file's own time")
    assert asked.submitted == "2026-11-23 23:59+01:00"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2026-11-20 23:59", datetime(2026, 11, 20, 23, 59, tzinfo=BERLIN)),
        ("2026-11-20T23:59:10Z", datetime(2026, 11, 20, 23, 59, 10, tzinfo=UTC)),
        ("2026-11-20 23:59:10 UTC", datetime(2026, 11, 20, 23, 59, 10, tzinfo=UTC)),
        ("2026-11-20 15:59:10 -0800", datetime(2026, 11, 20, 23, 59, 10, tzinfo=UTC)),
        ("2026-11-20 23:59:10.123456789 Z", datetime(2026, 11, 20, 23, 59, 10, tzinfo=UTC)),
        ("Friday, 20 November 2026, 11:59 PM", datetime(2026, 11, 20, 23, 59, tzinfo=BERLIN)),
        ("20 November 2026, 23:59", datetime(2026, 11, 20, 23, 59, tzinfo=BERLIN)),
        ("11/12/2026 10:00", None),
        ("2026-11-20", None),
        ("2026-13-20 10:00", None),
        ("yesterday", None),
    ],
)
def test_times_as_platforms_write_them(text: str, expected: datetime | None) -> None:
    assert parse_time(text, BERLIN) == expected


def test_times_come_from_a_csv_by_name_or_id_the_latest_counts(tmp_path: Path) -> None:
    path = tmp_path / "times.csv"
    path.write_text(
        "Identifier;Full name;exercise;Last modified (submission)\n"
        "Participant 7;Jane Doe;;Friday, 20 November 2026, 11:58 PM\n"
        "Participant 7;Jane Doe;;Saturday, 21 November 2026, 1:00 AM\n"
        "Participant 8;John Roe;gemm_tiled;2026-11-21 10:00\n"
        "Participant 9;Ada Lee;;-\n"
    )
    times = read_times(path, BERLIN)
    assert times.find("x", "7", "transpose") == datetime(2026, 11, 21, 1, tzinfo=BERLIN)
    assert times.find("John Roe", None, "transpose") is None
    assert times.find("john roe", None, "gemm_tiled") is not None
    assert times.find("Ada Lee", None, "transpose") is None
    judged = judge_lateness(entry(student="Jane Doe"), LateWork(POLICY, times))
    assert (judged.days, judged.source) == (1, "times.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("student,submitted\njane,soon\n", "line 2, column 2 (submitted): 'soon' is no time"),
        ("student,when\njane,soon\n", "line 1: it needs a column"),
        ("submitted\n2026-11-20 10:00\n", "line 1: it needs a column"),
    ],
)
def test_a_bad_time_is_named_with_line_and_column(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(UsageError) as error:
        read_times(tmp_path / "t.csv", UTC)
    assert f"t.csv, {words}" in str(error.value)


def test_a_policy_is_read_from_toml_and_from_json(tmp_path: Path) -> None:
    (tmp_path / "late.toml").write_text(FILE)
    policy = read_policy(tmp_path / "late.toml", ["transpose"])
    assert policy.due == {"transpose": DUE}
    assert policy.extensions[fold("Jane Doe")] == DUE + timedelta(days=3)
    assert policy.due_for("transpose", "x", "4711") == DUE + timedelta(days=3)
    plain = {
        "timezone": "Europe/Berlin",
        "due": {"transpose": "2026-11-20 23:59"},
        "grace_minutes": 15,
        "percent_per_day": 10,
        "cap_percent": 50,
        "extensions": {"Jane Doe": "2026-11-23 23:59", "4711": 3},
    }
    (tmp_path / "late.json").write_text(json.dumps(plain))
    assert read_policy(tmp_path / "late.json", ["transpose"]) == policy


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("cap_percent = 50", "cap_percent = 150", "line 5, column 1: cap_percent is a number"),
        ("cap_percent", "cap_procent", "line 5, column 1: there is no entry 'cap_procent'; did"),
        ("Berlin", "Berlyn", "line 1, column 1: 'Europe/Berlyn' is no time zone"),
        ("4711 = 3", '4711 = "soon"', "line 9, column 1: 4711 is no time: soon"),
        ("grace_minutes = 15", "grace_minutes 15", "line 3, column 15: "),
        ("due = 2026-11-20T23:59:00\n", "", "due is missing"),
        ("due = 2026-11-20T23:59:00", "due = 2026-11-20", "line 2, column 1: due is no time"),
    ],
)
def test_a_bad_policy_is_named_with_line_and_column(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    assert old in FILE
    (tmp_path / "late.toml").write_text(FILE.replace(old, new))
    with pytest.raises(UsageError) as error:
        read_policy(tmp_path / "late.toml", ["transpose"])
    assert "late.toml" in str(error.value)
    assert words in str(error.value)


def test_bad_json_is_named_with_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "late.json").write_text('{"due": "2026-11-20 23:59",\n "percent_per_day" 3}')
    with pytest.raises(UsageError, match=r"late\.json, line 2, column 20"):
        read_policy(tmp_path / "late.json", ["transpose"])


def test_an_extension_for_nobody_is_refused_with_names_that_are_near() -> None:
    policy = replace(POLICY, extensions={"jnae doe": timedelta(days=1)})
    with pytest.raises(UsageError, match="not in the class") as error:
        check_extensions(policy, [("Jane Doe", "1"), ("John Roe", None)])
    assert "'Jane Doe'" in error.value.advice


def test_gradescope_s_metadata_has_the_time(tmp_path: Path) -> None:
    (tmp_path / "submission_1").mkdir()
    (tmp_path / "submission_1" / "transpose.cu").write_text("")
    (tmp_path / "submission_metadata.yml").write_text(
        "submission_1:\n  :submitters:\n  - :name: Jane\n"
        "  :created_at: 2026-11-21 21:19:24.000000000 Z\n"
    )
    (found,) = collect(tmp_path)
    assert (found.student, found.submitted) == ("Jane", "2026-11-21 21:19:24.000000000 Z")


def test_points_penalty_and_what_is_left_stand_side_by_side() -> None:
    late = LateWork(POLICY).apply(make_summary([after(hours=30), entry(student="joe")]))
    (jane, joe) = csv.DictReader(format_gradebook(late).splitlines())
    columns = ("transpose", "transpose days late", "transpose penalty", "transpose final", "total")
    assert [jane[column] for column in columns] == ["80", "2", "20", "60", "60"]
    assert [joe[column] for column in columns] == ["80", "", "", "", ""]
    assert describe_lateness(late.entries[0]) == (
        "Due 2026-11-20 23:59+01:00, handed in 2026-11-22 05:59+01:00 (by the platform's export):"
        " 2 days late.",
        "80 points for the work, less 20 (20 %) for late work: 60 points.",
    )


def test_the_rules_are_told_whole() -> None:
    policy = replace(POLICY, grace=timedelta(minutes=15), unknown_percent=20)
    rules = LateWork(policy).apply(make_summary([])).late_rules
    assert rules is not None
    assert describe_rules(rules) == (
        "Late work costs 10 % of the points possible for each day begun since it was due, after 15"
        " minutes of grace, at most 50 %; 20 % where Canvas marks it late and no time is known."
        " Times are in Europe/Berlin."
    )


def test_the_command_applies_a_policy_and_takes_it_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    batch = write_class(tmp_path, make_scores(3), ["jane doe", "joe", "kim"])
    write_summary(tmp_path, batch)
    policy, times = tmp_path / "late.toml", tmp_path / "times.csv"
    policy.write_text(FILE.replace("4711 = 3\n", ""))
    times.write_text("student,submitted\njane doe,2026-11-22 10:00\njoe,2026-11-22 10:00\n")
    assert main(["late", str(tmp_path), str(policy), "--times", str(times)]) == 0
    shown = capsys.readouterr().out
    assert "No final points for 1, of whom no time is known: kim." in shown
    assert "Late work costs 10 % of the points possible" in shown
    assert "Europe/Berlin" in shown
    after_policy = read_summary(tmp_path)
    days = [each.late.days if each.late else None for each in after_policy.entries]
    assert days == [0, 2, None]
    assert "2 days late" in (tmp_path / "report.html").read_text()
    assert "(20 %) for late work" in (tmp_path / "pages" / "s00001.html").read_text()
    assert main(["feedback", str(tmp_path), "-o", str(tmp_path / "f.zip")]) == 0
    assert (tmp_path / "late-policy.toml").is_file()
    assert main(["late", str(tmp_path), "--none"]) == 0
    assert read_summary(tmp_path) == batch
    assert not (tmp_path / "late-policy.toml").exists()
    assert main(["late", str(tmp_path)]) == 2


def test_a_batch_goes_on_with_the_policy_that_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "subs", tmp_path / "out"
    folder.mkdir()
    (folder / "jane.cu").write_text("")
    os.utime(folder / "jane.cu", (DUE.timestamp() + 90_000,) * 2)
    (tmp_path / "late.toml").write_text(
        "due = 2026-11-20 23:59:00+01:00\npercent_per_day = 10\nfile_times = true\n"
    )
    exercise = str(Path(__file__).resolve().parents[2] / "exercises" / "transpose")
    command = ["batch", exercise, str(folder), "--out", str(out), "--jobs", "1"]
    assert main([*command, "--late", str(tmp_path / "late.toml")]) == 0
    first = read_summary(out).entries[0].late
    assert first is not None
    assert (first.days, first.submitted) == (2, "2026-11-21 23:59+00:00")
    assert main(command) == 0
    assert read_summary(out).entries[0].late == first
    assert main([*command, "--times", "x.csv"]) == 2
    assert main([*command, "--anonymous", "--late", str(tmp_path / "late.toml")]) == 2
    (tmp_path / "late.toml").write_text("due = 2026-11-20 23:59:00Z\npercent_per_day = 1\n")
    with (tmp_path / "late.toml").open("a") as file:
        file.write("[extensions]\njnae = 1\n")
    assert main([*command, "--late", str(tmp_path / "late.toml")]) == 2
    assert "Did you mean 'jane'?" in capsys.readouterr().err
    capsys.readouterr()


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


def test_gradebooks_keep_names_ids_and_titles_when_late_work_is_judged(tmp_path: Path) -> None:
    write_summary(tmp_path, write_class(tmp_path, make_scores(2), ["jane", "joe"]))
    roster, policy = tmp_path / "canvas.csv", tmp_path / "late.toml"
    roster.write_text("student,Student,ID,SIS User ID\njane,Jane Doe,77,u1\njoe,Joe Roe,78,u2\n")
    policy.write_text("due = 2026-11-20 23:59:00+01:00\npercent_per_day = 10\n")
    named = ["--roster", str(roster), "--assignment", "Lab 3 (4711)"]
    assert main(["gradebook", str(tmp_path), *named]) == 0
    book = tmp_path / "gradebook-canvas.csv"
    assert main(["late", str(tmp_path), str(policy)]) == 0
    (_, jane, _) = rows = list(csv.DictReader(book.read_text().splitlines()))
    assert "Lab 3 (4711)" in rows[0]
    assert (jane["Student"], jane["ID"], jane["SIS User ID"]) == ("Jane Doe", "77", "u1")
    assert main(["late", str(tmp_path), "--none"]) == 0
    assert "Jane Doe,77,u1" in book.read_text()


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
