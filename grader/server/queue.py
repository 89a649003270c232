"""The queue of gradings in the database: turns, leases and estimates of waiting times.

Fair queueing (Goyal, Vin and Cheng, "Start-time Fair Queuing", 1996) with gradings of equal size: a
grading gets the turn `max(turn of the latest started grading, last turn of the person + 1)`, and
gradings start in the order of their turns. So fifty attempts of a student wait for each other, and
another student's attempt starts after at most one of them.

A worker holds a grading for the time of a lease, and renews it. If a worker ends, its lease runs
out, and another worker takes the grading. Leases are in Unix seconds: processes share them.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Iterable

from sqlalchemy import ColumnElement, Connection, and_, func, or_, select, update

from grader.report.verdicts import Verdict
from grader.server.records import Place, Queue, State, Work
from grader.server.tables import ATTEMPTS, GRADINGS, add_row
from grader.statuses import Status

LEASE_S = 20.0
RENEW_S = 5.0
RECENT = 20
"""Gradings whose mean time predicts the next."""
_FREE = {"state": State.WAITING, "lease_s": None, "stage": ""}
DAY_S = 86400.0
FAULT = Status.GRADER_ERROR.value
MOST_WAITING = 100
"""Gradings of a person in the queue."""


def add_grading(
    connection: Connection,
    owner: tuple[int, int],
    now: float,
    *,
    what_if: bool = False,
    queue: Queue = Queue.SERVER,
    charged: bool = False,
) -> int:
    """Puts a grading at the end of the person's turns in a queue; returns its id. `owner`: the ids
    of attempt and person; `what_if`: it tries fixes too; `charged`: to the GPU quota."""
    attempt_id, person_id = owner
    turns = select(func.max(GRADINGS.c.turn)).where(GRADINGS.c.queue == queue)
    started = connection.scalar(turns.where(GRADINGS.c.state != State.WAITING))
    last = connection.scalar(turns.where(GRADINGS.c.person_id == person_id))
    turn = max(started or 0, 0 if last is None else last + 1)
    own = {"attempt_id": attempt_id, "person_id": person_id, "what_if": what_if, "queue": queue}
    own["charged"] = charged
    place = {"state": State.WAITING, "turn": turn, "tries": 0, "queued_s": now}
    return add_row(connection, GRADINGS, **own, **place, stage="", message="")


def count_waiting(connection: Connection, person_id: int) -> int:
    """The person's gradings without a verdict."""
    return _count(connection, GRADINGS.c.person_id == person_id, GRADINGS.c.state != State.DONE)


def count_on_gpu(connection: Connection, person_id: int, now: float) -> int:
    """The gradings on a GPU that the person asked for in the last 24 hours, without faults of the
    machine."""
    own = (GRADINGS.c.person_id == person_id, GRADINGS.c.charged)
    recent = (GRADINGS.c.queued_s > now - DAY_S, GRADINGS.c.status.is_distinct_from(FAULT))
    return _count(connection, *own, *recent)


def _count(connection: Connection, *conditions: ColumnElement[bool]) -> int:
    return connection.scalar(select(func.count()).where(*conditions)) or 0


def has_work(connection: Connection, now: float, queue: Queue = Queue.SERVER) -> bool:
    """Whether a grading can be taken. A question takes no lock, unlike `take`."""
    query = select(GRADINGS.c.id).where(*_is_free(now, queue)).limit(1)
    return connection.scalar(query) is not None


def take(connection: Connection, now: float, queue: Queue = Queue.SERVER) -> Work | None:
    """Takes the next grading: a waiting grading, or a grading whose worker has ended."""
    free = select(GRADINGS.c.id).where(*_is_free(now, queue))
    first = free.order_by(GRADINGS.c.turn, GRADINGS.c.id).limit(1).with_for_update(skip_locked=True)
    grading_id = connection.scalar(first)
    if grading_id is None:
        return None
    taken = {"state": State.RUNNING, "lease_s": now + LEASE_S, "started_s": now, "stage": ""}
    own = update(GRADINGS).where(GRADINGS.c.id == grading_id)
    connection.execute(own.values(**taken, tries=GRADINGS.c.tries + 1))
    fields = (ATTEMPTS.c.exercise, ATTEMPTS.c.source, ATTEMPTS.c.sha256, GRADINGS.c.tries)
    joined = select(*fields).join(GRADINGS, GRADINGS.c.attempt_id == ATTEMPTS.c.id)
    return Work(grading_id, *connection.execute(joined.where(GRADINGS.c.id == grading_id)).one())


