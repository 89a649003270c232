"""Attempts of students, their verdicts, and what an instructor adds: deadlines, comments, and
points that replace the grader's."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, Table, func, insert, select, update

from grader.errors import UsageError
from grader.server import queue
from grader.server.records import Assignment, Attempt, Comment, Override, Queue, Standing, State
from grader.server.tables import (
    ASSIGNMENTS,
    ATTEMPTS,
    COMMENTS,
    GRADINGS,
    OVERRIDES,
    PEOPLE,
    add_row,
)

MAX_SOURCE_BYTES = 1 << 18
T = TypeVar("T", Attempt, Override)


def add_attempt(
    connection: Connection, person_id: int, exercise: str, source: str, *, now: float
) -> int:
    """Keeps a source text and puts its grading into the queue. UsageError for a text that is too
    long, and for a person with too many waiting gradings."""
    encoded = source.encode("utf-8", "replace")
    if len(encoded) > MAX_SOURCE_BYTES:
        message = f"a file has at most {MAX_SOURCE_BYTES // 1024} KiB"
        raise UsageError(message, "Remove data and comments that the kernel does not need.")
    if "\0" in source:
        raise UsageError("this is not a text: it contains a zero byte", "Choose a .cu file.")
    if queue.count_waiting(connection, person_id) >= queue.MOST_WAITING:
        message = f"{queue.MOST_WAITING} of your attempts wait to be graded"
        raise UsageError(message, "Wait until some of them are graded.")
    text = {"source": source, "sha256": hashlib.sha256(encoded).hexdigest()}
    values = {"person_id": person_id, "exercise": exercise, "created_s": now}
    attempt_id = add_row(connection, ATTEMPTS, **values, **text)
    queue.add_grading(connection, (attempt_id, person_id), now)
    return attempt_id


def submit(connection: Connection, attempt: Attempt, rules: Assignment, now: float) -> None:
    """Submits an attempt. UsageError after the deadline."""
    if rules.deadline_s is not None and now > rules.deadline_s:
        raise UsageError("the deadline has passed", "Ask your instructor.")
    query = update(ATTEMPTS).where(ATTEMPTS.c.id == attempt.id)
    connection.execute(query.values(submitted_s=now))


def grade_again(
    connection: Connection, attempts: Iterable[Attempt], now: float, *, what_if: bool = False
) -> None:
    """Puts attempts that do not wait into the queue of their latest grading again, at no cost of
    the GPU quota."""
    for each in (attempt for attempt in attempts if attempt.is_done):
        owner = (each.id, each.person_id)
        queue.add_grading(connection, owner, now, what_if=what_if, queue=each.queue)


def try_fixes(connection: Connection, attempt: Attempt, quota: int, now: float) -> None:
    """Grades an attempt again for its student, with fixes. On a GPU this counts."""
    if attempt.queue is Queue.GPU:
        send_to_gpu(connection, attempt, quota, now, what_if=True)
    else:
        grade_again(connection, [attempt], now, what_if=True)


def send_to_gpu(
    connection: Connection, attempt: Attempt, quota: int, now: float, *, what_if: bool = False
) -> None:
    """Puts an attempt into the queue of the GPU. UsageError if it waits to be graded, or if the
    student's quota is used."""
    person = select(PEOPLE.c.id).where(PEOPLE.c.id == attempt.person_id)
    connection.execute(person.with_for_update())  # two requests are counted one after the other
    if not attempt.is_done:
        raise UsageError("this attempt waits to be graded", "Wait for its verdict.")
    if queue.count_on_gpu(connection, attempt.person_id, now) >= quota:
        message = f"you sent {quota} attempts to the GPU in the last 24 hours"
        raise UsageError(message, "Try again tomorrow, or grade without the GPU.")
    owner, gpu = (attempt.id, attempt.person_id), Queue.GPU
    queue.add_grading(connection, owner, now, what_if=what_if, queue=gpu, charged=True)


def read_attempts(
    connection: Connection,
    *,
    attempt_id: int | None = None,
    person_id: int | None = None,
    exercise: str | None = None,
) -> list[Attempt]:
    """Attempts by age, the newest last."""
    newest = func.max(GRADINGS.c.id)
    of_attempt = select(
        GRADINGS.c.attempt_id,
        newest.label("latest_id"),
        newest.filter(GRADINGS.c.state == State.DONE).label("verdict_id"),
    ).group_by(GRADINGS.c.attempt_id)
    # The outer query repeats the conditions, and no database moves them inside.
    inner = _conditions(GRADINGS, attempt_id=attempt_id, person_id=person_id)
    latest = of_attempt.where(*inner).subquery()
    now, judged = GRADINGS.alias("now"), GRADINGS.alias("judged")
    own = (*(each for each in ATTEMPTS.c if each.name != "source"), now.c.state, now.c.queue)
    grading = (latest.c.latest_id.label("grading_id"), latest.c.verdict_id)
    verdict = (judged.c.status, judged.c.points, judged.c.full)
    query = (
        select(*own, *grading, *verdict, func.coalesce(judged.c.message, "").label("message"))
        .join(latest, latest.c.attempt_id == ATTEMPTS.c.id)
        .join(now, now.c.id == latest.c.latest_id)
        .join(judged, judged.c.id == latest.c.verdict_id, isouter=True)
        .order_by(ATTEMPTS.c.id)
    )
    given = _conditions(ATTEMPTS, id=attempt_id, person_id=person_id, exercise=exercise)
    return [Attempt(**row) for row in connection.execute(query.where(*given)).mappings()]


