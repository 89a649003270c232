"""A batch but for the grading itself: what is graded, what is used again, and what is written."""

from __future__ import annotations

import csv
import json
import os
import resource
import shutil
import sqlite3
import time
from contextlib import closing
from pathlib import Path

import pytest

from grader.batch.collect import HandIn
from grader.batch.journal import open_journal
from grader.batch.results import read_summary, write_summary
from grader.batch.run import Rerun
from grader.batch.tasks import Task, draw_seed
from grader.errors import GraderError, UsageError
from grader.records import BatchSummary, Options, PendingRule, Status
from tests.support.instant import hand_ins, instant, read_transpose, run, sha256_of


def calls(out: Path) -> list[str]:
    path = out / "calls"
    return path.read_text().split() if path.exists() else []


def nonces(out: Path) -> dict[str, str]:
    return {
        path.stem: json.loads(path.read_text())["message"]
        for path in sorted((out / "scores").iterdir())
    }


def rows(out: Path) -> list[dict[str, str]]:
    with (out / "gradebook.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def dies_once(task: Task) -> str:
    """Ends its worker at the first attempt of each task."""
    mark = task.source.with_suffix(".tried")
    if not mark.exists():
        mark.touch()
        os._exit(9)
    return instant(task)


def always_dies(task: Task) -> str:
    os._exit(9)


def never_ends(task: Task) -> str:
    time.sleep(1000)
    return instant(task)


def removes_the_results(task: Task) -> str:
    text = instant(task)
    shutil.rmtree(task.source.parents[1])
    return text


def says_grader_error(task: Task) -> str:
    return instant(task).replace('"status": "compile_error"', '"status": "grader_error"')


def raises(task: Task) -> str:
    raise GraderError("the machine is ill", "Heal it.")


def finds_the_exercise_broken(task: Task) -> str:
    raise UsageError("the reference does not compile", "Fix it.")


def test_scores_gradebook_and_summary_are_written(tmp_path: Path) -> None:
    out = tmp_path / "out"
    summary = run(out, hand_ins(tmp_path / "subs", 5), jobs=1)
    assert [entry.student for entry in summary.entries] == [
        f"student{number:05}" for number in range(5)
    ]
    assert {entry.status for entry in summary.entries} == {Status.COMPILE_ERROR}
    score = json.loads((out / "scores" / "student00003.json").read_text())
    assert score["submission"] == {"name": "student00003.cu", "sha256": sha256_of(3)}
    assert [row["transpose status"] for row in rows(out)] == ["compile_error"] * 5
    assert read_summary(out) == summary
    assert all(
        entry.source_path and (out / entry.source_path).read_text().startswith("// ")
        for entry in summary.entries
    )


def test_nothing_is_graded_twice_and_what_changed_is(tmp_path: Path) -> None:
    out, subs = tmp_path / "out", tmp_path / "subs"
    run(out, hand_ins(subs, 3), jobs=1)
    before = nonces(out)
    (subs / "student00001.cu").write_text("// changed\n")
    run(out, hand_ins(subs, 4), jobs=1)
    after = nonces(out)
    assert {student for student in before if before[student] != after[student]} == {"student00001"}
    assert len(calls(out)) == 5


@pytest.mark.parametrize(
    "change",
    [{"grader": "newer"}, {"device_name": "emulated:t4"}, {"options": Options("emulated", 5)}],
)
def test_a_result_of_another_grader_device_or_seed_is_not_used(
    tmp_path: Path, change: dict[str, object]
) -> None:
    found = hand_ins(tmp_path / "subs", 2)
    run(tmp_path / "out", found, jobs=1)
    run(tmp_path / "out", found, jobs=1, **change)
    assert len(calls(tmp_path / "out")) == 4
    run(tmp_path / "out", found, jobs=1)
    assert len(calls(tmp_path / "out")) == 4


def test_identical_files_are_graded_once_and_each_gets_a_score(tmp_path: Path) -> None:
    found = hand_ins(tmp_path / "subs", 2)
    twin = HandIn("twin", files={"copy.cu": tmp_path / "subs" / "student00001.cu"})
    summary = run(tmp_path / "out", [*found, twin], jobs=1)
    assert len(calls(tmp_path / "out")) == 2
    assert summary.entries[-1].duplicate_of == "student00001"
    assert (
        json.loads((tmp_path / "out" / "scores" / "twin.json").read_text())["submission"]["name"]
        == "copy.cu"
    )


def test_rerun_all_grades_all_and_goes_on_after_an_interruption(tmp_path: Path) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 3)
    run(out, found, jobs=1)
    with open_journal(
        out
    ) as journal:  # what a killed run leaves that was to grade one of the three again
        journal.ask_again(
            [
                next(
                    key
                    for key, result in journal.read_results().items()
                    if result.sha256 == sha256_of(2)
                )
            ]
        )
    run(out, found, jobs=1, rerun=Rerun.ALL)
    assert len(calls(out)) == 4
    run(out, found, jobs=1, rerun=Rerun.ALL)
    assert len(calls(out)) == 7


