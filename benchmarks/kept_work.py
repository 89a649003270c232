"""What the timing model works on, kept in the cache folder: running a program takes seconds,
modelling its time from what it did a fraction of one, and while parameters are fitted only these
change.

Three things are kept of a program's run, each under a name that changes with all that it is made
of:

    traced     what its launches did, as the emulated device tells it: made anew when the emulator
               or the program changes
    work       what the model takes from that (work.Work): made anew when the reading of
               traces changes
    modelled   a time, by the figures of the GPU: made anew when any of the model changes

Opcodes have pipes and latencies in the rows that also say what they do: a change of their rows
makes works anew, not traces, nor does one of what the special functions give.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import os
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import numpy as np
from jobs import BASELINE, ROOT, Job, compile_job, compile_kernel
from kernel_files import draw_word, make_kernel_program

import grader
from grader.devices.base import Arrays
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.emulated.inspection import Recorder
from grader.devices.emulated.machine_code import Code
from grader.devices.emulated.plan_run import Plan, Way
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.emulated.sampling import Timed
from grader.devices.gpus import Gpu
from grader.emulator.codegen.kept_files import read_whole, write_whole
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.launch_time import Estimate, Run
from grader.emulator.timing.representative import choose_blocks
from grader.emulator.timing.work import TracedLaunch, Work, find_work
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain, find_toolchain
from grader.messages.hidden import tell
from grader.plumbing.cache import default_cache
from grader.records import Binary, ModelledMode, Program, Role, RunLimits

LIMITS = RunLimits(warp_instructions=10**12, wall_seconds=600.0)
TIMED = ModelledMode(seed=0, inspect=True)  # as submissions are sampled
PACKAGE = Path(grader.__file__).parent
READING = (
    "streams.py",
    "code_table.py",
    "pipes.py",
    "representative.py",
    "timing_records.py",
    "analysis_records.py",
    "record_arrays.py",
)
"""Modules of the timing model that make works of traces, with the opcodes and timing_traces.cpp."""
T = TypeVar("T")


@dataclass(frozen=True)
class Traced:
    """What the launches of a program did, whose kernels are `symbols` of the binary."""

    binary: Binary
    symbols: tuple[str, ...]
    launches: tuple[TracedLaunch, ...]


@dataclass(frozen=True)
class ModelledRun:
    """A program's time and the kind of its longest launch, with what bounds its last launch and the
    parts of resources that it uses."""

    time_ms: float
    kind: str
    bound: str
    use: Mapping[str, float]


class NotModelledError(Exception):
    """Why there is no time."""


# --- of many jobs ---------------------------------------------------------------------------------


def model_jobs(
    jobs: Sequence[Job], gpu: Gpu, figures: Figures, pool: Executor | None = None
) -> Iterator[ModelledRun | str]:
    """The modelled times of jobs in their order, or why there is none, in so many processes as the
    pool has, or else the machine processors."""
    work = functools.partial(try_job, gpu=gpu, figures=figures)
    if pool is not None:
        yield from pool.map(work, jobs)
        return
    with make_pool() as own:
        yield from own.map(work, jobs)


def make_pool() -> Executor:
    """Processes for `model_jobs`."""
    return ProcessPoolExecutor(len(os.sched_getaffinity(0)))


def try_job(job: Job, gpu: Gpu, figures: Figures) -> ModelledRun | str:
    """The modelled time of a job, or why there is none."""
    try:
        return model_job(job, gpu, figures)
    except NotModelledError as error:
        return str(error)


# --- of a job -------------------------------------------------------------------------------------


def model_job(job: Job, gpu: Gpu, figures: Figures) -> ModelledRun:
    """The modelled time of a job on a GPU that is as fast as the `figures` say. Raises
    NotModelledError."""
    return _kept(
        "modelled",
        (name_work(job, gpu), repr(figures), digest_of_model()),
        lambda: model_works(works_of(job, gpu), figures),
    )


def works_of(job: Job, gpu: Gpu) -> tuple[Work, ...]:
    """What the job's launches did. Raises NotModelledError."""
    return _kept("work", (name_work(job, gpu),), lambda: find_works(trace_job(job, gpu), gpu))


def trace_job(job: Job, gpu: Gpu) -> Traced:
    """What the emulated device tells of the job's launches. Raises NotModelledError."""
    return _kept("traced", (name_traces(job, gpu),), lambda: trace(*make_program(job, gpu), gpu))


def make_program(job: Job, gpu: Gpu) -> tuple[Program, Arrays]:
    """The job's program, and what its buffers hold: what its run line says, or ones, for the times
    of the exercises' programs do not depend on it (zeros divided take another way). Raises
    NotModelledError."""
    if job.run is None:
        program = compile_job(job, _tools(), gpu.arch)
        if isinstance(program, str):
            raise NotModelledError(program)
        inputs = (buffer for buffer in program.buffers if buffer.role is Role.INPUT)
        return program, {each.name: np.ones(each.shape, each.dtype) for each in inputs}
    built = compile_kernel(job, _tools(), gpu.arch)
    if isinstance(built, str):
        raise NotModelledError(built)
    data = job.run.read_data(draw_word)
    try:
        program = make_kernel_program(built, data, gpu.emulated_info.limits)
    except SubmissionError as error:
        raise NotModelledError(str(error)) from error
    return program, dict(data.arrays)


# --- of a program ---------------------------------------------------------------------------------


