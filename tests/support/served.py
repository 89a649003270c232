"""A course server for tests: a site on a fresh database, and visitors with a browser's cookies."""

from __future__ import annotations

import functools
import json
import re
import shutil
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from starlette.testclient import TestClient

from grader.batch.pool import LocalPool
from grader.lti import Platform
from grader.report.verdicts import Verdict, make_failed_verdict
from grader.server import people, queue
from grader.server.attempts import read_attempts
from grader.server.dispatcher import Dispatcher, grade_attempt
from grader.server.launch import open_site
from grader.server.records import Role, Settings
from grader.server.web.app import make_app
from grader.server.web.site import Site

ROOT = Path(__file__).resolve().parents[2]
URL = "http://localhost"
PASSWORD = "three blue gridded blocks"
TOKEN = re.compile(r'name="form_token" value="([0-9a-f]+)"')
JSON = {"accept": "application/json"}


def make_course(folder: Path, *names: str) -> Path:
    """A course with copies of these exercises, their starters and solutions."""
    for name in names or ("vector_add",):
        shutil.copytree(ROOT / "exercises" / name, folder / "exercises" / name)
        for kind in ("starter", "solutions"):
            target = folder / kind / f"{name}.cu"
            target.parent.mkdir(exist_ok=True)
            shutil.copy(ROOT / kind / f"{name}.cu", target)
    return folder


def make_site(
    folder: Path,
    *names: str,
    url: str = URL,
    platforms: tuple[Platform, ...] = (),
    database: str | None = None,
) -> Site:
    data = folder / "data"
    data.mkdir()
    course = make_course(folder / "course", *names)
    settings = Settings(
        data,
        course,
        database or f"sqlite:///{data}/course.sqlite",
        url,
        "emulated:h100",
        model=False,
        platforms=platforms,
    )
    return open_site(settings)


@dataclass
class Visitor:
    """A browser with its cookies, and the id of its person."""

    client: TestClient
    person_id: int = 0

    def token(self, page: str = "/exercises") -> str:
        """The token of a page's forms."""
        found = TOKEN.search(self.client.get(page).text)
        assert found is not None
        return found[1]

    def post(self, address: str, **form: str) -> object:
        return self.client.post(address, data={"form_token": self.token(), **form})

    def grade(self, source: str, *, exercise: str = "vector_add", submit: bool = False) -> int:
        """Sends an attempt; returns its id."""
        answer = self.client.post(
            f"/exercises/{exercise}/attempts",
            json={
                "form_token": self.token(),
                "source": source,
                "submit": "yes" if submit else "no",
            },
            headers=JSON,
        )
        assert answer.status_code == 200, answer.text
        return int(answer.json()["attempt"])


def visit(site: Site) -> Visitor:
    """A visitor without an account."""
    return Visitor(
        TestClient(
            make_app(site),
            base_url=site.settings.url,
            follow_redirects=True,
            raise_server_exceptions=False,
        )
    )


def enter(site: Site, login: str, role: Role = Role.STUDENT, *, name: str = "") -> Visitor:
    """A visitor who has an account and a session."""
    visitor = visit(site)
    with site.engine.begin() as connection:
        visitor.person_id = people.add_person(connection, name or login, login, role=role)
        cookie = people.open_session(connection, visitor.person_id, time.time())
    visitor.client.cookies.set("grade_session", cookie, domain="localhost.local")
    return visitor


def grade_all(site: Site) -> None:
    """Grades the whole queue with the real pipeline."""
    grade = functools.partial(grade_attempt, database=site.settings.database)
    with closing(LocalPool(grade, ["emulated:h100"], jobs=1, seconds=300)) as pool:
        dispatcher = Dispatcher(site.settings, site.engine, site.lessons, pool)
        while dispatcher.step() or has_work(site):
            pass


def has_work(site: Site) -> bool:
    with site.reading() as connection:
        return queue.has_work(connection, time.time())


def finish_all(site: Site, verdict: Callable[[str], Verdict]) -> list[int]:
    """Ends all gradings of the queue with the verdicts of their sources; returns the persons in the
    order of the queue."""
    order = []
    while True:
        with site.engine.begin() as connection:
            work = queue.take(connection, time.time())
            if work is None:
                return order
            queue.finish(connection, work, verdict(work.source), time.time())
        with site.reading() as connection:
            owner = {each.grading_id: each.person_id for each in read_attempts(connection)}
        order.append(owner[work.grading_id])


def worth(points: float) -> Verdict:
    """A verdict with these points out of 100."""
    shown = json.dumps(json.loads(make_failed_verdict("").shown) | {"points": points, "full": 100})
    return Verdict("failed", f"{points:g} of 100 points", points, 100.0, None, shown, None)
