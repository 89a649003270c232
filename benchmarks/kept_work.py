"""Cached inputs of the timing model. A run of a program takes seconds, a model of its time takes a
fraction of a second, and during a fit only the model's parameters change.

The cache folder holds three results for a program, under names that change with their inputs:

    traced     the emulated device's traces of its launches; changes with emulator and program
    work       the model's input from these traces (work.Work); changes with the code that reads
               traces
    modelled   a time, for a GPU's figures; changes with the model

Rows of opcodes contain pipes and latencies besides the opcodes' effects. A change of rows, or of
the special functions' results, therefore renews works, but not traces.
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

from jobs import BASELINE, ROOT, Job, compile_job, compile_kernel, draw_inputs
from kernel_files import draw_word, make_kernel_program

import grader
from grader.devices.base import Arrays
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.emulated.inspection import Recorder
from grader.devices.emulated.machine_code import Code
from grader.devices.emulated.plan_run import Plan, RunOptions
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.emulated.sampling import Timed
from grader.devices.gpus import Gpu
from grader.emulator.codegen.kept_files import read_whole, write_whole
from grader.emulator.timing.estimate import Estimate
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.launch_time import LaunchModel
from grader.emulator.timing.measured import describe
from grader.emulator.timing.representative import choose_blocks
from grader.emulator.timing.work import TracedLaunch, Work, find_work
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain, find_toolchain
from grader.messages.hidden import describe_mistake
from grader.plumbing.cache import default_cache
from grader.records import Binary, ModelledMode, Program, RunLimits

LIMITS = RunLimits(warp_instructions=10**12, wall_seconds=600.0)
GOOD_PART, EQUAL = 0.25, 0.02
"""The least part of a program's time that says something of a launch's error, and the largest
difference of the traits of equal launches."""
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
"""Modules of the timing model that read traces, besides the opcode rows and traces.cpp."""
EMULATOR = PACKAGE / "emulator"
OPCODES, TIMING = EMULATOR / "codegen" / "opcodes", EMULATOR / "timing"
NATIVE_TIMING = EMULATOR / "cpp" / "timing"
TRACING = (NATIVE_TIMING / "tracing.cpp", NATIVE_TIMING / "tracing.h")
T = TypeVar("T")


@dataclass(frozen=True)
class Traced:
    """Traces of a program's launches, whose kernels are `symbols` of the binary."""

    binary: Binary
    symbols: tuple[str, ...]
    launches: tuple[TracedLaunch, ...]


@dataclass(frozen=True)
class ModelledRun:
    """A program's simulated time, the kind and traits of its longest launch, and for its last
    launch the limiting resource and the used fractions of resources. `others`: kind and traits of
    each other launch that takes a good part of the time; equal launches count once."""

    time_ms: float
    kind: str
    traits: tuple[float, ...]
    bound: str
    use: Mapping[str, float]
    others: tuple[tuple[str, tuple[float, ...]], ...] = ()


class NotModelledError(Exception):
    """The reason why a program has no modelled time."""


# --- of many jobs ---------------------------------------------------------------------------------


def model_jobs(
    jobs: Sequence[Job], gpu: Gpu, figures: Figures, pool: Executor | None = None
) -> Iterator[ModelledRun | str]:
    """The modelled times of jobs in order, or the reasons why there is none. Uses the pool's
    processes, by default one per processor of the machine."""
    work = functools.partial(try_job, gpu=gpu, figures=figures)
    if pool is not None:
        yield from pool.map(work, jobs)
        return
    with make_pool() as own:
        yield from own.map(work, jobs)


def make_pool() -> Executor:
    """A pool of processes for `model_jobs`."""
    return ProcessPoolExecutor(len(os.sched_getaffinity(0)))


def try_job(job: Job, gpu: Gpu, figures: Figures) -> ModelledRun | str:
    """The modelled time of a job, or the reason why there is none."""
    try:
        return model_job(job, gpu, figures)
    except NotModelledError as error:
        return str(error)


# --- of a job -------------------------------------------------------------------------------------


def model_job(job: Job, gpu: Gpu, figures: Figures) -> ModelledRun:
    """The modelled time of a job on a GPU with these figures. Raises NotModelledError."""
    return _kept(
        "modelled",
        (name_work(job, gpu), repr(figures), digest_of_model()),
        lambda: model_works(works_of(job, gpu), figures),
    )


def works_of(job: Job, gpu: Gpu) -> tuple[Work, ...]:
    """The works of the job's launches. Raises NotModelledError."""
    return _kept("work", (name_work(job, gpu),), lambda: find_works(trace_job(job, gpu), gpu))


def trace_job(job: Job, gpu: Gpu) -> Traced:
    """The emulated device's traces of the job's launches. Raises NotModelledError."""
    return _kept("traced", (name_traces(job, gpu),), lambda: trace(*make_program(job, gpu), gpu))


def make_program(job: Job, gpu: Gpu) -> tuple[Program, Arrays]:
    """The job's program, and the contents of its buffers: those of its run line, or of its
    exercise. Raises NotModelledError."""
    if job.run is None:
        program = compile_job(job, find_tools(), gpu.arch)
        if isinstance(program, str):
            raise NotModelledError(program)
        return program, draw_inputs(job)
    built = compile_kernel(job, find_tools(), gpu.arch)
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
    """Runs a program on an emulated GPU, in this thread only. Raises NotModelledError."""
    device = EmulatedDevice(gpu.id, threads=1)
    device.gpu, figures = gpu, gpu.figures
    assert figures is not None
    plan, pool = Plan(program, arrays, LIMITS), _Kept()
    recorder = Recorder(figures, plan, TIMED, pool)
    execution, _ = device.perform(plan, RunOptions(recorder.run))
    if recorder.uneven:  # a sample does not represent all blocks
        recorder = Recorder(figures, plan, TIMED, pool, samples=False)
        execution, _ = device.perform(plan.started(), RunOptions(recorder.run))
    if execution.failure is not None:
        raise NotModelledError(describe_mistake(execution.failure).message)
    launches = pool.launches
    if len(launches) < len(program.launches):
        reasons = [launch.unmodelled for launch in execution.launches if launch.unmodelled]
        raise NotModelledError(reasons[0] if reasons else "the model knows no figures of this GPU")
    symbols = tuple(launch.symbol for launch in program.launches)
    return Traced(program.binary, symbols, tuple(launches))


