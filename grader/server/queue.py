"""The queue of gradings in the database: turns, leases and estimates of waiting times.

Fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queuing", 1996) with gradings of equal size: a
grading gets the turn `max(turn of the latest started grading, last turn of the person + 1)`, and
gradings start in the order of their turns. So fifty attempts of a student wait for each other, and
another student's attempt starts after at most one of them.

A worker holds a grading for the time of a lease, and renews it. If a worker ends, its lease runs
out, and another worker takes the grading.
"""

from __future__ import annotations

import time
import zlib
from collections.abc import Sequence

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, update

from grader.server.records import Place, State, Verdict, Work
from grader.server.tables import ATTEMPTS, GRADINGS, add_row

LEASE_S = 20.0
RENEW_S = 5.0
RECENT = 20
"""Gradings whose mean time predicts the next."""
_FREE = {"state": State.WAITING, "lease_s": None, "stage": ""}
MOST_WAITING = 100
"""Gradings of a person in the queue."""


def add_grading(
    connection: Connection, attempt_id: int, person_id: int, now: float, *, what_if: bool = False
) -> int:
    """Puts a grading of an attempt at the end of the person's turns; returns its id."""
    clock = select(func.max(GRADINGS.c.turn)).where(GRADINGS.c.state != State.WAITING)
    own = select(func.max(GRADINGS.c.turn)).where(GRADINGS.c.person_id == person_id)
    started, last = connection.scalar(clock), connection.scalar(own)
    turn = max(started or 0, 0 if last is None else last + 1)
    owner = {"attempt_id": attempt_id, "person_id": person_id, "what_if": what_if}
    place = {"state": State.WAITING, "turn": turn, "tries": 0, "queued_s": now}
    return add_row(connection, GRADINGS, **owner, **place, stage="", message="")


def count_waiting(connection: Connection, person_id: int) -> int:
    """The person's gradings without a verdict."""
    query = select(func.count()).where(
        GRADINGS.c.person_id == person_id, GRADINGS.c.state != State.DONE
    )
    return int(connection.scalar(query) or 0)


def has_work(connection: Connection, now: float) -> bool:
    """Whether a grading can be taken."""
    return connection.scalar(select(GRADINGS.c.id).where(_is_free(now)).limit(1)) is not None


def take(connection: Connection, now: float) -> Work | None:
    """Takes the next grading: a waiting grading, or a grading whose worker has ended."""
    query = (
        select(GRADINGS.c.id)
        .where(_is_free(now))
        .order_by(GRADINGS.c.turn, GRADINGS.c.id)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    grading_id = connection.scalar(query)
    if grading_id is None:
        return None
    taken = {"state": State.RUNNING, "lease_s": now + LEASE_S, "started_s": now, "stage": ""}
    own = update(GRADINGS).where(GRADINGS.c.id == grading_id)
    connection.execute(own.values(**taken, tries=GRADINGS.c.tries + 1))
    fields = (ATTEMPTS.c.exercise, ATTEMPTS.c.source, ATTEMPTS.c.sha256, GRADINGS.c.tries)
    joined = select(*fields).join(GRADINGS, GRADINGS.c.attempt_id == ATTEMPTS.c.id)
    exercise, source, sha256, tries = connection.execute(
        joined.where(GRADINGS.c.id == grading_id)
    ).one()
    return Work(grading_id, exercise, source, sha256, tries)


def _is_free(now: float) -> ColumnElement[bool]:
    lost = and_(GRADINGS.c.state == State.RUNNING, GRADINGS.c.lease_s < now)
    return or_(GRADINGS.c.state == State.WAITING, lost)


def tries_fixes(connection: Connection, grading_id: int) -> bool:
    """Whether a grading also tries fixes."""
    return bool(connection.scalar(select(GRADINGS.c.what_if).where(GRADINGS.c.id == grading_id)))


def renew(connection: Connection, grading_ids: Sequence[int], now: float) -> None:
    """Extends the leases of running gradings."""
    query = update(GRADINGS).where(
        GRADINGS.c.id.in_(grading_ids), GRADINGS.c.state == State.RUNNING
    )
    connection.execute(query.values(lease_s=now + LEASE_S))


def release_all(connection: Connection) -> None:
    """Returns all running gradings to the queue, without a count of the try: their dispatcher has
    ended, by no fault of theirs."""
    query = update(GRADINGS).where(GRADINGS.c.state == State.RUNNING)
    connection.execute(query.values(**_FREE, tries=GRADINGS.c.tries - 1))


def put_back(connection: Connection, grading_id: int) -> None:
    """Returns a grading to its place in the queue."""
    connection.execute(update(GRADINGS).where(GRADINGS.c.id == grading_id).values(**_FREE))


def keep_stage(connection: Connection, grading_id: int, stage: str) -> None:
    """Keeps the running step of a grading."""
    query = update(GRADINGS).where(GRADINGS.c.id == grading_id, GRADINGS.c.state == State.RUNNING)
    connection.execute(query.values(stage=stage[:200]))


def finish(connection: Connection, work: Work, verdict: Verdict, now: float) -> None:
    """Keeps a verdict, unless the lease was lost and another worker has it."""
    query = update(GRADINGS).where(
        GRADINGS.c.id == work.grading_id,
        GRADINGS.c.state == State.RUNNING,
        GRADINGS.c.tries == work.tries,
    )
    packed = {name: pack(getattr(verdict, name)) for name in ("score", "shown", "page")}
    done = {"state": State.DONE, "lease_s": None, "stage": "", "ended_s": now}
    connection.execute(query.values(**{**vars(verdict), **packed, **done}))


def read_places(connection: Connection, workers: int) -> dict[int, Place]:
    """The places of all waiting and running gradings by id."""
    query = (
        select(GRADINGS.c.id, GRADINGS.c.state, GRADINGS.c.stage)
        .where(GRADINGS.c.state != State.DONE)
        .order_by(GRADINGS.c.state, GRADINGS.c.turn, GRADINGS.c.id)  # "running" before "waiting"
    )
    rows = connection.execute(query).all()
    seconds = mean_seconds(connection) if rows else None
    places = {}
    for ahead, (grading_id, state, stage) in enumerate(rows):
        if state == State.RUNNING:
            places[grading_id] = Place(State.RUNNING, stage=stage)
        else:
            rounds = ahead // workers + 1
            wait_s = None if seconds is None else rounds * seconds
            places[grading_id] = Place(State.WAITING, ahead, wait_s)
    return places


def read_version(connection: Connection) -> str:
    """A text that changes with every change in the queue."""
    counted = select(GRADINGS.c.state, func.count(), func.max(GRADINGS.c.id))
    rows = connection.execute(counted.group_by(GRADINGS.c.state).order_by(GRADINGS.c.state))
    return "-".join(f"{state[0]}{count}.{last}" for state, count, last in rows)


def mean_seconds(connection: Connection) -> float | None:
    """The mean time of the recent gradings; None before the first."""
    took = (GRADINGS.c.ended_s - GRADINGS.c.started_s).label("took")
    recent = select(took).where(GRADINGS.c.state == State.DONE).order_by(GRADINGS.c.id.desc())
    return connection.scalar(select(func.avg(recent.limit(RECENT).subquery().c.took)))


def pack(text: str | None) -> bytes | None:
    return None if text is None else zlib.compress(text.encode("utf-8", "replace"), 6)


def unpack(packed: bytes | None) -> str | None:
    return None if packed is None else zlib.decompress(packed).decode()


def wall_clock() -> float:
    """Unix seconds: leases and deadlines are shared by processes and survive restarts."""
    return time.time()