def _is_free(now: float, queue: Queue) -> tuple[ColumnElement[bool], ...]:
    lost = and_(GRADINGS.c.state == State.RUNNING, GRADINGS.c.lease_s < now)
    return GRADINGS.c.queue == queue, or_(GRADINGS.c.state == State.WAITING, lost)


def tries_fixes(connection: Connection, grading_id: int) -> bool:
    """Whether a grading also tries fixes."""
    return bool(connection.scalar(select(GRADINGS.c.what_if).where(GRADINGS.c.id == grading_id)))


def _held(work: Work) -> tuple[ColumnElement[bool], ...]:
    """Of the grading, if its worker still has it: each taking counts a try."""
    own = (GRADINGS.c.id == work.grading_id, GRADINGS.c.tries == work.tries)
    return *own, GRADINGS.c.state == State.RUNNING


def renew(connection: Connection, running: Iterable[Work], now: float) -> None:
    """Extends the leases of running gradings."""
    for work in running:
        query = update(GRADINGS).where(*_held(work))
        connection.execute(query.values(lease_s=now + LEASE_S))


def release_all(connection: Connection, queue: Queue) -> None:
    """Returns running gradings to their queue, without a count of the try: their worker ended."""
    running = (GRADINGS.c.state == State.RUNNING, GRADINGS.c.queue == queue)
    query = update(GRADINGS).where(*running)
    connection.execute(query.values(**_FREE, tries=GRADINGS.c.tries - 1))


def put_back(connection: Connection, work: Work) -> None:
    """Returns a grading to its place in the queue."""
    connection.execute(update(GRADINGS).where(*_held(work)).values(**_FREE))


def keep_stage(connection: Connection, grading_id: int, stage: str) -> None:
    """Keeps the running step of a grading."""
    query = update(GRADINGS).where(GRADINGS.c.id == grading_id, GRADINGS.c.state == State.RUNNING)
    connection.execute(query.values(stage=stage[:200]))


def finish(connection: Connection, work: Work, verdict: Verdict, now: float) -> None:
    """Keeps a verdict, unless the lease was lost and another worker has it."""
    values = {**vars(verdict), "state": State.DONE, "lease_s": None, "stage": "", "ended_s": now}
    for name in ("score", "shown", "page"):
        text = values[name]
        values[name] = text and zlib.compress(text.encode("utf-8", "replace"))
    connection.execute(update(GRADINGS).where(*_held(work)).values(**values))


def read_places(connection: Connection) -> dict[int, Place]:
    """The places of all waiting and running gradings by id, each in its queue. The workers of other
    machines are unknown: the running gradings are their number while others wait. No time is
    expected of a GPU, because the recent gradings were on another device."""
    query = (
        select(GRADINGS.c.id, GRADINGS.c.state, GRADINGS.c.stage, GRADINGS.c.queue)
        .where(GRADINGS.c.state != State.DONE)
        .order_by(GRADINGS.c.state, GRADINGS.c.turn, GRADINGS.c.id)  # "running" before "waiting"
    )
    rows = connection.execute(query).all()
    took = (GRADINGS.c.ended_s - GRADINGS.c.started_s).label("took")
    ended = select(took).where(GRADINGS.c.state == State.DONE).order_by(GRADINGS.c.id.desc())
    seconds = connection.scalar(select(func.avg(ended.limit(RECENT).subquery().c.took)))
    places, before = {}, Counter[Queue]()
    workers = sum(row.state is State.RUNNING and row.queue is Queue.SERVER for row in rows)
    for grading_id, state, stage, queue in rows:
        ahead = before[queue]
        before[queue] += 1
        known = seconds is not None and queue is Queue.SERVER
        wait_s = (ahead // max(1, workers) + 1) * seconds if known and seconds else None
        waiting = Place(State.WAITING, ahead, wait_s)
        places[grading_id] = Place(state, stage=stage) if state is State.RUNNING else waiting
    return places


def read_version(connection: Connection) -> str:
    """A text that changes with every change in the queue."""
    counted = select(GRADINGS.c.state, func.count(), func.max(GRADINGS.c.id))
    rows = connection.execute(counted.group_by(GRADINGS.c.state).order_by(GRADINGS.c.state))
    return "-".join(f"{state[0]}{count}.{last}" for state, count, last in rows)
