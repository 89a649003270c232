"""Runs the migrations on the connection of `database.migrate`."""

from __future__ import annotations

from alembic import context

from grader.server.tables import METADATA

context.configure(connection=context.config.attributes["connection"], target_metadata=METADATA)
with context.begin_transaction():
    context.run_migrations()
