"""Grades one submission: the only file that knows the order of the stages.

Data flows one way: exercise, submission, plan, preprocessor, compiler, then each case through the worker's device and
the comparison, then the benchmark, and at last the judgement. The submission's code runs in the worker only; inputs,
seed and expected outputs stay here. A student's mistake ends the flow as a `Failure`; whatever was known by then is in the score.
"""

from __future__ import annotations

import difflib
import hashlib
import importlib.metadata
import os
import platform
import secrets
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from grader.devices.base import Arrays, Device
from grader.devices.gpus import read_gpus
from grader.errors import GraderError, SpecError, UsageError
from grader.folders import default_cache
from grader.judging.compare import judge_case, poison
from grader.judging.score import failed_score, make_score
from grader.records import (
    Binary,
    CaseResult,
    DeviceInfo,
    Execution,
    Failure,
    Progress,
    Role,
    RunLimits,
    Score,
    ShowProgress,
    Status,
    Submission,
    ToolLimits,
)
from grader.sandbox.process import run_tool
from grader.sandbox.remote import RemoteDevice
from grader.spec.cases import device_buffers, draw_cases, make_inputs
from grader.spec.model import Case, Exercise
from grader.spec.oracle import load_oracle
from grader.spec.plans import Plan
from grader.spec.read import read_exercise
from grader.submission.includes import check_includes
from grader.submission.plan import macro_names, read_macros, read_plan
from grader.submission.read import read_submission
from grader.submission.resolve import resolve_plan
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from grader.toolchain.preprocess import preprocess

DEFAULT_GPU = "h100"
SEED_BITS = 53  # what a JSON number holds exactly
BENCHMARK = "benchmark"
Oracle = Callable[[Arrays, Mapping[str, int]], Arrays]
LIBRARIES = ("numpy", "llvmlite")


def grade(
    exercise: Path | str,
    submission: Path | str,
    *,
    device: str = "auto",
    seed: int | None = None,
    progress: ShowProgress | None = None,
    cache: Path | None = None,
) -> Score:
    """Grade one submission of an exercise.

    `device` is `auto`, `emulated` or `emulated:ID`. `seed` draws the hidden cases and all inputs; a secret one is made
    without it, and the score holds it. `cache` is the folder of compiled submissions (default: the user's cache folder).
    Raises UsageError (no such file or device) and SpecError (a broken exercise); any other fault of the grader or of the
    machine is a score of status `grader_error`.
    """
    gpu = parse_device(device)
    read = read_exercise(Path(exercise))
    text = read_submission(Path(submission))
    job = _Job(
        exercise=read,
        submission=text if isinstance(text, Submission) else _unread_submission(Path(submission)),
        gpu=gpu,
        device=read_gpus()[gpu].emulated_info,
        seed=secrets.randbits(SEED_BITS) if seed is None else check_seed(seed),
        cache=default_cache(os.environ) if cache is None else cache,
        show=progress or _show_nothing,
        environment=_describe_environment(),
    )
    if isinstance(text, Failure):
        return job.fail(text)
    try:
        return _grade(job)
    except (UsageError, SpecError):
        raise
    except GraderError as error:
        return job.fail(Failure(Status.GRADER_ERROR, str(error), error.detail, error.advice))


