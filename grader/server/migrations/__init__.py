"""The versions of the server's database, for Alembic."""
