"""`grade … --watch`: grades a file at each save and prints the changes since the last score."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import TerminatedError, printing
from grader.errors import GraderError, UsageError
from grader.plumbing.saves import Saves
from grader.records import Score

if TYPE_CHECKING:
    from rich.console import Console

EXIT_INTERRUPTED = 130
"""Exit code if no grading has finished."""

Stale = Callable[[], None]
"""Raises SupersededError if the file has been saved again."""
GradeOnce = Callable[[Path, Stale], Score]
ShowOnce = Callable[[Path, Score], None]


class SupersededError(Exception):
    """The file was saved during its grading: only the newest content is graded."""


def refuse_watching(options: argparse.Namespace) -> None:
    """Raises UsageError for options that print a single document, because a watch prints many
    reports."""
    if options.json == "-" or (options.format and options.output is None):
        raise UsageError(
            "--watch prints a report at each save, and the other option prints only its document",
            "Name a file: --json FILE, or -o FILE with --format.",
        )


def watch(options: argparse.Namespace, grade_once: GradeOnce, show_once: ShowOnce) -> int:
    """Grades the submission now and at each save, until Ctrl-C. Returns the exit code of the last
    score. `grade_once` and `show_once` get a copy of the file that does not change."""
    from grader.report.terminal import make_console
    from grader.submission.source_file import MAX_BYTES, read_submission

    path = Path(options.submission)
    read_submission(path)  # a missing file is an error at the start
    if options.seed is None:
        from grader.grading.grade import SEED_BITS

        options.seed = secrets.randbits(SEED_BITS)  # the same for all gradings
    watcher = _Watcher(path, make_console(sys.stdout), quiet=options.quiet)
    saves = Saves(path, MAX_BYTES, tell_gone=watcher.show_gone)
    try:
        _grade_each(saves, watcher, grade_once, show_once)
    except TerminatedError:
        raise
    except KeyboardInterrupt:
        watcher.show_end()
    return EXIT_INTERRUPTED if watcher.last is None else watcher.last.exit_code


def _grade_each(
    saves: Saves, watcher: _Watcher, grade_once: GradeOnce, show_once: ShowOnce
) -> None:
    """Grades and shows each content, until an interrupt."""
    content: bytes | None = None
    while True:
        content = saves.wait(content)
        try:
            with _copied(saves.path.name, content) as copy:
                score = grade_once(copy, _stale_after(saves, content))
                _stale_after(saves, content)()
                watcher.begin()
                show_once(copy, score)
            watcher.end(score)
        except SupersededError:
            continue
        except GraderError as error:
            if watcher.last is None:
                raise
            watcher.show_error(error)


def _stale_after(saves: Saves, content: bytes) -> Stale:
    def check() -> None:
        if saves.has_newer(content):
            raise SupersededError

    return check


@contextmanager
def _copied(name: str, content: bytes) -> Iterator[Path]:
    """Writes the content to a private file of this name, which no editor changes."""
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        copy = Path(folder) / name
        copy.write_bytes(content)
        yield copy


@dataclass
class _Watcher:
    """Prints the lines around the reports. `last`: the previous score."""

    path: Path
    console: Console
    quiet: bool
    last: Score | None = None

    def begin(self) -> None:
        """Clears the terminal, or separates the next report from the last."""
        if self.quiet:
            return
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self.console.clear()
        elif self.last is not None:
            self._print("")
            self._print(f"{self.path.name}, graded again at {datetime.now():%H:%M:%S}")

    def end(self, score: Score) -> None:
        """Prints the changes since the last score, and the hint to save again."""
        from grader.report.changes import describe_changes, style_of

        if not self.quiet:
            self._print("")
        if self.last is not None:
            style = style_of(self.last, score)
            self._print(
                f"Since the last save: {describe_changes(self.last, score)}", f"bold {style}"
            )
        if not self.quiet:
            self._print(f"Watching {self.path}: save it to grade it again. Ctrl-C ends.", "dim")
        self.last = score

    def show_gone(self) -> None:
        """Prints that the file is missing."""
        self._print(f"{self.path} is missing: waiting for it.", "dim")

    def show_error(self, error: GraderError) -> None:
        """Prints the error of a grading; a later save may fix it."""
        self._print("")
        self._print(f"grade: {error}", "bold red")
        if error.advice:
            self._print(error.advice)

    def show_end(self) -> None:
        """Ends the terminal's line with the echoed ^C."""
        if self.console.is_terminal:
            self._print("")

    def _print(self, line: str, style: str = "") -> None:
        from grader.report.terminal import Page

        with printing():
            Page(self.console).write(line, style=style.strip(), hanging=2)
