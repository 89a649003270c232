from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from grader.authoring.check import Scope, check_exercise, default_submissions
from grader.authoring.exercise_files import handout_problems, oracle_problems
from grader.authoring.new import FILES, PATTERNS, SCHEMA_FILE, write_new_exercise
from grader.cli import main
from grader.errors import GraderError, UsageError
from grader.grading.grade import grade
from grader.records import Options, Status
from grader.report.soundness import Proof
from grader.spec.reader import read_exercise


def test_writes_all_files_under_the_id(tmp_path: Path) -> None:
    written = write_new_exercise("dot_product", tmp_path)
    assert {str(path.relative_to(tmp_path)) for path in written} == {
        *(place.replace("@id@", "dot_product") for place in FILES if "/files/" not in place),
        "exercises/spec.schema.json",
    }


@pytest.mark.parametrize("pattern", PATTERNS)
def test_every_pattern_is_an_exercise_whose_reference_is_right(
    pattern: str, tmp_path: Path
) -> None:
    """`grade check` says the same, and more, with --run-slow."""
    written = write_new_exercise("mine", tmp_path, like=pattern)
    texts = {path: path.read_text() for path in written if path.name != SCHEMA_FILE}
    assert not [path for path, text in texts.items() if re.search(r"@\w+@", text)]
    exercise = read_exercise(tmp_path / "exercises" / "mine")
    assert exercise.max_score == 100
    assert handout_problems(exercise) == []
    handout = " ".join((tmp_path / "exercises" / "mine" / "README.md").read_text().split())
    assert "and models the time. The report labels this time as modelled." in handout
    assert oracle_problems(exercise, 3) == []
    assert exercise.reference_source is not None
    score = grade(
        exercise.folder, exercise.reference_source, device="emulated", seed=3, model=False
    )
    assert score.status is Status.PASSED, score.message


@pytest.mark.parametrize("pattern", [each for each in PATTERNS if each != "elementwise"])
@pytest.mark.slow
def test_every_pattern_is_sound(pattern: str, tmp_path: Path) -> None:
    """That of `elementwise` is looked at in test_check."""
    folder = write_new_exercise("mine", tmp_path, like=pattern)[0].parent
    scope = Scope(Options("emulated:h100", 5), 2, default_submissions(folder))
    found = check_exercise(folder, scope)
    assert found.sound, [claim for claim in found.claims if claim.proof is Proof.FAILS]


def test_the_spec_names_the_schema_that_lies_beside_it(tmp_path: Path) -> None:
    write_new_exercise("first", tmp_path)
    spec = tmp_path / "exercises" / "first" / "spec.json"
    schema = spec.parent / json.loads(spec.read_text())["$schema"]
    assert "float32_sum" in schema.read_text()
    schema.write_text("{}")
    write_new_exercise("second", tmp_path, like="graph")
    assert schema.read_text() == "{}"


def test_a_pattern_that_is_none_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["new", "mine", "--like", "reductoin", "--folder", str(tmp_path)]) == 2
    assert "no pattern 'reductoin'; did you mean 'reduction'?" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


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
    pattern = "program" if "/files/" in place else "elementwise"
    with pytest.raises(UsageError, match="there already") as caught:
        write_new_exercise("mine", tmp_path, like=pattern)
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
