"""Counts a plan's launches with Nsight Compute: one `ncu` process around a worker that runs the
plan a single time. It starts before the plan is known, because its start takes seconds.

ncu replays each launch until it has every metric and gives one row per launch; the counters of a
plan are their sum. ncu has no counters per source line: they come from the emulated device, where
it can run the kernel. Where ncu cannot count, the answer is a reason, never a zero. No other
grading may use the GPU at the same time: `hold` is its lock. It is taken after the start of the
worker, which takes seconds in which another grading can use the GPU.
"""

from __future__ import annotations

import os
import pickle
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grader.devices.base import Arrays
from grader.devices.gpu.gpu_lock import WAIT_SECONDS
from grader.devices.gpu.ncu_metrics import (
    CountedLaunch,
    choose_counters,
    find_unknown_metric,
    optional_metrics,
    parse_counts,
    required_metrics,
)
from grader.plumbing.children import python_environment
from grader.records import (
    Completed,
    Counter,
    NotCounted,
    Program,
    Role,
    RunLimits,
    RunTool,
    ToolLimits,
    Uncountable,
)

NCU_VARIABLE = "GRADER_NCU"
WORKER = "grader.devices.gpu.profiled"
NEEDED, REQUEST, READY, GO = "needed", "request.pickle", "ready", "go"
"""The worker waits for REQUEST, reads it, creates READY, and waits for GO. It ends when NEEDED is
deleted."""
ERROR, LOG = "error.txt", "ncu.csv"
POLL_SECONDS = 0.01
START_SECONDS = 60.0  # ncu, Python and the driver, on a busy machine
NO_LIMIT_BYTES = 1 << 62  # the driver reserves more address space than any sensible limit
REPORT_BYTES = 1 << 30
NCU_OPTIONS = (
    *("--target-processes", "application-only", "--profile-from-start", "off"),
    *("--clock-control", "none", "--csv", "--page", "raw", "--print-units", "base"),
)
NOT_INSTALLED = NotCounted(Uncountable.NOT_INSTALLED, {"variable": NCU_VARIABLE})

Hold = Callable[[], AbstractContextManager[None]]


@dataclass(frozen=True)
class PlanRun:
    """A run of a program. `arrays` holds the inputs' contents; all other buffers are poisoned on
    the GPU."""

    program: Program
    arrays: Arrays

    @property
    def inputs(self) -> Arrays:
        """The contents of the inputs alone, since the worker poisons the other buffers."""
        buffers = self.program.buffers
        return {each.name: self.arrays[each.name] for each in buffers if each.role is Role.INPUT}


@dataclass(frozen=True)
class Request:
    """The task of the worker under ncu, and the time after which it ends itself. The inputs of each
    program are in files of their own, which the worker maps."""

    gpu_index: int
    programs: tuple[Program, ...]
    wall_seconds: float


def write_request(folder: Path, request: Request, inputs: Sequence[Arrays]) -> None:
    """Hand the request and each program's inputs to the worker of a folder. Raises OSError."""
    for number, arrays in enumerate(inputs):
        place = folder / str(number)
        place.mkdir(exist_ok=True)
        for name, array in arrays.items():
            np.save(place / f"{name}.npy", array)
    unfinished = folder / f"{REQUEST}.part"
    unfinished.write_bytes(pickle.dumps(request))
    unfinished.replace(folder / REQUEST)


def read_inputs(folder: Path, number: int) -> Arrays:
    """The inputs of a program of the request."""
    files = (folder / str(number)).glob("*.npy")
    return {file.stem: np.load(file, mmap_mode="r") for file in files}


