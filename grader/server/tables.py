"""The tables of the server's database. A change needs a version in `migrations/`."""

from __future__ import annotations

from enum import StrEnum

import sqlalchemy as sa
from sqlalchemy import Column, Float, Index, Integer, String, Table, Text

from grader.server.records import Counting, Queue, Role, State

METADATA = sa.MetaData()


def add_row(connection: sa.Connection, table: Table, **values: object) -> int:
    """Inserts a row; returns its id."""
    added = connection.execute(sa.insert(table).values(**values)).inserted_primary_key
    assert added is not None
    return int(added[0])


def _numbered(name: str, *columns: sa.schema.SchemaItem) -> Table:
    """A table whose rows have ids."""
    return Table(name, METADATA, Column("id", Integer, primary_key=True), *columns)


def _choice(kind: type[StrEnum]) -> sa.Enum:
    """A text that is read as a member of a closed set."""
    return sa.Enum(kind, native_enum=False, length=20, values_callable=lambda each: [*each])


def _of(table: str) -> sa.ForeignKey:
    return sa.ForeignKey(f"{table}.id", ondelete="CASCADE")


PEOPLE = _numbered(
    "people",
    Column("name", String(200), nullable=False),
    Column("login", String(200), nullable=False, unique=True),
    Column("role", _choice(Role), nullable=False),
    Column("student_id", String(200)),
    Column("row", Text, nullable=False),
    Column("password", String(200)),
)
INVITATIONS, SESSIONS = (
    Table(
        name,
        METADATA,
        Column("token", String(64), primary_key=True),  # SHA-256 of the link's token or the cookie
        Column("person_id", Integer, _of("people"), nullable=False),
        Column("expires_s", Float, nullable=False),
    )
    for name in ("invitations", "sessions")
)
FAILURES = _numbered(
    "failures",
    Column("key", String(300), nullable=False, index=True),
    Column("at_s", Float, nullable=False),
)
ASSIGNMENTS = Table(
    "assignments",
    METADATA,
    Column("exercise", String(200), primary_key=True),
    Column("deadline_s", Float),
    Column("counting", _choice(Counting), nullable=False),
    Column("visible", sa.Boolean, nullable=False),
)
ATTEMPTS = _numbered(
    "attempts",
    Column("person_id", Integer, _of("people"), nullable=False),
    Column("exercise", String(200), nullable=False),
    Column("source", Text, nullable=False),
    Column("sha256", String(64), nullable=False),
    Column("created_s", Float, nullable=False),
    Column("submitted_s", Float),
    Index("attempts_of", "person_id", "exercise"),
)
GRADINGS = _numbered(
    "gradings",
    Column("attempt_id", Integer, _of("attempts"), nullable=False, index=True),
    Column("person_id", Integer, _of("people"), nullable=False, index=True),
    Column("state", _choice(State), nullable=False),
    Column("what_if", sa.Boolean, nullable=False, server_default=sa.false()),  # it tries fixes too
    Column("queue", _choice(Queue), nullable=False, server_default=Queue.SERVER.value),
    Column("charged", sa.Boolean, nullable=False, server_default=sa.false()),  # to the GPU quota
    Column("turn", Integer, nullable=False),  # gradings start in the order of (turn, id): queue.py
    Column("tries", Integer, nullable=False),
    Column("lease_s", Float),  # until then a worker has it
    Column("stage", String(200), nullable=False),
    Column("queued_s", Float, nullable=False),
    Column("started_s", Float),
    Column("ended_s", Float),
    Column("status", String(40)),
    Column("message", Text, nullable=False),
    Column("points", Float),
    Column("full", Float),
    Column("score", sa.LargeBinary),  # compressed JSON, with the secret seed: for no browser
    Column("shown", sa.LargeBinary),
    Column("page", sa.LargeBinary),
    Index("gradings_queue", "state", "turn"),
)
COMMENTS = _numbered(
    "comments",
    Column("attempt_id", Integer, _of("attempts"), nullable=False, index=True),
    Column("author", String(200), nullable=False),  # a name: it stays when the account is removed
    Column("line", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("created_s", Float, nullable=False),
)
OVERRIDES = _numbered(
    "overrides",
    Column("person_id", Integer, _of("people"), nullable=False),
    Column("exercise", String(200), nullable=False),
    Column("points", Float),
    Column("reason", Text, nullable=False),
    Column("author", String(200), nullable=False),  # a name: it stays when the account is removed
    Column("created_s", Float, nullable=False),
    Index("overrides_of", "person_id", "exercise"),
)
NOTES = Table(
    "notes",
    METADATA,
    Column("name", String(100), primary_key=True),
    Column("value", Text, nullable=False),
)
