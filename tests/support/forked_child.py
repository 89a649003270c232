"""A fork of this process in the place of a child that Python starts anew: it does not import the
grader again, which takes a second.

For tests whose subject is what becomes of a child's answers and of its end. That a child starts, and
takes only what it is given, is tested where the real one is: tests/plumbing/test_children.py,
tests/batch/test_kills.py.
"""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable
from multiprocessing.connection import Connection


class ForkedChild:
    """Takes the place of grader.plumbing.children.Child; `serve` is pickled as well, and the output
    is always discarded."""

    def __init__(self, serve: Callable[[Connection], None], *, quiet: bool = False) -> None:
        ours, theirs = socket.socketpair()
        self.connection = Connection(ours.detach())
        self.connection.send(serve)
        self._pid = os.fork()
        if self._pid == 0:
            self.connection.close()
            _serve(Connection(theirs.detach()))
        theirs.close()
        self._code: int | None = None

    @property
    def has_ended(self) -> bool:
        return self._ended(os.WNOHANG) is not None

    def wait(self) -> int:
        code = self._ended(0)
        assert code is not None
        return code

    def dismiss(self) -> None:
        self.kill()  # a later fork holds our end of the connection, too

    def kill(self) -> None:
        if not self.has_ended:
            os.kill(self._pid, signal.SIGKILL)
        self.wait()
        self.connection.close()

    def _ended(self, options: int) -> int | None:
        if self._code is None:
            pid, status = os.waitpid(self._pid, options)
            self._code = os.waitstatus_to_exitcode(status) if pid else None
        return self._code


def _serve(own_end: Connection) -> None:
    code = 1
    try:
        null = os.open(os.devnull, os.O_RDWR)
        for standard in range(3):
            os.dup2(null, standard)
        own_end.recv()(own_end)
        code = 0
    finally:
        os._exit(code)  # not pytest's own end
