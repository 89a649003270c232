"""A grading can try fixes of its attempt."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "v0002"
down_revision = "v0001"


def upgrade() -> None:
    """Earlier gradings have tried none."""
    column = sa.Column("what_if", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("gradings", column)