def parse_device(name: str) -> str:
    """The id in gpus.json of the GPU that a device name stands for; UsageError for a name that is none."""
    kind, _, gpu = name.partition(":")
    if kind == "auto" and not gpu:
        return DEFAULT_GPU
    if kind == "gpu":
        raise UsageError("the gpu device is not in this version", "Use --device emulated, which needs no GPU.")
    if kind != "emulated":
        raise UsageError(f"there is no device {name!r}", "Devices are auto, emulated and emulated:GPU, for instance emulated:h100.")
    known = read_gpus()
    if gpu and gpu not in known:
        close = difflib.get_close_matches(gpu.lower(), known, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(f"the emulated device cannot stand for {gpu!r}{guess}", f"It can stand for: {', '.join(known)}.")
    return gpu or DEFAULT_GPU


def check_seed(seed: int) -> int:
    """The seed, if a JSON number holds it exactly; UsageError otherwise."""
    if not 0 <= seed < 1 << SEED_BITS:
        raise UsageError(f"the seed {seed} is out of range", f"Give an integer from 0 to {(1 << SEED_BITS) - 1}.")
    return seed


@dataclass(frozen=True)
class _Job:
    """One grading: what it is about, and what every step of it needs."""

    exercise: Exercise
    submission: Submission
    gpu: str
    device: DeviceInfo
    seed: int
    cache: Path
    show: ShowProgress
    environment: Mapping[str, str]

    def fail(self, failure: Failure, cases: Sequence[CaseResult] = ()) -> Score:
        return failed_score(
            self.exercise,
            self.submission,
            failure,
            device=self.device,
            environment=self.environment,
            seed=self.seed,
            cases=cases,
        )


@dataclass(frozen=True)
class _Built:
    """A submission that compiled: its plan, the macros that the plan uses, and its kernels."""

    plan: Plan
    macros: Mapping[str, int]
    binary: Binary


@dataclass(frozen=True)
class _Run:
    """A case that ran to its end."""

    result: CaseResult
    execution: Execution


def _grade(job: _Job) -> Score:
    with RemoteDevice(f"emulated:{job.gpu}") as device:  # it starts while the compiler runs
        job.show(Progress("compiling"))
        nvcc, nvdisasm = find_nvcc(os.environ, run_tool, prefer_wheel=True), find_nvdisasm(os.environ, run_tool)
        versions = {"nvcc": nvcc.version, "nvdisasm": nvdisasm.version}
        job = replace(job, environment={**job.environment, **versions})
        built = _build(job, nvcc, nvdisasm)
        if isinstance(built, Failure):
            return job.fail(built)
        device.load(built.binary)
        return _run_all(job, built, device)


def _build(job: _Job, nvcc: Nvcc, nvdisasm: Nvdisasm) -> _Built | Failure:
    """Read the plan, refuse forbidden includes, and compile."""
    plan = read_plan(job.submission)
    if isinstance(plan, Failure):
        return plan
    plan = plan or job.exercise.default_plan
    known = {*job.exercise.size_names, *(buffer.name for buffer in job.exercise.buffers)}
    limits = ToolLimits(wall_seconds=job.exercise.limits.compile_seconds)
    arch = job.device.arch
    seen = preprocess(job.submission, macro_names(plan, known), nvcc=nvcc, arch=arch, run=run_tool, limits=limits)
    if isinstance(seen, Failure):
        return seen
    refused = check_includes(seen.files, nvcc.include_roots)
    if refused is not None:
        return refused
    macros = read_macros(plan, seen.macros, job.submission.text)
    if isinstance(macros, Failure):
        return macros
    binary = compile_submission(job.submission, nvcc=nvcc, nvdisasm=nvdisasm, arch=arch, run=run_tool, limits=limits, cache=job.cache)
    return binary if isinstance(binary, Failure) else _Built(plan, macros, binary)


def _run_all(job: _Job, built: _Built, device: Device) -> Score:
    """Run the correctness cases, then the benchmark unless a case is wrong, and judge. The first failure ends it."""
    oracle = load_oracle(job.exercise)
    results: list[CaseResult] = []
    cases = draw_cases(job.exercise, job.seed)
    for index, case in enumerate(cases):
        job.show(Progress("checking cases", index, len(cases)))
        run = _run_case(job, built, device, oracle, case)
        if isinstance(run, Failure):
            return job.fail(run, results)
        results.append(run.result)
    execution = None
    sizes = job.exercise.benchmark.get(job.device.kind)
    if sizes is not None and all(result.passed for result in results):
        job.show(Progress("counting"))
        run = _run_case(job, built, device, oracle, Case(BENCHMARK, sizes, hidden=False), show=_rename(job.show, "counting"))
        if isinstance(run, Failure):
            return job.fail(run, results)
        results.append(run.result)
        execution = run.execution
    job.show(Progress("judging"))
    return make_score(
        job.exercise,
        job.submission,
        device=job.device,
        cases=results,
        execution=execution,
        environment=job.environment,
        seed=job.seed,
    )


def _run_case(job: _Job, built: _Built, device: Device, oracle: Oracle, case: Case, *, show: ShowProgress | None = None) -> _Run | Failure:
    """Run one case on the device, with poisoned outputs and scratch, and compare it with the oracle."""
    buffers = device_buffers(job.exercise, case.sizes)
    resolved = resolve_plan(
        built.plan,
        sizes=case.sizes,
        macros=built.macros,
        buffers=buffers,
        kernels=built.binary.kernels,
        limits=job.device.limits,
        source=job.submission.text,
    )
    if isinstance(resolved, Failure):
        return resolved
    inputs = make_inputs(job.exercise, case, job.seed)
    everything = (*buffers, *resolved.scratch)
    arrays = inputs | {buffer.name: poison(buffer.shape, buffer.dtype) for buffer in everything if buffer.role is not Role.INPUT}
    limits = RunLimits(job.exercise.limits.warp_instructions, job.exercise.limits.wall_seconds)
    execution, got = device.execute(resolved.launches, everything, arrays, limits=limits, progress=show)
    if execution.failure is not None:
        return execution.failure
    expected = oracle(inputs, case.sizes)
    result = judge_case(case, buffers, expected, got, job.exercise.tolerance, modified_inputs=execution.modified_inputs)
    return _Run(result, execution)


def _unread_submission(path: Path) -> Submission:
    """What a score says of a file that is no source text: its name and hash."""
    with path.open("rb") as file:
        return Submission(path.name, hashlib.file_digest(file, "sha256").hexdigest(), "")


def _describe_environment() -> dict[str, str]:
    """Versions of what had a part in a score, the compiler's tools left out: those are known once they are found."""
    versions = {library: importlib.metadata.version(library) for library in LIBRARIES}
    return {
        "grader": importlib.metadata.version("cuda-exercise-grader"),
        "python": platform.python_version(),
        **versions,
        "platform": platform.platform(),
    }


def _rename(show: ShowProgress, stage: str) -> ShowProgress:
    """Shows a device's own steps under the name of the stage that a student knows."""
    return lambda step: show(Progress(stage, step.done, step.total))


def _show_nothing(_: Progress) -> None:
    """For who does not want to see progress."""
