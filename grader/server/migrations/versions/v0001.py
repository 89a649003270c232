"""The first version changes nothing: `database.migrate` makes the tables of a new database."""

from __future__ import annotations

revision = "v0001"
down_revision = None


def upgrade() -> None:
    """The tables of this version exist."""
