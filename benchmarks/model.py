"""The error table of the timing model: what a GPU's clock said of every known program, and what the
model says.

    python benchmarks/model.py [--gpu h100|h200] [--only PART] [--record] [--json FILE]

Measured times are those of tests/data/times_GPU.json (benchmarks/times.py writes it on that GPU)
and, on the H100, of tests/data/truth/h100.json, whose kernels are the only ones that parameters
were fitted on. Prints kernel, size, measured, modelled and error, the mean, median and worst
absolute error of truth and of the submissions, and of all pairs within a task whose measured times
differ by 15 % or more how many the model puts in the right order. --record writes what
`python docs/generate.py` makes docs/reference/model-errors.md of. Takes about 15 minutes for all of
them. Exit code 0.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from pathlib import Path
from statistics import mean, median

import numpy as np
from times import Job, compile_job, find_jobs

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpus import read_gpus
from grader.folders import default_cache
from grader.grading.tools import Toolchain, find_toolchain
from grader.judging.timing import model_timing
from grader.records import ModelledMode, Program, Role, RunLimits

ROOT = Path(__file__).resolve().parents[1]
TRUTH_FILE = ROOT / "tests" / "data" / "truth" / "h100.json"
LIMITS = RunLimits(warp_instructions=10**12, wall_seconds=600.0)
TIMED = ModelledMode(seed=0)
APART = 1.15
"""Two measured times this far apart are to be in the right order."""
ERRORS = ROOT / "tests" / "data" / "model_errors.json"


@dataclass(frozen=True)
class Row:
    """One program at one size: times in milliseconds, `error` = modelled / measured - 1."""

    exercise: str
    name: str
    sizes: str
    measured_ms: float
    modelled_ms: float
    bound: str

    @property
    def error(self) -> float:
        return self.modelled_ms / self.measured_ms - 1


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", default="h100", choices=sorted(read_gpus()))
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    measured = read_times(options.gpu)
    jobs = [job for job in find_jobs([]) if key(job) in measured]
    jobs = [
        job
        for job in jobs
        if not options.only or any(part in f"{job.exercise}/{job.name}" for part in options.only)
    ]
    rows = []
    for row in model_all(jobs, measured, options.gpu):
        rows.append(row)
        print(format_row(row), flush=True)
    summary = summarise(rows)
    print("\n".join(summary))
    if options.json is not None:
        options.json.write_text(
            json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8"
        )
    if options.record:
        record(options.gpu, {"summary": list(summary), "rows": [*format_cells(rows)]})
    return 0


def key(job: Job) -> tuple[str, str, str]:
    return job.exercise, job.name, "x".join(map(str, job.sizes.values()))


def read_times(gpu: str) -> dict[tuple[str, str, str], float]:
    """Measured milliseconds by exercise, name and sizes; those of truth/ where they are there."""
    path = ROOT / "tests" / "data" / f"times_{gpu}.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["rows"] if path.exists() else []
    times = {
        (row["exercise"], row["name"], "x".join(map(str, row["sizes"].values()))): row["ms"]
        for row in rows
        if row["ms"] is not None
    }
    if gpu == "h100":
        for kernel, entry in json.loads(TRUTH_FILE.read_text(encoding="utf-8"))["kernels"].items():
            family, _, name = kernel.partition("/")
            exercise = "transpose" if family == "transpose" else "gemm_coalesced"
            times |= {
                (exercise, f"truth/{name}", "x".join(map(str, each["size"]))): each["ms"]["median"]
                for each in entry["timed"]
            }
    return times


def model_all(
    jobs: Sequence[Job], measured: dict[tuple[str, str, str], float], gpu: str
) -> Iterator[Row]:
    """A row for each job that compiles and that the emulated device can run."""
    tools = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))
    for job in jobs:
        found = model_job(job, tools, gpu)
        if found is None:
            print(f"{job.exercise}/{job.name}: not modelled")
            continue
        time_ms, bound = found
        yield Row(*key(job), measured[key(job)], time_ms, bound)


def model_job(job: Job, tools: Toolchain, gpu: str) -> tuple[float, str] | None:
    """Modelled milliseconds, and what binds the last launch. Inputs are zeros: times of these
    programs do not depend on them."""
    device = EmulatedDevice(gpu)
    program = compile_job(job, tools, device.info.arch)
    if not isinstance(program, Program):
        return None
    return model_program(program, device)


def model_program(program: Program, device: EmulatedDevice) -> tuple[float, str] | None:
    """Modelled milliseconds, and what binds the last launch."""
    arrays = {
        buffer.name: np.zeros(buffer.shape, buffer.dtype)
        for buffer in program.buffers
        if buffer.role is Role.INPUT
    }
    execution, _ = device.run(program, arrays, limits=LIMITS, mode=TIMED)
    timing = model_timing(program.label, execution) if execution.failure is None else None
    last = execution.launches[-1].modelled if execution.launches else None
    return None if timing is None or last is None else (timing.median_ms, last.bounds[0].resource)


def summarise(rows: Sequence[Row]) -> list[str]:
    """Errors by group, and the ranking."""
    groups = {"truth": [row for row in rows if row.name.startswith("truth/")]}
    groups["known submissions"] = [row for row in rows if not row.name.startswith("truth/")]
    lines = [
        f"{name}: {len(chosen)} times, mean absolute error"
        f" {mean(abs(row.error) for row in chosen):.1%}, median"
        f" {median(abs(row.error) for row in chosen):.1%}, worst"
        f" {max(abs(row.error) for row in chosen):.1%}"
        for name, chosen in groups.items()
        if chosen
    ]
    right, pairs = rank(rows)
    return [
        *lines,
        (
            f"ranking: {right:,} of {pairs:,} pairs whose measured times are 15 % or more apart are"
            " in the right order"
        ),
    ]


def rank(rows: Sequence[Row]) -> tuple[int, int]:
    """Pairs of one exercise and size that are apart, and how many of them the model orders
    right."""
    apart = [
        (a, b)
        for a, b in combinations(rows, 2)
        if (a.exercise, a.sizes) == (b.exercise, b.sizes)
        and max(a.measured_ms, b.measured_ms) >= APART * min(a.measured_ms, b.measured_ms)
    ]
    right = sum(
        (a.measured_ms < b.measured_ms) == (a.modelled_ms < b.modelled_ms) for a, b in apart
    )
    return right, len(apart)


def format_row(row: Row) -> str:
    name = f"{row.exercise}/{row.name}"
    return (
        f"{name:72} {row.sizes:16} {row.measured_ms:9.4f} {row.modelled_ms:9.4f} {row.error:+7.1%} "
        f" {row.bound}"
    )


def format_cells(rows: Sequence[Row]) -> Iterator[dict[str, str]]:
    """The cells of the table: the kernels of truth and the exercises' own programs."""
    for row in rows:
        if row.name.startswith(("truth/", "solutions/", "starter/")):
            yield {
                "program": row.name,
                "size": row.sizes,
                "measured_ms": f"{row.measured_ms:.4g}",
                "modelled_ms": f"{row.modelled_ms:.4g}",
                "error": f"{row.error:+.1%}",
            }


def record(part: str, found: object) -> None:
    """Replace one part of what docs/reference/model-errors.md is made of."""
    data = json.loads(ERRORS.read_text(encoding="utf-8"))
    text = json.dumps({**data, part: found}, indent=1, ensure_ascii=False)
    ERRORS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
