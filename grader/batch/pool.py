"""Pools of workers: the protocol, and the pool of processes on this machine."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing.connection import Connection, wait
from typing import Protocol

from grader.batch.tasks import Answer, GradeTask, Task, serve
from grader.plumbing.children import Child


@dataclass(frozen=True)
class Outcome:
    """The end of a task. `lost`: why there is no answer; `out_of_time`: by the time limit."""

    task: Task
    seconds: float
    answer: Answer | None = None
    lost: str = ""
    out_of_time: bool = False


class Pool(Protocol):
    """Carries out tasks in parallel and replaces lost workers."""

    @property
    def free(self) -> int:
        """The number of tasks that can be submitted now."""
        ...

    def submit(self, task: Task) -> None: ...

    def wait(self, seconds: float) -> list[Outcome]:
        """The ended tasks; waits at most this time for the first."""
        ...

    def close(self) -> None:
        """Ends all workers immediately."""
        ...


class LocalPool:
    """`jobs` processes of this machine, assigned to the devices in turn. `seconds`: time limit of a
    task."""

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
        timeout = max(0.0, min(seconds, until_limit))
        wait([slot.connection for slot in busy], timeout=timeout)
        polled = [slot.poll(self._clock(), self._seconds) for slot in busy]
        return [outcome for outcome in polled if outcome is not None]

    def close(self) -> None:
        for slot in self._slots:
            slot.stop()


def grade_once(task: Task, grade: GradeTask, *, seconds: float) -> Outcome:
    """Grades in a new process without output; ends it after this time."""
    began = time.monotonic()
    slot = _Slot(grade, str(task.options.device), quiet=True)
    slot.start(task, began)
    try:
        while (outcome := slot.poll(time.monotonic(), seconds)) is None:
            wait([slot.connection], timeout=max(0.0, began + seconds - time.monotonic()))
        return outcome
    finally:
        slot.stop()


class _Slot:
    """A slot for a worker process, which carries out many tasks; `quiet`: without output."""

    def __init__(self, grade: GradeTask, device: str, *, quiet: bool = False) -> None:
        self._grade = grade
        self._device = device
        self._quiet = quiet
        self._child: Child | None = None
        self.task: Task | None = None
        self.started = 0.0

    @property
    def connection(self) -> Connection:
        """Becomes ready when the worker answers or ends."""
        assert self._child is not None
        return self._child.connection

    def start(self, task: Task, now: float) -> None:
        self.task, self.started = task, now
        if self._child is None or self._child.has_ended:
            self._child = Child(partial(serve, self._grade), quiet=self._quiet)
        with contextlib.suppress(OSError):  # the process has just ended; `poll` reports it
            options = replace(task.options, device=self._device)
            self.connection.send(replace(task, options=options))

    def poll(self, now: float, limit: float) -> Outcome | None:
        """The outcome of the task; None while it runs."""
        assert self.task is not None
        assert self._child is not None
        task, seconds = self.task, now - self.started
        try:
            if self.connection.poll():
                answer = self.connection.recv()
                assert isinstance(answer, Answer)
                self.task = None
                return Outcome(task, seconds, answer)
        except (EOFError, OSError):
            code, who = self._child.wait(), "process" if self._quiet else "worker"
            self.stop()
            return Outcome(task, seconds, lost=f"its {who} ended with exit code {code}")
        if seconds >= limit:
            self.stop()
            lost = f"it had not ended after {limit:g} s"
            return Outcome(task, seconds, lost=lost, out_of_time=True)
        return None

    def stop(self) -> None:
        """Ends the worker: an idle one cleans up, another is killed."""
        if self._child is not None and self.task is None:
            self._child.dismiss()
        elif self._child is not None:
            self._child.kill()
        self._child = self.task = None
