"""Child processes: their environment, their end, and Python children that answer requests of their
parent.

`python -m grader.plumbing.children FD` is such a child. multiprocessing does not fit: its daemons
(a Dask worker) may have no children, and a pool of concurrent.futures breaks when one of its
processes dies.
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
"""Environment variables that decide which driver and which GPUs a process sees."""
_END_SECONDS = 5.0


def python_environment(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """The part of the environment that a Python child needs: the path of its modules, and the
    variables that select the GPUs."""
    package_root = Path(__file__).resolve().parents[2]
    return {name: environ[name] for name in _DRIVER_VARIABLES if name in environ} | {
        "PYTHONPATH": os.pathsep.join([str(package_root), *filter(None, sys.path)]),
        "PYTHONSAFEPATH": "1",
    }


def kill_group(group: int) -> None:
    """Kill all processes of a group that are left."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(group, signal.SIGKILL)


def cpu_seconds_of(pid: int) -> float:
    """The processor time of a process, of its living descendants, and of ended descendants that
    they waited for."""
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
    """From now on, end this process as soon as the other end of a socket is closed."""

    def watch() -> None:
        poll = select.poll()
        poll.register(connection, 0)  # poll reports hang-ups without a request
        while not any(event & select.POLLHUP for _, event in poll.poll()):
            pass
        os._exit(0)

    threading.Thread(target=watch, daemon=True).start()


class Child:
    """A Python process of the grader that runs `serve` with its end of `connection`, over which
    objects are pickled; `serve` must be picklable. It ends with this process.

    `quiet` discards its output.
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
        with contextlib.suppress(OSError):  # it has already ended; the connection shows that
            self.connection.send(serve)

    @property
    def has_ended(self) -> bool:
        return self._process.poll() is not None

    def wait(self) -> int:
        """The exit code of a child that has closed its end; if it does not end, it is killed."""
        try:
            return self._process.wait(_END_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def dismiss(self) -> None:
        """Close the connection, at whose end an idle child cleans up and ends."""
        self.connection.close()
        self.wait()

    def end(self) -> None:
        """End it by SIGTERM, which lets it clean up; if it does not end, it is killed."""
        self._process.terminate()
        self.wait()
        self.connection.close()

    def kill(self) -> None:
        """Kill it at once. Its own children see its end and end too."""
        self._process.kill()
        self._process.wait()
        self.connection.close()


if __name__ == "__main__":
    end_with_parent(int(sys.argv[1]))
    own_end = Connection(int(sys.argv[1]))
    own_end.recv()(own_end)
