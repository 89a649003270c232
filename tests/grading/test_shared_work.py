"""The work that gradings of one exercise share."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from grader.errors import SpecError
from grader.grading.shared_work import SharedWork

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A course of one exercise, which a test can edit."""
    shutil.copytree(ROOT / "exercises" / "vector_add", tmp_path / "exercises" / "vector_add")
    (tmp_path / "starter").mkdir()
    shutil.copy(ROOT / "starter" / "vector_add.cu", tmp_path / "starter")
    return tmp_path


def test_a_value_is_made_once(course: Path) -> None:
    shared, made = SharedWork(), list[int]()
    for _ in range(2):
        shared.read_exercise(course / "exercises" / "vector_add")
        shared.once("value", lambda: made.append(1))
    assert made == [1]


@pytest.mark.parametrize("file", ["starter/vector_add.cu", "exercises/vector_add/oracle.py"])
def test_an_edited_exercise_makes_values_obsolete(course: Path, file: str) -> None:
    shared, folder = SharedWork(), course / "exercises" / "vector_add"
    first = shared.read_exercise(folder)
    assert shared.once("value", lambda: 1) == 1
    assert shared.read_exercise(folder) is first
    with (course / file).open("a") as edited:
        edited.write("\n\n")
    assert shared.read_exercise(folder) is not first
    assert shared.once("value", lambda: 2) == 2


def test_a_missing_file_is_noticed(course: Path) -> None:
    shared, folder = SharedWork(), course / "exercises" / "vector_add"
    shared.read_exercise(folder)
    (folder / "oracle.py").unlink()
    with pytest.raises(SpecError):
        shared.read_exercise(folder)
