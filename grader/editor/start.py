"""The start of the child process that grades: the server, which only names this function, does not
load the modules of a grading."""

from __future__ import annotations

from multiprocessing.connection import Connection


def serve(connection: Connection) -> None:
    """Answer one job over the connection, then end."""
    from grader.editor.child import answer_job

    answer_job(connection)
