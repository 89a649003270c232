"""The error table of the timing model: measured and modelled times of every known program.

    python benchmarks/model.py [--gpu h100|h200] [--times FILE] [--only PART] [--record]
        [--json FILE]

Measured times are those of tests/data/times_GPU.json (written on that GPU by benchmarks/times.py),
of gradings on that GPU (verdicts_GPU.json; for programs that times_GPU.json lacks), and, for the
H100, of tests/data/truth/h100.json. Prints kernel, size, measured and modelled time, and error; the
errors of each family and group; and the number of pairs that the model orders correctly, among
pairs within a task whose measured times differ by at least 15 %. Modelled times are corrected as in
a grading, but without the kernel's own measured times. --times takes the measured times only from
another file of benchmarks/times.py. --record writes the data from which `python docs/generate.py`
makes docs/reference/model-errors.md. The cache folder keeps the traces of programs (kept_work.py):
the first run takes many minutes, a later run with another model some seconds. Exit code 0.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from error_table import (
    SUBMISSIONS,
    TRUTH,
    Row,
    correct_rows,
    describe,
    family_of,
    format_families,
    make_row,
    rank,
)
from jobs import (
    KERNELS,
    MICROBENCHMARKS,
    ROOT,
    Job,
    choose,
    find_jobs,
    find_submissions,
    read_timed,
)
from kept_work import find_tools, model_jobs
from times import read_head, read_rows

sys.path.insert(0, str(ROOT))

from grader.devices.gpus import read_gpus
from grader.emulator.timing.measured import read_measured
from tests.support.known import digest

TRUTH_FILE = ROOT / "tests" / "data" / "truth" / "h100.json"
ERRORS = ROOT / "tests" / "data" / "model_errors.json"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--gpu", default="h100", choices=sorted(read_gpus()))
    parser.add_argument("--times", type=Path, metavar="FILE")
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    rows = []
    for row in model_all(find_timed(options.gpu, options.only, options.times), options.gpu):
        rows += correct_rows([row], read_measured())
        print(format_row(rows[-1]), flush=True)
    if not rows:
        parser.error(f"no time of such a program was measured on {options.gpu}")
    print("\n".join(format_families(rows, {})))
    summary = summarise(rows)
    print("\n".join(summary))
    if options.json is not None:
        options.json.write_text(
            json.dumps([asdict(row) for row in rows], indent=1) + "\n", encoding="utf-8"
        )
    if options.record:
        record(options.gpu, {"summary": summary, "rows": [*format_cells(rows)]})


def find_timed(gpu: str, parts: Sequence[str], file: Path | None = None) -> list[tuple[Job, float]]:
    """The jobs with measured times, and these times in milliseconds, from all files of the GPU or
    from this one. Microbenchmarks are not compared: they repeat an instruction whose cost the
    model's parameters state."""
    measured = read_times(gpu) if file is None else read_file(file)
    other_code = find_other_code(file or times_of(gpu))
    found = []
    jobs = (job for job in find_jobs([]) if family_of(job) != MICROBENCHMARKS)
    for job in choose(list(jobs), parts):
        ms, source = measured.get((job.exercise, job.name, job.label), (None, None))
        if ms is None or f"{job.exercise}/{job.name}" in other_code:
            continue
        if source == job.source:
            found.append((job, ms))
        else:
            print(f"{job.exercise}/{job.name}: it is another kernel than the one that was measured")
    return found


def times_of(gpu: str) -> Path:
    """The file with the times of a GPU."""
    return ROOT / "tests" / "data" / f"times_{gpu}.json"


def find_other_code(file: Path) -> Collection[str]:
    """The programs that were timed with other code than that of the present compiler, whose times
    therefore say nothing about the model. Warns if this is not known."""
    head, here = read_head(file), find_tools().nvcc.version
    if here == head["nvcc"]:
        return ()
    known = head.get("other_code", {})
    if here not in known:
        print(
            f"{file.name} has times of code from nvcc {head['nvcc']}; this is {here}, whose code"
            " for some products differs: their errors are wrong. Install nvidia-cuda-nvcc and"
            f" nvidia-nvvm =={head['nvcc']}, and set GRADER_NVCC.",
            file=sys.stderr,
        )
    return known.get(here, ())


