"""Who carries out tasks: what a pool of workers is, and the pool of this machine's processes."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Protocol

from grader.batch.tasks import Task
from grader.batch.worker import Answer, GradeTask, serve

_END_SECONDS = 5.0


@dataclass(frozen=True)
class Outcome:
    """How a task ended. `lost` says why there is no answer; `out_of_time` is set when that is the
    time limit."""

    task: Task
    seconds: float
    answer: Answer | None = None
    lost: str = ""
    out_of_time: bool = False


class Pool(Protocol):
    """Carries out tasks side by side; a worker that is lost is replaced."""

    @property
    def free(self) -> int:
        """How many more tasks it takes at once."""
        ...

    def submit(self, task: Task) -> None: ...

    def wait(self, seconds: float) -> list[Outcome]:
        """The tasks that have ended; waits at most so long for the first one."""
        ...

    def close(self) -> None:
        """End all workers at once, whatever they do."""
        ...


class LocalPool:
    """Processes of this machine: `jobs` of them share the devices in turn. `seconds` is what one
    task may take."""

    def __init__(
        self,
        grade: GradeTask,
        devices: Sequence[str],
        *,
        jobs: int,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._slots = [_Slot(grade, devices[number % len(devices)]) for number in range(jobs)]
        self._seconds = seconds
        self._clock = clock

    @property
    def free(self) -> int:
        return sum(slot.task is None for slot in self._slots)

    def submit(self, task: Task) -> None:
        slot = next(slot for slot in self._slots if slot.task is None)
        slot.start(task, self._clock())

    def wait(self, seconds: float) -> list[Outcome]:
        busy = [slot for slot in self._slots if slot.task is not None]
        if not busy:
            return []
        until_limit = min(slot.started for slot in busy) + self._seconds - self._clock()
        sources = [source for slot in busy for source in slot.sources]
        wait(sources, timeout=max(0.0, min(seconds, until_limit)))
        return [
            outcome
            for slot in busy
            if (outcome := slot.poll(self._clock(), self._seconds)) is not None
        ]

    def close(self) -> None:
        for slot in self._slots:
            slot.stop()


class _Slot:
    """One place for a worker process, which lives from task to task."""

    def __init__(self, grade: GradeTask, device: str) -> None:
        self._grade = grade
        self._device = device
        self._process: BaseProcess | None = None
        self._connection: Connection | None = None
        self.task: Task | None = None
        self.started = 0.0

    @property
    def sources(self) -> list[Connection | int]:
        """What becomes ready when the worker answers or ends."""
        assert self._process is not None
        assert self._connection is not None
        return [self._connection, self._process.sentinel]

    def start(self, task: Task, now: float) -> None:
        self.task, self.started = task, now
        try:
            self._ready_connection().send(replace(task, device=self._device))
        except OSError:  # it has just ended; `poll` tells
            return

    def poll(self, now: float, limit: float) -> Outcome | None:
        """The outcome of the task, if it has ended."""
        assert self.task is not None
        assert self._connection is not None
        assert self._process is not None
        task, seconds = self.task, now - self.started
        answer = self._receive()
        if answer is not None:
            self.task = None
            return Outcome(task, seconds, answer)
        if not self._process.is_alive():
            code = self._process.exitcode
            self.stop()
            return Outcome(task, seconds, lost=f"its worker ended with exit code {code}")
        if seconds >= limit:
            self.stop()
            return Outcome(
                task, seconds, lost=f"it had not ended after {limit:g} s", out_of_time=True
            )
        return None

    def stop(self) -> None:
        """End the worker. What it had started sees its end and ends too."""
        if self._process is not None:
            self._process.kill()
            self._process.join(_END_SECONDS)
        if self._connection is not None:
            self._connection.close()
        self._process = self._connection = self.task = None

    def _receive(self) -> Answer | None:
        assert self._connection is not None
        with contextlib.suppress(EOFError, OSError):
            if self._connection.poll():
                answer = self._connection.recv()
                assert isinstance(answer, Answer)
                return answer
        return None

    def _ready_connection(self) -> Connection:
        if self._process is not None and not self._process.is_alive():
            self._process = None
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            ours, theirs = context.Pipe()
            self._process = context.Process(target=serve, args=(theirs, self._grade), daemon=True)
            self._process.start()
            theirs.close()
            self._connection = ours
        assert self._connection is not None
        return self._connection
