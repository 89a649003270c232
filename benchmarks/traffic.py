"""Sectors that kernels request from the L2, its hits, and the bytes of DRAM: counts of a GPU, and
those of the timing model.

    python benchmarks/traffic.py --measure [--parallel N] [--only PART] [--json FILE]
    python benchmarks/traffic.py [--only PART] [--every N] [--json FILE]

--measure counts the runs of benchmarks/kernels on a GPU with Nsight Compute, which empties the
caches before each launch, and writes FILE (default: tests/data/traffic_h200.json). A program that
faults ends its batch of programs. Takes five minutes on 16 cores with `--parallel 8`.

Without it, models the launches of FILE on the emulated GPU, likewise with empty caches; needs no
GPU. Prints a line per launch with the measured and the modelled hit rate of the L2, and bytes that
DRAM reads; then the errors. Traces are cached as by benchmarks/model.py. Exit code 0.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import mean, median
from typing import TextIO

from jobs import MICROBENCHMARKS, Job, Ready, choose, compile_all, find_jobs, limits_of
from kept_work import NotModelledError, works_of
from kernel_files import make_kernel_program
from times import describe_gpu, draw_once

from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.gpu.ncu import NCU_OPTIONS, find_ncu
from grader.devices.gpu.ncu_metrics import DRAM_TRAFFIC, L2_HITS, L2_SECTORS
from grader.devices.gpus import read_gpus
from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.timing.launch_time import LaunchModel
from grader.grading.building import Built
from grader.records import Launch

FILE = Path(__file__).resolve().parents[1] / "tests" / "data" / "traffic_h200.json"
GPU = "h200"
BATCH = 24
"""Programs of an ncu process."""
BATCH_SECONDS = 150.0
LARGEST_SIZE = 70_000_000
FEW_SECTORS = 50_000
"""The hit rates of launches with fewer requests vary from run to run."""


@dataclass(frozen=True)
class Row:
    """A launch of a kernel run: counts of Nsight Compute."""

    name: str
    run: str
    launch: int
    l2_sectors: int
    l2_hits: int
    dram_read_bytes: int
    dram_written_bytes: int

    @property
    def hit_rate(self) -> float:
        return self.l2_hits / max(1, self.l2_sectors)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--measure", action="store_true")
    parser.add_argument("--parallel", type=int, default=1, metavar="N")
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--json", type=Path, default=FILE, metavar="FILE")
    parser.add_argument("--worker", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker is not None:
        work(options.worker)
        return 0
    jobs = [
        job
        for job in choose(find_jobs([], kernels_only=True), options.only)
        if not job.name.startswith(MICROBENCHMARKS) and max(job.sizes.values()) <= LARGEST_SIZE
    ]
    if options.measure:
        measure(jobs, options.parallel, options.json)
    else:
        compare(jobs[:: options.every], read_rows(options.json))
    return 0


def read_rows(path: Path) -> dict[tuple[str, str], list[Row]]:
    """The measured launches of each run, by name and options."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in json.loads(path.read_text(encoding="utf-8"))["rows"]:
        rows.setdefault((row["name"], row["run"]), []).append(Row(**row))
    return rows


# --- the model -----------------------------------------------------------------------------------


def compare(jobs: Sequence[Job], measured: Mapping[tuple[str, str], list[Row]]) -> None:
    """Prints the lines and errors of the runs that were measured."""
    todo = [job for job in jobs if (job.name, job.label) in measured]
    errors: list[float] = []
    with ProcessPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for job, found in zip(todo, pool.map(model, todo), strict=True):
            rows = measured[job.name, job.label]
            if isinstance(found, str) or len(found) < len(rows):
                print(f"{job.name} {job.label}: not modelled: {found}")
                continue
            for row, (rate, dram_bytes) in zip(rows, found, strict=False):
                print(
                    f"{job.name:36} {job.label[:44]:44} {row.hit_rate:6.1%} {rate:6.1%}"
                    f" {rate - row.hit_rate:+7.1%} {row.dram_read_bytes:13,} {dram_bytes:13,.0f}",
                    flush=True,
                )
                if row.l2_sectors >= FEW_SECTORS:
                    errors.append(abs(rate - row.hit_rate))
    close = sum(error <= 0.05 for error in errors)
    print(
        f"{len(errors)} launches with {FEW_SECTORS:,} requests or more: hit rate wrong by"
        f" {mean(errors):.1%} in the mean, {median(errors):.1%} in the median; {close} within 5 %"
    )


