"""Accounts: people, invitations, passwords, sessions, and the limit of failed sign-ins.

The database has only hashes: Argon2 of a password, SHA-256 of a random token.
"""

from __future__ import annotations

import hashlib
import json
import secrets
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from sqlalchemy import Connection, Select, Table, delete, func, insert, select, update
from sqlalchemy.exc import IntegrityError

from grader.errors import UsageError
from grader.lti import Member, Platform
from grader.server.records import Person, Role
from grader.server.tables import FAILURES, INVITATIONS, NOTES, PEOPLE, SESSIONS, add_row

SESSION_S = 7 * 86400.0
INVITATION_S = 30 * 86400.0
WINDOW_S = 600.0
"""Failed sign-ins are counted over this time."""
MOST_FAILURES = {"both": 5, "login": 50, "address": 100}
"""Most failed sign-ins of a login from one address, of a login, and of an address. A class may
share an address."""
MOST_GUESTS = 300
"""New guests from an address over this time: a lecture may share an address."""
NONCE = "nonce "
"""The notes of used nonces, with the times at which they end."""


def add_person(
    connection: Connection,
    name: str,
    login: str,
    *,
    role: Role = Role.STUDENT,
    student_id: str | None = None,
    row: Mapping[str, str] | None = None,
) -> int:
    """A new account without a password. UsageError if the login exists or is empty."""
    login = fold_login(login)
    if not login or len(login) > 200 or len(name) > 200:
        raise UsageError("a login needs 1 to 200 letters", "Use the person's e-mail address.")
    if connection.scalar(select(PEOPLE.c.id).where(PEOPLE.c.login == login)) is not None:
        raise UsageError(f"the login {login} exists already", "Use another login.")
    values = {"name": name, "login": login, "role": role, "student_id": student_id}
    return add_row(connection, PEOPLE, **values, row=json.dumps(dict(row or {})))


def enter_member(
    connection: Connection, platform: Platform, member: Member, row: Mapping[str, str]
) -> int:
    """The account of a member of a course platform, new at the first time. The platform decides
    name and role; `row` is added to the person's row."""
    login = f"lti-{digest(f'{platform.issuer} {member.subject}')[:20]}"
    role = Role.INSTRUCTOR if member.teaches else Role.STUDENT
    known = connection.execute(select(PEOPLE.c.id, PEOPLE.c.row).where(PEOPLE.c.login == login))
    if (found := known.first()) is None:
        return add_person(connection, member.name, login, role=role, row=row)
    values = {"name": member.name, "role": role, "row": json.dumps(json.loads(found.row) | {**row})}
    connection.execute(update(PEOPLE).where(PEOPLE.c.id == found.id).values(**values))
    return int(found.id)


def use_once(connection: Connection, nonce: str, now: float, *, seconds: float) -> None:
    """Keeps a nonce for this time. UsageError if it was used."""
    old = NOTES.c.name.startswith(NONCE) & (NOTES.c.value < f"{now:.0f}")
    connection.execute(delete(NOTES).where(old))
    values = {"name": f"{NONCE}{digest(nonce)}", "value": f"{now + seconds:.0f}"}
    try:
        connection.execute(insert(NOTES).values(**values))
    except IntegrityError as error:
        raise UsageError("this sign-in was used before", "Start it again.") from error


def update_row(connection: Connection, person_id: int, row: Mapping[str, str]) -> None:
    """Replaces the person's row of the roster."""
    query = update(PEOPLE).where(PEOPLE.c.id == person_id)
    connection.execute(query.values(row=json.dumps(dict(row))))


def remove_person(connection: Connection, person_id: int) -> None:
    """Removes a person with all attempts."""
    connection.execute(delete(PEOPLE).where(PEOPLE.c.id == person_id))


def read_people(connection: Connection, role: Role | None = None) -> list[Person]:
    """All people without guests, or those with a role, by name."""
    query = select(PEOPLE).order_by(PEOPLE.c.name, PEOPLE.c.id)
    query = query.where(PEOPLE.c.role != Role.GUEST if role is None else PEOPLE.c.role == role)
    return _read(connection, query)


def read_person(connection: Connection, person_id: int) -> Person | None:
    """The person with this id."""
    return next(iter(_read(connection, select(PEOPLE).where(PEOPLE.c.id == person_id))), None)


