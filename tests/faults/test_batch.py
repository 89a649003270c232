"""A batch on a faulty machine: it ends with a plain message and what was graded, and the same
command goes on."""

from __future__ import annotations

import contextlib
import csv
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from grader.batch.journal import open_journal
from grader.batch.tasks import Task
from grader.cli import main
from grader.errors import GraderError
from grader.plumbing.shortages import machine_fault
from grader.records import Status
from tests.support.instant import ROOT, hand_ins, instant, run

faults = pytest.mark.faults
SUBMISSIONS = ROOT / "tests" / "submissions" / "transpose"


def finds_its_temporary_folder_removed(task: Task) -> str:
    """Removes the folder of temporary files once; then it must be there again."""
    folder = Path(os.environ["TMPDIR"])
    assert folder.is_dir()
    if not (task.source.parents[1] / "removed").exists():
        (task.source.parents[1] / "removed").touch()
        shutil.rmtree(folder)
        (folder / "x").touch()
    return instant(task)


def test_a_removed_work_folder_is_made_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "work").mkdir()
    monkeypatch.setenv("TMPDIR", str(tmp_path / "work"))
    found = hand_ins(tmp_path / "subs", 2)
    summary = run(tmp_path / "out", found, finds_its_temporary_folder_removed, jobs=1)
    assert {entry.status for entry in summary.entries} == {Status.COMPILE_ERROR}


def test_a_damaged_result_is_named_and_graded_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    damages = ("text = x'00'", "text = NULL", "digest = '{'", "status = 'nonsense'")
    out, found = tmp_path / "out", hand_ins(tmp_path / "subs", len(damages) + 1)
    first = run(out, found, jobs=1).entries
    with contextlib.closing(sqlite3.connect(out / "journal.sqlite")) as database, database:
        database.execute("CREATE TABLE copied AS SELECT * FROM results")  # without NOT NULL
        database.execute("DROP TABLE results")
        database.execute("ALTER TABLE copied RENAME TO results")
        database.execute("CREATE UNIQUE INDEX keys ON results (key)")
        for damage, entry in zip(damages, first, strict=False):
            database.execute(f"UPDATE results SET {damage} WHERE sha256 = ?", (entry.sha256,))
    second = run(out, found, jobs=1).entries
    said = capsys.readouterr().out
    assert said.count("journal.sqlite is damaged: graded again") == len(damages)
    assert "the result of student00000 in" in said
    kept = [one.message == two.message for one, two in zip(first, second, strict=True)]
    assert kept == [False] * len(damages) + [True]


def test_a_journal_that_another_program_holds_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_journal(tmp_path):
        pass
    monkeypatch.setattr("grader.batch.journal._LOCKED_SECONDS", 0.05)
    with contextlib.closing(sqlite3.connect(tmp_path / "journal.sqlite")) as other:
        other.execute("BEGIN EXCLUSIVE")
        with (
            pytest.raises(GraderError, match="locked") as caught,
            open_journal(tmp_path) as journal,
        ):
            journal.note("a", "b")
    assert "Close the program that uses it" in caught.value.advice


def test_a_full_folder_of_results_says_so(
    tmp_path: Path, small_disk: Callable[[str], Path], capsys: pytest.CaptureFixture[str]
) -> None:
    subs, out = copy_submissions(tmp_path / "subs", "passed--times_one"), small_disk("16k") / "out"
    assert main(["batch", "transpose", str(subs), "--out", str(out), "--device", "emulated"]) == 3
    said = capsys.readouterr().err
    assert "Free disk space" in said
    assert "bug of the grader" not in said


@pytest.mark.parametrize(
    ("error", "message", "advice"),
    [
        (OSError(24, "Too many open files"), "Too many open files", "ulimit -n"),
        (BlockingIOError(11, "Resource temporarily unavailable"), "can be started", "ulimit -u"),
        (RuntimeError("can't start new thread"), "can be started", "ulimit -u"),
        (MemoryError(), "ran out of memory", "--jobs"),
        (OSError(30, "Read-only file system", "/x/y"), "/x/y: Read-only file system", "Mount it"),
        (OSError(5, "Input/output error", "/x"), "/x: Input/output error", "dmesg"),
        (
            FileNotFoundError(2, "No usable temporary directory found in ['/tmp']"),
            "there is no folder for temporary files",
            "Set TMPDIR",
        ),
    ],
)
def test_what_the_machine_lacks_has_a_message_and_a_next_step(
    error: BaseException, message: str, advice: str
) -> None:
    fault = machine_fault(error)
    assert fault is not None
    assert message in str(fault)
    assert advice in fault.advice
    assert fault.exit_code == 3


