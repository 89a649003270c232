"""Times every known program on a GPU without ncu; benchmarks/model.py compares the timing model
with these times.

    python benchmarks/times.py [--kernels] [--only PART] [--json FILE] [--missing] [FILE.cu ...]

The programs are the runs of benchmarks/kernels (`--kernels`: only these), the kernels of
tests/data/truth at both of their timed sizes, and for each exercise the starter, the reference and
the known submissions at its GPU benchmark sizes. FILE.cu times other submissions; the name of their
folder is the exercise. Each sample has a flushed L2 and poisoned outputs, as in a grading; the
median counts. Programs that do not compile are omitted. A fault ends its process, and the next
process continues with the next program; the same holds for a program that does not end.

Prints a line per program. Writes FILE (JSON) after each program, and replaces its rows of the same
programs; --missing times only programs without a row, or with a row for another source. Takes some
minutes, mostly for compilation on all cores. Exit code 0.
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
from dataclasses import asdict, dataclass
from math import isnan
from pathlib import Path
from statistics import median
from threading import Timer
from typing import Any

import numpy as np
from jobs import Job, Ready, choose, compile_all, draw_inputs, find_jobs
from kernel_files import draw_word, make_kernel_program

from grader.devices.base import Arrays, TimingDevice
from grader.errors import UsageError
from grader.explore.kernel_data import Output
from grader.grading.building import Built
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import find_toolchain
from grader.messages.hidden import describe_mistake
from grader.plumbing.cache import default_cache
from grader.records import SUBMISSION, ClockState, Program, RunLimits, TimedStep

WARM_UPS, LONG_MS, LONG_SAMPLES = 3, 50.0, 5
ENDLESS_SECONDS = 120.0
"""Time limit for a program's row; its process is then ended."""
FAULTED = "faulted"
"""First word of the reason if the GPU is unusable in this process from then on."""
LIMITS = RunLimits(warp_instructions=10**12, wall_seconds=600.0)


@dataclass(frozen=True)
class Row:
    """A program's times in milliseconds with a cold L2. `ms` is None if there is a `reason`. `run`
    and `source` are those of the job; clocks are the lowest and highest values during the run."""

    exercise: str
    name: str
    sizes: Mapping[str, int]
    ms: float | None
    low_ms: float | None = None
    high_ms: float | None = None
    samples: int = 0
    sm_mhz: tuple[int, int] | None = None
    memory_mhz: tuple[int, int] | None = None
    throttled: tuple[str, ...] = ()
    reason: str = ""
    run: str | None = None
    source: str | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for all rows of a program's run."""
        return self.exercise, self.name, self.run or "x".join(map(str, self.sizes.values()))


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path, metavar="FILE.cu")
    parser.add_argument("--gpu", type=int, default=0, metavar="N")
    parser.add_argument("--samples", type=int, default=21, metavar="N")
    parser.add_argument("--kernels", action="store_true")
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--json", type=Path, metavar="FILE")
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker, options.gpu, options.samples)
        return 0
    try:
        jobs = find_jobs(options.files, kernels_only=options.kernels)
    except UsageError as error:
        parser.error(f"{error} {error.advice}")
    jobs = choose(jobs, options.only)
    known, head = [], {}
    if options.json is not None:
        known, head = read_rows(options.json), read_head(options.json)
    if options.missing:
        jobs = leave_out(jobs, known)
    name, arch = describe_gpu(options.gpu)
    nvcc = find_toolchain(prefer_wheel=False, cache=default_cache(os.environ)).nvcc.version
    head |= {"device": name, "nvcc": nvcc}
    for row in measure(jobs, compile_all(jobs, arch), options.gpu, options.samples):
        print(format_row(row), flush=True)
        known = [*(each for each in known if each.key != row.key), row]
        if options.json is not None:
            write_rows(options.json, head, known)
    return 0


# --- files -------------------------------------------------------------------------------


def leave_out(jobs: Sequence[Job], known: Sequence[Row]) -> list[Job]:
    """The jobs without a row, or with a row only for another source."""
    timed = {(*row.key, row.source) for row in known if row.ms is not None}
    return [job for job in jobs if (job.exercise, job.name, job.label, job.source) not in timed]


def read_rows(path: Path) -> list[Row]:
    """The rows of a file; none if it does not exist."""
    if not path.exists():
        return []
    return [Row(**row) for row in json.loads(path.read_text(encoding="utf-8"))["rows"]]


def read_head(path: Path) -> dict[str, Any]:
    """What a file says about its rows: `device`, the GPU; `nvcc`, the version that compiled the
    programs; `other_code`, by other versions of nvcc: programs whose code takes another time.
    Empty if it does not exist."""
    if not path.exists():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    return {name: value for name, value in document.items() if name != "rows"}


def write_rows(path: Path, head: Mapping[str, Any], rows: Sequence[Row]) -> None:
    """Writes a file of rows, without empty fields. `head`: see read_head. Atomic: after an
    interruption, the file is the old or the new file."""
    filled = [
        {name: value for name, value in asdict(row).items() if value or name == "ms"}
        for row in rows
    ]
    document = {**head, "rows": filled}
    made = path.with_suffix(".part")
    made.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    made.replace(path)


def describe_gpu(index: int) -> tuple[str, str]:
    """The GPU's name and architecture, from a separate process, because CUDA must not be
    initialised in this process."""
    code = (
        f"import pycuda.driver as c; c.init(); d = c.Device({index}); print(d.name());"
        " print('sm_%d%d' % d.compute_capability())"
    )
    name, arch = subprocess.run(
        [sys.executable, "-c", code], check=True, capture_output=True, text=True
    ).stdout.splitlines()
    return name, arch