def trace(program: Program, arrays: Arrays, gpu: Gpu) -> Traced:
    """Run a program on an emulated GPU, in this thread alone. Raises NotModelledError."""
    device = EmulatedDevice(gpu.id, threads=1)
    device.gpu = gpu
    plan, pool = Plan(program, arrays, LIMITS), _Kept()
    execution, _ = device.perform(plan, Way(Recorder(device, plan, TIMED, pool).run))
    if execution.failure is not None:
        raise NotModelledError(tell(execution.failure).message)
    launches = pool.launches
    if len(launches) < len(program.launches):
        reasons = [launch.unmodelled for launch in execution.launches if launch.unmodelled]
        raise NotModelledError(reasons[0] if reasons else "the model knows no figures of this GPU")
    symbols = tuple(launch.symbol for launch in program.launches)
    return Traced(program.binary, symbols, tuple(launches))


class _Kept(Executor):
    """Takes the place of the threads that model the times of launches: keeps what these did."""

    def __init__(self) -> None:
        self.launches: list[TracedLaunch] = []

    def submit(self, fn: Callable[..., T], /, *_: object, **__: object) -> Future[T]:
        timed = getattr(fn, "__self__", None)
        assert isinstance(timed, Timed)
        if timed.ran.outcome.fault is None:
            self.launches.append(timed.traced())
        return Future()


def find_works(traced: Traced, gpu: Gpu) -> tuple[Work, ...]:
    """What the model takes from traces. Raises NotModelledError."""
    code = Code(traced.binary, gpu.arch)
    works = []
    for symbol, launch in zip(traced.symbols, traced.launches, strict=True):
        kernel = code.translate(code.kernels[symbol], None)
        work = find_work(kernel, launch)
        if work is None:
            raise NotModelledError("the traced blocks do not stand for the launch")
        works.append(work)
    return tuple(works)


def model_works(works: Sequence[Work], figures: Figures) -> ModelledRun:
    """The time of launches one after another."""
    found: list[Estimate] = []
    for work in works:
        held = found[-1].held if found else None
        found.append(Run(work, figures, emulator_runtime(), held).estimate())
    last, longest = found[-1], max(found, key=lambda each: each.time_ms)
    return ModelledRun(
        sum(each.time_ms for each in found),
        longest.kind.value,
        last.bounds[0].resource,
        dict(last.use),
    )


# --- names ----------------------------------------------------------------------------------------


def name_traces(job: Job, gpu: Gpu) -> str:
    """A name for what a job's launches did on a GPU with so many multiprocessors of such a size,
    however fast they are."""
    speeds = {"boost_mhz": 0, "peak_bandwidth_gbps": 0.0, "peak_fp32_tflops": 0.0, "l2_bytes": 0}
    speeds |= {"peak_tensor_tflops": None}
    slow = replace(gpu, id="", name="", source="", timing=None, **speeds)
    exercise = ROOT / "exercises" / job.exercise
    files = [job.path, *sorted(exercise.rglob("*"))] if job.run is None else [job.path]
    return _digest(
        job.label if job.name != BASELINE else f"{BASELINE} {job.label}",
        repr(slow),
        str(sorted(_tools().versions.items())),
        inspect.getsource(choose_blocks),
        digest_of_emulator(),
        _digest_files(path for path in files if path.is_file()),
    )


def name_work(job: Job, gpu: Gpu) -> str:
    """A name for what the model takes from these traces."""
    return _digest(name_traces(job, gpu), digest_of_reading())


@functools.cache
def digest_of_emulator() -> str:
    """Changes with what makes traces."""
    emulator = PACKAGE / "emulator"
    left_out = (emulator / "timing", emulator / "opcodes")
    files = [
        path
        for folder in (emulator, PACKAGE / "devices" / "emulated")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".cpp", ".h")
        and not any(path.is_relative_to(each) for each in left_out)
        and not path.name.startswith(("timing_", "special"))
    ]
    return _digest_files([*files, PACKAGE / "spec" / "draws.py"])


@functools.cache
def digest_of_reading() -> str:
    """Changes with what makes works of traces."""
    emulator = PACKAGE / "emulator"
    modules = [emulator / "timing" / name for name in READING]
    opcodes = sorted((emulator / "opcodes").rglob("*.py"))
    layout = inspect.getsource(find_work) + inspect.getsource(Work)
    files = [*modules, *opcodes, emulator / "runtime" / "timing_traces.cpp"]
    return _digest(_digest_files(files), layout)


@functools.cache
def digest_of_model() -> str:
    """Changes with what makes times of works."""
    emulator = PACKAGE / "emulator"
    runtime = sorted((emulator / "runtime").glob("timing_*"))
    return _digest_files([*sorted((emulator / "timing").glob("*.py")), *runtime])


@functools.cache
def _tools() -> Toolchain:
    return find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _digest_files(paths: Iterable[Path]) -> str:
    contents = (f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths)
    return _digest(*contents)


def _kept(kind: str, words: Sequence[str], make: Callable[[], T]) -> T:
    """What is kept under this name, or what is made now, and kept. Raises what `make` raises."""
    path = default_cache(os.environ) / "timing" / kind / _digest(*words)
    content = read_whole(path)
    if content is not None:
        return pickle.loads(zlib.decompress(content))  # type: ignore[no-any-return]
    made = make()
    write_whole(path, zlib.compress(pickle.dumps(made, protocol=5), level=1))
    return made
