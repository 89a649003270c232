"""Tasks of a batch, and the worker process that grades them until the batch ends. The key of a
result is the hash of submission, exercise, device, grader and seed."""

from __future__ import annotations

import hashlib
import hmac
import json
import signal
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from grader.errors import GraderError, SpecError, UsageError
from grader.plumbing.shortages import keep_temporary_folder, machine_fault
from grader.records import Options

SEED_BITS = 53  # a JSON number represents these exactly


@dataclass(frozen=True)
class Task:
    """One grading. `key`: the key of its result; `folder`: the exercise's folder."""

    key: str
    exercise: str
    folder: Path
    sha256: str
    source: Path
    options: Options


def make_key(*, sha256: str, exercise_hash: str, device: str, grader: str, seed: str) -> str:
    """The key of a result: a hash of everything that the result depends on."""
    parts = json.dumps([sha256, exercise_hash, device, grader, seed])
    return hashlib.sha256(parts.encode()).hexdigest()


def draw_seed(secret: bytes, sha256: str) -> int:
    """The seed of a submission if the user gave none: the same for the same file, and not
    predictable from another file's score."""
    drawn = hmac.digest(secret, sha256.encode(), "sha256")[:8]
    return int.from_bytes(drawn, "big") >> (64 - SEED_BITS)


@dataclass(frozen=True)
class Answer:
    """A worker's result of a task: the score as JSON text, or an error message. `broken`: the
    exercise or the command causes the error, so every submission would fail."""

    text: str | None
    message: str = ""
    advice: str = ""
    detail: str = ""
    broken: bool = False


GradeTask = Callable[[Task], str]
"""Grades a task; returns the score as JSON text. Must be picklable."""


def serve(grade: GradeTask, connection: Connection) -> None:
    """Answers tasks until the other end closes. Ignores Ctrl-C and the end of the terminal: the
    batch handles them and ends its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    from grader.grading.tools import keep_tools_ready

    with keep_tools_ready(), suppress(EOFError, OSError):
        while True:
            connection.send(answer_task(connection.recv(), grade))


def answer_task(task: Task, grade: GradeTask) -> Answer:
    """Grades; every error becomes an answer."""
    keep_temporary_folder()
    try:
        return Answer(grade(task))
    except (UsageError, SpecError) as error:
        there = task.source.is_file() and task.folder.is_dir()
        return Answer(None, str(error), error.advice, broken=there)
    except Exception as error:
        fault = error if isinstance(error, GraderError) else machine_fault(error)
        if fault is not None:
            return Answer(None, str(fault), fault.advice, fault.detail)
        message = f"unexpected {type(error).__name__}: {error}"
        return Answer(None, message, detail=traceback.format_exc())


def grade_task(task: Task) -> str:
    """Grades with the whole pipeline. In the score the file is named after the exercise, so that
    equal files get equal scores."""
    from grader.grading.grade import grade_with
    from grader.report.json import format_score

    name = f"{task.exercise}.cu"
    return format_score(grade_with(task.options, task.folder, task.source, name=name))
