"""A device in another process: `RemoteDevice` satisfies `devices.base.TimingDevice` with the help
of a worker.

It enforces the limits that a worker cannot enforce for itself: wall time and memory. A worker that
is killed or dies is replaced by a fresh worker at the next request.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, cast

from grader.devices.base import Arrays, TimingDevice, find_nonsense
from grader.devices.mapped_arrays import fill_file
from grader.devices.plan_limits import out_of_time
from grader.devices.remote.protocol import (
    METHODS,
    PROGRESS,
    Answer,
    Call,
    Crashed,
    Hello,
    Message,
    ProgressNote,
)
from grader.devices.remote.worker_process import (
    START_SECONDS,
    Spawned,
    Start,
    Worker,
    fork_worker,
)
from grader.errors import UsageError, WorkerError
from grader.records import (
    COUNTING,
    POISON_WORD,
    SUBMISSION,
    Binary,
    CheckedMode,
    ClockState,
    DeviceInfo,
    Execution,
    Mode,
    Program,
    Progress,
    RunLimits,
    ShowProgress,
    Status,
    TimedLaunch,
    TimedStep,
)

EMULATED = "emulated"
WORKER_COMMAND = (sys.executable, "-m", "grader.devices.remote.worker")
TRANSFER_BYTES_PER_SECOND = 100e6
"""Far below the rate of a socket pair: a busy machine must not look like an endless loop."""
BUFFER_COPIES = 4  # received, on the device, read back, and a spare copy
CHECKED_COPIES = 64  # two runs, each with up to 16 bytes of shadow for every byte
# the copies of BUFFER_COPIES, and the shadow of a sample, which takes memory only where it is used:
# up to 16 bytes for every byte, and a mark for written bytes
INSPECTED_COPIES = 25
BASE_MEMORY_BYTES = 4 << 30  # address space of Python, NumPy, LLVM and the threads' stacks
COPY_BANDWIDTH_SECONDS = 60.0
BESIDE_RUNS = 2.0
"""Processor time of a request over the processor time of its runs: the request also compiles native
code, compares outputs and models times."""
MOST_LOAD = 20.0
"""Wall time over processor time at which a worker counts as stuck."""
_LIMITS = (Status.TIMEOUT, Status.LAUNCH_ERROR)
"""The statuses of a run that exceeds its time or the available memory."""


P = ParamSpec("P")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Bounds:
    """Limits of a request: seconds until its deadline, processor time, bytes of its answer."""

    seconds: float
    cpu_seconds: float
    max_array_bytes: int
    started: float = field(default_factory=time.monotonic)

    @property
    def deadline(self) -> float:
        return self.started + self.seconds


class RemoteDevice:
    """The grader's end of a worker process. Close it, or use it in a `with` statement.

    `run` and `prepare` give `Status.TIMEOUT` when the wall limit and `grace_seconds` pass
    without an answer. All requests raise `WorkerError` when the worker dies, raises, or sends an
    invalid answer, and `UsageError` when there is no such device. After any failure the next
    request gets a fresh worker, because a fault of a kernel destroys the state of its process on
    the GPU. `output_bytes`: the size of an output of a later run, whose memory is provided while
    the emulated device starts.
    """

    def __init__(
        self,
        device: str,
        *,
        command: Sequence[str] | None = None,
        grace_seconds: float = 5.0,
        isolated: bool = True,
        output_bytes: int = 0,
    ) -> None:
        self._file = fill_file(output_bytes, POISON_WORD)
        first: Start | None = None
        if command is None and device.startswith(EMULATED):
            fork = partial(fork_worker, device, unconfined=not isolated)
            self._start: Start = partial(fork, files=())
            first = partial(fork, files=[] if self._file is None else [self._file.descriptor])
        else:
            self._start = partial(Spawned, command or WORKER_COMMAND, device)
        self._grace_seconds = grace_seconds
        self._hello: Hello | None = None
        self.limited = False
        """Whether a limit of time or memory has ended a run."""
        self._closed = False
        self._limits = RunLimits(0, 0.0)
        self._kept: list[Binary] = []
        self._compiling = ThreadPoolExecutor(1)
        self._worker: Worker | None = Worker(first or self._start)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """End the worker, also one that works for another thread, and wait for the native code that
        is compiled for the cache."""
        self._closed = True
        self._end_worker()
        self._compiling.shutdown()

    def _end_worker(self) -> None:
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.kill()

    @property
    def info(self) -> DeviceInfo:
        """The device as the worker describes it; waits for the worker's start the first time."""
        return self._greeting().info

    @property
    def uuid(self) -> str | None:
        """The name for the lock of the worker's device; None for a device without a lock."""
        return self._greeting().uuid

    @property
    def isolation(self) -> str:
        """The name of the sandbox that keeps the worker from the machine's files."""
        return self._greeting().isolation or "none"

    def _greeting(self) -> Hello:
        if self._hello is None:
            self._greeted_worker()
        assert self._hello is not None
        return self._hello

    def run(
        self,
        program: Program,
        arrays: Arrays,
        *,
        limits: RunLimits,
        mode: Mode = COUNTING,
        progress: ShowProgress | None = None,
    ) -> tuple[Execution, Arrays]:
        """Run the program in the worker; see `devices.base.Device.run`."""
        worker = self._greeted_worker()
        moved_bytes = sum(buffer.size_bytes for buffer in program.buffers)
        if self.uuid is None:  # a GPU's driver reserves more address space than the memory's size
            copied_bytes = moved_bytes + program.binary.variable_bytes
            worker.limit_memory(BASE_MEMORY_BYTES + _copies(mode) * copied_bytes)
        if self._file is not None and moved_bytes >= self._file.size_bytes:
            self._file.wait()
            self._file = None  # the worker has it; the descriptor here would keep its pages
        bounds = self._bounds(limits, moved_bytes, runs=mode.runs)
        try:
            execution, outputs = self._ask(
                bounds,
                TimingDevice.run,
                program,
                arrays,
                limits=limits,
                mode=mode,
                progress=self._keeping(program, progress),
            )
        except TimeoutError as error:
            if self.uuid is None:  # it enforces its processor time itself
                raise self._failed(f"gave no answer for {bounds.seconds:,.0f} s") from error
            self._replace_stuck_worker()
            self.limited = True
            return Execution((), failure=out_of_time(program.launches, limits)), {}
        if execution.failure is not None:
            self.limited |= execution.failure.status in _LIMITS
            self._end_worker()
            return execution, {}
        self._check_outputs(execution, outputs, program)
        return execution, outputs

    def prepare(
        self, programs: Sequence[Program], input_sets: Sequence[Arrays], *, limits: RunLimits
    ) -> tuple[Execution, list[Arrays]]:
        """See `devices.base.TimingDevice.prepare`."""
        submission = next(program for program in programs if program.label == SUBMISSION)
        moved_bytes = len(input_sets) * sum(each.size_bytes for each in submission.buffers)
        bounds = self._bounds(limits, moved_bytes)
        try:
            execution, outputs = self._ask(
                bounds, TimingDevice.prepare, programs, input_sets, limits=limits
            )
        except TimeoutError:
            self._replace_stuck_worker()
            return Execution((), failure=out_of_time(submission.launches, limits)), []
        self._limits = limits
        if execution.failure is not None:
            self._end_worker()
            return execution, []
        if len(outputs) != len(input_sets):
            raise self._nonsense("outputs of another number of input sets")
        for each in outputs:
            self._check_outputs(execution, each, submission)
        return execution, outputs

    def time(
        self, steps: Sequence[TimedStep], *, progress: ShowProgress | None = None
    ) -> tuple[tuple[TimedLaunch, ...], ClockState]:
        """Execute the steps in the worker; see `devices.base.TimingDevice.time`. The wall limit of
        `prepare` is for all of them together."""
        bounds = self._bounds(self._limits, 0)
        try:
            launches, clocks = self._ask(bounds, TimingDevice.time, steps, progress=progress)
        except TimeoutError:
            self._replace_stuck_worker()
            blamed = next((step for step in steps if step.program == SUBMISSION), steps[0])
            return (TimedLaunch(blamed, math.nan, right=False),), ClockState()
        if any(math.isnan(launch.milliseconds) for launch in launches):
            self._end_worker()
        return launches, clocks

    def copy_bandwidth(self) -> float:
        """See `devices.base.TimingDevice.copy_bandwidth`."""
        bounds = Bounds(COPY_BANDWIDTH_SECONDS, COPY_BANDWIDTH_SECONDS, 0)
        try:
            return self._ask(bounds, TimingDevice.copy_bandwidth)
        except TimeoutError as error:
            raise self._failed("did not measure the copy bandwidth in time") from error

    def _keeping(self, program: Program, progress: ShowProgress | None) -> ShowProgress:
        """Forwards progress. Compiles native code again that the confined worker compiled, for the
        cache: a worker runs submissions, so it must not write code that others execute."""
        binary = program.binary

        def show(note: Progress) -> None:
            if note.unkept and not any(known is binary for known in self._kept):
                self._kept.append(binary)
                self._compiling.submit(_make_steps, binary, self.info.arch)
            if progress is not None:
                progress(note)

        return show

    def _bounds(self, limits: RunLimits, moved_bytes: int, *, runs: int = 1) -> Bounds:
        """The limits of a request that sends and receives `moved_bytes` and executes `runs` runs.

        The emulated device ends its runs after their processor time. The deadline ends a worker
        that hangs, even on a loaded machine."""
        transfer = self._grace_seconds + moved_bytes / TRANSFER_BYTES_PER_SECOND
        if self.uuid is not None:
            return Bounds(
                runs * limits.wall_seconds + transfer, runs * limits.wall_seconds, moved_bytes
            )
        cpu_seconds = BESIDE_RUNS * (runs * limits.processor_seconds + transfer)
        return Bounds(MOST_LOAD * cpu_seconds, cpu_seconds, moved_bytes)

    def _replace_stuck_worker(self) -> None:
        """End a worker that exceeded its time. The GPU may fail then: a fresh worker, which tests
        it, must answer."""
        self._end_worker()
        if self.uuid is not None:
            self._greeted_worker()

    def _greeted_worker(self) -> Worker:
        """The worker, started if necessary, after its first message."""
        worker = self._worker
        if worker is None:
            worker = self._worker = Worker(self._start)
            if self._closed:  # by another thread, perhaps before it could see the worker
                self._end_worker()
                raise WorkerError("the device was closed during a request")
        if not worker.greeted:
            try:
                hello = self._exchange(worker, None, Bounds(START_SECONDS, 0.0, 0))
            except TimeoutError as error:
                raise self._failed(f"did not start within {START_SECONDS:g} s") from error
            if not isinstance(hello, Hello):
                raise self._nonsense(f"{type(hello).__name__} instead of Hello")
            self._hello = hello
            worker.greeted = True
        return worker

    def _ask(
        self,
        bounds: Bounds,
        method: Callable[Concatenate[Any, P], Result],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> Result:
        """Call a method of the worker's device. Raises TimeoutError at the deadline."""
        name = method.__name__
        bound = METHODS[name].signature.bind(None, *args, **kwargs).arguments
        progress = bound.get(PROGRESS)
        arguments = {each: bound[each] for each in METHODS[name].parameters if each in bound}
        call = Call(name, arguments, bounds.cpu_seconds)
        answer = self._exchange(self._greeted_worker(), call, bounds, progress)
        if not isinstance(answer, Answer) or answer.method != name:
            raise self._nonsense(f"{type(answer).__name__} instead of an answer to {name}")
        return cast(Result, answer.result)

    def _exchange(
        self,
        worker: Worker,
        request: Message | None,
        bounds: Bounds,
        progress: ShowProgress | None = None,
    ) -> Message:
        """Send a request, if there is one, and wait for the next message; forward progress in
        between."""
        receive = partial(
            worker.channel.receive,
            max_array_bytes=bounds.max_array_bytes,
            deadline=bounds.deadline,
        )
        try:
            if request is not None:
                worker.channel.send(request, deadline=bounds.deadline)
            while isinstance(message := receive(), ProgressNote):
                if progress is not None:
                    progress(message.progress)
        except EOFError as error:
            raise self._failed(worker.how_it_ended()) from error
        except WorkerError:
            self._end_worker()
            raise
        if isinstance(message, Crashed):
            self._end_worker()
            if message.usage:
                raise UsageError(message.message, message.advice)
            advice = message.advice or REPORT_IT
            raise WorkerError(message.message, advice, detail=message.traceback)
        return message

    def _check_outputs(self, execution: Execution, got: Arrays, program: Program) -> None:
        """Raises WorkerError if the arrays are not the program's outputs: a worker is not
        trusted."""
        if nonsense := find_nonsense(execution, got, program):
            raise self._nonsense(nonsense)

    def _nonsense(self, what: str) -> WorkerError:
        self._end_worker()
        return WorkerError(f"the worker answered {what}", REPORT_IT)

    def _failed(self, what: str) -> WorkerError:
        output = "" if self._worker is None else self._worker.output_tail()
        self._end_worker()
        return WorkerError(f"the worker {what}", REPORT_IT, detail=output)


REPORT_IT = (
    "This is not the submission's fault: grade it again, and report it with the detail if it"
    " happens again."
)


def _copies(mode: Mode) -> int:
    """The number of copies of the buffers that a run has in memory."""
    if isinstance(mode, CheckedMode):
        return CHECKED_COPIES
    return BUFFER_COPIES if mode == COUNTING else INSPECTED_COPIES


def _make_steps(binary: Binary, arch: str) -> None:
    from grader.devices.emulated.machine_code import make_steps  # loads the emulator

    make_steps(binary, arch)