def invite(connection: Connection, person_id: int, now: float) -> str:
    """A new token for an invitation; the person's earlier tokens end."""
    connection.execute(delete(INVITATIONS).where(INVITATIONS.c.person_id == person_id))
    return _add_token(connection, INVITATIONS, person_id, now + INVITATION_S)


def accept(connection: Connection, person: Person, password_hash: str) -> None:
    """Sets the password; ends the person's invitations and sessions."""
    for table in (INVITATIONS, SESSIONS):
        connection.execute(delete(table).where(table.c.person_id == person.id))
    query = update(PEOPLE).where(PEOPLE.c.id == person.id)
    connection.execute(query.values(password=password_hash))


def read_password(connection: Connection, login: str) -> tuple[int, str] | None:
    """The id and the password's hash of a login."""
    query = select(PEOPLE.c.id, PEOPLE.c.password).where(PEOPLE.c.login == fold_login(login))
    row = connection.execute(query).first()
    return (row[0], row[1]) if row is not None and row[1] is not None else None


def find_limit(connection: Connection, login: str, address: str, now: float) -> float | None:
    """Seconds until this login or address may try again after too many failed sign-ins."""
    connection.execute(delete(FAILURES).where(FAILURES.c.at_s < now - WINDOW_S))
    for kind, key in _failure_keys(login, address).items():
        query = select(func.count(), func.min(FAILURES.c.at_s)).where(FAILURES.c.key == key)
        count, first = connection.execute(query).one()
        if count >= MOST_FAILURES[kind]:
            return float(first + WINDOW_S - now)
    return None


def count_failure(connection: Connection, login: str, address: str, now: float) -> None:
    """Counts a failed sign-in."""
    keys = _failure_keys(login, address).values()
    connection.execute(insert(FAILURES), [{"key": key, "at_s": now} for key in keys])


def _failure_keys(login: str, address: str) -> dict[str, str]:
    name = digest(fold_login(login))[:32]
    return {"both": f"{name} {address}", "login": name, "address": address}


def open_session(connection: Connection, person_id: int, now: float) -> str:
    """The cookie of a new session."""
    connection.execute(delete(SESSIONS).where(SESSIONS.c.expires_s < now))
    return _add_token(connection, SESSIONS, person_id, now + SESSION_S)


def add_guest(connection: Connection, address: str, now: float) -> str:
    """The cookie of a new guest; removes guests whose sessions have ended. UsageError if too many
    came from this address."""
    present = select(SESSIONS.c.person_id).where(SESSIONS.c.expires_s > now)
    ended = PEOPLE.c.id.not_in(present)
    connection.execute(delete(PEOPLE).where(PEOPLE.c.role == Role.GUEST, ended))
    key = f"guest {address}"
    recent = (FAILURES.c.key == key, FAILURES.c.at_s > now - WINDOW_S)
    if (connection.scalar(select(func.count()).where(*recent)) or 0) >= MOST_GUESTS:
        raise UsageError("too many guests came from your network", "Try again in 10 minutes.")
    connection.execute(insert(FAILURES).values(key=key, at_s=now))
    guest = add_person(connection, "Guest", f"guest-{secrets.token_hex(8)}", role=Role.GUEST)
    return open_session(connection, guest, now)


def close_session(connection: Connection, token: str) -> None:
    """Ends a session."""
    connection.execute(delete(SESSIONS).where(SESSIONS.c.token == digest(token)))


def digest(token: str) -> str:
    """The form of a token in the database."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def fold_login(login: str) -> str:
    """A login for comparison: without outer space, in lower case."""
    return login.strip().casefold()


def _add_token(connection: Connection, table: Table, person_id: int, expires_s: float) -> str:
    token = secrets.token_urlsafe(32)
    values = {"token": digest(token), "person_id": person_id, "expires_s": expires_s}
    connection.execute(insert(table).values(**values))
    return token


def find_person(connection: Connection, table: Table, token: str, now: float) -> Person | None:
    """The person of a token in INVITATIONS or SESSIONS; None if it is unknown, used or too old."""
    query = select(PEOPLE).join(table, table.c.person_id == PEOPLE.c.id)
    known = query.where(table.c.token == digest(token), table.c.expires_s > now)
    return next(iter(_read(connection, known)), None)


def _read(connection: Connection, query: Select[Any]) -> list[Person]:
    found = []
    for row in connection.execute(query).mappings():
        known = {**row, "row": json.loads(row["row"]), "is_active": row["password"] is not None}
        found.append(Person(**{each.name: known[each.name] for each in fields(Person)}))
    return found
