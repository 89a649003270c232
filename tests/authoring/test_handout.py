from __future__ import annotations

import io
import json
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from grader.authoring import handout
from grader.authoring.autograder import make_wheel
from grader.authoring.handout import make_bundle, starting_files
from grader.cli import main
from grader.errors import GraderError
from grader.spec.reader import read_exercise
from tests.support.one_wheel import one_wheel  # noqa: F401 - a fixture

ROOT = Path(__file__).resolve().parents[2]
EXERCISES = sorted(path.parent for path in (ROOT / "exercises").glob("*/README.md"))


def contents(bundle: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


@pytest.mark.parametrize("folder", EXERCISES, ids=lambda folder: folder.name)
def test_holds_nothing_secret(folder: Path) -> None:
    exercise = read_exercise(folder)
    assert exercise.reference_source is not None
    files = contents(make_bundle(exercise))
    assert exercise.reference_source.read_bytes() not in files.values()
    assert not [name for name in files if "solutions" in name or "submissions" in name]
    spec = json.loads(files[f"{exercise.id}/exercises/{exercise.id}/spec.json"])
    assert '"from"' not in json.dumps(spec)
    if exercise.program is not None:
        assert spec["program"]["runs"]["hidden"] == []
        return
    assert [case["name"] for case in spec["cases"]["public"]] == [
        case.name for case in exercise.public_cases
    ]
    assert spec["cases"]["hidden"] == []
    assert all(part["cases"]["hidden"] == [] for part in spec.get("parts", {}).values())


def test_the_same_files_give_the_same_bytes(
    exercise: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(handout, "make_wheel", make_wheel)
    first = make_bundle(read_exercise(exercise))
    (exercise / "README.md").touch()
    assert make_bundle(read_exercise(exercise)) == first


def test_holds_the_pictures_of_the_handout(exercise: Path) -> None:
    (exercise / "ladder.svg").write_text("<svg/>")
    (exercise / "notes.txt").write_text("for the author only")
    names = contents(make_bundle(read_exercise(exercise)))
    assert "add_up/ladder.svg" in names
    assert not [name for name in names if "notes" in name]


def test_holds_the_page_that_the_handout_links_to(exercise: Path) -> None:
    page, readme = exercise.parents[1] / "docs" / "report.md", exercise / "README.md"
    page.parent.mkdir()
    page.write_text("# Your report\n")
    assert "add_up/report.md" not in contents(make_bundle(read_exercise(exercise)))
    readme.write_text(f"{readme.read_text()}\n[Your report](../../docs/report.md#points)\n")
    files = contents(make_bundle(read_exercise(exercise)))
    assert files["add_up/report.md"] == page.read_bytes()
    assert b"[Your report](report.md#points)" in files["add_up/README.md"]


@pytest.mark.parametrize("folder", EXERCISES, ids=lambda folder: folder.name)
def test_its_links_lead_to_its_files(folder: Path) -> None:
    files = starting_files(read_exercise(folder))
    for name, content in files.items():
        if name.endswith(".md"):
            links = re.findall(r"\]\((?!https?:|#)([^)#\s]+)", content.decode())
            assert [link for link in links if link not in files] == []


def test_a_program_starts_with_its_supplied_files_beside_it() -> None:
    exercise = read_exercise(ROOT / "exercises" / "streams")
    files = starting_files(exercise)
    assert {"main.cu", "smooth.cuh", "streams.h", "streams.cu", "starter/streams.cu"} <= set(files)
    assert {"streams/main.cu", "streams/smooth.cuh"} <= set(contents(make_bundle(exercise)))


def test_holds_the_loop_for_the_processor_where_there_is_one(exercise: Path) -> None:
    name = "add_up/exercises/add_up/cpu.c"
    assert contents(make_bundle(read_exercise(exercise)))[name] == (exercise / "cpu.c").read_bytes()
    (exercise / "cpu.c").unlink()
    assert name not in contents(make_bundle(read_exercise(exercise)))


def test_a_starter_that_is_the_reference_is_refused(exercise: Path) -> None:
    starter, solution = (
        exercise.parents[1] / place / "add_up.cu" for place in ("starter", "solutions")
    )
    solution.write_text(starter.read_text())
    with pytest.raises(GraderError, match="hidden reference"):
        make_bundle(read_exercise(exercise))


def test_the_unpacked_bundle_grades(exercise: Path, tmp_path: Path) -> None:
    target = tmp_path / "bundle.zip"
    assert main(["handout", str(exercise), "-o", str(target)]) == 0
    with zipfile.ZipFile(target) as archive:
        archive.extractall(tmp_path / "home")
    command = [sys.executable, "test.py", "--device", "emulated"]
    done = subprocess.run(
        command, cwd=tmp_path / "home" / "add_up", capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert done.stdout.startswith("✓ Correctness: PASSED\n✗ Coalesced reads: FAILED")
    told = " ".join(done.stdout.split())
    assert "by the public cases: your course's grading adds hidden ones Device:" in told


def test_does_not_replace_a_file_unless_told(
    exercise: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    target = tmp_path / "bundle.zip"
    target.write_text("precious")
    assert main(["handout", str(exercise), "-o", str(target)]) == 2
    assert "exists" in capsys.readouterr().err
    assert target.read_text() == "precious"
    assert main(["handout", str(exercise), "-o", str(target), "--force"]) == 0
    assert zipfile.is_zipfile(target)