def _conditions(table: Table, **wanted: object) -> list[ColumnElement[bool]]:
    """Equal to each wanted value; None stands for any."""
    return [table.c[name] == value for name, value in wanted.items() if value is not None]


def read_attempt(connection: Connection, attempt_id: int) -> Attempt | None:
    """The attempt with this id."""
    return next(iter(read_attempts(connection, attempt_id=attempt_id)), None)


def read_source(connection: Connection, attempt_id: int) -> str:
    """The source text of an attempt."""
    return str(connection.scalar(select(ATTEMPTS.c.source).where(ATTEMPTS.c.id == attempt_id)))


def read_kept(connection: Connection, attempt: Attempt, column: str) -> str | None:
    """A text of the latest verdict: `score`, `shown` or `page`."""
    query = select(GRADINGS.c[column]).where(GRADINGS.c.id == attempt.verdict_id)
    packed = connection.scalar(query)
    return None if packed is None else zlib.decompress(packed).decode()


def read_rules(connection: Connection, exercise: str) -> Assignment:
    """The rules of an exercise; by default no deadline, and the last submission counts."""
    return read_all_rules(connection, [exercise])[exercise]


def read_all_rules(connection: Connection, exercises: Iterable[str]) -> dict[str, Assignment]:
    """The rules of these exercises."""
    rules = {exercise: Assignment(exercise) for exercise in exercises}
    query = select(ASSIGNMENTS).where(ASSIGNMENTS.c.exercise.in_(rules))
    for row in connection.execute(query).mappings():
        rules[row["exercise"]] = Assignment(**row)
    return rules


def write_rules(connection: Connection, rules: Assignment) -> None:
    """Replaces the rules of an exercise."""
    query = update(ASSIGNMENTS).where(ASSIGNMENTS.c.exercise == rules.exercise)
    if connection.execute(query.values(**vars(rules))).rowcount == 0:
        connection.execute(insert(ASSIGNMENTS).values(**vars(rules)))


def add_comment(
    connection: Connection, attempt_id: int, author: str, line: int, text: str, *, now: float
) -> None:
    """Adds a comment on a line."""
    if not text.strip() or len(text) > 5000 or not 1 <= line <= 100_000:
        raise UsageError("a comment needs a line and 1 to 5,000 letters", "Complete the form.")
    values = {"attempt_id": attempt_id, "author": author, "line": line, "text": text.strip()}
    add_row(connection, COMMENTS, **values, created_s=now)


def read_comments(connection: Connection, attempt_id: int) -> list[Comment]:
    """The comments on an attempt by line."""
    query = _select(Comment, COMMENTS).where(COMMENTS.c.attempt_id == attempt_id)
    rows = connection.execute(query.order_by(COMMENTS.c.line, COMMENTS.c.id)).mappings()
    return [Comment(**row) for row in rows]


def add_override(connection: Connection, override: Override) -> None:
    """Adds an instructor's decision; the earlier ones stay in the history."""
    if not override.reason.strip():
        raise UsageError("an override needs a reason", "Write it for the student.")
    kept = replace(override, reason=override.reason.strip()[:2000])
    add_row(connection, OVERRIDES, **vars(kept))


def read_standings(
    connection: Connection, exercises: Sequence[str], *, person_id: int | None = None
) -> Callable[[int, str], Standing]:
    """Finds the standing of a person, by default of any person, at one of these exercises."""
    rules = read_all_rules(connection, exercises)
    only = exercises[0] if len(exercises) == 1 else None
    attempts = _by_student(read_attempts(connection, person_id=person_id, exercise=only))
    given = _conditions(OVERRIDES, person_id=person_id, exercise=only)
    query = _select(Override, OVERRIDES).where(*given).order_by(OVERRIDES.c.id)
    decisions = _by_student(Override(**row) for row in connection.execute(query).mappings())

    def find(person: int, exercise: str) -> Standing:
        key = (person, exercise)
        return Standing(rules[exercise], attempts.get(key, ()), decisions.get(key, ()))

    return find


def _by_student(records: Iterable[T]) -> dict[tuple[int, str], list[T]]:
    """Attempts or decisions by person and exercise, in their order."""
    found: dict[tuple[int, str], list[T]] = {}
    for each in records:
        found.setdefault((each.person_id, each.exercise), []).append(each)
    return found


def _select(record: type[Comment | Override], table: Table) -> Select[Any]:
    """The columns of the fields of a record."""
    return select(*(table.c[each.name] for each in fields(record)))
