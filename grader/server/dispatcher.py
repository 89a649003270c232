"""Grades the attempts of the queue with the workers of `grade batch`.

The dispatcher is a child of the server. It takes gradings from the database, gives them to a pool
of processes, and writes the verdicts. It keeps no state: if it ends at any moment, the leases of
its gradings run out, and the next dispatcher takes them.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from multiprocessing.connection import Connection

from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from grader.batch.pool import LocalPool, Outcome, Pool
from grader.batch.schedule import ATTEMPTS
from grader.batch.tasks import Task, draw_seed
from grader.records import Options, Progress, ShowProgress, Status
from grader.report.verdicts import Verdict, make_failed_verdict, make_found_verdict, make_verdict
from grader.server import queue
from grader.server.course import ANY_FOLDER, Lesson, add_any_kernel, find_lessons
from grader.server.database import open_database, read_secret
from grader.server.records import Settings, Work

POLL_SECONDS = 0.2
STAGE_SECONDS = 0.5
NICENESS = 10
"""Gradings leave the processor to the pages."""
SEED = "seed"
"""The note of the secret from which the seeds of attempts are drawn."""


def dispatch(settings: Settings, _: Connection) -> None:
    """Grades until the process is ended."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.nice(NICENESS)
    engine = open_database(settings.database)
    grade = functools.partial(grade_attempt, database=settings.database)
    jobs, seconds = settings.workers, settings.seconds
    with closing(LocalPool(grade, [settings.device], jobs=jobs, seconds=seconds)) as pool:
        dispatcher = Dispatcher(settings, engine, find_lessons(settings.course), pool)
        while True:
            if not dispatcher.step():
                time.sleep(POLL_SECONDS)


class Dispatcher:
    """A pool at work on the queue."""

    def __init__(
        self, settings: Settings, engine: Engine, lessons: Mapping[str, Lesson], pool: Pool
    ) -> None:
        self._settings, self._engine = settings, engine
        self._lessons = add_any_kernel(lessons)
        self._pool = pool
        self._running: dict[str, Work] = {}
        self._renewed = time.time()
        self._folder = settings.data / "work"
        shutil.rmtree(self._folder, ignore_errors=True)
        with engine.begin() as connection:
            self._secret = read_secret(connection, SEED)
            if engine.dialect.name == "sqlite":  # a single server or worker has this queue
                queue.release_all(connection, settings.queue)

    def step(self) -> bool:
        """Starts and ends gradings; returns whether any is running."""
        while self._pool.free and self._start_next():
            pass
        for outcome in self._pool.wait(POLL_SECONDS):
            self._settle(outcome)
        now = time.time()
        if self._running and now > self._renewed + queue.RENEW_S:
            self._renewed = now
            with self._engine.begin() as connection:
                queue.renew(connection, self._running.values(), now)
        return bool(self._running)

    def _start_next(self) -> bool:
        now = time.time()
        with self._engine.connect().execution_options(writes=False) as connection:
            if not queue.has_work(connection, now, self._settings.queue):
                return False
        with self._engine.begin() as connection:
            work = queue.take(connection, now, self._settings.queue)
        if work is None:
            return False
        lesson = self._lessons.get(work.exercise)
        if lesson is None:
            self._finish(work, make_failed_verdict("the exercise has left the course"))
        elif work.tries > ATTEMPTS:
            self._finish(work, make_failed_verdict("the grading ended without a result"))
        else:
            self._running[str(work.grading_id)] = work
            self._pool.submit(self._make_task(work, lesson))
        return True

    def _make_task(self, work: Work, lesson: Lesson) -> Task:
        source = self._folder / str(work.grading_id) / f"{work.exercise}.cu"
        source.parent.mkdir(parents=True, exist_ok=True)
        source.write_bytes(work.source.encode("utf-8", "replace"))
        own, seed = self._settings, draw_seed(self._secret, work.sha256)
        options = Options(own.device, seed, isolated=own.isolated, model=own.model)
        key = str(work.grading_id)
        return Task(key, work.exercise, lesson.folder, work.sha256, source, options)

    def _settle(self, outcome: Outcome) -> None:
        """Keeps the verdict, or returns the grading to the queue after a fault of the machine."""
        work = self._running.pop(outcome.task.key)
        shutil.rmtree(outcome.task.source.parent, ignore_errors=True)
        answer = outcome.answer
        if answer is not None and answer.text is not None:
            verdict = Verdict(**json.loads(answer.text))
        else:
            verdict = make_failed_verdict(answer.message if answer else outcome.lost)
        broken = answer is not None and answer.broken
        failed = Status(verdict.status).is_worth_a_retry and not broken
        if failed and work.tries < ATTEMPTS:
            with self._engine.begin() as connection:
                queue.put_back(connection, work)
        else:
            self._finish(work, verdict)

    def _finish(self, work: Work, verdict: Verdict) -> None:
        with self._engine.begin() as connection:
            queue.finish(connection, work, verdict, time.time())


def grade_attempt(task: Task, *, database: str) -> str:
    """Grades an attempt as `grade EXERCISE FILE --html` does, or runs it as `grade run` does; the
    verdict as JSON. Writes its steps to the database."""
    from grader.explore.pasted import run_pasted
    from grader.grading.grade import grade_with
    from grader.grading.what_if import Trial, try_fixes
    from grader.records import Detail, Submission
    from grader.spec.reader import read_exercise
    from grader.submission.source_file import parse_submission

    engine = _keep_open(database)
    show = _write_stages(engine, int(task.key))
    detail = Detail(instructions=True, cycles=True)
    options = replace(task.options, show=show, detail=detail, reuse=True)
    if task.folder == ANY_FOLDER:
        pasted = task.source.read_text("utf-8", "replace")
        found = run_pasted(options, task.source)
        return json.dumps(vars(make_found_verdict(found, task.source.name, pasted)))
    score = grade_with(options, task.folder, task.source, name=f"{task.exercise}.cu")
    exercise = read_exercise(task.folder)
    source = task.source.read_text(encoding="utf-8", errors="replace")
    with engine.connect().execution_options(writes=False) as connection:
        tries_fixes = queue.tries_fixes(connection, int(task.key))
    text = parse_submission(source.encode(), score.submission_name)
    if tries_fixes and isinstance(text, Submission):
        trial = Trial(replace(options, detail=Detail()), jobs=1)
        score = replace(score, what_if=try_fixes(exercise, text, score, trial))
    own = {"student": task.exercise, "title": exercise.title, "source": source}
    return json.dumps(vars(make_verdict(score, **own)))


@functools.cache
def _keep_open(database: str) -> Engine:
    """The database of this worker process."""
    return open_database(database)


def _write_stages(engine: Engine, grading_id: int) -> ShowProgress:
    """Writes steps, at most twice a second. A busy database does not stop the grading."""
    noted = 0.0

    def note(progress: Progress) -> None:
        nonlocal noted
        if time.monotonic() < noted + STAGE_SECONDS:
            return
        noted = time.monotonic()
        count = f" ({progress.done} of {progress.total})" if progress.total else ""
        with contextlib.suppress(SQLAlchemyError), engine.begin() as connection:
            queue.keep_stage(connection, grading_id, f"{progress.stage}{count}")

    return note
