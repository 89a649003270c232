"""Returns points to the gradebooks of course platforms.

Nothing is kept about sent points: after a restart, all points are sent once more.
"""

from __future__ import annotations

import contextlib
import json
import logging
import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import SQLAlchemyError

from grader import lti
from grader.errors import GraderError
from grader.server import attempts, people
from grader.server.database import read_note
from grader.server.records import Attempt, Override, Role
from grader.server.web.site import Site

RETURN_SECONDS = 30.0
KEY = "lti key"
Sent = dict[tuple[int, str], object]
"""The points that the platforms have, by person and exercise."""


def read_key(connection: Connection) -> str:
    """The private key of this server, in PEM."""
    return read_note(connection, KEY, lti.make_key)


def keep_returning(site: Site, ended: threading.Event) -> None:
    """Returns points until the server ends."""
    sent: Sent = {}
    while site.settings.platforms and not ended.wait(RETURN_SECONDS):
        with _logging(SQLAlchemyError):
            return_points(site, sent)


def return_points(site: Site, sent: Sent) -> None:
    """Sends the points that differ from `sent`. Points that a platform calls wrong are sent again
    after a change, all others that it does not take in the next round."""
    with site.engine.begin() as connection:
        key = read_key(connection)
    with site.reading() as connection:
        changed = [*_list_changed(connection, site, sent)]
    for platform in site.settings.platforms:
        own = [each for each in changed if each[0] == platform.client_id]
        with _logging(GraderError, KeyError, TypeError):
            token = lti.request_token(platform, key, lti.SCORES_SCOPE) if own else ""
            for _, place, mark, column, score in own:
                with _logging(GraderError):
                    now = datetime.now(UTC).isoformat(timespec="milliseconds")
                    with _logging(lti.Refusal):
                        lti.send_score(platform, column, token, {**score, "timestamp": now})
                    sent[place] = mark


@contextlib.contextmanager
def _logging(*kinds: type[Exception]) -> Iterator[None]:
    """Goes on after these errors."""
    try:
        yield
    except kinds as error:
        logging.getLogger("uvicorn.error").warning("Points are not returned: %s", error)


def _list_changed(
    connection: Connection, site: Site, sent: Sent
) -> Iterator[tuple[str, tuple[int, str], object, str, dict[str, Any]]]:
    find = attempts.read_standings(connection, [*site.lessons])
    for person in people.read_people(connection, Role.STUDENT):  # a gradebook has no other cells
        for exercise in (name for name in site.lessons if f"{lti.COLUMN}{name}" in person.row):
            place, column = (person.id, exercise), person.row[f"{lti.COLUMN}{exercise}"]
            standing = find(*place)
            counting, decided = standing.counting, standing.override
            graded = counting and (counting.id, counting.grading_id, counting.verdict_id)
            if (mark := (column, decided, graded)) != sent.get(place, (column, None, None)):
                points = _read_points(connection, counting, decided, site.lessons[exercise].full)
                score = lti.make_score(person.row[lti.SUBJECT], *points)
                yield person.row[lti.CLIENT], place, mark, column, score


def _read_points(
    connection: Connection, counting: Attempt | None, decided: Override | None, full: float
) -> tuple[float | None, float | None]:
    """The final points, None if there are none, and the full points."""
    if decided is not None:
        return decided.points, full
    shown = counting and attempts.read_kept(connection, counting, "shown")
    if counting is None or (shown and json.loads(shown)["pending"]):
        return None, None
    return counting.points, counting.full
