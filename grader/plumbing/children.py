"""Child processes: what of the environment they get, how they end, and Python children that answer
for their parent.

`python -m grader.plumbing.children FD` is such a child. multiprocessing has none that fit: a daemon
of its (a Dask worker) may have no children, and a pool of concurrent.futures is lost with the first
of its processes that dies.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from pathlib import Path

_DRIVER_VARIABLES = ("LD_LIBRARY_PATH", "CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_ORDER")
"""What of the environment decides which driver and which GPUs a process sees."""
_END_SECONDS = 5.0


def python_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """What a Python child needs to find what this process finds, and the same GPUs; nothing else of
    the environment."""
    package_root = Path(__file__).resolve().parents[2]
    return {name: environ[name] for name in _DRIVER_VARIABLES if name in environ} | {
        "PYTHONPATH": os.pathsep.join([str(package_root), *filter(None, sys.path)]),
        "PYTHONSAFEPATH": "1",
    }


def kill_group(group: int) -> None:
    """End all of a process group at once, if there is any of it left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def cpu_seconds_of(pid: int) -> float:
    """The processor time of a process, its living descendants, and those that they waited for."""
    fields: dict[int, list[str]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it has just ended
            fields[int(path.parent.name)] = path.read_text().rpartition(")")[2].split()
    family = {pid}
    while more := {child for child, each in fields.items() if int(each[1]) in family} - family:
        family |= more
    ticks = sum(int(ticks) for each in family & fields.keys() for ticks in fields[each][11:15])
    return ticks / os.sysconf("SC_CLK_TCK")


def end_with_parent(connection: int) -> None:
    """From now on, end this process at once when the other end of a socket is closed, whatever it
    does then."""

    def watch() -> None:
        poll = select.poll()
        poll.register(connection, 0)  # hang-ups are told unasked
        while not any(event & select.POLLHUP for _, event in poll.poll()):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


class Child:
    """A Python process of the grader's own that runs `serve` with its end of `connection`, over
    which objects are pickled; `serve` must be picklable, too. It ends with this process.

    `quiet`: what it prints is thrown away.
    """

    def __init__(self, serve: Callable[[Connection], None], *, quiet: bool = False) -> None:
        ours, theirs = socket.socketpair()
        output = subprocess.DEVNULL if quiet else None
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "grader.plumbing.children", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[theirs.fileno()],
                env={**os.environ, **python_environment()},
            )
        self.connection = Connection(ours.detach())
        with contextlib.suppress(OSError):  # it has ended already, which the connection tells
            self.connection.send(serve)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self) -> int:
        """The exit code of a child that has closed its end; it is killed where it does not end."""
        try:
            return self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def kill(self) -> None:
        """End it at once, whatever it does. What it had started sees its end and ends too."""
        self._process.kill()
        self._process.wait()
        self.connection.close()


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    own_end = Connection(int(sys.argv[1]))
    own_end.recv()(own_end)
