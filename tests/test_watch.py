"""Grading at each save: which contents are graded, what is said of two scores, and how it ends."""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from grader.cli import main
from grader.cli.watch import Saves, Stale, watch
from grader.errors import GraderError
from grader.records import Failure, Finding, FindingKind, MetricValue, Score, Source, Status
from grader.report.version_table import NOTHING, describe_changes
from tests.support.factories import CROOKED_LINES, make_case, make_failed, make_graded

ROOT = Path(__file__).resolve().parents[1]
CROOKED, GOOD = make_graded(lines=CROOKED_LINES), make_graded()
WRONG = make_graded(cases=(make_case(passed=False),))
BROKEN = make_failed(Failure(Status.COMPILE_ERROR, "line 11 does not compile"))


def timed(time_ms: float) -> Score:
    """A score with a time that is known to 5 %."""
    time_ = MetricValue(
        "time_ms", time_ms, "ms", Source.MEASURED, interval=(0.95 * time_ms, 1.05 * time_ms)
    )
    metrics = tuple(time_ if each.name == "time_ms" else each for each in GOOD.metrics)
    return replace(GOOD, metrics=metrics)


RACY = replace(GOOD, findings=(Finding(FindingKind.RACE, "race on x[3]"),))


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (CROOKED, GOOD, "+50 points; Bank conflicts 3,100 → 0; Coalesced stores 12.5 % → 100 %"),
        (GOOD, CROOKED, "−50 points; Bank conflicts 0 → 3,100; Coalesced stores 100 % → 12.5 %"),
        (WRONG, GOOD, "+75 points; wrong cases 1 → 0"),
        (BROKEN, WRONG, "compile error → it runs"),
        (GOOD, BROKEN, "−75 points; it runs → compile error"),
        (RACY, GOOD, "findings 1 → 0"),
        (timed(0.4), timed(0.2), "time 0.4 ms → 0.2 ms"),
        (timed(0.4), timed(0.39), "time 0.4 ms → 0.39 ms (no clear difference)"),
        (GOOD, GOOD, NOTHING),
        (BROKEN, BROKEN, NOTHING),
    ],
)
def test_says_what_has_changed(old: Score, new: Score, said: str) -> None:
    assert describe_changes(old, new) == said


# --- the file -------------------------------------------------------------------------------------


def replaced(path: Path, text: str) -> None:
    """Saves as many editors do: a new file takes the old one's place."""
    other = path.with_suffix(".new")
    other.write_text(text)
    other.replace(path)


def missing_for_a_moment(path: Path, text: str) -> None:
    path.unlink()
    time.sleep(0.05)
    path.write_text(text)


def in_two_parts(path: Path, text: str) -> None:
    path.write_text(text[:1])
    time.sleep(0.03)
    path.write_text(text)


