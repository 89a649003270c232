"""`grade … --watch`: grades a file at each save and prints the changes since the last score. Saves
are found by polling: this works on every file system, and with editors that replace the file."""

from __future__ import annotations

import argparse
import secrets
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from grader.cli.common import printing
from grader.cli.results import prints_document
from grader.cli.signals import TerminatedError
from grader.errors import GraderError, UsageError
from grader.records import Score

if TYPE_CHECKING:
    from rich.console import Console

EXIT_INTERRUPTED = 130
"""Exit code if no grading has finished."""

Stale = Callable[[], None]
"""Raises SupersededError if the file has been saved again."""
GradeOnce = Callable[[Path, Stale], Score]
ShowOnce = Callable[[Path, Score], None]
POLL_SECONDS = 0.02
GONE_SECONDS = 1.0
"""A file that is missing for less long is being replaced."""

Stamp = tuple[int, int, int]


class SupersededError(Exception):
    """The file was saved during its grading: only the newest content is graded."""


def refuse_watching(options: argparse.Namespace) -> None:
    """Raises UsageError for options that print a single document."""
    if prints_document(options):
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
    saves = Saves(path, MAX_BYTES, on_missing=watcher.show_gone)
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
        from grader.report.version_table import describe_changes, style_of

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


@dataclass
class Saves:
    """A file that is saved again and again; at most `max_bytes` of it are read. `on_missing` is
    called when it has been missing for GONE_SECONDS. A half-written file is skipped: the stamp must
    be equal in two polls."""

    path: Path
    max_bytes: int
    on_missing: Callable[[], None] = lambda: None
    poll_seconds: float = POLL_SECONDS
    _seen: tuple[Stamp, bytes] | None = field(default=None, init=False)

    def wait(self, known: bytes | None) -> bytes:
        """The file's content, as soon as it differs from the known content."""
        missing_since: float | None = time.monotonic()
        while True:
            before = self._stamp()
            if before is None:
                if missing_since is not None and time.monotonic() - missing_since >= GONE_SECONDS:
                    self.on_missing()
                    missing_since = None
            else:
                missing_since = time.monotonic()
                content = self._read(before)
                if content is not None and content != known and self._stands_still(before):
                    return content
            time.sleep(self.poll_seconds)

    def has_newer(self, known: bytes) -> bool:
        """Whether a different content has been saved. Looks once, without a second poll."""
        stamp = self._stamp()
        if stamp is None:
            return False
        content = self._read(stamp)
        return content is not None and content != known

    def _stands_still(self, stamp: Stamp) -> bool:
        time.sleep(self.poll_seconds)
        return self._stamp() == stamp

    def _stamp(self) -> Stamp | None:
        """Time, size and inode, which change with each save; None while the file is missing."""
        try:
            found = self.path.stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size, found.st_ino

    def _read(self, stamp: Stamp) -> bytes | None:
        """The content, which is read once for a stamp; None if it cannot be read now."""
        if self._seen is not None and self._seen[0] == stamp:
            return self._seen[1]
        try:
            with self.path.open("rb") as file:
                content = file.read(self.max_bytes + 1)
        except OSError:
            return None
        self._seen = stamp, content
        return content
