"""Times the ladder of matrix products on a GPU, from the naive kernel to cuBLAS, for the handout of
gemm_register_blocked.

    python benchmarks/ladder.py [--device gpu:N] [--sizes N,N,...] [--seed N] [--out FOLDER]
    python benchmarks/ladder.py --redraw [--out FOLDER]

The rungs are known submissions of the GEMM exercises and the reference of the last exercise. They
are timed like all graded programs: in rounds of random order, each launch with a cold L2. cuBLAS
(float32, no tensor cores) is included if CuPy or PyTorch is installed. Writes ladder.json and
ladder.svg to the exercise's folder (or --out), and prints the table of the handout. --redraw makes
the picture and the table from the existing ladder.json, without a GPU. Exit code 0, or 1 if the
reference was wrong or a rung could not be timed.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from grader.authoring.sweep.over_sizes import NO_LIMIT
from grader.authoring.sweep.points import Sizes, parse_sizes
from grader.authoring.sweep.programs import time_library, time_programs
from grader.devices.choose import gpu_works, has_pycuda, parse_device
from grader.devices.gpu.gpu_lock import hold_gpu
from grader.devices.remote.remote_device import RemoteDevice
from grader.errors import GraderError
from grader.grading.building import Built, build
from grader.grading.mistakes import SubmissionError, value_of
from grader.grading.session import Job, Session, open_session
from grader.grading.tools import Toolchain, find_toolchain
from grader.judging.evidence import Subject
from grader.records import SUBMISSION, Options, Progress, Source
from grader.report.sweep import Sweep, SweepPoint, SweepRow, format_sweep
from grader.sandbox.process import run_tool
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case
from grader.spec.oracle import load_library
from grader.spec.reader import read_exercise
from grader.submission.source_file import read_submission

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "docs"))

from drawings import draw_bars  # noqa: E402 - docs/drawings.py

EXERCISE = ROOT / "exercises" / "gemm_register_blocked"
KNOWN = ROOT / "tests" / "submissions"
NAIVE, CUBLAS = "naive", "cuBLAS"
REFERENCE = "reference, 8 × 16"
RUNGS: Mapping[str, Path] = {
    NAIVE: KNOWN / "gemm_coalesced" / "failed--naive_down_a_column.cu",
    "coalesced": KNOWN / "gemm_coalesced" / "passed--two_dimensional_block.cu",
    "tiled": KNOWN / "gemm_tiled" / "passed--tile_of_32.cu",
    "tiled, double-buffered": KNOWN / "gemm_tiled" / "passed--double_buffered.cu",
    "4 × 4, uncoalesced": KNOWN / "gemm_register_blocked" / "failed--uncoalesced_4x4.cu",
    "4 × 4, coalesced": KNOWN / "gemm_register_blocked" / "failed--coalesced_4x4.cu",
    "4 × 4, coalesced, double-buffered": (
        KNOWN / "gemm_register_blocked" / "failed--double_buffered_4x4.cu"
    ),
    "8 × 8, float4": KNOWN / "gemm_register_blocked" / "passed--vectorised_128x128.cu",
    REFERENCE: ROOT / "solutions" / "gemm_register_blocked.cu",
}
"""In the order of the course, not of their times. Here only the reference is checked for
correctness; tests/test_submissions.py checks the others."""
SIZES = "256,512,1024,2048,4096"
TABLE_SIZES = (1024, 4096)
DRAWN_SIZE = 4096


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--device", default="gpu", metavar="DEVICE")
    parser.add_argument(
        "--sizes",
        default=SIZES,
        metavar="N,N,...",
        help=f"sizes of square matrices (default: {SIZES})",
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N")
    parser.add_argument("--out", type=Path, default=EXERCISE, metavar="FOLDER")
    parser.add_argument("--redraw", action="store_true")
    options = parser.parse_args()
    data = options.out / "ladder.json"
    try:
        ladder = (
            read_ladder(data)
            if options.redraw
            else climb(options.sizes, device=options.device, seed=options.seed)
        )
    except GraderError as error:
        print(f"{error}\n{error.detail}\n{error.advice}".strip(), file=sys.stderr)
        return 1
    if not options.redraw:
        data.write_text(format_sweep(ladder), encoding="utf-8")
    (options.out / "ladder.svg").write_text(draw(ladder), encoding="utf-8")
    print(format_table(ladder))
    return (
        0
        if all(
            row.time_ms is not None and row.right is not False
            for point in ladder.points
            for row in point.rows
        )
        else 1
    )


def climb(sizes: str, *, device: str, seed: int) -> Sweep:
    """Times all rungs at all sizes, each with M = N = K. Raises GraderError if a rung does not
    compile or run."""
    choice = parse_device(
        device, gpu_works=lambda: gpu_works(run_tool, os.environ), has_pycuda=has_pycuda
    )
    exercise = read_exercise(EXERCISE)
    exercise = replace(exercise, limits=replace(exercise.limits, warp_instructions=NO_LIMIT))
    points = parse_sizes([sizes], exercise.size_names)
    subject = Subject(exercise, value_of(read_submission(RUNGS[REFERENCE])), None, {}, seed)
    job = Job(subject, choice, Options(show=show))
    with RemoteDevice(str(choice)) as remote:
        subject.device = remote.info
        tools = find_toolchain(prefer_wheel=False, cache=job.cache)
        built = build_rungs(job, tools)
        session = open_session(job, tools, built[SUBMISSION], remote)
        with hold_gpu(remote.uuid, show=show):
            rows = [time_rungs(session, built, each) for each in points]
    every = [[*own, *time_cublas(job, each)] for own, each in zip(rows, points, strict=True)]
    found = [
        SweepPoint(each, exercise.useful_bytes.evaluate(each), tuple(row))
        for each, row in zip(points, every, strict=True)
    ]
    return Sweep(
        exercise.id, "ladder", job.info.name, tuple(found), ("Median times with a cold L2.",)
    )


def build_rungs(job: Job, tools: Toolchain) -> dict[str, Built]:
    """All rungs, compiled; the reference has the label with which the device checks outputs."""
    built = {}
    for name, path in RUNGS.items():
        show(Progress(f"compiling {name}"))
        try:
            source = value_of(read_submission(path))
            each = build(source, job.exercise, tools, arch=job.info.arch)
        except SubmissionError as error:
            raise GraderError(f"{path}: {error.message}\n{error.failure.detail}") from None
        built[SUBMISSION if name == REFERENCE else name] = each
    return built


def time_rungs(session: Session, built: Mapping[str, Built], sizes: Sizes) -> list[SweepRow]:
    """A row per rung, in the order of RUNGS."""
    show(Progress(f"timing at {sizes['M']}"))
    rows = {row.program: row for row in time_programs(session, built, sizes)}
    return [
        replace(rows[name], program=REFERENCE if name == SUBMISSION else name)
        for name in built
        if name in rows
    ]


def time_cublas(job: Job, sizes: Sizes) -> list[SweepRow]:
    """The row of cuBLAS, if CuPy or PyTorch is installed."""
    operation = load_library(job.exercise)
    assert operation is not None
    inputs = make_inputs(job.exercise, Case("ladder", sizes, hidden=False), job.seed)
    return [
        replace(row, program=CUBLAS)
        for row in time_library(job.exercise, operation, inputs, sizes, job.choice)
    ]


def read_ladder(path: Path) -> Sweep:
    """Reads a file that `format_sweep` wrote."""
    document = json.loads(path.read_text(encoding="utf-8"))
    points = [
        SweepPoint(point["sizes"], point["useful_bytes"], tuple(map(_read_row, point["rows"])))
        for point in document["points"]
    ]
    return Sweep(
        document["exercise"],
        document["submission"],
        document["device"],
        tuple(points),
        tuple(document["notes"]),
    )


def _read_row(row: dict[str, object]) -> SweepRow:
    known = {
        name: row[name]
        for name in ("program", "right", "time_ms", "gflops", "bandwidth_gbps", "note")
    }
    interval, source = row["interval_ms"], row["source"]
    return SweepRow(
        **known,
        interval_ms=tuple(interval) if interval else None,
        source=Source(source) if source else None,
    )  # type: ignore[arg-type]


def draw(ladder: Sweep, size: int = DRAWN_SIZE) -> str:
    """The SVG: a bar per rung for its rate, from 0, with the fraction of cuBLAS beside it."""
    rows = _rows_at(ladder, size)
    best = rows[CUBLAS].gflops if CUBLAS in rows else None
    bars = {}
    for name, row in rows.items():
        if row.gflops is not None:
            of_best = f", {100 * row.gflops / best:.0f} %" if best else ""
            text = f"{_round(row.gflops / 1000)} TFLOP/s{of_best}"
            bars[name] = (row.gflops, text, {CUBLAS: 2, REFERENCE: 3}.get(name, 1))
    subtitle = f"{size}³ on an {ladder.device}, cold L2, median; % of cuBLAS in float32"
    return str(draw_bars("The ladder: float32 matrix product", subtitle, bars))


def format_table(ladder: Sweep, sizes: Sequence[int] = TABLE_SIZES) -> str:
    """The handout's table in Markdown: for each size times, rates, and the rates relative to cuBLAS
    and to the naive kernel."""
    at = [_rows_at(ladder, size) for size in sizes]
    head = [f"{size}³: ms | TFLOP/s | % of cuBLAS | × naive" for size in sizes]
    lines = [
        f"| {name} | {' | '.join(_format_rung(name, rows) for rows in at)} |"
        for name in (*RUNGS, CUBLAS)
        if all(name in rows for rows in at)
    ]
    return "\n".join(
        [f"| rung | {' | '.join(head)} |", "|---" + "|---:" * 4 * len(sizes) + "|", *lines]
    )


def _rows_at(ladder: Sweep, size: int) -> dict[str, SweepRow]:
    point = next(point for point in ladder.points if point.sizes["M"] == size)
    return {row.program: row for row in point.rows if row.time_ms is not None}


def _format_rung(name: str, rows: Mapping[str, SweepRow]) -> str:
    time_ms, gflops = rows[name].time_ms, rows[name].gflops
    assert time_ms is not None
    assert gflops is not None

    def times(other: str, factor: float) -> str:
        known = rows[other].time_ms if other in rows else None
        return _round(factor * known / time_ms) if known is not None else "–"

    return f"{_round(time_ms)} | {_round(gflops / 1000)} | {times(CUBLAS, 100)} | {times(NAIVE, 1)}"


def _round(value: float) -> str:
    return f"{value:#.3g}".rstrip(".")


def show(progress: Progress) -> None:
    """Prints progress on stderr: a line per stage of the ladder, and for waiting."""
    if progress.total is None:
        print(progress.stage, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
