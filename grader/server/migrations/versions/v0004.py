"""A grading on a GPU counts against the quota if the student asked for it."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "v0004"
down_revision = "v0003"


def upgrade() -> None:
    """Earlier gradings on a GPU count."""
    column = sa.Column("charged", sa.Boolean, nullable=False, server_default=sa.false())
    op.add_column("gradings", column)
    gradings = sa.table("gradings", sa.column("queue"), sa.column("charged"))
    op.execute(sa.update(gradings).where(gradings.c.queue == "gpu").values(charged=sa.true()))
