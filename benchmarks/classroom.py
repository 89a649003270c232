"""Duration of a class: `grade batch` on copies of the known submissions, as whole processes, with
an empty compilation cache.

    python benchmarks/classroom.py [--submissions N] [--exercise NAME ...] [--device DEVICE] [--jobs
    N,N] [--repeat N]

Every tenth file is a copy of another student's. With several job counts the runs alternate, so that
other users of the machine affect all of them equally. Prints seconds, CPU seconds, the peak memory
of all processes together (proportional set size, sampled) and, on GPUs, two fractions of the time
between the first and the last launch: the time that the GPU was busy (NVML, every 20 ms), and the
time that a grading held its lock.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import fcntl
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
_SET_CHILD_SUBREAPER = 36
SLOW = ("macro_bomb", "giant_initialised_array")
"""Compile bombs, which take until a limit ends them; real classes do not have many."""


def make_class(folder: Path, exercises: list[str], count: int) -> None:
    """`count` students, distributed over the exercises in turn; every tenth file is a copy of its
    predecessor."""
    known = {
        name: sorted((ROOT / "tests" / "submissions" / name).glob("*.cu")) for name in exercises
    }
    pools = {
        name: [path for path in paths if not path.stem.endswith(SLOW)]
        for name, paths in known.items()
    }
    for number in range(count):
        exercise = exercises[number % len(exercises)]
        pool = pools[exercise]
        index = number // len(exercises)
        source = pool[(7 * (index - 1 if index % 10 == 9 else index)) % len(pool)]
        copy = (index - 1 if index % 10 == 9 else index) // len(pool)
        place = folder / f"student{number:03}" / f"{exercise}.cu"
        place.parent.mkdir(parents=True)
        text = source.read_text(encoding="utf-8")
        place.write_text(text if copy == 0 else f"{text}\n// {copy}\n", encoding="utf-8")


class Watch(threading.Thread):
    """Samples the memory of a process and its descendants, and the use of the GPUs."""

    def __init__(self, pid: int, gpus: list[object]) -> None:
        super().__init__(daemon=True)
        self.pid, self.gpus = pid, gpus
        self.peak_mb = 0.0
        self.busy: list[list[tuple[float, bool, bool]]] = [[] for _ in gpus]
        self.done = threading.Event()

    def run(self) -> None:
        rounds = 0
        while not self.done.wait(0.02 if self.gpus else 0.5):
            for index, handle in enumerate(self.gpus):
                self.busy[index].append((time.monotonic(), _utilised(handle), _locked(handle)))
            if rounds % 25 == 0 or not self.gpus:
                self.peak_mb = max(self.peak_mb, sum(map(_pss_mb, descendants(self.pid))))
            rounds += 1

    def shares(self) -> list[tuple[float, float]]:
        """Per GPU: the fractions of busy and of locked samples, between the first and the last busy
        sample."""
        found = []
        for samples in self.busy:
            marks = [index for index, (_, busy, _) in enumerate(samples) if busy]
            span = samples[marks[0] : marks[-1] + 1] if marks else []
            found.append(
                (statistics.fmean(s[1] for s in span), statistics.fmean(s[2] for s in span))
                if span
                else (0.0, 0.0)
            )
        return found


def descendants(pid: int) -> list[int]:
    found, pending = [], [pid]
    while pending:
        one = pending.pop()
        found.append(one)
        with contextlib.suppress(OSError):
            for task in Path(f"/proc/{one}/task").iterdir():
                pending += map(int, (task / "children").read_text().split())
    return found


def adopt_orphans() -> None:
    """From now on, orphans of a killed process become children of this process, so that their CPU
    seconds count (prctl(2), PR_SET_CHILD_SUBREAPER)."""
    ctypes.CDLL(None).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_all() -> None:
    """Waits for all remaining children."""
    with contextlib.suppress(ChildProcessError):
        while True:
            os.waitpid(-1, 0)


def _pss_mb(pid: int) -> float:
    with contextlib.suppress(OSError, StopIteration):
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
        return int(next(line for line in lines if line.startswith("Pss:")).split()[1]) / 1024
    return 0.0


def open_gpus(device: str) -> list[object]:
    if not device.startswith("gpu"):
        return []
    import pynvml

    pynvml.nvmlInit()
    return [
        pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())
    ]


def _utilised(handle: object) -> bool:
    import pynvml

    return bool(pynvml.nvmlDeviceGetUtilizationRates(handle).gpu)


def _locked(handle: object) -> bool:
    """Whether a grading holds the GPU's lock (grader/devices/gpu/gpu_lock.py)."""
    import pynvml

    uuid = pynvml.nvmlDeviceGetUUID(handle)
    for path in Path(tempfile.gettempdir()).glob(
        f"cuda-exercise-grader-*{uuid.removeprefix('GPU-')}*.lock"
    ):
        with path.open() as file:
            try:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return True
    return False


def run_once(options: argparse.Namespace, jobs: int) -> float:
    with tempfile.TemporaryDirectory(prefix="classroom-") as name:
        folder = Path(name)
        make_class(folder / "submissions", options.exercise, options.submissions)
        command = [
            sys.executable,
            "-m",
            "grader",
            "batch",
            *(f"exercises/{each}" for each in options.exercise),
            str(folder / "submissions"),
            "--out",
            str(folder / "out"),
            "--device",
            options.device,
            "--jobs",
            str(jobs),
            "--quiet",
        ]
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = time.perf_counter()
        environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache")}
        process = subprocess.Popen(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE)
        watch = Watch(process.pid, open_gpus(options.device))
        watch.start()
        output = process.communicate()[0].decode()
        seconds = time.perf_counter() - start
        watch.done.set()
        watch.join()
        reap_all()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        shares = enumerate(watch.shares())
        busy = "".join(
            f"; GPU {index} busy {100 * used:.0f} %, held {100 * held:.0f} %"
            for index, (used, held) in shares
        )
        print(
            f"jobs {jobs}: {seconds:.1f} s, of a processor {processor:.1f} s, peak"
            f" {watch.peak_mb:.0f} MB{busy}",
            flush=True,
        )
        print(output.strip(), f"(exit code {process.returncode})", flush=True)
        return seconds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--submissions", type=int, default=100)
    parser.add_argument("--exercise", nargs="+", default=["transpose"])
    parser.add_argument("--device", default="emulated")
    parser.add_argument("--jobs", default="2", help="one count, or several to compare")
    parser.add_argument("--repeat", type=int, default=1)
    options = parser.parse_args()
    adopt_orphans()
    counts = [int(part) for part in options.jobs.split(",")]
    times: dict[int, list[float]] = {count: [] for count in counts}
    what = f"{options.submissions} submissions to {', '.join(options.exercise)}"
    print(f"{what} on {options.device}; load {os.getloadavg()[0]:.1f}", flush=True)
    for _ in range(options.repeat):
        for count in counts:
            times[count].append(run_once(options, count))
    first = statistics.median(times[counts[0]])
    for count in counts:
        median = statistics.median(times[count])
        print(
            f"jobs {count}: median {median:.1f} s, {first / median:.2f} x jobs {counts[0]}; load"
            f" {os.getloadavg()[0]:.1f}"
        )


if __name__ == "__main__":
    main()
