"""Opens the server's database and brings its tables to the newest version."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import Connection, Engine, create_engine, event, insert, inspect, select, update
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, IntegrityError, NoSuchModuleError, OperationalError

from grader.errors import GraderError, UsageError
from grader.server.tables import METADATA, NOTES

MIGRATIONS = Path(__file__).with_name("migrations")
BUSY_SECONDS = 20.0
"""SQLite has a single writer; the others wait up to this time."""


def open_database(url: str) -> Engine:
    """The database of a URL of SQLAlchemy. UsageError for an unknown kind or a missing driver."""
    try:
        parsed = make_url(url)
        if parsed.get_backend_name() == "sqlite":
            engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS})
            event.listen(engine, "connect", _prepare_sqlite)
            event.listen(engine, "begin", _begin_sqlite)
            return engine
        return create_engine(url, pool_pre_ping=True)
    except (ArgumentError, NoSuchModuleError, ModuleNotFoundError) as error:
        raise UsageError(
            f"the database {url!r} cannot be opened: {error}",
            "Use a URL such as postgresql+psycopg://USER@HOST/NAME (and pip install psycopg), or"
            " leave --database out.",
        ) from error


def migrate(engine: Engine) -> None:
    """Makes the newest tables in a new database, or changes the tables of an earlier version
    (Alembic's cookbook, "Building an Up to Date Database from Scratch"). GraderError if the
    database does not answer."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    try:
        with engine.begin() as connection:
            config.attributes["connection"] = connection
            if inspect(connection).has_table(NOTES.name):
                command.upgrade(config, "head")
            else:
                METADATA.create_all(connection)
                command.stamp(config, "head")
    except OperationalError as error:
        raise GraderError(
            f"the database does not answer: {error.orig}",
            "Check that it runs, and that --database or --data names it.",
        ) from error


def read_note(connection: Connection, name: str, make: Callable[[], str]) -> str:
    """A value that is made once and kept. Two processes that start together read the same value."""
    query = select(NOTES.c.value).where(NOTES.c.name == name)
    known = connection.scalar(query)
    if known is not None:
        return str(known)
    try:
        with connection.begin_nested():
            connection.execute(insert(NOTES).values(name=name, value=make()))
    except IntegrityError:
        pass
    return str(connection.scalar(query))


def write_note(connection: Connection, name: str, value: str) -> None:
    """Keeps a value instead of the earlier value."""
    read_note(connection, name, lambda: value)
    connection.execute(update(NOTES).where(NOTES.c.name == name).values(value=value))


def read_secret(connection: Connection, name: str) -> bytes:
    """A secret of this course, drawn at its first use."""
    return bytes.fromhex(read_note(connection, name, lambda: secrets.token_hex(32)))


def _prepare_sqlite(connection: object, _: object) -> None:
    """Readers and a writer at the same time; a committed row survives a power cut."""
    connection.isolation_level = None  # type: ignore[attr-defined]  # `_begin_sqlite` begins
    for setting in ("journal_mode = WAL", "synchronous = FULL", "foreign_keys = ON"):
        connection.execute(f"PRAGMA {setting}")  # type: ignore[attr-defined]


def _begin_sqlite(connection: Connection) -> None:
    """A writing transaction waits for its turn. SQLite would refuse it at once after a read."""
    writes = connection.get_execution_options().get("writes", True)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
