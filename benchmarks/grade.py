"""How long a student waits: `grade` from the shell's prompt to its end, on the emulated device.

    python benchmarks/grade.py [--repeat N] [EXERCISE ...]

Each exercise's reference is graded cold (an empty cache: nvcc runs) and warm (compiled before), N
times each, as whole processes. Prints medians in seconds. Needs no GPU.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
GOALS_S = {"transpose": {"cold": "15", "warm": "8"}}
OTHER_GOALS_S = {"cold": "", "warm": "20"}
"""What the project has set itself, in seconds; `OTHER_GOALS_S` for the matrix products."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("exercises", nargs="*", help="names of exercises; all by default")
    parser.add_argument("--repeat", type=int, default=5)
    options = parser.parse_args()
    names = options.exercises or sorted(path.stem for path in (ROOT / "solutions").glob("*.cu"))
    print(f"{'exercise':24} {'':5} {'median s':>8} {'min':>6} {'max':>6} {'goal':>5}")
    for name in names:
        with tempfile.TemporaryDirectory() as warm:
            time_grade(name, warm)  # fills the cache
            cold = [time_cold(name) for _ in range(options.repeat)]
            times = {"cold": cold, "warm": [time_grade(name, warm) for _ in range(options.repeat)]}
        for kind, samples in times.items():
            goal = GOALS_S.get(name, OTHER_GOALS_S)[kind]
            print(
                f"{name:24} {kind:5} {statistics.median(samples):8.2f} {min(samples):6.2f}"
                f" {max(samples):6.2f} {goal:>5}"
            )


def time_cold(name: str) -> float:
    with tempfile.TemporaryDirectory() as empty:
        return time_grade(name, empty)


def time_grade(name: str, cache: str) -> float:
    """Seconds of one grading whose caches lie in this folder."""
    command = [
        sys.executable,
        "-m",
        "grader",
        f"exercises/{name}",
        f"solutions/{name}.cu",
        "--device",
        "emulated",
        "--quiet",
    ]
    start = time.perf_counter()
    completed = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, "XDG_CACHE_HOME": cache},
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - start
    if completed.returncode != 0:
        raise SystemExit(
            f"grading {name} ended with"
            f" {completed.returncode}:\n{completed.stdout}{completed.stderr}"
        )
    return seconds


if __name__ == "__main__":
    main()
