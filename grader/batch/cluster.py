"""A pool of Dask workers, which share no folder: it sends file contents and receives scores. Dask
moves the tasks of a lost worker to other workers; a task that fails on several workers is lost, and
the batch tries it again. Only this module imports dask."""

from __future__ import annotations

import contextlib
import logging
import math
import re
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.batch.pool import Outcome, grade_once
from grader.batch.tasks import GradeTask, Task
from grader.errors import GraderError, ToolMissing, UsageError
from grader.spec.exercise import Exercise
from grader.spec.reader import ORACLE_FILE, SPEC_FILE

if TYPE_CHECKING:
    from distributed import Client, Future

GPU = "GPU"
"""The resource that a worker with a GPU declares: `dask worker ADDRESS --resources GPU=1`."""
START_SECONDS = 120.0
LOST_SECONDS = 600.0
"""Time that a batch without workers waits for a worker."""
_REPORT_SECONDS = 60.0
_QUEUED = 2
"""Tasks per thread of a worker: the current task and the next."""
_LOCAL = re.compile(r"local:(\d{1,3})")


@dataclass(frozen=True)
class Parcel:
    """A task for another machine: the submission's content, and the exercise's files by path."""

    task: Task
    content: bytes
    files: Mapping[str, bytes]


def pack_exercise(exercise: Exercise) -> dict[str, bytes]:
    """The files of an exercise that grading needs, by their paths in a repository of exercises."""
    paths = {
        f"exercises/{exercise.id}/{name}": exercise.folder / name
        for name in (SPEC_FILE, ORACLE_FILE)
    }
    paths[f"starter/{exercise.id}.cu"] = exercise.baseline_source
    if exercise.reference_source is not None:
        paths[f"solutions/{exercise.id}.cu"] = exercise.reference_source
    return {name: path.read_bytes() for name, path in paths.items()}


def grade_parcel(parcel: Parcel, grade: GradeTask, seconds: float) -> Outcome:
    """Runs on the worker: unpacks, grades in a separate process and removes the files."""
    with tempfile.TemporaryDirectory(prefix="grader-", ignore_cleanup_errors=True) as folder:
        root = Path(folder)
        for name, content in parcel.files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        source = root / "submission.cu"
        source.write_bytes(parcel.content)
        here = replace(parcel.task, folder=root / "exercises" / parcel.task.exercise, source=source)
        return replace(grade_once(here, grade, seconds=seconds), task=parcel.task)


@dataclass
class ClusterPool:
    """Workers of one scheduler. `client`: a connected `distributed.Client`; `needs_gpu`: use only
    workers with the resource GPU; `notice` receives a sentence when workers are lost."""

    client: Client
    grade: GradeTask
    exercises: Mapping[str, Mapping[str, bytes]]
    needs_gpu: bool
    seconds: float
    notice: Callable[[str], None] = print
    _running: dict[Future, Task] = field(default_factory=dict, init=False)
    _ended: threading.Event = field(default_factory=threading.Event, init=False)
    _lost_since: float | None = field(default=None, init=False)
    _reported: float = field(default=0.0, init=False)

    def __post_init__(self) -> None:
        self._threads = self._count_threads()

    @property
    def free(self) -> int:
        return max(0, _QUEUED * self._count_threads() - len(self._running))

    def submit(self, task: Task) -> None:
        parcel = Parcel(task, task.source.read_bytes(), self.exercises[task.exercise])
        resources = {GPU: 1} if self.needs_gpu else None
        future = self.client.submit(
            grade_parcel, parcel, self.grade, self.seconds, pure=False, resources=resources
        )
        future.add_done_callback(lambda _: self._ended.set())
        self._running[future] = task

    def wait(self, seconds: float) -> list[Outcome]:
        """See `Pool`. Raises GraderError after LOST_SECONDS without workers, and if the connection
        to the scheduler is closed."""
        self._ended.wait(seconds)
        self._ended.clear()
        done = [future for future in self._running if future.done()]
        for future in [each for each in done if each.status == "cancelled"]:
            if self._count_threads():  # a restarted scheduler has lost the task
                self.submit(self._running.pop(future))
            done.remove(future)
        self._watch(time.monotonic())
        return [_outcome(future, self._running.pop(future)) for future in done]

    def _watch(self, now: float) -> None:
        """Reports lost workers at once; without any worker, again every minute."""
        threads = self._count_threads()
        if 0 < threads < self._threads:
            self.notice(f"the cluster lost workers: {threads} of {self._threads} threads are left")
        self._threads = threads
        if threads:
            self._lost_since = None
            return
        if self._lost_since is None:
            self._lost_since, self._reported = now, -math.inf
        left = self._lost_since + LOST_SECONDS - now
        what = "worker" if self.client.status == "running" else "scheduler"
        if left <= 0 or self.client.status == "closed":
            raise GraderError(
                f"the cluster has no {what} any more",
                "All results are kept. Start the cluster again and repeat the command.",
            )
        if now >= self._reported + _REPORT_SECONDS:
            self._reported = now
            self.notice(
                f"the cluster has no {what} any more: waiting for a new {what}, at most"
                f" {left / 60:.0f} minutes"
            )

    def _count_threads(self) -> int:
        return sum(
            worker["nthreads"]
            for worker in _list_workers(self.client).values()
            if not self.needs_gpu or worker["resources"].get(GPU)
        )

    def close(self) -> None:
        if self.client.status == "running":
            self.client.cancel(list(self._running))
        self._running.clear()


