"""A worker process of the grader: started with a small environment, with captured output and
limits, and always ended."""

from __future__ import annotations

import os
import resource
import signal
import socket
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from typing import IO, Protocol

from grader.devices.remote.protocol import Channel
from grader.errors import WorkerError
from grader.plumbing.children import kill_group, python_environment

OUTPUT_TAIL_BYTES = 8192
KILL_SECONDS = 30.0  # a driver takes some time to end an endless kernel
CACHE_VARIABLES = ("XDG_CACHE_HOME", "HOME")
"""They determine the folder of the emulator's runtime."""


class Process(Protocol):
    """A worker's process, the leader of its group, with the methods of subprocess.Popen."""

    @property
    def pid(self) -> int: ...

    def kill(self) -> None:
        """End its whole group at once."""
        ...

    def wait(self, timeout: float) -> int:
        """The exit code, or minus the signal that ended it. Raises TimeoutExpired."""
        ...


Start = Callable[[socket.socket, IO[bytes]], Process]
"""Starts a process that serves over a socket, and prints to a file."""


class Spawned:
    """A process that was started as a program of its own."""

    def __init__(self, command: Sequence[str], end: socket.socket, output: IO[bytes]) -> None:
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            pass_fds=(end.fileno(),),
            cwd="/",
            env=worker_environment(),
            start_new_session=True,
        )
        self.pid = self._process.pid

    def kill(self) -> None:
        kill_group(self.pid)

    def wait(self, timeout: float) -> int:
        return self._process.wait(timeout)


def spawn_worker(
    command: Sequence[str], device: str, end: socket.socket, output: IO[bytes]
) -> Spawned:
    """Start a program that takes the socket's number and the device's name."""
    return Spawned([*command, str(end.fileno()), device], end, output)


class Worker:
    """A worker process with its socket and its captured output."""

    def __init__(self, start: Start) -> None:
        ours, theirs = socket.socketpair()
        self.greeted = False
        self.channel = Channel(ours)
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        with theirs:
            self._process = start(theirs, self._output)

    def limit_memory(self, size_bytes: int) -> None:
        """Bound the worker's address space; the hard limit stays, so that a later request may use
        more."""
        _, hard = resource.prlimit(self._process.pid, resource.RLIMIT_AS)
        soft = size_bytes if hard == resource.RLIM_INFINITY else min(size_bytes, hard)
        resource.prlimit(self._process.pid, resource.RLIMIT_AS, (soft, hard))

    def kill(self) -> None:
        """End the process and its whole group, and free its resources."""
        self._process.kill()
        self.channel.close()
        self._output.close()
        try:
            self._process.wait(timeout=KILL_SECONDS)
        except subprocess.TimeoutExpired as error:
            message = f"a worker had not ended {KILL_SECONDS:g} s after it was killed"
            raise WorkerError(
                message, "Its GPU hangs: it needs a reset, or the machine a restart."
            ) from error

    def how_it_ended(self) -> str:
        """A clause about the end of the process. It has closed its socket, so it ends soon if it
        has not ended yet."""
        try:
            code = self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        return (
            f"was ended by {signal.Signals(-code).name}"
            if code < 0
            else f"ended with exit code {code}"
        )

    def output_tail(self) -> str:
        """The end of its output."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - OUTPUT_TAIL_BYTES))
        return self._output.read().decode("utf-8", "replace")


def worker_environment() -> dict[str, str]:
    """The whole environment of a worker: the paths of the grader's packages, and few malloc arenas,
    which use address space."""
    return {
        "PATH": os.pathsep.join(filter(None, ("/usr/bin:/bin", os.environ.get("PATH")))),
        "LANG": "C.UTF-8",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
        "MALLOC_MMAP_MAX_": (
            "0"
        ),  # freed arrays are used again: fresh pages cost more than the work on them
        "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
        **python_environment(),
        **{name: os.environ[name] for name in CACHE_VARIABLES if name in os.environ},
    }
