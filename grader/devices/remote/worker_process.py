"""Worker processes of the grader: each has a small environment, captured output and limits, and is
always ended. A program starts on its own; zygotes (`zygote.py`) fork the workers of the emulated
device."""

from __future__ import annotations

import atexit
import functools
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO, Any, Protocol

from grader.errors import WorkerError
from grader.plumbing.children import kill_group, python_environment

ZYGOTE_COMMAND = (sys.executable, "-m", "grader.devices.remote.zygote")
START_SECONDS = 300.0
"""The time limit for loading a device. The first device on a machine compiles the emulator's
runtime: 25 s of processor time, longer on a loaded machine."""
MAX_ANSWER_BYTES = 256
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
    """A process that was started as a program, which takes the socket's number and the device's
    name."""

    def __init__(
        self, command: Sequence[str], device: str, end: socket.socket, output: IO[bytes]
    ) -> None:
        words = [*command, str(end.fileno()), device]
        self._process = _start(words, end, output, worker_environment())
        self.pid = self._process.pid

    def kill(self) -> None:
        kill_group(self.pid)

    def wait(self, timeout: float) -> int:
        return self._process.wait(timeout)


class Worker:
    """A worker process with its socket and its captured output."""

    def __init__(self, start: Start) -> None:
        from grader.devices.remote.protocol import Channel  # loads NumPy: a zygote starts before

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
        if code < 0:
            return f"was ended by {signal.Signals(-code).name}"
        return f"ended with exit code {code}"

    def output_tail(self) -> str:
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
        # freed arrays are used again: fresh pages cost more than the work on them
        "MALLOC_MMAP_MAX_": "0",
        "MALLOC_TRIM_THRESHOLD_": str(1 << 40),
        **python_environment(),
        **{name: os.environ[name] for name in CACHE_VARIABLES if name in os.environ},
    }


# --- forked workers -------------------------------------------------------------------------------


@dataclass
class _Question:
    """A request to a zygote, and its answer once it has arrived."""

    answer: dict[str, Any] | None = None


@dataclass
class Zygote:
    """A zygote's process, its output, and the open questions in their order."""

    process: subprocess.Popen[bytes]
    output: IO[bytes]
    control: socket.socket
    waiting: deque[_Question] = field(default_factory=deque)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ask(self, request: dict[str, object], *files: int) -> _Question:
        """Send a request with open files. A zygote that has ended gives an empty answer."""
        question = _Question()
        with self.lock:
            try:
                socket.send_fds(self.control, [json.dumps(request).encode()], files)
            except OSError:
                question.answer = {}
            else:
                self.waiting.append(question)
        return question

    def answer_of(self, question: _Question) -> dict[str, Any]:
        """Wait for the answer; it is empty where the zygote has ended."""
        with self.lock:
            while question.answer is None:
                try:
                    answer = self.control.recv(MAX_ANSWER_BYTES)
                except OSError:  # it hangs: a later answer must not be taken for this answer
                    self.process.kill()
                    answer = b""
                self.waiting.popleft().answer = json.loads(answer or b"{}")
        return question.answer

    @property
    def has_ended(self) -> bool:
        return self.process.poll() is not None

    def last_words(self) -> bytes:
        self.output.seek(0)
        return self.output.read()

    def end(self) -> None:
        """End it; its workers end with their own connections."""
        self.process.kill()
        self.process.wait()
        self.control.close()
        self.output.close()


class ForkedProcess:
    """A worker that a zygote forks when it can."""

    def __init__(
        self,
        zygote: Zygote,
        request: dict[str, object],
        end: socket.socket,
        output: IO[bytes],
        files: Sequence[int],
    ) -> None:
        self._zygote, self._output = zygote, output
        self._forked = zygote.ask(request, end.fileno(), output.fileno(), *files)
        self._given_up = False
        self._code: int | None = None
        self._lock = threading.Lock()

    @property
    def pid(self) -> int:
        """Wait for its process id. Raises WorkerError where it was not forked."""
        answer = self._zygote.answer_of(self._forked)
        if "pid" not in answer:
            raise WorkerError(
                "a worker could not be forked", "Grade again; report it if it recurs."
            )
        return int(answer["pid"])

    def kill(self) -> None:
        """End it and its process group. A worker that is not forked yet ends after the fork,
        because its connection is closed."""
        self._given_up = not self._forked.answer
        if not self._given_up:
            kill_group(self.pid)

    def wait(self, timeout: float) -> int:
        """Its exit code, or minus the signal that ended it. Threads may ask at the same time; the
        zygote can answer once. Raises TimeoutExpired."""
        with self._lock:
            if self._code is None:
                self._code = self._ask_how_it_ended(timeout)
            return self._code

    def _ask_how_it_ended(self, timeout: float) -> int:
        if self._given_up:
            return 0
        if "pid" not in self._zygote.answer_of(self._forked):
            code = self._zygote.process.wait(timeout)
            self._output.write(self._zygote.last_words())
            return code
        asked = self._zygote.ask({"wait": self.pid, "seconds": float(timeout)})
        code = self._zygote.answer_of(asked).get("code", -signal.SIGKILL)
        if code is None:
            raise subprocess.TimeoutExpired(ZYGOTE_COMMAND, timeout)
        return int(code)


def fork_worker(
    device: str, end: socket.socket, output: IO[bytes], *, unconfined: bool, files: Sequence[int]
) -> ForkedProcess:
    """Fork a worker of the emulated device, which communicates over `end` and prints to `output`.
    `files`: none, or the descriptor of a file for an output (mapped_arrays.FilledFile)."""
    key = _zygote_key()
    zygote = _find_zygote(*key)
    if zygote.has_ended:
        _find_zygote.cache_clear()
        zygote = _find_zygote(*key)
    request = {"device": device, "open": unconfined}
    return ForkedProcess(zygote, request, end, output, files)


def load_ahead() -> None:
    """Load the device for later workers."""
    _find_zygote(*_zygote_key())


def _zygote_key() -> tuple[int, tuple[tuple[str, str], ...]]:
    return os.getpid(), tuple(sorted(worker_environment().items()))


@functools.cache
def _find_zygote(process: int, environment: tuple[tuple[str, str], ...]) -> Zygote:
    """This process's zygote for workers with this environment; it lives as long as the process."""
    ours, theirs = socket.socketpair(type=socket.SOCK_SEQPACKET)
    ours.settimeout(START_SECONDS)
    output = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
    with theirs:
        command = [*ZYGOTE_COMMAND, str(theirs.fileno())]
        started = _start(command, theirs, output, dict(environment))
    zygote = Zygote(started, output, ours)
    atexit.register(zygote.end)
    return zygote


def _start(
    command: Sequence[str], end: socket.socket, output: IO[bytes], environment: dict[str, str]
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=output,
        pass_fds=(end.fileno(),),
        cwd="/",
        env=environment,
        start_new_session=True,
    )
