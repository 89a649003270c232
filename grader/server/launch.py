"""Starts a server: the database, the first invitation, the web application, and the dispatcher,
which is started again whenever it ends. Starts a worker, which is a dispatcher alone."""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import uvicorn
from sqlalchemy import Engine

from grader.devices.choose import check_gpu
from grader.errors import UsageError
from grader.plumbing.children import Child
from grader.plumbing.identity import grader_identity
from grader.plumbing.locks import hold_lock
from grader.sandbox.process import run_tool
from grader.server import people
from grader.server.course import Lesson, find_lessons
from grader.server.database import migrate, open_database, read_note, read_secret, write_note
from grader.server.dispatcher import dispatch
from grader.server.records import Queue, Role, Settings
from grader.server.returns import keep_returning
from grader.server.web.app import make_app
from grader.server.web.site import Site

FORMS = "forms"
"""The note of the secret of the forms' tokens."""
GRADING = "grading"
"""The note of the server's device, and of everything else that its verdicts depend on."""
RESTART_SECONDS = 1.0
MOST_CONNECTIONS = 2000
FIRST = ("Instructor", "instructor")
"""Name and login of the first account."""


def open_site(settings: Settings) -> Site:
    """The parts of a server. Raises UsageError or SpecError for a broken course."""
    engine = open_database(settings.database)
    migrate(engine)
    lessons = find_lessons(settings.course)
    with engine.begin() as connection:
        secret = read_secret(connection, FORMS)
        rules = [settings.device, settings.model, describe_grading(lessons)]
        write_note(connection, GRADING, json.dumps(rules))
    return Site(settings, engine, lessons, secret)


def invite_first(site: Site) -> str | None:
    """The link for the first instructor; None if an instructor has a password."""
    now = time.time()
    with site.engine.begin() as connection:
        instructors = people.read_people(connection, Role.INSTRUCTOR)
        if any(each.is_active for each in instructors):
            return None
        known = next((each.id for each in instructors if each.login == FIRST[1]), None)
        person = known or people.add_person(connection, *FIRST, role=Role.INSTRUCTOR)
        return f"{site.settings.url}/invitations/{people.invite(connection, person, now)}"


def serve(
    settings: Settings, *, host: str, port: int, show: Callable[[str], None], ready: str
) -> None:
    """Serves until a signal ends it. `ready` is shown once the port accepts connections."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    with hold_lock(settings.data / "lock", partial(_refuse, settings)):
        site = open_site(settings)
        link = invite_first(site)
        if not any(lesson.has_hidden_cases for lesson in site.lessons.values()):
            show("These exercises have no hidden cases: students can see all cases.")
        keep = (partial(_keep_dispatching, settings), partial(keep_returning, site))
        with _beside(*keep):
            config = uvicorn.Config(
                make_app(site),
                host=host,
                port=port,
                log_level="warning",
                limit_concurrency=MOST_CONNECTIONS,
                timeout_graceful_shutdown=2,
                server_header=False,
            )
            (listening := config.bind_socket()).listen()
            show(ready.format(exercises=len(site.lessons), url=settings.url))
            if link is not None:
                show(f"Your invitation, as the first instructor:\n  {link}")
            uvicorn.Server(config).run([listening])


def work(settings: Settings, *, show: Callable[[str], None], ready: str) -> None:
    """Grades the attempts of a queue of a server's database until a signal ends it. UsageError if
    its verdicts could differ from the server's."""
    engine, lessons = open_database(settings.database), find_lessons(settings.course)
    migrate(engine)
    if settings.queue is Queue.SERVER:
        settings = follow_server(settings, engine, lessons)
    show(ready.format(exercises=len(lessons)))
    _keep_dispatching(settings, threading.Event())


def describe_grading(lessons: Mapping[str, Lesson]) -> dict[str, str]:
    """Digests of all files that verdicts depend on, by exercise, and of the grader."""
    return {"the grader": grader_identity(), **{each.id: each.digest for each in lessons.values()}}


def follow_server(settings: Settings, engine: Engine, lessons: Mapping[str, Lesson]) -> Settings:
    """The settings with the device of the server, whose workers this worker joins."""
    if engine.dialect.name == "sqlite":
        raise UsageError("with SQLite the server's own workers grade", "Use PostgreSQL.")
    with engine.connect() as connection:  # without a commit: no empty note is kept
        device, model, described = json.loads(read_note(connection, GRADING, lambda: "[0, 0, {}]"))
    different = {*describe_grading(lessons).items()} ^ {*described.items()}
    if names := sorted({name for name, _ in different}):
        raise UsageError(
            f"different from the server, or missing: {', '.join(names)}",
            "Start `grade serve` first, and workers with the same exercises and grader.",
        )
    check_gpu(device, run_tool, os.environ)
    return replace(settings, device=device, model=model)


def _refuse(settings: Settings) -> None:
    raise UsageError(
        f"another server uses {settings.data}", "End it, or give another folder with --data."
    )


@contextlib.contextmanager
def _beside(*keep: Callable[[threading.Event], None]) -> Iterator[None]:
    """Works in threads until the event."""
    ended = threading.Event()
    threads = [threading.Thread(target=each, args=(ended,), daemon=True) for each in keep]
    for each in threads:
        each.start()
    try:
        yield
    finally:
        ended.set()
        for each in threads:
            each.join()


def _keep_dispatching(settings: Settings, ended: threading.Event) -> None:
    while settings.workers and not ended.is_set():
        child = Child(partial(dispatch, settings))
        try:
            while not (ended.wait(RESTART_SECONDS) or child.has_ended):
                pass
        finally:
            child.kill()