def find_ncu(environ: Mapping[str, str]) -> Path | None:
    """`$GRADER_NCU`, else ncu on PATH, else the newest ncu in the folders of NVIDIA's packages."""
    chosen = environ.get(NCU_VARIABLE)
    if chosen:
        return Path(chosen) if os.access(chosen, os.X_OK) else None
    on_path = shutil.which("ncu", path=environ.get("PATH", ""))
    if on_path is not None:
        return Path(on_path)
    installed = [*Path("/opt/nvidia/nsight-compute").glob("*/ncu"), Path("/usr/local/cuda/bin/ncu")]
    return max(
        (path for path in installed if path.exists()),
        default=None,
        key=lambda path: _version_of(path.parent.name),
    )


def ncu_identity(environ: Mapping[str, str] = os.environ) -> str:
    """An identity of the installed Nsight Compute's version; empty where it is not installed."""
    ncu = find_ncu(environ)
    if ncu is None:
        return ""
    path = ncu.resolve()
    return f"{path} {path.stat().st_size} {path.stat().st_mtime_ns}"


def count_with_ncu(
    program: Program,
    arrays: Arrays,
    *,
    gpu_index: int,
    run: RunTool,
    limits: RunLimits,
    environ: Mapping[str, str] = os.environ,
    hold: Hold = nullcontext,
) -> tuple[CountedLaunch, ...] | NotCounted:
    """The exact counters of each launch of a program that ran well on this GPU (CUDA's index), or
    why there are none.

    `arrays` needs the inputs only. `limits.wall_seconds` bounds all replays of the plan; ncu gets
    START_SECONDS more. Raises what `hold` raises.
    """
    counted = count_plans(
        [PlanRun(program, arrays)],
        gpu_index=gpu_index,
        run=run,
        limits=limits,
        environ=environ,
        hold=hold,
    )
    return counted if isinstance(counted, NotCounted) else counted[0]


def count_plans(
    plans: Sequence[PlanRun],
    *,
    gpu_index: int,
    run: RunTool,
    limits: RunLimits,
    environ: Mapping[str, str] = os.environ,
    hold: Hold = nullcontext,
) -> tuple[tuple[CountedLaunch, ...], ...] | NotCounted:
    """The counters of several plans for the same architecture from one ncu process. If a plan
    cannot be counted, no plan is."""
    return count_later(
        lambda: plans,
        arch=plans[0].program.binary.arch,
        gpu_index=gpu_index,
        run=run,
        limits=replace(limits, wall_seconds=limits.wall_seconds * len(plans)),
        environ=environ,
        hold=hold,
    )


def count_later(
    ask: Callable[[], Sequence[PlanRun]],
    *,
    arch: str,
    gpu_index: int,
    run: RunTool,
    limits: RunLimits,
    counters: Collection[str] = (),
    environ: Mapping[str, str] = os.environ,
    hold: Hold = nullcontext,
) -> tuple[tuple[CountedLaunch, ...], ...] | NotCounted:
    """`count_plans` for plans that `ask` waits for while ncu starts. `counters`: the names of the
    counters to count, see `choose_counters`. Exceptions of `ask` and `hold` pass through."""
    ncu = find_ncu(environ)
    if ncu is None:
        return NOT_INSTALLED
    wall_seconds = START_SECONDS + limits.wall_seconds
    plans: list[PlanRun] = []
    rows = choose_counters(counters)

    def send(folder: Path) -> NotCounted | None:
        plans[:] = plans or ask()
        programs = tuple(plan.program for plan in plans)
        try:
            request = Request(gpu_index, programs, wall_seconds)
            write_request(folder, request, [plan.inputs for plan in plans])
        except OSError as error:
            figures = {"error": error.strerror or ""}
            return NotCounted(Uncountable.UNWRITTEN_REQUEST, figures)
        return None

    with tempfile.TemporaryDirectory(prefix="grader-ncu-") as name:
        environment = python_environment(environ)
        session = _Session(ncu, Path(name), run, wall_seconds, environment, send, hold)
        log = _collect(session, arch, rows)
    if isinstance(log, NotCounted):
        return log
    launches = [launch for plan in plans for launch in plan.program.launches]
    counted = parse_counts(log, launches, arch, rows)
    if isinstance(counted, NotCounted):
        return counted
    each = iter(counted)
    return tuple(tuple(next(each) for _ in plan.program.launches) for plan in plans)


