"""The score of an equal grading is taken from the cache: the same in all, and only of an equal
one."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.grading import grade as front
from grader.grading.grade import choose_device, grade_with
from grader.grading.kept import Keeper, find_keeper
from grader.grading.session import Job
from grader.judging.evidence import Subject
from grader.records import Options, Status, Submission
from grader.report.json import format_score
from grader.spec.reader import read_exercise
from tests.support.factories import make_graded

ROOT = Path(__file__).resolve().parents[2]
SEED = 3


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """A copy of the transpose exercise with a small benchmark."""
    for name in ("exercises", "starter", "solutions"):
        (tmp_path / name).mkdir()
    shutil.copytree(ROOT / "exercises" / "transpose", tmp_path / "exercises" / "transpose")
    for name in ("starter", "solutions"):
        shutil.copy(ROOT / name / "transpose.cu", tmp_path / name)
    spec = tmp_path / "exercises" / "transpose" / "spec.json"
    content = json.loads(spec.read_text())
    content["benchmark"]["emulated"] = {"rows": 64, "cols": 64}
    spec.write_text(json.dumps(content))
    return tmp_path


def options(cache: Path, seed: int | None = SEED) -> Options:
    return Options("emulated", seed, cache=cache, model=False, reuse=True)


def forbid_grading(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """From now on nothing is graded: the jobs that would have been are listed."""
    graded: list[Job] = []

    def page(job: Job) -> bool:
        graded.append(job)
        return True

    monkeypatch.setattr(front, "_page_of", lambda kind: page)
    return graded


def test_an_equal_grading_gives_the_same_score(
    course: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = course / "exercises" / "transpose", course / "solutions" / "transpose.cu"
    first = grade_with(options(cache), *files)
    assert first.cases
    assert first.lines
    graded = forbid_grading(monkeypatch)
    assert format_score(grade_with(options(cache), *files)) == format_score(first)
    assert not graded
    grade_with(replace(options(cache), reuse=False), *files)
    grade_with(options(cache, seed=None), *files)
    files[1].write_text(files[1].read_text() + "\n")
    grade_with(options(cache), *files)
    assert len(graded) == 3


def make_job(course: Path, cache: Path) -> Job:
    subject = Subject(
        read_exercise(course / "exercises" / "transpose"),
        Submission("mine.cu", "abc", "text"),
        None,
        {"python": "3"},
        SEED,
    )
    return Job(subject, choose_device("emulated"), Options(cache=cache))


def write_more(path: Path) -> None:
    path.write_text(path.read_text() + "\n")


CHANGES: dict[str, Callable[[Job, Path], Job]] = {
    "seed": lambda job, _: replace(job, subject=replace(job.subject, seed=4)),
    "device": lambda job, _: replace(job, choice=choose_device("emulated:a100")),
    "model": lambda job, _: replace(job, options=replace(job.options, model=False)),
    "isolation": lambda job, _: replace(job, options=replace(job.options, isolated=False)),
    "environment": lambda job, _: replace(
        job, subject=replace(job.subject, environment={"python": "4"})
    ),
    "name": lambda job, _: replace(
        job, subject=replace(job.subject, submission=replace(job.submission, name="other.cu"))
    ),
    "text": lambda job, _: replace(
        job, subject=replace(job.subject, submission=replace(job.submission, sha256="def"))
    ),
}


@pytest.mark.parametrize("what", CHANGES)
def test_all_that_a_score_depends_on_is_in_its_key(what: str, course: Path, cache: Path) -> None:
    job = make_job(course, cache)
    assert find_keeper(job) == find_keeper(job)
    assert find_keeper(CHANGES[what](job, course)) != find_keeper(job)


@pytest.mark.parametrize(
    "file",
    [
        "exercises/transpose/spec.json",
        "exercises/transpose/oracle.py",
        "exercises/transpose/table.bin",
        "starter/transpose.cu",
        "solutions/transpose.cu",
    ],
)
def test_all_files_of_an_exercise_are_in_the_key(file: str, course: Path, cache: Path) -> None:
    (course / "exercises" / "transpose" / "table.bin").write_text("read by the oracle")
    before = find_keeper(make_job(course, cache))
    write_more(course / "exercises" / "transpose" / "README.md")
    assert find_keeper(make_job(course, cache)) == before
    write_more(course / file)
    assert find_keeper(make_job(course, cache)) != before


@pytest.mark.parametrize("status", sorted(status for status in Status if status.ended_early))
def test_what_ended_early_is_not_kept(status: Status, tmp_path: Path) -> None:
    keeper = Keeper(tmp_path, "key")
    score = make_graded()
    keeper.keep(replace(score, status=status))
    assert keeper.recall() is None
    keeper.keep(score)
    assert keeper.recall() == score


def test_what_a_limit_had_a_part_in_is_not_kept(
    course: Path, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = []
    monkeypatch.setattr(Keeper, "keep", lambda keeper, score: kept.append(score))
    for repeatable in (False, True):
        monkeypatch.setattr(front, "_page_of", lambda kind, end=repeatable: lambda job: end)
        grade_with(
            options(cache, seed=repeatable + 10),
            course / "exercises" / "transpose",
            course / "starter" / "transpose.cu",
        )
        assert len(kept) == repeatable


def test_a_damaged_entry_and_a_folder_that_is_read_only_cost_time_only(tmp_path: Path) -> None:
    keeper, score = Keeper(tmp_path, "key"), make_graded()
    keeper.keep(score)
    entry = tmp_path / "key"
    entry.write_bytes(entry.read_bytes()[:-1])
    assert keeper.recall() is None
    Keeper(Path("/dev/null/none"), "key").keep(score)
    assert Keeper(Path("/dev/null/none"), "key").recall() is None
