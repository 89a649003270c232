"""A device in another process: `RemoteDevice` satisfies `devices.base.Device` by talking to a worker.

It keeps the limits that a worker cannot keep for itself: wall time and memory. A worker that is killed or dies is
replaced by a fresh one at the next request.
"""

from __future__ import annotations

import contextlib
import math
import os
import resource
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Self

import numpy as np

from grader.devices.base import Arrays
from grader.errors import WorkerError
from grader.records import (
    Binary,
    DeviceBuffer,
    DeviceInfo,
    Execution,
    Failure,
    Finding,
    FindingKind,
    Launch,
    Role,
    RunLimits,
    ShowProgress,
    Status,
)
from grader.sandbox.wire import Channel, Crashed, Executed, ExecuteRequest, Hello, Loaded, LoadRequest, Message, ProgressNote

WORKER_COMMAND = (sys.executable, "-m", "grader.sandbox.worker")
START_SECONDS = 60.0
LOAD_SECONDS = 60.0
TRANSFER_BYTES_PER_SECOND = 100e6  # far below what a socket pair does, so that a busy machine is not taken for a loop
BUFFER_COPIES = 4  # received, on the device, read back, and one to spare
BASE_MEMORY_BYTES = 4 << 30  # address space of Python, NumPy, LLVM and the threads' stacks
OUTPUT_TAIL_BYTES = 8192


