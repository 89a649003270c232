"""Memory of a grading: of all its processes together, with each page counted once.

    python benchmarks/memory.py [EXERCISE [FILE]]

Grades a file without caches, by default the solution of the transpose, and samples the proportional
set sizes (PSS) of its processes. Prints the peak, and each process's part of it. Needs no GPU;
Linux.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).parents[1]
INTERVAL_S = 0.02
KINDS = ("Pss", "Pss_Anon", "Pss_Shmem", "Pss_File")
Sizes = dict[str, int]
"""Bytes by kind, with the names of /proc/PID/smaps_rollup."""


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("exercise", nargs="?", default="transpose")
    parser.add_argument("file", nargs="?", type=Path)
    options = parser.parse_args()
    file = options.file or ROOT / "solutions" / f"{options.exercise}.cu"
    folder = ROOT / "exercises" / options.exercise
    command = [sys.executable, "-m", "grader", str(folder), str(file), "--fresh"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL) as grading:
        peak = watch(grading)
    print(f"{'process':>20} " + " ".join(f"{kind + ' MB':>12}" for kind in KINDS))
    for name, sizes in [*peak, ("together", sum_sizes(peak))]:
        print(f"{name:>20} " + " ".join(f"{sizes[kind] / 1e6:12.0f}" for kind in KINDS))


def watch(grading: subprocess.Popen[bytes]) -> list[tuple[str, Sizes]]:
    """The processes at the moment of their peak memory, until the grading ends."""
    peak: list[tuple[str, Sizes]] = []
    while grading.poll() is None:
        now = [read_process(each) for each in descendants(grading.pid)]
        present = [process for process in now if process is not None]
        peak = max(peak, present, key=lambda each: sum_sizes(each)["Pss"])
        time.sleep(INTERVAL_S)
    return peak


def sum_sizes(processes: list[tuple[str, Sizes]]) -> Sizes:
    return {kind: sum(sizes[kind] for _, sizes in processes) for kind in KINDS}


def descendants(process: int) -> Iterator[int]:
    """A process and all its descendants."""
    yield process
    children: list[str] = []
    for thread in Path(f"/proc/{process}/task").glob("*/children"):
        with suppress(OSError):  # the thread has ended
            children += thread.read_text().split()
    for child in children:
        yield from descendants(int(child))


def read_process(process: int) -> tuple[str, Sizes] | None:
    """Its name and sizes; None if it has ended."""
    folder = Path(f"/proc/{process}")
    try:
        name = (folder / "comm").read_text().strip()
        lines = (folder / "smaps_rollup").read_text().splitlines()
    except OSError:
        return None
    fields = (line.split() for line in lines if line.endswith("kB"))
    known = {kind.rstrip(":"): int(size) * 1024 for kind, size, _ in fields}
    return f"{name} {process}", {kind: known.get(kind, 0) for kind in KINDS}


if __name__ == "__main__":
    main()