class _Kept(Executor):
    """Replaces the threads that model the times of launches, and keeps the launches' traces."""

    def __init__(self) -> None:
        self.launches: list[TracedLaunch] = []

    def submit(self, fn: Callable[..., T], /, *_: object, **__: object) -> Future[T]:
        timed = getattr(fn, "__self__", None)
        assert isinstance(timed, Timed)
        if timed.ran.outcome.fault is None:
            self.launches.append(timed.traced())
        return Future()


def find_works(traced: Traced, gpu: Gpu) -> tuple[Work, ...]:
    """The model's input from traces. Raises NotModelledError."""
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
    """The time of consecutive launches."""
    found: list[Estimate] = []
    for work in works:
        held = found[-1].held if found else None
        found.append(LaunchModel(work, figures, emulator_runtime(), held).estimate())
    total, last = sum(each.simulated_ms for each in found), found[-1]
    parts: dict[tuple[str, tuple[float, ...]], float] = {}
    for each in sorted(found, key=lambda each: -each.simulated_ms):
        traits = tuple(describe(each.facts))
        equal = (
            part for part in parts if part[0] == each.kind.value and _are_equal(part[1], traits)
        )
        part = next(equal, (each.kind.value, traits))
        parts[part] = parts.get(part, 0.0) + each.simulated_ms
    (kind, traits), *others = parts
    return ModelledRun(
        total,
        kind,
        traits,
        last.bounds[0].resource,
        dict(last.use),
        tuple(part for part in others if parts[part] >= GOOD_PART * total),
    )


def _are_equal(left: Sequence[float], right: Sequence[float]) -> bool:
    """Whether launches with these traits count as equal."""
    return all(abs(one - other) <= EQUAL for one, other in zip(left, right, strict=True))


# --- names ----------------------------------------------------------------------------------------


def name_traces(job: Job, gpu: Gpu) -> str:
    """A name for the traces of a job's launches on a GPU; independent of the GPU's speed."""
    speeds = {"boost_mhz": 0, "peak_bandwidth_gbps": 0.0, "peak_fp32_tflops": 0.0, "l2_bytes": 0}
    speeds |= {"peak_tensor_tflops": None}
    slow = replace(gpu, id="", name="", source="", timing=None, **speeds)
    exercise = ROOT / "exercises" / job.exercise
    files = [job.path, *sorted(exercise.rglob("*"))] if job.run is None else [job.path]
    return _digest(
        job.label if job.name != BASELINE else f"{BASELINE} {job.label}",
        repr(slow),
        str(sorted(find_tools().versions.items())),
        inspect.getsource(choose_blocks) + inspect.getsource(draw_inputs),
        digest_of_emulator(),
        _digest_files(path for path in files if path.is_file()),
    )


def name_work(job: Job, gpu: Gpu) -> str:
    """A name for the works of a job's launches."""
    return _digest(name_traces(job, gpu), digest_of_reading())


@functools.cache
def digest_of_emulator() -> str:
    """Changes with the code that makes traces."""
    files = [
        path
        for folder in (EMULATOR, PACKAGE / "devices" / "emulated")
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".py", ".cpp", ".h")
        and not any(path.is_relative_to(each) for each in (OPCODES, TIMING, NATIVE_TIMING))
        and not path.name.startswith("special")
    ]
    return _digest_files([*files, *TRACING, PACKAGE / "spec" / "draws.py"])


@functools.cache
def digest_of_reading() -> str:
    """Changes with the code that makes works from traces."""
    modules = [TIMING / name for name in READING]
    layout = inspect.getsource(find_work) + inspect.getsource(Work)
    files = [*modules, *sorted(OPCODES.rglob("*.py")), NATIVE_TIMING / "traces.cpp"]
    return _digest(_digest_files(files), layout)


@functools.cache
def digest_of_model() -> str:
    """Changes with the code that makes times from works."""
    return _digest_files([*sorted(TIMING.glob("*.py")), *sorted(NATIVE_TIMING.iterdir())])


@functools.cache
def find_tools() -> Toolchain:
    """The compiler of the programs."""
    return find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))


def _digest(*words: str) -> str:
    return hashlib.sha256("\0".join(words).encode()).hexdigest()


def _digest_files(paths: Iterable[Path]) -> str:
    contents = (f"{path.name} {hashlib.sha256(path.read_bytes()).hexdigest()}" for path in paths)
    return _digest(*contents)


def _kept(kind: str, words: Sequence[str], make: Callable[[], T]) -> T:
    """The cached result of this name; otherwise calls `make` and caches its result. Raises the
    errors of `make`."""
    path = default_cache(os.environ) / "timing" / kind / _digest(*words)
    content = read_whole(path)
    if content is not None:
        return pickle.loads(zlib.decompress(content))  # type: ignore[no-any-return]
    made = make()
    write_whole(path, zlib.compress(pickle.dumps(made, protocol=5), level=1))
    return made
