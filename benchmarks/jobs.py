"""The programs with measured and modelled times: kernels, and all programs with the signature of an
exercise."""

from __future__ import annotations

import functools
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from kernel_files import KernelRun, compile_file, describe_source, read_runs

from grader.devices.base import Arrays
from grader.devices.gpus import read_gpus
from grader.errors import UsageError
from grader.grading.building import Built, build, make_program
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain, find_toolchain
from grader.plumbing.cache import default_cache
from grader.records import SUBMISSION, LaunchLimits, Program, Submission
from grader.spec.draws import draw_scalars, make_inputs
from grader.spec.exercise import Case, Exercise
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission

ROOT = Path(__file__).resolve().parents[1]
TRUTH = ROOT / "tests" / "data" / "truth" / "kernels"
TRUTH_EXERCISES = {"transpose": "transpose", "gemm": "gemm_coalesced"}
"""Exercises with the signature of the kernels of truth/, by the first word of their names."""
TRUTH_SIZES = {"transpose": (4096, 8192), "gemm": (1024, 2048)}
BASELINE = "baseline"
"""Name of the job that runs a starter with the exercise's baseline plan."""
SEED = 1
"""Draws scalars and inputs of exercises."""
MICROBENCHMARKS = "costs"
"""The family of kernels that repeat a single instruction."""
KERNELS = "kernels"
"""Name instead of an exercise in the rows of benchmarks/kernels."""


@dataclass(frozen=True)
class Job:
    """A program at a size. `name` is its origin: `truth/...`, `starter/...`, `solutions/...`, a
    submission's stem, or the family and stem of a kernel, whose `run` has its data."""

    exercise: str
    name: str
    path: Path
    sizes: Mapping[str, int]
    run: KernelRun | None = None

    @property
    def label(self) -> str:
        """Distinguishes runs of a program."""
        return "x".join(map(str, self.sizes.values())) if self.run is None else self.run.text

    @property
    def source(self) -> str | None:
        """Distinguishes versions of a kernel."""
        return None if self.run is None else describe_source(self.path)


Ready = Program | Built | str
"""A program; for a kernel that draws its data later, its build; or the reason for neither."""


def find_jobs(files: Sequence[Path], *, kernels_only: bool = False) -> list[Job]:
    """The jobs for the given files, or for all programs of the repository. Raises UsageError for a
    useless run line."""
    kernels = [Job(KERNELS, run.name, run.path, run.sizes, run) for run in read_runs()]
    if kernels_only:
        return kernels
    return find_submissions(files) if files else [*kernels, *find_submissions(())]


def find_submissions(files: Sequence[Path]) -> list[Job]:
    """Jobs for the given files, or for all programs with the signature of an exercise."""
    names = sorted(path.parent.name for path in (ROOT / "exercises").glob("*/spec.json"))
    exercises = {name: read_timed(name) for name in names if "gpu" in read_timed(name).benchmark}
    if files:
        return [
            Job(file.parent.name, file.stem, file, exercises[file.parent.name].benchmark["gpu"])
            for file in files
        ]
    jobs: list[Job] = []
    for path in sorted(TRUTH.glob("*.cu")):
        family = path.stem.partition("_")[0]
        names = exercises[TRUTH_EXERCISES[family]].size_names
        jobs += [
            Job(TRUTH_EXERCISES[family], f"truth/{path.stem}", path, dict.fromkeys(names, size))
            for size in TRUTH_SIZES[family]
        ]
    for name, exercise in exercises.items():
        own = [
            (f"{folder}/{name}", ROOT / folder / f"{name}.cu")
            for folder in ("starter", "solutions")
        ]
        files = sorted((ROOT / "tests" / "submissions" / name).glob("*.cu"))
        known = [(path.stem, path) for path in files if not path.stem.startswith("timeout--")]
        jobs += [
            Job(name, label, path, exercise.benchmark["gpu"])
            for label, path in (*own, *known)
            if path.exists()
        ]
        jobs += [Job(name, BASELINE, exercise.baseline_source, exercise.benchmark["gpu"])]
    return jobs


@functools.cache
def read_timed(name: str) -> Exercise:
    """An exercise of the repository, with the scalars that every run here uses."""
    return draw_scalars(read_exercise(ROOT / "exercises" / name), SEED)


def draw_inputs(job: Job, seed: int = SEED) -> Arrays:
    """Contents of the buffers of an exercise's program, as in a grading: a histogram's time depends
    on them, a product's does not."""
    return _draw_again(job.exercise, tuple(job.sizes.items()), seed)


@functools.lru_cache(maxsize=2)
def _draw_again(name: str, sizes: tuple[tuple[str, int], ...], seed: int) -> Arrays:
    """The programs of an exercise follow each other and have the same inputs."""
    return make_inputs(read_timed(name), Case("timed", dict(sizes), hidden=False), seed)


def choose(jobs: Sequence[Job], parts: Sequence[str]) -> list[Job]:
    """The jobs whose names contain one of the parts; without parts, all jobs."""
    return [
        job
        for job in jobs
        if not parts or any(part in f"{job.exercise}/{job.name}" for part in parts)
    ]


def compile_all(jobs: Sequence[Job], arch: str) -> list[Ready]:
    """The programs, or the reasons why there is none. Runs of a kernel share its build."""
    tools = find_toolchain(prefer_wheel=False, cache=default_cache(os.environ))
    kernels = {job.path: job for job in jobs if job.run is not None}
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        built = pool.map(lambda job: compile_kernel(job, tools, arch), kernels.values())
        made = pool.map(lambda job: None if job.run else compile_job(job, tools, arch), jobs)
        by_path = dict(zip(kernels, built, strict=True))
        return [ready or by_path[job.path] for job, ready in zip(jobs, made, strict=True)]


def compile_kernel(job: Job, tools: Toolchain, arch: str) -> Built | str:
    """The build of a kernel's program, which still needs data."""
    assert job.run is not None
    try:
        return compile_file(job.path, job.run.names, tools, arch)
    except (SubmissionError, UsageError) as error:
        return str(error)


def limits_of(arch: str) -> LaunchLimits:
    """The launch limits of GPUs of an architecture."""
    return next(gpu for gpu in read_gpus().values() if gpu.arch == arch).emulated_info.limits


def compile_job(job: Job, tools: Toolchain, arch: str) -> Program | str:
    exercise = read_timed(job.exercise)
    source = read_submission(job.path)
    if not isinstance(source, Submission):
        return SubmissionError(source).message
    plan = exercise.baseline_plan if job.name == BASELINE else None
    try:
        built = build(source, exercise, tools, arch=arch, plan=plan)
        return make_program(SUBMISSION, built, exercise, sizes=job.sizes, limits=limits_of(arch))
    except SubmissionError as error:
        return error.message
