"""The journal of a batch: an SQLite file with all results. A result is written completely or not at
all, even if the process is killed. All other files are derived from the journal."""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from grader.batch.tasks import Task
from grader.errors import GraderError, UsageError
from grader.plumbing.locks import hold_lock

NAME = "journal.sqlite"
LOCK = "journal.lock"
VERSION = "1"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS results (
    key TEXT PRIMARY KEY, exercise TEXT NOT NULL, sha256 TEXT NOT NULL, status TEXT NOT NULL,
    score REAL NOT NULL, max_score REAL NOT NULL, judged_points REAL NOT NULL,
    message TEXT NOT NULL, device TEXT, seconds REAL NOT NULL, attempts INTEGER NOT NULL,
    finished TEXT NOT NULL, digest TEXT NOT NULL DEFAULT '', text BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS redo (key TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pseudonyms (
    student TEXT PRIMARY KEY, pseudonym TEXT NOT NULL UNIQUE
) WITHOUT ROWID;
"""
_META = "SELECT value FROM meta WHERE name = ?"
_SYNC_SECONDS = 1.0
_LOCKED_SECONDS = 30.0
_RESUME = "and repeat the command: all results are kept."
_LOCKED = f"Close the program that uses it, {_RESUME}"
_FULL = f"Free disk space or check the disk, {_RESUME}"


@dataclass(frozen=True)
class Result:
    """A result without the score's text. `digest`: reasons, causes and checks as JSON, for the
    tables of the class; empty in a journal of an earlier version."""

    key: str
    exercise: str
    sha256: str
    status: str
    score: float
    max_score: float
    judged_points: float
    message: str
    device: str | None
    seconds: float
    attempts: int
    finished: str
    digest: str = ""

    @property
    def is_pending(self) -> bool:
        """Whether some points need a device that can judge them."""
        return self.judged_points < self.max_score


def read_result(task: Task, text: str, *, seconds: float, attempts: int) -> Result:
    """The result of a task with this score as JSON text. GraderError if the text is no score."""
    try:
        score = json.loads(text)
        digest = {
            "why": score.get("why", ""),
            "causes": score.get("causes", []),
            "checks": [_digest_check(check) for check in score["checks"]],
        }
        return Result(
            task.key,
            task.exercise,
            task.sha256,
            **{name: score[name] for name in _OF_SCORE},
            device=score["device"]["name"] if score["device"] else None,
            seconds=seconds,
            attempts=attempts,
            finished=datetime.now(UTC).isoformat(timespec="seconds"),
            digest=json.dumps(digest),
        )
    except (ValueError, KeyError, TypeError) as error:
        raise GraderError(f"the answer of a worker is not a score: {error!r}") from error


def _digest_check(check: dict[str, Any]) -> dict[str, Any]:
    own = {name: check[name] for name in ("status", "points", "max_points", "bonus")}
    return {"name": check["headline"] or check["title"], **own}


_OF_SCORE = ("status", "score", "max_score", "judged_points", "message")
_COLUMNS = tuple(field.name for field in fields(Result))


class Journal:
    """The open journal of a folder. Methods raise GraderError if the disk fails."""

    def __init__(self, folder: Path, database: sqlite3.Connection) -> None:
        self._folder = folder
        self._database = database
        self._synced = time.monotonic()
        self._identity = self._read_identity()

    def read_results(self) -> dict[str, Result]:
        """All results by key."""
        with self._handling_faults():
            query = f"SELECT {', '.join(_COLUMNS)} FROM results"
            return {row[0]: Result(*row) for row in self._database.execute(query)}

    def read_text(self, key: str) -> str:
        """The score of a result as JSON text."""
        with self._handling_faults():
            (text,) = self._database.execute(
                "SELECT text FROM results WHERE key = ?", (key,)
            ).fetchone()
            return zlib.decompress(text).decode()

    def add(self, graded: Sequence[tuple[Result, str]]) -> None:
        """Writes all results, with their scores as JSON texts, or none. After the return they
        survive the process; a power cut loses the results of the last second."""
        rows = [(*astuple(result), zlib.compress(text.encode(), 1)) for result, text in graded]
        # SQLite continues to write to a deleted file.
        if self._read_identity() != self._identity:
            raise GraderError(
                f"the folder {self._folder} was removed while the batch ran",
                "Repeat the command: it starts from the beginning.",
            )
        with self._handling_faults(), self._database:
            columns = (*_COLUMNS, "text")
            self._database.executemany(
                f"INSERT OR REPLACE INTO results ({', '.join(columns)})"
                f" VALUES ({', '.join('?' * len(columns))})",
                rows,
            )
            self._database.executemany(
                "DELETE FROM redo WHERE key = ?", [(result.key,) for result, _ in graded]
            )
        self._sync()

    def _read_identity(self) -> tuple[int, int] | None:
        """Device and inode of the journal's file; None if it is deleted."""
        try:
            status = (self._folder / NAME).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _sync(self) -> None:
        """Writes to the disk at most once a second: 10 ms each, measured."""
        if time.monotonic() >= self._synced + _SYNC_SECONDS:
            with self._handling_faults():
                self._database.execute("PRAGMA wal_checkpoint(PASSIVE)")
            self._synced = time.monotonic()

    def ask_again(self, keys: Iterable[str]) -> None:
        """Marks results to be graded again. If marks of an interrupted run are left, they stay and
        no others are added: this run continues them."""
        with self._handling_faults(), self._database:
            if not self.read_asked_again():
                self._database.executemany(
                    "INSERT OR IGNORE INTO redo VALUES (?)", [(key,) for key in keys]
                )

    def read_asked_again(self) -> set[str]:
        """The keys of the results to be graded again."""
        with self._handling_faults():
            return {key for (key,) in self._database.execute("SELECT key FROM redo")}

    def secret(self) -> bytes:
        """The secret of this batch that seeds are drawn from; created at first use."""
        with self._handling_faults(), self._database:
            self._database.execute(
                "INSERT OR IGNORE INTO meta VALUES ('secret', ?)", (secrets.token_hex(32),)
            )
            (secret,) = self._database.execute(_META, ("secret",)).fetchone()
            return bytes.fromhex(secret)

    def pseudonyms(self, students: Sequence[str]) -> dict[str, str]:
        """A pseudonym for each student, the same in every run, numbered in random order."""
        with self._handling_faults(), self._database:
            known = dict(self._database.execute("SELECT student, pseudonym FROM pseudonyms"))
            new = [student for student in students if student not in known]
            secrets.SystemRandom().shuffle(new)
            rows = [
                (student, f"student-{number:04}")
                for number, student in enumerate(new, start=len(known) + 1)
            ]
            self._database.executemany("INSERT INTO pseudonyms VALUES (?, ?)", rows)
        return known | dict(rows)

    def note(self, name: str, value: str) -> None:
        """Keeps a fact about the current run."""
        with self._handling_faults(), self._database:
            self._database.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def noted(self, name: str) -> str | None:
        """The fact of this name; None if there is none."""
        with self._handling_faults():
            row = self._database.execute(_META, (name,)).fetchone()
        return None if row is None else str(row[0])

    def _handling_faults(self) -> contextlib.AbstractContextManager[None]:
        return _handling_faults(self._folder)


@contextlib.contextmanager
def open_journal(folder: Path) -> Iterator[Journal]:
    """The journal in `folder`, created if necessary. Only the owner may read the secret of the
    seeds. UsageError if another batch uses it, the folder cannot be written, or the file is no
    journal."""
    with _locked(folder), _handling_faults(folder):
        path = folder / NAME
        path.touch(mode=0o600)
        database = sqlite3.connect(path, timeout=_LOCKED_SECONDS)
        try:
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA synchronous = NORMAL")
            database.executescript(_SCHEMA)
            if "digest" not in {row[1] for row in database.execute("PRAGMA table_info(results)")}:
                # the table of an earlier version
                database.execute("ALTER TABLE results ADD COLUMN digest TEXT NOT NULL DEFAULT ''")
            database.execute("INSERT OR IGNORE INTO meta VALUES ('version', ?)", (VERSION,))
            database.commit()
            _check_version(database, path)
            yield Journal(folder, database)
        finally:
            database.close()


def _check_version(database: sqlite3.Connection, path: Path) -> None:
    (version,) = database.execute(_META, ("version",)).fetchone()
    if version != VERSION:
        raise UsageError(
            f"{path} is the journal of another version of the grader ({version})",
            "Name another folder with --out.",
        )


@contextlib.contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Holds the folder's lock. The system releases it when the process ends."""

    def refuse() -> None:
        raise UsageError(
            f"another batch is writing to {folder}",
            "Wait for it, or name another folder with --out.",
        )

    with contextlib.ExitStack() as stack:
        try:
            folder.mkdir(parents=True, exist_ok=True)
            stack.enter_context(hold_lock(folder / LOCK, refuse))
        except OSError as error:
            raise UsageError(
                f"cannot write to {folder}: {error.strerror}",
                "Name a folder that you may write to with --out.",
            ) from error
        yield


@contextlib.contextmanager
def _handling_faults(folder: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.DatabaseError as error:
        if "not a database" in str(error) or "malformed" in str(error):
            raise UsageError(
                f"{folder / NAME} is not the journal of a batch: {error}",
                "Move it away, or name another folder.",
            ) from error
        advice = _LOCKED if "locked" in str(error) else _FULL
        raise GraderError(f"the journal in {folder} cannot be written: {error}", advice) from error
