"""A worker of a batch: a process that grades one task after another, and ends when the batch
does."""

from __future__ import annotations

import signal
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path

from grader.batch.tasks import Task
from grader.errors import GraderError, SpecError, UsageError


@dataclass(frozen=True)
class Answer:
    """What a worker made of a task: the score as JSON text, or what kept it from making one.

    `broken`: the exercise or the command is at fault, so that no other submission would fare
    better.
    """

    text: str | None
    message: str = ""
    advice: str = ""
    detail: str = ""
    broken: bool = False


GradeTask = Callable[[Task], str]
"""Grades a task; returns the score as JSON text. It must be picklable."""


def serve(grade: GradeTask, connection: Connection) -> None:
    """Answer tasks until the other end closes. Ctrl-C on the terminal is for the batch, which ends
    its workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    try:
        while True:
            connection.send(answer_task(connection.recv(), grade))
    except (EOFError, OSError):
        return


def answer_task(task: Task, grade: GradeTask) -> Answer:
    """Grade; whatever goes wrong is an answer too."""
    try:
        return Answer(grade(task))
    except (UsageError, SpecError) as error:
        return Answer(None, str(error), error.advice, broken=True)
    except GraderError as error:
        return Answer(None, str(error), error.advice, error.detail)
    except Exception as error:
        return Answer(
            None, f"unexpected {type(error).__name__}: {error}", detail=traceback.format_exc()
        )


def grade_task(task: Task) -> str:
    """The real thing: the whole pipeline. The file bears the exercise's name, so that equal files
    get equal scores."""
    from grader.grading.grade import grade
    from grader.report.json import format_score

    with tempfile.TemporaryDirectory(prefix="grader-") as folder:
        path = Path(folder) / f"{task.exercise}.cu"
        path.write_bytes(task.source.read_bytes())
        score = grade(
            task.folder,
            path,
            device=task.device,
            seed=task.seed,
            isolated=task.isolated,
            model=task.model,
        )
        return format_score(score)
