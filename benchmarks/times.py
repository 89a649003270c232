"""Times every known program on a GPU without ncu: what benchmarks/model.py compares the timing
model with.

    python benchmarks/times.py [--gpu N] [--samples N] [--only PART] [--json FILE] [FILE.cu ...]

The programs are the kernels of tests/data/truth at both of their timed sizes, and of each exercise
the starter, the reference and the known submissions at its GPU benchmark sizes; FILE.cu times other
submissions, whose exercise is the name of their folder. Each sample has a flushed L2 and poisoned
outputs, as in a grading; the median of them is what counts. Programs that do not compile are left
out; one that faults takes its process with it, and the next process goes on behind it. Takes some
minutes, most of them for compiling; prints a line a program, and writes FILE (JSON). Exit code 0.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

import numpy as np

from grader.devices.gpus import read_gpus
from grader.folders import default_cache
from grader.grading.building import build, make_program
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain, find_toolchain
from grader.records import SUBMISSION, Program, Role, RunLimits, Submission, TimedStep
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission

ROOT = Path(__file__).resolve().parents[1]
TRUTH = ROOT / "tests" / "data" / "truth" / "kernels"
TRUTH_EXERCISES = {"transpose": "transpose", "gemm": "gemm_coalesced"}
"""Whose signature the kernels of truth/ have, by the first word of their names."""
TRUTH_SIZES = {"transpose": (4096, 8192), "gemm": (1024, 2048)}
LONG_MS, LONG_SAMPLES = 20.0, 5
LIMITS = RunLimits(warp_instructions=10**12, wall_seconds=600.0)


@dataclass(frozen=True)
class Job:
    """One program at one size. `name` says where it comes from: `truth/...`, `starter/...`,
    `solutions/...`, or a submission's stem."""

    exercise: str
    name: str
    path: Path
    sizes: Mapping[str, int]


@dataclass(frozen=True)
class Row:
    """One program's times in milliseconds, L2 cold; `ms` is None for `reason`."""

    exercise: str
    name: str
    sizes: Mapping[str, int]
    ms: float | None
    low_ms: float | None = None
    high_ms: float | None = None
    samples: int = 0
    sm_mhz: tuple[int, int] | None = None
    reason: str = ""


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.cu")
    parser.add_argument("--gpu", type=int, default=0, metavar="N")
    parser.add_argument("--samples", type=int, default=21, metavar="N")
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker, options.gpu, options.samples)
        return 0
    jobs = find_jobs(options.files)
    jobs = [
        job
        for job in jobs
        if not options.only or any(part in f"{job.exercise}/{job.name}" for part in options.only)
    ]
    name, arch = describe_gpu(options.gpu)
    rows = list(measure(jobs, compile_all(jobs, arch), options.gpu, options.samples))
    if options.json is not None:
        document = {"device": name, "rows": [asdict(row) for row in rows]}
        options.json.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


def find_jobs(files: Sequence[Path]) -> list[Job]:
    """What to time: the given files, or all that the repository holds."""
    exercises = {
        path.parent.name: read_exercise(path.parent)
        for path in sorted((ROOT / "exercises").glob("*/spec.json"))
    }
    if files:
        return [
            Job(file.parent.name, file.stem, file, exercises[file.parent.name].benchmark["gpu"])
            for file in files
        ]
    jobs = []
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
        jobs += [Job(name, "baseline", exercise.baseline_source, exercise.benchmark["gpu"])]
    return jobs


def compile_all(jobs: Sequence[Job], arch: str) -> list[Program | str]:
    """The programs, or why there is none."""
    tools = find_toolchain(prefer_wheel=False, cache=default_cache(os.environ))
    with ThreadPoolExecutor() as pool:
        return list(pool.map(lambda job: compile_job(job, tools, arch), jobs))


def compile_job(job: Job, tools: Toolchain, arch: str) -> Program | str:
    exercise = read_exercise(ROOT / "exercises" / job.exercise)
    source = read_submission(job.path)
    if not isinstance(source, Submission):
        return SubmissionError(source).message
    plan = exercise.baseline_plan if job.name == "baseline" else None
    limits = next(gpu for gpu in read_gpus().values() if gpu.arch == arch).emulated_info.limits
    try:
        built = build(source, exercise, tools, arch=arch, plan=plan)
        return make_program(SUBMISSION, built, exercise, sizes=job.sizes, limits=limits)
    except SubmissionError as error:
        return error.message