def test_a_mistake_of_the_grader_is_no_fault_of_the_machine() -> None:
    assert machine_fault(FileNotFoundError(2, "No such file", "/x")) is None
    assert machine_fault(RuntimeError("unexpected")) is None


def start(subs: Path, out: Path, **environ: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "grader", "batch", "transpose", str(subs), "--out", str(out)]
    command += ["--device", "emulated", "--no-model", "--jobs", "1"]
    return subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def copy_submissions(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:  # in a text that no cache has
        text = (SUBMISSIONS / f"{name}.cu").read_text()
        (folder / f"{name}.cu").write_text(f"{text}\n// {folder}\n")
    return folder


def read_status(out: Path) -> dict[str, tuple[str, str]]:
    """Points and status of each student, as the gradebook has them."""
    with (out / "gradebook.csv").open(newline="") as file:
        return {
            row["student"]: (row["transpose"], row["transpose status"])
            for row in csv.DictReader(file)
        }


@faults
def test_a_closed_terminal_ends_a_batch_with_its_results(tmp_path: Path) -> None:
    subs = copy_submissions(tmp_path / "subs", "compile_error--missing_brace", "passed--times_one")
    batch = start(subs, tmp_path / "out")
    assert batch.stderr is not None
    assert "compile_error" in batch.stderr.readline()
    batch.send_signal(signal.SIGHUP)
    _, said = batch.communicate(timeout=60)
    assert batch.returncode == 128 + signal.SIGHUP
    assert "the same command continues:\ngrade batch transpose" in said
    points, status = read_status(tmp_path / "out")["compile_error--missing_brace"]
    assert (points, status) == ("0", "compile_error")


@faults
def test_a_batch_on_a_full_disk_gives_no_zeros_and_the_next_one_grades(
    tmp_path: Path, small_disk: Callable[[str], Path]
) -> None:
    subs = copy_submissions(tmp_path / "subs", "passed--times_one", "compile_error--missing_brace")
    full = start(subs, tmp_path / "out", TMPDIR=str(small_disk("300k")))
    full.communicate(timeout=120)
    assert full.returncode == 3
    assert set(read_status(tmp_path / "out").values()) == {("", "grader_error")}
    again = start(subs, tmp_path / "out")
    again.communicate(timeout=120)
    assert again.returncode == 0
    assert read_status(tmp_path / "out") == {
        "compile_error--missing_brace": ("0", "compile_error"),
        "passed--times_one": ("100", "passed"),  # excluded points are scaled
    }


@faults
def test_a_removed_work_folder_does_not_end_a_batch(tmp_path: Path) -> None:
    subs = copy_submissions(tmp_path / "subs", "passed--times_one", "failed--copies_the_input")
    (tmp_path / "temporary").mkdir()
    batch = start(subs, tmp_path / "out", TMPDIR=str(tmp_path / "temporary"))
    for _ in range(6):
        time.sleep(0.7)
        for folder in (tmp_path / "temporary").iterdir():
            shutil.rmtree(folder, ignore_errors=True)
    batch.communicate(timeout=120)
    assert batch.returncode == 0
    assert {status for _, status in read_status(tmp_path / "out").values()} == {"passed", "failed"}


@faults
@pytest.mark.skipif(
    os.geteuid() != 0 or shutil.which("setpriv") is None, reason="needs root and setpriv"
)
def test_too_few_processes_have_a_message(tmp_path: Path) -> None:
    """The limit binds no root: another user, who may read all files."""
    tmp_path.chmod(0o777)
    rights = "+dac_override,+dac_read_search"
    command = ["setpriv", "--reuid=65534", "--clear-groups"]
    command += [f"--inh-caps={rights}", f"--ambient-caps={rights}", "sh", "-c"]
    source = SUBMISSIONS / "passed--times_one.cu"
    grade = f"{sys.executable} -B -m grader transpose {source} --no-model --device emulated"
    done = subprocess.run(
        [*command, f"ulimit -p 8 2>/dev/null || ulimit -u 8; exec {grade}"],
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 3, done
    assert "unexpected" not in done.stdout + done.stderr
    assert "ulimit -u" in " ".join((done.stdout + done.stderr).split()), done
