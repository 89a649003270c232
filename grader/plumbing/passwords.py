"""Hashes of passwords (Argon2). It needs the extra `server`."""

from __future__ import annotations

import functools
import secrets
import threading

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from grader.errors import UsageError

FEWEST_LETTERS, MOST_LETTERS = 10, 200
_HASHER = PasswordHasher()
_HASHING = threading.BoundedSemaphore(4)
"""A hash takes 64 MiB: many sign-ins at once must not fill the memory."""


def hash_password(password: str) -> str:
    """The Argon2 hash of a password. UsageError for one that is too short or too long."""
    if not FEWEST_LETTERS <= len(password) <= MOST_LETTERS:
        message = f"a password has {FEWEST_LETTERS} to {MOST_LETTERS} letters"
        raise UsageError(message, "Three or four words are a good password.")
    with _HASHING:
        return _HASHER.hash(password)


def fits(password: str, known: str | None) -> bool:
    """Whether a password has the known hash. Takes the same time without a known hash."""
    try:
        with _HASHING:
            matches = _HASHER.verify(known or _hash_of_nothing(), password)
    except (VerificationError, InvalidHashError):
        return False
    return matches and known is not None


@functools.cache
def _hash_of_nothing() -> str:
    """Compared for an unknown login, so that the time of an answer does not show who exists."""
    return _HASHER.hash(secrets.token_hex(16))