def describe_gpu(index: int) -> tuple[str, str]:
    """The GPU's name and its architecture, asked for in a process of its own: CUDA must not be
    alive here."""
    code = (
        f"import pycuda.driver as c; c.init(); d = c.Device({index}); print(d.name());"
        " print('sm_%d%d' % d.compute_capability())"
    )
    name, arch = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return name, arch


def measure(
    jobs: Sequence[Job], programs: Sequence[Program | str], gpu: int, samples: int
) -> Iterator[Row]:
    """A row for each job, in their order, printed as they come."""
    todo = [
        (job, program)
        for job, program in zip(jobs, programs, strict=True)
        if isinstance(program, Program)
    ]
    for job, program in zip(jobs, programs, strict=True):
        if isinstance(program, str):
            print(f"{job.exercise}/{job.name}: not timed: {program}")
    while todo:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "programs"
            file.write_bytes(pickle.dumps(todo))
            command = [
                sys.executable,
                __file__,
                "--worker",
                str(file),
                "--gpu",
                str(gpu),
                "--samples",
                str(samples),
            ]
            done = 0
            with subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
            ) as worker:
                assert worker.stdout is not None
                for line in worker.stdout:
                    if line.startswith("{"):
                        row = Row(**json.loads(line))
                        print(format_row(row), flush=True)
                        done += 1
                        yield row
        if done < len(todo):
            job = todo[done][0]
            print(f"{job.exercise}/{job.name}: its process ended", flush=True)
            yield Row(job.exercise, job.name, job.sizes, None, reason="its process ended")
        todo = todo[done + 1 :]


def work(file: Path, gpu: int, samples: int) -> None:
    """Time the programs of a file, one JSON line each, up to the first one after which the GPU can
    do no more."""
    from grader.devices.gpu.gpu_device import GpuDevice

    device = GpuDevice(gpu)
    for job, program in pickle.loads(file.read_bytes()):
        row = time_program(device, job, program, samples)
        print(json.dumps(asdict(row)), flush=True)
        if row.reason.startswith("faulted"):
            return


def time_program(device: object, job: Job, program: Program, samples: int) -> Row:
    """One program's row."""
    from grader.devices.gpu.gpu_device import GpuDevice

    assert isinstance(device, GpuDevice)
    inputs = [draw(program, seed) for seed in (1, 2)]
    ran, _ = device.prepare([program], inputs, limits=LIMITS)
    if ran.failure is not None:
        return Row(
            job.exercise, job.name, dict(job.sizes), None, reason=f"faulted: {ran.failure.message}"
        )
    device.time([TimedStep(SUBMISSION, index % 2) for index in range(3)])
    first, clocks = device.time([TimedStep(SUBMISSION, index % 2) for index in range(LONG_SAMPLES)])
    taken = [launch.milliseconds for launch in first]
    if median(taken) < LONG_MS:
        more, clocks = device.time([TimedStep(SUBMISSION, index % 2) for index in range(samples)])
        taken = [launch.milliseconds for launch in more]
    if any(map(np.isnan, taken)):
        return Row(job.exercise, job.name, dict(job.sizes), None, reason="faulted in a timed run")
    return Row(
        job.exercise,
        job.name,
        dict(job.sizes),
        median(taken),
        min(taken),
        max(taken),
        len(taken),
        clocks.sm_mhz,
    )


def draw(program: Program, seed: int) -> dict[str, np.ndarray]:
    """Contents of the program's inputs: standard normal, as the exercises' are."""
    inputs = [buffer for buffer in program.buffers if buffer.role is Role.INPUT]
    return {
        buffer.name: draw_array(buffer.shape, buffer.dtype, seed + 10 * index)
        for index, buffer in enumerate(inputs)
    }


@functools.lru_cache(maxsize=8)
def draw_array(shape: tuple[int, ...], dtype: str, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32).astype(dtype)


def format_row(row: Row) -> str:
    name = f"{row.exercise}/{row.name}"
    sizes = "x".join(map(str, row.sizes.values()))
    time = (
        f"{row.ms:9.4f} ms ({row.low_ms:.4f} to {row.high_ms:.4f})"
        if row.ms is not None
        else row.reason
    )
    return f"{name:72} {sizes:16} {time}"


if __name__ == "__main__":
    sys.exit(main())