# --- the ncu process ------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Session:
    """The common settings of every start of ncu."""

    ncu: Path
    folder: Path
    run: RunTool
    wall_seconds: float
    environment: dict[str, str]
    send: Callable[[Path], NotCounted | None]
    hold: Hold

    @property
    def limit_seconds(self) -> float:
        """The time limit of ncu and its worker, including the wait for the GPU."""
        return self.wall_seconds + WAIT_SECONDS

    def profile(self, metrics: Sequence[str]) -> str | NotCounted:
        """Run ncu for these metrics; its log."""
        log, error = self.folder / LOG, self.folder / ERROR
        for name in (LOG, REQUEST, READY, GO):
            (self.folder / name).unlink(missing_ok=True)
        (self.folder / NEEDED).touch()
        with ThreadPoolExecutor(1) as thread:
            done = self._in_turn(thread.submit(self._run, metrics))
        if isinstance(done, NotCounted):
            return done
        if done.limit is not None:
            seconds = self.limit_seconds
            return NotCounted(Uncountable.OVER_LIMIT, {"limit": done.limit, "seconds": seconds})
        if error.exists():
            text = error.read_text(encoding="utf-8")
            return NotCounted(Uncountable.FAILED_PLAN, {"error": text})
        return log.read_text(encoding="utf-8", errors="replace") if log.exists() else done.stderr

    def _run(self, metrics: Sequence[str]) -> Completed:
        return self.run(
            ncu_command(self.ncu, metrics, self.folder),
            limits=ToolLimits(
                wall_seconds=self.limit_seconds,
                memory_bytes=NO_LIMIT_BYTES,
                file_bytes=REPORT_BYTES,
            ),
            # run_tool makes TMPDIR a private folder: in a shared folder, ncu's lock file belongs to
            # its first user.
            env=self.environment,
        )

    def _in_turn(self, running: Future[Completed]) -> Completed | NotCounted:
        """Let the worker use the GPU when it is ready and this process holds the GPU's lock."""
        needed = self.folder / NEEDED
        try:
            if (lack := self.send(self.folder)) is not None:
                needed.unlink()  # ends the worker
                return lack
            while not (self.folder / READY).exists():
                if running.done():
                    return running.result()
                time.sleep(POLL_SECONDS)
            with self.hold():
                (self.folder / GO).touch()
                return running.result()
        except BaseException:
            needed.unlink()
            raise


def ncu_command(ncu: Path, metrics: Sequence[str], folder: Path) -> list[str]:
    """ncu's command line around the worker: exact metric names, clocks without control, CSV in base
    units in the folder's log."""
    log = ("--log-file", str(folder / LOG))
    worker = (sys.executable, "-m", WORKER, str(folder))
    return [str(ncu), *NCU_OPTIONS, *log, "--metrics", ",".join(metrics), *worker]


def _collect(session: _Session, arch: str, rows: Sequence[Counter]) -> str | NotCounted:
    """ncu's log; if ncu does not know a metric that is for information only, the log of a
    repetition without it."""
    required = required_metrics(arch, rows)
    optional = optional_metrics(rows)
    log = session.profile((*required, *optional))
    while isinstance(log, str) and (unknown := find_unknown_metric(log)) is not None:
        known = tuple(name for name in optional if not name.startswith(unknown))
        if known == optional:
            break
        optional = known
        log = session.profile((*required, *optional))
    return log


def _version_of(folder: str) -> tuple[int, ...]:
    """`2025.3.1` as numbers; empty for a folder with another kind of name."""
    parts = folder.split(".")
    return tuple(map(int, parts)) if all(part.isdigit() for part in parts) else ()