def test_the_next_run_grades_what_the_grader_failed_on(tmp_path: Path) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 2)
    summary = run(out, found, says_grader_error, jobs=1)
    assert {entry.status for entry in summary.entries} == {Status.GRADER_ERROR}
    assert [row["transpose"] for row in rows(out)] == ["", ""]
    assert len(calls(out)) == 6  # three attempts each
    summary = run(out, found, jobs=1)
    assert {entry.status for entry in summary.entries} == {Status.COMPILE_ERROR}
    assert len(calls(out)) == 8
    run(out, found, jobs=1)
    assert len(calls(out)) == 8


def test_a_lost_worker_is_replaced_and_its_task_done(tmp_path: Path) -> None:
    summary = run(tmp_path / "out", hand_ins(tmp_path / "subs", 2), dies_once, jobs=1)
    assert {entry.status for entry in summary.entries} == {Status.COMPILE_ERROR}


@pytest.mark.parametrize(
    ("grade", "words"), [(always_dies, "exit code 9"), (raises, "the machine is ill")]
)
def test_a_failure_that_stays_is_the_graders(tmp_path: Path, grade: object, words: str) -> None:
    (entry,) = run(tmp_path / "out", hand_ins(tmp_path / "subs", 1), grade, jobs=1).entries  # type: ignore[arg-type]
    assert entry.status is Status.GRADER_ERROR
    assert words in entry.message
    assert entry.score_path is not None


def test_a_broken_exercise_ends_the_batch(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="the reference does not compile"):
        run(tmp_path / "out", hand_ins(tmp_path / "subs", 2), finds_the_exercise_broken, jobs=1)


def test_only_some_students(tmp_path: Path) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 3)
    summary = run(out, found, jobs=1, only=("*2",))
    assert [entry.status for entry in summary.entries] == [None, None, Status.COMPILE_ERROR]
    assert "--only" in summary.entries[0].message


def judges_half(task: Task) -> str:
    """The emulated device: odd students have pending points."""
    return judges_all(task, pending=25 * (task.sha256 in (sha256_of(1), sha256_of(3))))


def judges_all(task: Task, pending: int = 0) -> str:
    """A GPU."""
    score = json.loads(instant(task))
    score |= {"status": "inconclusive" if pending else "passed", "score": 100 - pending}
    return json.dumps(score | {"judged_points": 100 - pending, "pending_points": pending})


def grades_in(summary: BatchSummary) -> list[float | None]:
    return [entry.points for entry in summary.entries]


def test_only_pending_grades_again_what_waits_for_a_gpu_and_replaces_it(tmp_path: Path) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 4)
    emulated = run(out, found, jobs=1, grade=judges_half)
    assert grades_in(emulated) == [100, None, 100, None]
    assert [row["transpose"] for row in rows(out)] == ["100", "", "100", ""]
    before = nonces(out)
    on_gpu = {"grade": judges_all, "device_name": "gpu H100", "only_pending": True}
    only = run(out, found, jobs=1, only=("student00001",), **on_gpu)
    assert grades_in(only) == [100, 100, 100, None]
    assert grades_in(run(out, found, jobs=1, **on_gpu)) == [100] * 4
    after = nonces(out)
    changed = {student for student in before if before[student] != after[student]}
    assert changed == {"student00001", "student00003"}
    assert len(calls(out)) == 6
    assert grades_in(run(out, found, jobs=1, grade=judges_half)) == [100] * 4
    assert len(calls(out)) == 6


def test_only_pending_without_an_earlier_run_is_bad_usage_and_removes_nothing(
    tmp_path: Path,
) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 1)
    run(out, found, jobs=1, grade=judges_half, options=Options("emulated", 5))
    with pytest.raises(UsageError, match="no result of an earlier run"):
        run(out, found, jobs=1, grade=judges_all, only_pending=True)
    assert (out / "scores" / "student00000.json").exists()


def test_what_stays_pending_keeps_its_result_where_the_gpu_run_is_interrupted(
    tmp_path: Path,
) -> None:
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", 2)
    run(out, found, jobs=1, grade=judges_half)
    with pytest.raises(UsageError):
        run(out, found, jobs=1, grade=finds_the_exercise_broken, only_pending=True)
    assert [row["transpose judged"] for row in rows(out)] == ["100", "75"]
    assert (out / "scores" / "student00001.json").exists()
    summary = run(out, found, jobs=1, grade=judges_half, pending=PendingRule.LOST)
    assert grades_in(summary) == [100, 75]
    assert grades_in(read_summary(out)) == [100, 75]


