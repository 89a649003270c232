"""Grades the starter, the reference and the known submissions of every exercise on a GPU, and
prints the measurements.

    python benchmarks/gpu.py [--device gpu:N] [--repeat N] [--jobs N] [--json FILE] [--only PART]
    [--fresh] [EXERCISE ...]

Prints a line per grading: time, GB/s, GFLOP/s, fraction of the peak bandwidth, speed-up, bank
conflicts, points, duration of the grading, and the verdict, with a mark if the name of a known
submission promises another verdict. --repeat grades each file N times, in turns; a second table
shows whether verdicts and points stayed equal, and the range of the median times. --jobs lets N
gradings compile and emulate in parallel, while a single grading has the GPU. --fresh compiles every
time; --only takes files whose path contains PART (it may be given several times). If CuPy or
PyTorch is installed and an exercise names a library operation, its time is printed, too (cuBLAS for
a matrix product). Exit code 0 if every verdict is as promised and none changed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from statistics import median

import grader
from grader.devices.gpu.library import find_array_library, time_on_gpu
from grader.records import Progress, Score
from grader.spec.draws import make_inputs
from grader.spec.exercise import Case
from grader.spec.oracle import load_library
from grader.spec.reader import read_exercise

ROOT = Path(__file__).parents[1]
POINTS_APART = 1.0
TIMES_APART = 0.015
"""Maximum range over ten repetitions: of points (of a hundred), and of the median time."""
COLUMNS = (
    f"{'file':44} {'ms':>8} {'GB/s':>6} {'GFLOP/s':>7} {'peak':>6} {'x naive':>7} {'conflicts':>10}"
    f" {'points':>7} {'s':>5}  verdict"
)


@dataclass(frozen=True)
class Row:
    """A grading. `stages`: seconds of each stage that the progress named."""

    exercise: str
    file: str
    verdict: str
    points: float
    time_ms: float | None
    interval_ms: tuple[float, float] | None
    rounds: int
    bandwidth_gbps: float | None
    bandwidth_fraction: float | None
    gflops: float | None
    speedup_over_naive: float | None
    shared_bank_conflicts: float | None
    seconds: float
    stages: dict[str, float]
    environment: dict[str, str]

    @property
    def as_promised(self) -> bool:
        """Whether the verdict is that of the file's name; names without a verdict allow any."""
        promised, separator, _ = self.file.partition("--")
        return not separator or self.verdict.partition(":")[0] == promised


@dataclass(frozen=True)
class LibraryTime:
    """Median time of a library operation at an exercise's benchmark sizes, with a cold L2."""

    exercise: str
    library: str
    time_ms: float
    gflops: float | None


@dataclass(frozen=True)
class Steadiness:
    """Agreement of several gradings of a file. `times_apart`: (highest - lowest) / lowest median
    time."""

    exercise: str
    file: str
    verdicts: tuple[str, ...]
    points_apart: float
    times_apart: float | None

    @property
    def steady(self) -> bool:
        return (
            len(self.verdicts) == 1
            and self.points_apart <= POINTS_APART
            and (self.times_apart or 0.0) <= TIMES_APART
        )


