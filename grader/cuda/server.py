"""The server of the emulated device: a process that listens for programs, and forks a session for
each connection. `python -m grader.cuda.server --socket-fd N` is the session of one connected
socket."""

from __future__ import annotations

import argparse
import contextlib
import os
import select
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from grader.cuda.settings import Settings as Settings
from grader.cuda.settings import read_settings
from grader.sandbox.launch import end_with_parent

MOST_SESSIONS = 64
"""At a time; further programs wait for their connection."""
END_SECONDS = 30.0
"""For the records of sessions after the end of the program."""
KERNEL_SECONDS = 5.0
"""For a kernel that runs when its program has ended."""
_POLL_SECONDS = 0.05
_CREDENTIALS = struct.Struct("3i")
_FAILED = "The session on the emulated device failed"


@contextmanager
def start_server(settings: Settings) -> Iterator[Path]:
    """Starts a server, and yields the path of its socket. At the end, waits until all sessions have
    written their records."""
    with tempfile.TemporaryDirectory(prefix="grader-cuda-") as folder:
        path = Path(folder) / "socket"
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listener.bind(str(path))
        listener.listen(MOST_SESSIONS)
        stopped, stop = os.pipe()
        server = os.fork()
        if server == 0:
            os.close(stop)
            _run_to_end(lambda: _Server(settings, listener, stopped).serve())
        listener.close()
        os.close(stopped)
        try:
            yield path
        finally:
            os.close(stop)
            os.waitpid(server, 0)


def _run_to_end(act: Callable[[], None]) -> None:
    """Runs a forked process to its end: it never returns to the caller's code. It ends with the
    process that forked it, even while a kernel runs."""
    end_with_parent()
    status = 1
    try:
        act()
        status = 0
    except KeyboardInterrupt:  # Ctrl-C and signals also reach the command, which reports them
        status = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stderr.flush()
        os._exit(status)


@dataclass
class _Server:
    """A listening server. `stopped` is a pipe that ends when the run ends; `sessions` maps the
    process of each session to the process of its program."""

    settings: Settings
    listener: socket.socket
    stopped: int
    sessions: dict[int, int] = field(default_factory=dict)

    def serve(self) -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends the program, and then the session
        _load()
        while not self._is_over():
            self._reap()
            waiting = [self.stopped]
            if len(self.sessions) < MOST_SESSIONS:
                waiting.append(self.listener.fileno())
            ready, _, _ = select.select(waiting, [], [], _POLL_SECONDS)
            if self.listener.fileno() in ready:
                self._accept()
        end = time.monotonic() + END_SECONDS
        while self.sessions and time.monotonic() < end:
            self._reap()
            time.sleep(0.001)
        for process in self.sessions:
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)

    def _is_over(self) -> bool:
        ready, _, _ = select.select([self.stopped], [], [], 0)
        return bool(ready)

    def _accept(self) -> None:
        connection, _ = self.listener.accept()
        program = _peer_of(connection)
        process = os.fork()
        if process == 0:
            self.listener.close()
            os.close(self.stopped)
            _run_to_end(lambda: run_session(self.settings, connection))
        connection.close()
        self.sessions[process] = program

    def _reap(self) -> None:
        """Forgets sessions that have ended; writes the record of a session that failed."""
        for process, program in list(self.sessions.items()):
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                del self.sessions[process]
                if status != 0 and self.settings.folder is not None:
                    _record_failure(self.settings, program, status)


def run_session(settings: Settings, connection: socket.socket) -> None:
    """Executes the messages of a program until it ends."""
    from grader.cuda.channel import Channel
    from grader.cuda.serving import serve
    from grader.cuda.session import Session

    session = Session(settings, Channel(connection))
    threading.Thread(target=_watch, args=(session, connection), daemon=True).start()
    serve(session)


def _watch(session: object, connection: socket.socket) -> None:
    """Ends this process some seconds after the program, even if a kernel still runs."""
    from grader.cuda.session import Session

    assert isinstance(session, Session)
    poll = select.poll()
    poll.register(connection.fileno(), 0)  # reports the end of the connection alone
    poll.poll()
    time.sleep(KERNEL_SECONDS)
    session.ended.problem = "a kernel did not end before the program"
    session.finish()
    os._exit(0)


def _load() -> None:
    """Loads all code that a session needs, so that it starts at once."""
    from grader.cuda import serving
    from grader.devices.emulated.runtime import emulator_runtime

    assert serving
    emulator_runtime()


def _peer_of(connection: socket.socket) -> int:
    """The process at the other end."""
    data = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(data)[0])


def _record_failure(settings: Settings, program: int, status: int) -> None:
    from grader.cuda.session_record import write_record
    from grader.records import SessionRecord

    number = os.waitstatus_to_exitcode(status)
    how = f"signal {-number}" if number < 0 else f"exit code {number}"
    assert settings.folder is not None
    write_record(
        settings.folder, SessionRecord(program, settings.gpu, problem=f"{_FAILED} ({how})")
    )


def main() -> None:
    """The session of a socket that the driver library made."""
    parser = argparse.ArgumentParser(prog="grader.cuda.server")
    parser.add_argument("--socket-fd", type=int, required=True)
    connection = socket.socket(fileno=parser.parse_args().socket_fd)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    run_session(read_settings(os.environ), connection)


if __name__ == "__main__":
    main()
