"""A worker process of a batch: grades tasks until the batch ends."""

from __future__ import annotations

import signal
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection

from grader.batch.tasks import Task
from grader.errors import GraderError, SpecError, UsageError
from grader.plumbing.shortages import keep_temporary_folder, machine_fault


@dataclass(frozen=True)
class Answer:
    """A worker's result of a task: the score as JSON text, or an error message.

    `broken`: the exercise or the command causes the error, so every submission would fail.
    """

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
    try:
        while True:
            connection.send(answer_task(connection.recv(), grade))
    except (EOFError, OSError):
        return


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
        return Answer(
            None, f"unexpected {type(error).__name__}: {error}", detail=traceback.format_exc()
        )


def grade_task(task: Task) -> str:
    """Grades with the whole pipeline. In the score the file is named after the exercise, so that
    equal files get equal scores."""
    from grader.grading.grade import grade_with
    from grader.report.json import format_score

    name = f"{task.exercise}.cu"
    return format_score(grade_with(task.options, task.folder, task.source, name=name))
