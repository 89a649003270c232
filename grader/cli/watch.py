"""`grade … --watch`: grades a file at each save, and says what has changed since the last time."""

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
"""Where no grading had come to its end."""

Stale = Callable[[], None]
"""Raises SupersededError once the file has been saved again."""
GradeOnce = Callable[[Path, Stale], Score]
ShowOnce = Callable[[Path, Score], None]


class SupersededError(Exception):
    """The file was saved while it was graded: only the newest content counts."""


def refuse_watching(options: argparse.Namespace) -> None:
    """UsageError for what prints one thing only, where a watch prints a report after another."""
    if options.json == "-" or (options.format and options.output is None):
        raise UsageError(
            "--watch prints a report at each save, and the other option prints nothing else",
            "Name a file: --json FILE, or -o FILE with --format.",
        )


def watch(options: argparse.Namespace, grade_once: GradeOnce, show_once: ShowOnce) -> int:
    """Grade the submission now and at each save, until Ctrl-C; the exit code is the last score's.
    `grade_once` and `show_once` get a copy of the file, which stays as it is."""
    from grader.report.terminal import make_console
    from grader.submission.source_file import MAX_BYTES, read_submission

    path = Path(options.submission)
    read_submission(path)  # a file that was never there is a mistake
    if options.seed is None:
        from grader.grading.grade import SEED_BITS

        options.seed = secrets.randbits(SEED_BITS)  # one for all: what changes is the file
    watcher = _Watcher(path, make_console(sys.stdout), quiet=options.quiet)
    saves = Saves(path, MAX_BYTES, tell_gone=watcher.tell_gone)
    try:
        _grade_each(saves, watcher, grade_once, show_once)
    except TerminatedError:
        raise
    except KeyboardInterrupt:
        watcher.tell_end()
    return EXIT_INTERRUPTED if watcher.last is None else watcher.last.exit_code


def _grade_each(
    saves: Saves, watcher: _Watcher, grade_once: GradeOnce, show_once: ShowOnce
) -> None:
    """Grade and show each content; ends by an interrupt only."""
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
            watcher.tell_error(error)


def _stale_after(saves: Saves, content: bytes) -> Stale:
    def check() -> None:
        if saves.has_newer(content):
            raise SupersededError

    return check


@contextmanager
def _copied(name: str, content: bytes) -> Iterator[Path]:
    """The content as a file of this name that no editor touches."""
    with tempfile.TemporaryDirectory(prefix="grade-") as folder:
        copy = Path(folder) / name
        copy.write_bytes(content)
        yield copy


@dataclass
class _Watcher:
    """What is printed around the reports. `last` is the score before this one."""

    path: Path
    console: Console
    quiet: bool
    last: Score | None = None

    def begin(self) -> None:
        """Make room for the next report."""
        if self.quiet:
            return
        if self.console.is_terminal and not self.console.is_dumb_terminal:
            self.console.clear()
        elif self.last is not None:
            self._print("")
            self._print(f"{self.path.name}, graded again at {datetime.now():%H:%M:%S}")

    def end(self, score: Score) -> None:
        """Say what has changed, and that the next save is waited for."""
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

    def tell_gone(self) -> None:
        """Say that the file is missing."""
        self._print(f"{self.path} is gone: waiting until it is there again.", "dim")

    def tell_error(self, error: GraderError) -> None:
        """Say what kept a grading from its score, which a later save may mend."""
        self._print("")
        self._print(f"grade: {error}", "bold red")
        if error.advice:
            self._print(error.advice)

    def tell_end(self) -> None:
        """Leave the line of the terminal on which Ctrl-C was echoed."""
        if self.console.is_terminal:
            self._print("")

    def _print(self, line: str, style: str = "") -> None:
        from grader.report.terminal import Page

        with printing():
            Page(self.console).write(line, style=style.strip(), hanging=2)
