"""The leaderboard: stable made-up names, that only their students are told."""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from grader.batch.handles import give_handles, read_handles
from grader.batch.results import write_summary
from grader.cli import main
from grader.records import Status
from tests.report.html.test_report import Page
from tests.support.classes import failed, timed, write_class
from tests.support.factories import make_graded

STUDENTS = ("Jane Doe", "John Roe", "Ada Lee", "Wu Min", "Kim Park")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    good = make_graded()
    scores = [
        timed(good, 0.4),
        timed(good, 0.2),
        timed(good, 0.4),
        failed(Status.GRADER_ERROR),
        failed(Status.COMPILE_ERROR),
    ]
    write_summary(tmp_path, write_class(tmp_path, scores, STUDENTS))
    return tmp_path


def test_names_stay_and_are_unlike_each_other(tmp_path: Path) -> None:
    first = give_handles(tmp_path, [f"s{number}" for number in range(300)])
    assert len(set(first.values())) == 300
    again = give_handles(tmp_path, ["=late() comer", "s1"])
    assert "\n'=late" in (tmp_path / "leaderboard-names.csv").read_text()
    assert {name: again[name] for name in first} == first
    assert read_handles(tmp_path) == again
    assert (tmp_path / "leaderboard-names.csv").stat().st_mode & 0o077 == 0


def test_the_page_ranks_by_points_and_time_and_identifies_nobody(
    out: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = out / "board.html"
    assert main(["leaderboard", str(out), "-o", str(page)]) == 0
    handles = read_handles(out)
    text = page.read_text()
    ranked = re.findall(
        r'<td class="num" data-l="Place">(\d+)</td><th scope="row">([^<]+)</th>', text
    )
    tied = sorted([handles["Jane Doe"], handles["Ada Lee"]])
    assert ranked == [("1", handles["John Roe"]), ("2", tied[0]), ("2", tied[1])]
    assert not [name for name in (*STUDENTS, "s00000", "transpose.cu") if name in text]
    assert Page(page).count("a") == 0
    assert "keep it" in capsys.readouterr().out


def test_those_alone_are_on_it_who_want_to(out: Path) -> None:
    (out / "willing.csv").write_text("student\njohn roe\n")
    command = ["leaderboard", str(out), "-o", str(out / "board.html"), "--force", "--students"]
    assert main([*command, str(out / "willing.csv")]) == 0
    assert set(read_handles(out)) == {"John Roe"}
    (out / "willing.csv").write_text("student\nnobody\n")
    assert main([*command, str(out / "willing.csv")]) == 2


def test_feedback_tells_each_student_the_own_name_alone(out: Path) -> None:
    handles = give_handles(out, STUDENTS[:2])
    assert main(["feedback", str(out), "-o", str(out / "f.zip")]) == 0
    with zipfile.ZipFile(out / "f.zip") as archive:
        for name in archive.namelist():
            text = archive.read(name).decode()
            own = {student for student, handle in handles.items() if handle in text}
            assert own == {STUDENTS[int(name[1:6])]} & set(handles)


def test_who_has_no_points_is_not_on_it(out: Path) -> None:
    assert main(["leaderboard", str(out), "-o", str(out / "b.html")]) == 0
    handles, text = read_handles(out), (out / "b.html").read_text()
    assert [name for name in STUDENTS if handles[name] in text] == [*STUDENTS[:3]]


def test_the_names_file_holds_no_terminal_control_and_gives_every_name_back(
    tmp_path: Path,
) -> None:
    students = ["Eve\x1b[31m\x07", "Ma\u202ex", "a\\u202eb", "Zoë", "=1+1\n"]
    given = give_handles(tmp_path, students)
    text = (tmp_path / "leaderboard-names.csv").read_text(encoding="utf-8")
    assert not set("\x1b\x07\u202e") & set(text)
    assert "Zoë," in text
    assert read_handles(tmp_path) == given
    assert give_handles(tmp_path, students) == given
