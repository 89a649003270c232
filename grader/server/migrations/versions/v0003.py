"""A grading waits in a queue: of the server, or of the workers with a GPU."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "v0003"
down_revision = "v0002"


def upgrade() -> None:
    """Earlier gradings were of the server's queue."""
    column = sa.Column("queue", sa.String(20), nullable=False, server_default="server")
    op.add_column("gradings", column)