@pytest.mark.parametrize("save", [Path.write_text, replaced, missing_for_a_moment, in_two_parts])
def test_a_save_is_seen_whole(save: Callable[[Path, str], object], tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text("old")
    saves = Saves(path, 1000, poll_seconds=0.06)
    known = saves.wait(None)
    threading.Timer(0.1, save, (path, "new")).start()
    assert (known, saves.wait(known)) == (b"old", b"new")


def test_a_save_of_the_same_text_is_none(tmp_path: Path) -> None:
    path = tmp_path / "mine.cu"
    path.write_text("old")
    saves = Saves(path, 1000)
    replaced(path, "old")
    assert not saves.has_newer(b"old")
    replaced(path, "new")
    assert saves.has_newer(b"old")


def test_a_file_that_stays_away_is_told_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("grader.cli.watch.GONE_SECONDS", 0.05)
    path, told = tmp_path / "mine.cu", []
    saves = Saves(path, 1000, on_missing=lambda: told.append("gone"), poll_seconds=0.01)
    threading.Timer(0.3, path.write_text, ("new",)).start()
    assert saves.wait(None) == b"new"
    assert told == ["gone"]


# --- the loop -------------------------------------------------------------------------------------


class Script:
    """Stands for the grader: notes what it is given, and does what happens meanwhile. After its
    last step the user presses Ctrl-C."""

    def __init__(self, path: Path, *steps: Score | GraderError | tuple[str, Score]) -> None:
        self.path, self.steps = path, list(steps)
        self.graded: list[str] = []
        self.shown: list[str] = []

    def grade(self, copy: Path, stale: Stale) -> Score:
        self.graded.append(copy.read_text())
        if not self.steps:
            raise KeyboardInterrupt
        step = self.steps.pop(0)
        if isinstance(step, tuple):  # saved while it is graded
            text, score = step
            replaced(self.path, text)
            stale()
            return score
        if isinstance(step, GraderError):
            self.save_again()
            raise step
        return step

    def show(self, copy: Path, score: Score) -> None:
        self.shown.append(copy.read_text())
        self.save_again()

    def save_again(self) -> None:
        self.path.write_text(f"{self.path.read_text()}+")


def run_script(script: Script) -> int:
    options = argparse.Namespace(submission=str(script.path), seed=None, quiet=False)
    return watch(options, script.grade, script.show)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.cu"
    path.write_text("a")
    return path


def test_each_save_is_graded_and_compared(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    script = Script(file, CROOKED, GOOD)
    assert run_script(script) == GOOD.exit_code
    assert script.shown == ["a", "a+"]
    shown = capsys.readouterr().out
    assert shown.count("Since the last save") == 1
    assert "Since the last save: +50 points; Bank conflicts 3,100 → 0" in shown
    assert "graded again at" in shown


def test_the_newest_save_wins(file: Path) -> None:
    script = Script(file, ("b", CROOKED), GOOD)
    run_script(script)
    assert (script.graded, script.shown) == (["a", "b", "b+"], ["b"])


def test_a_fault_of_the_grader_ends_no_watch(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script = Script(file, CROOKED, GraderError("no room on this disk", "Make some."), GOOD)
    assert run_script(script) == GOOD.exit_code
    assert script.shown == ["a", "a++"]
    assert "grade: no room on this disk\nMake some." in capsys.readouterr().out


def test_a_fault_at_the_start_ends_it(file: Path) -> None:
    with pytest.raises(GraderError, match="no room"):
        run_script(Script(file, GraderError("no room")))


def test_without_a_score_it_was_interrupted(file: Path) -> None:
    assert run_script(Script(file)) == 130


def test_an_interrupted_watch_has_the_last_scores_exit_code(file: Path) -> None:
    assert run_script(Script(file, CROOKED)) == 1
    assert CROOKED.exit_code == 1


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--json", "-"], "prints only its document"),
        (["--format", "junit"], "prints only its document"),
        ([], "mine.cu does not exist"),
    ],
)
def test_what_cannot_be_watched_is_bad_usage(
    more: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["transpose", str(tmp_path / "mine.cu"), "--watch", *more]) == 2
    assert said in capsys.readouterr().err


def test_a_watch_in_a_pipe(tmp_path: Path) -> None:
    """From a file that does not compile to the starter, as a user's shell runs it."""
    file, arguments = tmp_path / "mine.cu", ["--watch", "--no-model", "--device", "emulated"]
    file.write_text("not CUDA")
    started = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "grader",
            str(ROOT / "exercises" / "transpose"),
            str(file),
            *arguments,
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ,
        preexec_fn=let_interrupts_through,
    )
    assert started.stdout is not None
    try:
        shown = read_until(started, "Watching")
        assert "Compile error" in shown
        replaced(file, (ROOT / "starter" / "transpose.cu").read_text())
        shown = read_until(started, "Watching")
        assert "Since the last save: +40 points; compile error → it runs" in shown
        started.send_signal(signal.SIGINT)
        _, progress = started.communicate(timeout=60)
    finally:
        started.kill()
    assert started.returncode == 1
    told = ["✓ Correctness: PASSED", "counting", "✗ Bank conflicts: FAILED"]
    assert [progress.index(line) for line in told] == sorted(map(progress.index, told))


def let_interrupts_through() -> None:
    """What a shell starts in the background ignores interrupts, and so do its children."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def read_until(process: subprocess.Popen[str], mark: str) -> str:
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith(mark):
            return "".join(lines)
    raise AssertionError("".join(lines))
