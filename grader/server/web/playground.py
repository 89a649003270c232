"""The playground: guests grade without an account, and share an attempt by a link."""

from __future__ import annotations

import hmac
import json

from sqlalchemy import Connection, func, select
from starlette.responses import Response

from grader.errors import UsageError
from grader.server import attempts, people, queue
from grader.server.records import Attempt, Person, State
from grader.server.tables import GRADINGS, PEOPLE
from grader.server.web.site import Site
from grader.server.web.visits import Visit, begin_session, missing, redirect, send_report, show

MOST_OF_GUEST, MOST_OF_GUESTS = 2, 40
"""Gradings in the queue: of a guest, and of all guests."""


def start(visit: Visit) -> Response:
    """The page on which guests begin. Its form makes a guest, who is removed after the session."""
    if not visit.site.settings.playground:
        missing()
    if not visit.form or visit.person is not None:
        return show(visit, "playground.html") if visit.person is None else redirect("/exercises")
    with visit.site.engine.begin() as connection:
        token = people.add_guest(connection, visit.address, visit.now)
    return begin_session(visit, token, "/exercises")


def check_guest(connection: Connection, person: Person) -> None:
    """UsageError if the person is a guest who must wait."""
    joined = GRADINGS.join(PEOPLE, GRADINGS.c.person_id == PEOPLE.c.id)
    waiting = select(func.count()).select_from(joined).where(GRADINGS.c.state != State.DONE)
    of_guests = connection.scalar(waiting.where(PEOPLE.c.role == person.role)) or 0
    own = queue.count_waiting(connection, person.id)
    if person.is_guest and (own >= MOST_OF_GUEST or of_guests >= MOST_OF_GUESTS):
        raise UsageError("too many attempts of guests wait", "Try again in a minute.")


def share(site: Site, attempt: Attempt) -> str:
    """The address at which everybody can see a guest's attempt while the guest's session lasts."""
    token = hmac.digest(site.secret("share"), str(attempt.id).encode(), "sha256").hex()
    return f"{site.settings.url}/shared/{attempt.id}/{token}"


def show_shared(visit: Visit) -> Response:
    """The code and the verdict of a shared attempt."""
    with visit.site.reading() as connection:
        attempt = _find_shared(visit, connection)
        source = attempts.read_source(connection, attempt.id)
        shown = attempts.read_kept(connection, attempt, "shown")
        has_page = attempts.read_kept(connection, attempt, "page") is not None
    graded = {"attempt": attempt, "verdict": shown and json.loads(shown), "source": source}
    report = f"{share(visit.site, attempt)}/report" if has_page else ""
    return show(visit, "shared.html", graded, report=report)


def show_shared_report(visit: Visit) -> Response:
    """The report of a shared attempt."""
    with visit.site.reading() as connection:
        return send_report(attempts.read_kept(connection, _find_shared(visit, connection), "page"))


def _find_shared(visit: Visit, connection: Connection) -> Attempt:
    """The attempt of a link that has not ended."""
    attempt = attempts.read_attempt(connection, visit.path["attempt"])
    address = share(visit.site, attempt) if attempt else "/"
    given = visit.path["token"].encode("utf-8", "replace")
    if attempt is None or not hmac.compare_digest(address[-64:].encode(), given):
        missing()
    owner = people.read_person(connection, attempt.person_id)
    is_old = attempt.created_s < visit.now - people.SESSION_S
    if owner is None or not owner.is_guest or is_old or not visit.site.settings.playground:
        missing()
    return attempt