class StageClock:
    """Sums the seconds between the changes of the progress's stage."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._since = "starting", time.perf_counter()

    def show(self, progress: Progress) -> None:
        self.enter(progress.stage)

    def enter(self, stage: str) -> None:
        now = time.perf_counter()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "exercises", nargs="*", metavar="EXERCISE", help="names in exercises/; all by default"
    )
    parser.add_argument("--device", default="gpu", metavar="DEVICE")
    parser.add_argument("--repeat", type=int, default=1, metavar="N")
    parser.add_argument("--jobs", type=int, default=1, metavar="N")
    parser.add_argument("--only", action="append", default=[], metavar="PART")
    parser.add_argument("--fresh", action="store_true")
    parser.add_argument("--json", type=Path, metavar="FILE")
    options = parser.parse_args()
    names = options.exercises or sorted(
        path.parent.name for path in (ROOT / "exercises").glob("*/spec.json")
    )
    files = [(name, file) for name in names for file in find_files(name, options.only)]
    print(COLUMNS)
    grade = partial(measure, device=options.device, fresh=options.fresh)
    with ThreadPoolExecutor(options.jobs) as pool:
        rows = [
            print_row(row) for row in pool.map(grade, *zip(*(files * options.repeat), strict=True))
        ]
    steadiness = [
        compare([row for row in rows if (row.exercise, row.file) == (name, shorten(file))])
        for name, file in files
    ]
    if options.repeat > 1:
        print_steadiness(steadiness, options.repeat)
    libraries = [found for name in names if (found := time_library(name)) is not None]
    print_summary(rows, libraries)
    if options.json is not None:
        tables = {"rows": rows, "steadiness": steadiness, "libraries": libraries}
        result = {name: [asdict(each) for each in table] for name, table in tables.items()}
        options.json.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return (
        0 if all(each.steady for each in steadiness) and all(row.as_promised for row in rows) else 1
    )


def find_files(exercise: str, parts: Sequence[str]) -> list[Path]:
    """The existing files among the starter, the reference and the known submissions of an
    exercise."""
    own = [ROOT / "starter" / f"{exercise}.cu", ROOT / "solutions" / f"{exercise}.cu"]
    files = [
        *(path for path in own if path.exists()),
        *sorted((ROOT / "tests" / "submissions" / exercise).glob("*.cu")),
    ]
    return [
        file
        for file in files
        if not parts or any(part in str(file.relative_to(ROOT)) for part in parts)
    ]


def time_library(exercise: str) -> LibraryTime | None:
    """Times the library operation of an exercise; None if it names none or no library is
    installed."""
    read = read_exercise(ROOT / "exercises" / exercise)
    operation, library = load_library(read), find_array_library()
    if operation is None or library is None:
        return None
    sizes = read.benchmark["gpu"]
    inputs = make_inputs(read, Case("library", sizes, hidden=False), seed=0)
    time_ms = median(
        time_on_gpu(
            lambda arrays: operation(dict(arrays), sizes), inputs, library=library, gpu_index=0
        )
    )
    gflops = (
        None if read.useful_flops is None else read.useful_flops.evaluate(sizes) / time_ms / 1e6
    )
    return LibraryTime(exercise, library, time_ms, gflops)


def measure(exercise: str, file: Path, *, device: str, fresh: bool) -> Row:
    """Grades a file. `fresh`: with an empty cache of compiled programs."""
    clock, began = StageClock(), time.perf_counter()
    with tempfile.TemporaryDirectory() as empty:
        cache = Path(empty) if fresh else None
        score = grader.grade(
            ROOT / "exercises" / exercise, file, device=device, cache=cache, progress=clock.show
        )
    seconds = time.perf_counter() - began
    clock.enter("done")
    return make_row(exercise, file, score, seconds, clock.seconds)


def make_row(
    exercise: str, file: Path, score: Score, seconds: float, stages: dict[str, float]
) -> Row:
    values = {metric.name: metric.value for metric in score.metrics}
    own = next((timing for timing in score.timings if timing.plan == "submission"), None)
    return Row(
        exercise=exercise,
        file=shorten(file),
        verdict=(
            f"{score.status.value}: {score.message}" if score.timings == () else score.status.value
        ),
        points=score.score,
        time_ms=own.median_ms if own else None,
        interval_ms=own.interval_ms if own else None,
        rounds=len(own.samples_ms) if own else 0,
        bandwidth_gbps=values["bandwidth_gbps"],
        bandwidth_fraction=values["bandwidth_fraction"],
        gflops=values["gflops"],
        speedup_over_naive=values["speedup_over_naive"],
        shared_bank_conflicts=values["shared_bank_conflicts"],
        seconds=round(seconds, 2),
        stages={stage: round(spent, 3) for stage, spent in stages.items()},
        environment=score.environment,
    )


def shorten(file: Path) -> str:
    """A file's name in the tables: without folder for known submissions, otherwise with it."""
    return file.stem if "submissions" in file.parts else f"{file.parent.name}/{file.stem}"


def print_row(row: Row) -> Row:
    cells = [
        f"{row.file[:44]:44}",
        f"{row.time_ms:8.4f}" if row.time_ms else f"{'':8}",
        f"{row.bandwidth_gbps:6.0f}" if row.bandwidth_gbps else f"{'':6}",
        f"{row.gflops:7,.0f}" if row.gflops else f"{'':7}",
        f"{100 * row.bandwidth_fraction:5.1f}%" if row.bandwidth_fraction else f"{'':6}",
        f"{row.speedup_over_naive:7.2f}" if row.speedup_over_naive else f"{'':7}",
        (
            f"{row.shared_bank_conflicts:10,.0f}"
            if row.shared_bank_conflicts is not None
            else f"{'':10}"
        ),
        f"{row.points:7.2f}",
        f"{row.seconds:5.1f}",
        f" {row.verdict[:100]}",
        "" if row.as_promised else " <-- its name promises another verdict",
    ]
    print(" ".join(cells), flush=True)
    return row


def print_summary(rows: Sequence[Row], libraries: Sequence[LibraryTime]) -> None:
    for each in libraries:
        rate = "" if each.gflops is None else f", {each.gflops:,.0f} GFLOP/s"
        print(f"{each.exercise}: the operation of {each.library} takes {each.time_ms:.4f} ms{rate}")
    known = [row for row in rows if "--" in row.file]
    print(
        f"{sum(row.as_promised for row in known)} of {len(known)} known submissions have the"
        " verdict of their name"
    )


def compare(rows: Sequence[Row]) -> Steadiness:
    """The agreement of the gradings of a file."""
    times = [row.time_ms for row in rows if row.time_ms is not None]
    points = [row.points for row in rows]
    return Steadiness(
        exercise=rows[0].exercise,
        file=rows[0].file,
        verdicts=tuple(dict.fromkeys(row.verdict for row in rows)),
        points_apart=round(max(points) - min(points), 2),
        times_apart=(max(times) - min(times)) / min(times) if times else None,
    )


def print_steadiness(steadiness: Sequence[Steadiness], repeat: int) -> None:
    print(
        f"\nof {repeat} gradings each\n{'file':44} {'points apart':>12} {'times apart':>11} "
        " verdicts"
    )
    for each in steadiness:
        times = "" if each.times_apart is None else f"{100 * each.times_apart:.2f} %"
        mark = "" if each.steady else "  <-- changed"
        print(
            f"{each.file[:44]:44} {each.points_apart:12.2f} {times:>11} "
            f" {' | '.join(each.verdicts)[:80]}{mark}"
        )


if __name__ == "__main__":
    sys.exit(main())