Times = dict[tuple[str, str, str], tuple[float, str | None]]
"""Measured milliseconds and the digest of the measured source, by exercise, name and label."""


def read_file(file: Path) -> Times:
    return {row.key: (row.ms, row.source) for row in read_rows(file) if row.ms is not None}


def read_times(gpu: str) -> Times:
    """All times of a GPU. Times of truth/ replace others."""
    times: Times = {
        **{key: (ms, None) for key, ms in times_of_gradings(gpu)},
        **read_file(times_of(gpu)),
    }
    if gpu == "h100":
        for kernel, entry in json.loads(TRUTH_FILE.read_text(encoding="utf-8"))["kernels"].items():
            family, _, name = kernel.partition("/")
            exercise = "transpose" if family == "transpose" else "gemm_coalesced"
            for each in entry["timed"]:
                label = "x".join(map(str, each["size"]))
                times[exercise, f"truth/{name}", label] = each["ms"]["median"], None
    return times


def times_of_gradings(gpu: str) -> Iterator[tuple[tuple[str, str, str], float]]:
    """The milliseconds of known submissions that were graded on this GPU: the useful work over the
    measured fraction of the peak."""
    path = ROOT / "tests" / "data" / f"verdicts_{gpu}.json"
    verdicts = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    device = read_gpus()[gpu].emulated_info
    for job in find_submissions(()):
        verdict = verdicts.get(f"{job.exercise}/{job.name}")
        if verdict is None or verdict["sha256"] != digest(job.path):
            continue
        exercise, checks = read_timed(job.exercise), verdict["checks"]
        for metric, work, peak in (
            ("bandwidth_fraction", exercise.useful_bytes, device.peak_bandwidth_gbps),
            ("compute_fraction", exercise.useful_flops, 1e3 * (exercise.peak_tflops(device) or 0)),
        ):
            _, fraction = checks.get(metric, (0, None))
            if fraction and work is not None:
                ms = work.evaluate(job.sizes) / (fraction * peak) / 1e6
                yield (job.exercise, job.name, job.label), ms


def model_all(timed: Sequence[tuple[Job, float]], gpu: str) -> Iterator[Row]:
    """A row per job that the emulated device can run, with the GPU's own figures."""
    figures = read_gpus()[gpu].figures
    assert figures is not None, f"no figures of {gpu} are known"
    found = model_jobs([job for job, _ in timed], read_gpus()[gpu], figures)
    for (job, measured_ms), run in zip(timed, found, strict=True):
        if isinstance(run, str):
            print(f"{job.exercise}/{job.name} {job.label}: not modelled: {run}")
        else:
            yield make_row(job, measured_ms, run)


def summarise(rows: Sequence[Row]) -> list[str]:
    """A line per group with its errors, and a line about the ranking."""
    groups = {
        group: [row for row in rows if row.group == group]
        for group in (TRUTH, SUBMISSIONS, KERNELS)
    }
    right, pairs = rank(rows)
    return [
        *(f"{name}: {describe(chosen)}" for name, chosen in groups.items() if chosen),
        (
            f"ranking: {right:,} of {pairs:,} pairs whose measured times are 15 % or more apart are"
            " in the right order"
        ),
    ]


def format_row(row: Row) -> str:
    name = f"{row.exercise}/{row.name}"
    return (
        f"{name:72} {row.sizes:16} {row.measured_ms:9.4f} {row.modelled_ms:9.4f} {row.error:+7.1%} "
        f" {row.bound}"
    )


def format_cells(rows: Sequence[Row]) -> Iterator[dict[str, str]]:
    """The cells of the table: the kernels of truth/ and the programs of exercises."""
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
    """Replaces a part of the data of docs/reference/model-errors.md."""
    data = json.loads(ERRORS.read_text(encoding="utf-8"))
    text = json.dumps({**data, part: found}, indent=1, ensure_ascii=False)
    ERRORS.write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