def _outcome(future: Future, task: Task) -> Outcome:
    if future.status == "finished":
        outcome = future.result()
        assert isinstance(outcome, Outcome)
        return outcome
    reason = future.exception() if future.status == "error" else "the scheduler gave it up"
    return Outcome(task, 0.0, lost=f"the cluster failed: {type(reason).__name__}: {reason}")


@contextlib.contextmanager
def open_cluster(name: str) -> Iterator[Client]:
    """A client of the scheduler at an address; `local:N` starts a cluster of N processes.
    ToolMissing without dask.distributed, UsageError without a scheduler, GraderError without a
    worker."""
    try:
        from distributed import Client, LocalCluster
    except ImportError as error:
        raise ToolMissing(
            "--cluster needs dask.distributed",
            "Install the extra: pip install 'cuda-exercise-grader[cluster]'.",
        ) from error
    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # `_watch` reports lost workers
    address: Any = name
    with contextlib.ExitStack() as stack:
        if local := _LOCAL.fullmatch(name):
            address = stack.enter_context(
                LocalCluster(n_workers=int(local[1]), threads_per_worker=1, dashboard_address=None)
            )
        try:
            client = stack.enter_context(Client(address, timeout=30, set_as_default=False))
        except (OSError, ValueError, TimeoutError) as error:
            raise UsageError(
                f"no Dask scheduler answers at {name!r}: {error}",
                "Name its address, for example tcp://HOST:8786.",
            ) from error
        try:
            client.wait_for_workers(1, timeout=START_SECONDS)
        except TimeoutError as error:
            raise GraderError(
                f"no worker has joined the cluster at {name}",
                "Start workers: dask worker ADDRESS --nthreads 1.",
            ) from error
        yield client


def find_gpu_model(client: Client) -> str | None:
    """The GPU model of the workers that declare a GPU; None if no worker does. Raises UsageError if
    the models differ."""
    workers = _list_workers(client)
    addresses = [address for address, worker in workers.items() if worker["resources"].get(GPU)]
    if not addresses:
        return None
    asked = [
        client.submit(_ask_gpu_model, workers=[address], resources={GPU: 1}, pure=False)
        for address in addresses
    ]
    models = client.gather(asked)
    if len(set(models)) > 1:
        raise UsageError(
            f"the workers' GPUs have different models: {', '.join(sorted(set(models)))}",
            "Use workers with equal GPUs.",
        )
    return str(models[0])


def _ask_gpu_model() -> str:
    from grader.devices.remote.remote_device import RemoteDevice

    with RemoteDevice("gpu:0") as device:
        return device.info.name


def _list_workers(client: Client) -> dict[str, Any]:
    """The workers by address; empty if the scheduler does not answer."""
    if client.status != "running":
        return {}
    try:
        return dict(client.scheduler_info(n_workers=-1).get("workers", {}))
    except (OSError, RuntimeError, TimeoutError, ValueError):
        return {}