class RemoteDevice:
    """The grader's end of one worker process. Close it, or use it in a `with` statement.

    `execute` gives `Status.TIMEOUT` when the wall limit and `grace_seconds` pass without an answer. Both `load` and
    `execute` raise `WorkerError` when the worker dies, raises, or answers nonsense.
    """

    def __init__(self, device: str, *, command: Sequence[str] = WORKER_COMMAND, grace_seconds: float = 5.0) -> None:
        self._device = device
        self._command = tuple(command)
        self._grace_seconds = grace_seconds
        self._binary: Binary | None = None
        self._info: DeviceInfo | None = None
        self._worker: _Worker | None = _Worker(self._command, device)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """End the worker."""
        if self._worker is not None:
            self._worker.kill()
        self._worker = None

    @property
    def info(self) -> DeviceInfo:
        """The device as the worker describes it; waits for the worker's start the first time."""
        if self._info is None:
            self._greeted_worker()
        assert self._info is not None
        return self._info

    def load(self, binary: Binary) -> None:
        """Keep the binary, here and in the worker."""
        self._binary = None  # a worker that must be replaced now need not load the old one first
        self._load(self._greeted_worker(), binary)
        self._binary = binary

    def execute(
        self,
        launches: Sequence[Launch],
        buffers: Sequence[DeviceBuffer],
        arrays: Arrays,
        *,
        limits: RunLimits,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """Run the launches in the worker; see `devices.base.Device.execute`."""
        worker = self._ready_worker()
        moved_bytes = sum(map(buffer_bytes, buffers))
        worker.limit_memory(BASE_MEMORY_BYTES + BUFFER_COPIES * moved_bytes)
        deadline = time.monotonic() + limits.wall_seconds + self._grace_seconds + moved_bytes / TRANSFER_BYTES_PER_SECOND
        request = ExecuteRequest(tuple(launches), tuple(buffers), limits)
        outputs = [buffer for buffer in buffers if buffer.role is Role.OUTPUT]
        try:
            answer, got = self._ask(worker, request, arrays, deadline=deadline, max_array_bytes=moved_bytes, progress=progress)
        except TimeoutError:
            self.close()
            return Execution((), failure=wall_limit_failure(launches, limits)), {}
        if not isinstance(answer, Executed):
            raise self._nonsense(f"{type(answer).__name__} instead of Executed")
        if answer.execution.failure is None and not same_layout(got, outputs):
            raise self._nonsense("outputs of another name, type or shape than the exercise's")
        return answer.execution, got if answer.execution.failure is None else {}

    def _greeted_worker(self) -> _Worker:
        """The worker, started if there is none, with its greeting read."""
        if self._worker is None:
            self._worker = _Worker(self._command, self._device)
        if not self._worker.greeted:
            hello = self._receive_at_start(self._worker)
            if not isinstance(hello, Hello):
                raise self._nonsense(f"{type(hello).__name__} instead of Hello")
            self._info = hello.info
            self._worker.greeted = True
        return self._worker

    def _ready_worker(self) -> _Worker:
        """The worker with the binary loaded; a fresh one loads it again."""
        worker = self._greeted_worker()
        if not worker.loaded and self._binary is not None:
            self._load(worker, self._binary)
        return worker

    def _load(self, worker: _Worker, binary: Binary) -> None:
        try:
            answer, _ = self._ask(worker, LoadRequest(binary), {}, deadline=time.monotonic() + LOAD_SECONDS, max_array_bytes=0)
        except TimeoutError as error:
            raise self._failed("did not load the kernels in time") from error
        if not isinstance(answer, Loaded):
            raise self._nonsense(f"{type(answer).__name__} instead of Loaded")
        worker.loaded = True

    def _ask(
        self,
        worker: _Worker,
        request: Message,
        arrays: Arrays,
        *,
        deadline: float,
        max_array_bytes: int,
        progress: ShowProgress | None = None,
    ) -> tuple[Message, Arrays]:
        """Send a request and wait for its answer, handing on what comes in between."""
        try:
            worker.channel.send(request, arrays, deadline=deadline)
            while True:
                message, got = worker.channel.receive(max_array_bytes=max_array_bytes, deadline=deadline)
                if not isinstance(message, ProgressNote):
                    break
                if progress is not None:
                    progress(message.progress)
        except EOFError as error:
            raise self._failed(worker.how_it_ended()) from error
        except WorkerError:
            self.close()
            raise
        if isinstance(message, Crashed):
            raise self._crashed(message)
        return message, got

    def _receive_at_start(self, worker: _Worker) -> Message:
        try:
            message, _ = worker.channel.receive(max_array_bytes=0, deadline=time.monotonic() + START_SECONDS)
        except EOFError as error:
            raise self._failed(worker.how_it_ended()) from error
        except TimeoutError as error:
            raise self._failed(f"did not start within {START_SECONDS:g} s") from error
        if isinstance(message, Crashed):
            raise self._crashed(message)
        return message

    def _crashed(self, message: Crashed) -> WorkerError:
        self.close()
        return WorkerError(f"the worker failed: {message.message}", message.advice or REPORT_IT, detail=message.traceback)

    def _nonsense(self, what: str) -> WorkerError:
        self.close()
        return WorkerError(f"the worker answered {what}", REPORT_IT)

    def _failed(self, what: str) -> WorkerError:
        output = "" if self._worker is None else self._worker.output_tail()
        self.close()
        return WorkerError(f"the worker {what}", REPORT_IT, detail=output)


REPORT_IT = "This is not the submission's doing: grade it again, and report it with the detail if it comes back."


class _Worker:
    """A worker process: its socket, its captured output, and what it was told so far."""

    def __init__(self, command: Sequence[str], device: str) -> None:
        ours, theirs = socket.socketpair()
        self.greeted = False
        self.loaded = False
        self.channel = Channel(ours)
        self._output: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (lives as long as the process)
        with theirs:
            self._process = subprocess.Popen(
                [*command, str(theirs.fileno()), device],
                stdin=subprocess.DEVNULL,
                stdout=self._output,
                stderr=self._output,
                pass_fds=(theirs.fileno(),),
                cwd="/",
                env=worker_environment(),
                start_new_session=True,
            )

    def limit_memory(self, size_bytes: int) -> None:
        """Bound the worker's address space; the hard limit stays, so that a later request may have more."""
        _, hard = resource.prlimit(self._process.pid, resource.RLIMIT_AS)
        soft = size_bytes if hard == resource.RLIM_INFINITY else min(size_bytes, hard)
        resource.prlimit(self._process.pid, resource.RLIMIT_AS, (soft, hard))

    def kill(self) -> None:
        """End the process and all of its group, and free what belongs to it."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self.channel.close()
        self._output.close()

    def how_it_ended(self) -> str:
        """How the process ended, in words; it has closed its socket, so it is ending now if it is not gone."""
        try:
            code = self._process.wait(timeout=5.0)
        except subprocess.TimeoutExpired:
            return "closed its pipe"
        return f"was ended by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def output_tail(self) -> str:
        """The end of what it printed."""
        size = self._output.seek(0, os.SEEK_END)
        self._output.seek(max(0, size - OUTPUT_TAIL_BYTES))
        return self._output.read().decode("utf-8", "replace")


def worker_environment() -> dict[str, str]:
    """The whole environment of a worker: the grader's packages, nothing else of its own, and few arenas (address space)."""
    package_root = Path(__file__).resolve().parents[2]
    return {
        "PATH": "/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "PYTHONPATH": os.pathsep.join([str(package_root), *filter(None, sys.path)]),
        "PYTHONSAFEPATH": "1",
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        "MALLOC_ARENA_MAX": "2",
    }


def buffer_bytes(buffer: DeviceBuffer) -> int:
    """Size of a buffer's contents in bytes."""
    return np.dtype(buffer.dtype).itemsize * math.prod(buffer.shape)


def same_layout(got: Arrays, buffers: Sequence[DeviceBuffer]) -> bool:
    """Whether the arrays are those of the buffers: the same names, types and shapes."""
    wanted = {buffer.name: (np.dtype(buffer.dtype), tuple(buffer.shape)) for buffer in buffers}
    return {name: (array.dtype, array.shape) for name, array in got.items()} == wanted


def wall_limit_failure(launches: Sequence[Launch], limits: RunLimits) -> Failure:
    """The failure of a plan that was still running when its wall time was over."""
    message = f"The kernels had not ended after {limits.wall_seconds:g} s, the time limit of this exercise."
    only = launches[0] if len(launches) == 1 else None
    return Failure(
        status=Status.TIMEOUT,
        message=message,
        detail="\n".join(launch.text for launch in launches),
        advice="Look for a loop whose end is never reached: does its counter advance, and towards the bound?",
        findings=(Finding(FindingKind.WALL_LIMIT, message, kernel=only.symbol if only else None),),
    )
