"""The first version. It changes nothing: `database.migrate` makes the tables of a new database. The
next version is the first with an `upgrade` from these tables."""

from __future__ import annotations

revision = "v0001"
down_revision = None


def upgrade() -> None:
    """The tables of this version exist."""
