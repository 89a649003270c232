"""The place of each exercise in the course: one fact in its spec, its handout and the semester."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from grader.cli import main
from grader.spec.public import CourseEntry, read_entry

ROOT = Path(__file__).parents[2]
FOLDERS = sorted(path.parent for path in (ROOT / "exercises").glob("*/spec.json"))
ROWS = re.findall(
    r"^\| (\d+) \| .+ \| \[(\w+)\]\(../exercises/\2/README.md\) \| ([\d to]+) \|",
    (ROOT / "docs" / "semester.md").read_text(encoding="utf-8"),
    flags=re.MULTILINE,
)


@pytest.fixture(params=FOLDERS, ids=lambda folder: folder.name)
def folder(request: pytest.FixtureRequest) -> Path:
    return Path(request.param)


def entry_of(folder: Path) -> CourseEntry:
    entry = read_entry(folder)
    assert entry is not None
    return entry


def test_the_handout_states_the_time_of_the_spec(folder: Path) -> None:
    text = (folder / "README.md").read_text(encoding="utf-8")
    assert re.search(rf"\*\*Time\*\* \| {entry_of(folder).hours} hours?\b", text)


def test_the_semester_has_the_weeks_and_times_of_the_specs() -> None:
    places = {folder.name: entry_of(folder) for folder in FOLDERS}
    assert {name: (int(week), hours) for week, name, hours in ROWS} == {
        name: (entry.week, entry.hours) for name, entry in places.items()
    }
    assert [int(week) for week, *_ in ROWS] == sorted(int(week) for week, *_ in ROWS)


def test_the_list_has_the_order_of_the_course(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    listed = [name for line in lines for name in re.findall(r"^ *\d+  (\w+) ", line)]
    assert listed == sorted(listed, key=lambda n: (entry_of(ROOT / "exercises" / n).week, n))
    assert len(listed) == len(FOLDERS)


def test_an_exercise_without_a_week_comes_last_with_its_title(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    own = tmp_path / "exercises" / "a_new_one"
    own.mkdir(parents=True)
    (own / "spec.json").write_text('{"title": "An exercise of mine"}')
    monkeypatch.chdir(tmp_path)
    assert main(["list"]) == 0
    shown = capsys.readouterr().out
    assert "An exercise of mine" in shown
    assert shown.index("attention") < shown.index("a_new_one")