def model(job: Job) -> list[tuple[float, float]] | str:
    """The hit rate of the L2 and the bytes that DRAM reads, per launch of a run; or the reason why
    there are none."""
    gpu = read_gpus()[GPU]
    assert gpu.figures is not None
    try:
        works = works_of(job, gpu)
    except NotModelledError as error:
        return str(error)
    found = []
    for each in works:
        launch = LaunchModel(each, gpu.figures, emulator_runtime(), None)
        l2 = launch.estimate().l2
        filled = launch.traffic.filled + launch.traffic.updated
        found.append(
            (l2.hits / max(1.0, l2.sectors), SECTOR_BYTES * (launch.traffic.read + filled))
        )
    return found


# --- the GPU --------------------------------------------------------------------------------------


def measure(jobs: Sequence[Job], parallel: int, path: Path) -> None:
    """Counts the launches of these runs, and writes the file after each batch."""
    name, arch = describe_gpu(0)
    made = zip(jobs, compile_all(jobs, arch), strict=True)
    todo = [(job, ready) for job, ready in made if not isinstance(ready, str)]
    count = len(todo) // BATCH + 1
    rows: list[Row] = []
    with ThreadPoolExecutor(parallel) as pool:
        for found in pool.map(count_batch, [todo[first::count] for first in range(count)]):
            rows += found
            document = {"device": name, "rows": [asdict(row) for row in rows]}
            path.write_text(json.dumps(document, indent=0) + "\n", encoding="utf-8")
            print(f"{len(rows)} launches of {len(todo)} programs", flush=True)


def count_batch(todo: Sequence[tuple[Job, Ready]]) -> list[Row]:
    """A row per launch of these programs, from a single ncu process."""
    metrics = (L2_SECTORS, L2_HITS, *DRAM_TRAFFIC)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "todo").write_bytes(pickle.dumps(list(todo)))
        command = [str(find_ncu(os.environ)), *NCU_OPTIONS, "--log-file", str(folder / "log")]
        command += ["--metrics", ",".join(metrics), sys.executable, __file__]
        subprocess.run([*command, "--worker", str(folder / "todo")], stdout=subprocess.DEVNULL)
        labels = (folder / "labels").read_text(encoding="utf-8").splitlines()
        lines = (folder / "log").read_text(encoding="utf-8").splitlines()
    table = list(csv.DictReader(line for line in lines if line.startswith('"')))
    return [
        Row(*json.loads(label), *(int(float(row[metric].replace(",", ""))) for metric in metrics))
        for label, row in zip(labels, table[1:], strict=False)
    ]


def work(file: Path) -> None:
    """Runs the programs of a file under ncu, and writes a label per launch."""
    from grader.devices.gpu.driver import close_context, find_device, make_context

    context = make_context(find_device(0))
    end = time.monotonic() + BATCH_SECONDS
    with (file.parent / "labels").open("w", encoding="utf-8") as labels:
        for job, ready in pickle.loads(file.read_bytes()):
            if time.monotonic() > end:
                break
            try:
                run(job, ready, labels)
            except Exception as error:  # the context may be lost
                print(job.name, error, file=sys.stderr)
                break
    close_context(context)


def run(job: Job, ready: Built, labels: TextIO) -> None:
    """Launches a program once between the marks of the profiler."""
    import pycuda.driver as cuda

    from grader.devices.gpu.arena import Arena
    from grader.devices.gpu.modules import Code

    assert job.run is not None
    data = job.run.read_data(draw_once)
    program = make_kernel_program(ready, data, limits_of(ready.binary.arch))
    arena = Arena(program.buffers)
    arena.fill(dict(data.arrays))
    steps = Code(program.binary).make_ready(program.steps, arena.addresses, arena.objects)
    cuda.Context.synchronize()
    cuda.start_profiler()
    for number, (step, ready_step) in enumerate(zip(program.steps, steps, strict=True)):
        ready_step.start()
        if isinstance(step, Launch):
            print(json.dumps([job.name, job.label, number]), file=labels, flush=True)
    cuda.Context.synchronize()
    cuda.stop_profiler()
    arena.free()


if __name__ == "__main__":
    sys.exit(main())
