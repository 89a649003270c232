from __future__ import annotations

from pathlib import Path

import pytest

from grader.authoring.new import FILES, write_new_exercise
from grader.cli import main
from grader.errors import GraderError, UsageError
from grader.spec.reader import read_exercise


def test_writes_all_files_under_the_id(tmp_path: Path) -> None:
    written = write_new_exercise("dot_product", tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in written} == {
        place.replace("@id@", "dot_product") for place in FILES
    }
    assert all("@id@" not in path.read_text() for path in written)


def test_what_is_written_is_an_exercise(tmp_path: Path) -> None:
    write_new_exercise("dot_product", tmp_path)
    exercise = read_exercise(tmp_path / "exercises" / "dot_product")
    assert exercise.max_score == 100
    assert exercise.reference_source is not None


@pytest.mark.parametrize("id_", ["", "Vector", "1d", "a-b", "../x", "a b", "_a", "é", "a" * 61])
def test_refuses_what_is_no_id(id_: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be the id"):
        write_new_exercise(id_, tmp_path)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("place", FILES)
def test_loses_nothing_that_is_there(place: str, tmp_path: Path) -> None:
    old = tmp_path / place.replace("@id@", "mine")
    old.parent.mkdir(parents=True)
    old.write_text("precious")
    with pytest.raises(UsageError, match="there already") as caught:
        write_new_exercise("mine", tmp_path)
    assert str(old) in str(caught.value)
    assert old.read_text() == "precious"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [old]


def test_what_cannot_be_written_as_a_whole_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "starter").write_text("a file where the folder is to be")
    with pytest.raises(GraderError, match=r"cannot write .*/starter") as caught:
        write_new_exercise("mine", tmp_path)
    assert "--folder" in caught.value.advice
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["starter"]


def test_the_command_says_what_to_do_next(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "mine", "--folder", str(tmp_path)]) == 0
    shown = capsys.readouterr().out
    assert f"grade check {tmp_path}/exercises/mine" in shown
    assert "grade handout" in shown
    assert main(["new", "mine", "--folder", str(tmp_path)]) == 2
    assert "nothing was written" in capsys.readouterr().err