def test_anonymous_results_hold_no_name(tmp_path: Path) -> None:
    out = tmp_path / "out"
    first = run(out, hand_ins(tmp_path / "subs", 3), jobs=1, anonymous=True)
    again = run(out, hand_ins(tmp_path / "subs", 4), jobs=1, anonymous=True)
    assert {entry.student for entry in first.entries} < {entry.student for entry in again.entries}
    files = [out / "gradebook.csv", out / "summary.json", *(out / "scores").iterdir()]
    assert not any("student0000" in f"{path.name} {path.read_text()}" for path in files)
    assert "student00003" in (out / "names.csv").read_text()


def test_hostile_names_stay_in_their_folder_and_cells(tmp_path: Path) -> None:
    (file,) = hand_ins(tmp_path / "subs", 1)[0].files.values()
    names = ["../../evil", "=HYPERLINK(1)", "a\nb\x1b[2J", "x" * 300, "Zoë", "a/b", "A/B", "\udcff"]
    out = tmp_path / "out"
    summary = run(out, [HandIn(name, files={"t.cu": file}) for name in names], jobs=1)
    paths = [entry.score_path for entry in summary.entries]
    assert len({str(path).casefold() for path in paths}) == len(names)
    assert all(
        path and (out / path).resolve().parent == (out / "scores").resolve() for path in paths
    )
    assert all(
        not row["student"].startswith("=") and row["student"].isprintable() for row in rows(out)
    )
    assert "Zoë.json" in os.listdir(out / "scores")  # noqa: PTH208


def test_a_file_that_vanishes_is_told_and_the_copies_suffice_later(tmp_path: Path) -> None:
    found = hand_ins(tmp_path / "subs", 2)
    (tmp_path / "subs" / "student00001.cu").unlink()
    summary = run(tmp_path / "out", found, jobs=1)
    assert [entry.status for entry in summary.entries] == [Status.COMPILE_ERROR, None]
    assert "cannot be read" in summary.entries[1].message


def test_a_folder_of_results_that_vanishes_is_told(tmp_path: Path) -> None:
    with pytest.raises(GraderError, match="was removed while the batch ran"):
        run(tmp_path / "out", hand_ins(tmp_path / "subs", 2), removes_the_results, jobs=1)


def test_a_journal_has_one_user_at_a_time(tmp_path: Path) -> None:
    with (
        open_journal(tmp_path),
        pytest.raises(UsageError, match="another batch"),
        open_journal(tmp_path),
    ):
        pass


def test_what_is_no_journal_is_not_written_to(tmp_path: Path) -> None:
    (tmp_path / "journal.sqlite").write_text(
        "my diary, of more than a hundred bytes, which nobody may overwrite" * 3
    )
    with pytest.raises(UsageError, match="not the journal"), open_journal(tmp_path):
        pass
    assert (tmp_path / "journal.sqlite").read_text().startswith("my diary")


def test_a_full_disk_says_so_and_loses_nothing(tmp_path: Path) -> None:
    summary = BatchSummary((), (), "", "", "", "")
    write_summary(tmp_path, summary)
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (8, limits[1]))  # a disk that is full, nearly
    try:
        with pytest.raises(GraderError, match=r"cannot write .*: File too large") as caught:
            write_summary(tmp_path, summary)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert "repeat the command" in caught.value.advice
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_seeds_are_secret_and_the_same_for_the_same_file() -> None:
    assert draw_seed(b"secret", "a") == draw_seed(b"secret", "a") != draw_seed(b"secret", "b")
    assert draw_seed(b"other", "a") != draw_seed(b"secret", "a") < 1 << 53


def test_a_journal_of_an_earlier_version_is_read(tmp_path: Path) -> None:
    """It has no digests: its results stay, without causes."""
    out = tmp_path / "out"
    before = run(out, hand_ins(tmp_path / "subs", 2), jobs=1)
    assert {cause.key for entry in before.entries for cause in entry.causes} == {"compile_error"}
    with closing(sqlite3.connect(out / "journal.sqlite")) as database:
        database.execute("ALTER TABLE results DROP COLUMN digest")
        database.commit()
    again = run(out, hand_ins(tmp_path / "subs", 2), jobs=1)
    assert [entry.message for entry in again.entries] == [entry.message for entry in before.entries]
    assert len(calls(out)) == 2


def test_the_gradebook_has_the_cause_and_a_column_of_points_for_each_check(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(out, hand_ins(tmp_path / "subs", 1), jobs=1)
    (row,) = rows(out)
    assert row["transpose why"].startswith("grading ")
    checks = {name: cell for name, cell in row.items() if name.startswith("transpose: ")}
    assert checks["transpose: Correctness"] == "0"
    assert len(checks) == len(read_transpose().checks)