# --- timing ---------------------------------------------------------------------------------------


def measure(
    jobs: Sequence[Job], programs: Sequence[Ready], gpu: int, samples: int
) -> Iterator[Row]:
    """A row per job, as they are ready; jobs without a program come first."""
    todo = []
    for job, program in zip(jobs, programs, strict=True):
        if isinstance(program, str):
            yield untimed(job, f"not timed: {program}")
        else:
            todo.append((job, program))
    while todo:
        done, faulted = 0, False
        for row in measure_in_process(todo, gpu, samples):
            done, faulted = done + 1, row.reason.startswith(FAULTED)
            yield row
        if done < len(todo) and not faulted:
            yield untimed(todo[done][0], "its process ended, or it did not come to an end")
            done += 1
        todo = todo[done:]


def measure_in_process(
    todo: Sequence[tuple[Job, Program | Built]], gpu: int, samples: int
) -> Iterator[Row]:
    """The rows of the first programs, up to the end of a single process."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "programs"
        file.write_bytes(pickle.dumps(todo))
        options = ["--worker", str(file), "--gpu", str(gpu), "--samples", str(samples)]
        with subprocess.Popen(
            [sys.executable, __file__, *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        ) as worker:
            assert worker.stdout is not None
            waiting = start_timer(worker)
            for line in worker.stdout:
                waiting.cancel()
                yield Row(**json.loads(line))
                waiting = start_timer(worker)
            waiting.cancel()


def start_timer(worker: subprocess.Popen[str]) -> Timer:
    """Ends the process after ENDLESS_SECONDS unless the timer is cancelled."""
    timer = Timer(ENDLESS_SECONDS, worker.kill)
    timer.daemon = True
    timer.start()
    return timer


def work(file: Path, gpu: int, samples: int) -> None:
    """Times the programs of a file, a JSON line each, up to the first after which the GPU is
    unusable."""
    from grader.devices.gpu.gpu_device import GpuDevice

    device = GpuDevice(gpu)
    with os.fdopen(os.dup(sys.stdout.fileno()), "w") as rows:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # kernels may print
        for job, ready in pickle.loads(file.read_bytes()):
            row = time_job(device, job, ready, samples)
            print(json.dumps(asdict(row)), file=rows, flush=True)
            if row.reason.startswith(FAULTED):
                return


def time_job(device: TimingDevice, job: Job, ready: Program | Built, samples: int) -> Row:
    """The row of a program on its own data."""
    if isinstance(ready, Program):
        inputs = [draw_inputs(job, seed) for seed in (1, 2)]
        return time_program(device, job, ready, inputs, samples)
    assert job.run is not None
    try:
        data = job.run.read_data(draw_once)
        program = make_kernel_program(ready, data, device.info.limits)
    except (SubmissionError, UsageError) as error:
        return untimed(job, f"not timed: {error}")
    return time_program(device, job, program, [dict(data.arrays)], samples)


def time_program(
    device: TimingDevice, job: Job, program: Program, inputs: Sequence[Arrays], samples: int
) -> Row:
    """The row of a program on these inputs."""
    ran, _ = device.prepare([program], inputs, limits=LIMITS)
    if ran.failure is not None:
        return untimed(job, f"{FAULTED}: {describe_mistake(ran.failure).message}")
    if ran.modified_inputs:
        return untimed(job, f"not timed: it writes to {', '.join(ran.modified_inputs)}")

    def take(count: int) -> tuple[list[float], ClockState]:
        steps = [TimedStep(SUBMISSION, index % len(inputs)) for index in range(count)]
        launches, clocks = device.time(steps)
        return [launch.milliseconds for launch in launches], clocks

    take(WARM_UPS)
    taken, clocks = take(LONG_SAMPLES)
    if median(taken) < LONG_MS:
        taken, clocks = take(samples)
    if any(map(isnan, taken)):
        return untimed(job, f"{FAULTED} in a timed run")
    return Row(
        job.exercise,
        job.name,
        dict(job.sizes),
        median(taken),
        min(taken),
        max(taken),
        len(taken),
        clocks.sm_mhz,
        clocks.memory_mhz,
        clocks.throttled,
        run=job.run and job.run.text,
        source=job.source,
    )


def untimed(job: Job, reason: str) -> Row:
    """The row of a job without a time."""
    return Row(
        job.exercise,
        job.name,
        dict(job.sizes),
        None,
        reason=reason,
        run=job.run and job.run.text,
        source=job.source,
    )


def draw_once(option: str, word: str, sizes: Mapping[str, int]) -> np.ndarray | Output:
    """`draw_word` with a cache, because many kernels run on the same data."""
    return _draw_again(option, word, tuple(sizes.items()))


@functools.lru_cache(maxsize=8)
def _draw_again(option: str, word: str, sizes: tuple[tuple[str, int], ...]) -> np.ndarray | Output:
    return draw_word(option, word, dict(sizes))


def format_row(row: Row) -> str:
    name = f"{row.exercise}/{row.name}"
    sizes = "x".join(map(str, row.sizes.values()))
    clock = f" at {row.sm_mhz[0]} to {row.sm_mhz[1]} MHz" if row.sm_mhz else ""
    time = (
        f"{row.ms:9.4f} ms ({row.low_ms:.4f} to {row.high_ms:.4f}){clock}"
        if row.ms is not None
        else row.reason
    )
    return f"{name:72} {sizes:16} {time}"


if __name__ == "__main__":
    sys.exit(main())
