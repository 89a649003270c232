"""How long a student waits: `grade` from the shell's prompt to its end, on the emulated device.

    python benchmarks/grade.py [--repeat N] [EXERCISE ...]

Each exercise's reference is graded cold (an empty cache), edited (all is cached but the file, in
which a comment has changed), warm (compiled before) and again (the same file and seed as before), N
times each, as whole processes. Prints medians in seconds, of the clock and of processors. Needs no
GPU.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
GOALS_S = {
    "transpose": {"cold": "15", "edited": "3.5"},
    "gemm_register_blocked": {"edited": "7"},
}
OTHER_GOALS_S = {"edited": "4", "again": "1"}
"""What the project has set itself, in seconds of the clock; `OTHER_GOALS_S` for the others."""
SEED = 7


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("exercises", nargs="*", help="names of exercises; all by default")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    names = options.exercises or sorted(path.stem for path in (ROOT / "solutions").glob("*.cu"))
    print(f"{'exercise':24} {'':6} {'median s':>8} {'min':>6} {'max':>6} {'goal':>5} {'CPU s':>6}")
    for name in names:
        with tempfile.TemporaryDirectory() as warm:
            time_grade(name, warm)  # fills the cache
            time_again(name, warm)
            for kind, time_one in KINDS.items():
                samples = [time_one(name, warm) for _ in range(options.repeat)]
                clock = [sample.clock for sample in samples]
                processor = statistics.median(sample.processor for sample in samples)
                goal = GOALS_S.get(name, {}).get(kind, OTHER_GOALS_S.get(kind, ""))
                print(
                    f"{name:24} {kind:6} {statistics.median(clock):8.2f} {min(clock):6.2f}"
                    f" {max(clock):6.2f} {goal:>5} {processor:6.2f}",
                    flush=True,
                )


class Times(NamedTuple):
    """Seconds of one grading: of the clock, and of processors (user and system)."""

    clock: float
    processor: float


def time_cold(name: str, _: str) -> Times:
    with tempfile.TemporaryDirectory() as empty:
        return time_grade(name, empty)


def time_again(name: str, cache: str) -> Times:
    return time_grade(name, cache, "--seed", str(SEED))


def time_edited(name: str, cache: str) -> Times:
    """Times of a file that no cache knows."""
    text = reference(name).read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        edited = Path(folder) / f"{name}.cu"
        edited.write_text(f"{text}\n// {time.time_ns()}\n", encoding="utf-8")
        return time_grade(name, cache, file=edited)


def reference(name: str) -> Path:
    return ROOT / "solutions" / f"{name}.cu"


def time_grade(name: str, cache: str, *options: str, file: Path | None = None) -> Times:
    """Seconds of one grading, of the reference by default, whose caches lie in this folder."""
    command = [
        sys.executable,
        "-m",
        "grader",
        f"exercises/{name}",
        str(file or reference(name)),
        "--device",
        "emulated",
        "--quiet",
        *options,
    ]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    completed = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    clock, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if completed.returncode != 0:
        raise SystemExit(
            f"grading {name} ended with"
            f" {completed.returncode}:\n{completed.stdout}{completed.stderr}"
        )
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Times(clock, processor)


KINDS: dict[str, Callable[[str, str], Times]] = {
    "cold": time_cold,
    "edited": time_edited,
    "warm": time_grade,
    "again": time_again,
}


if __name__ == "__main__":
    main()
