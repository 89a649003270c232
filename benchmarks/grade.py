"""Waiting time of a student: `grade` from the start of the process to its end, on the emulated
device.

    python benchmarks/grade.py [--repeat N] [--kind KIND ...] [EXERCISE ...]

Each exercise's reference is graded cold (an empty cache), edited (the file has a kernel that no
cache knows), warm (compiled before) and again (the same file and seed), N times each, as whole
processes. Two more kinds measure the time until a terminal shows a result for an edited file: its
first verdict (word), and its counters (facts); these gradings end there. The last kind measures a
save (saved): the second grading of `grade --watch`, again with another kernel.
Prints medians in seconds of elapsed time and of CPU time. Needs no GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import fcntl
import os
import pty
import re
import resource
import signal
import statistics
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
GOALS_S = {
    "transpose": {"cold": "15", "edited": "3.5", "facts": "2.5"},
    "gemm_register_blocked": {"edited": "7"},
}
OTHER_GOALS_S = {"edited": "4", "again": "1"}
"""The project's goals in seconds of elapsed time; `OTHER_GOALS_S` for all other cases."""
SEED = 7
IDLE_SECONDS = 0.5
"""A watch rests this long after a save: its last processes end."""
EDIT_SECONDS = 10.0
"""A watch rests this long before a save, as during an edit: a virtual machine then has given freed
memory back to its host, and takes long to provide it again."""
SO_FAR = re.compile(rb"so far:(?:(?!so far:).)*", re.DOTALL)
VERDICT = re.compile(rb"PASSED|FAILED")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("exercises", nargs="*", help="names of exercises; all by default")
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--kind", action="append", choices=KINDS, help="all by default")
    options = parser.parse_args()
    names = options.exercises or sorted(path.stem for path in (ROOT / "solutions").glob("*.cu"))
    print(f"{'exercise':24} {'':6} {'median s':>8} {'min':>6} {'max':>6} {'goal':>5} {'CPU s':>6}")
    for name in names:
        with tempfile.TemporaryDirectory() as warm:
            time_grade(name, warm)  # fills the cache
            time_again(name, warm)
            for kind in options.kind or KINDS:
                time_one = KINDS[kind]
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
    """Seconds of a grading: elapsed, and CPU (user and system)."""

    clock: float
    processor: float


def time_cold(name: str, _: str) -> Times:
    with tempfile.TemporaryDirectory() as empty:
        return time_grade(name, empty)


def time_again(name: str, cache: str) -> Times:
    return time_grade(name, cache, "--seed", str(SEED))


def time_edited(name: str, cache: str) -> Times:
    """Times for a file that is in no cache."""
    with edited(name) as file:
        return time_grade(name, cache, file=file)


def time_until(verdicts: int, name: str, cache: str) -> Times:
    """Times until a terminal shows `verdicts` verdicts for a file that is in no cache."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 120, 0, 0))
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    with edited(name) as file:
        process = subprocess.Popen(
            command_for(name, file), cwd=ROOT, env=environment(cache), stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        seen, clock = b"", 0.0
        with contextlib.suppress(OSError):  # the terminal closes when the process ends
            while not clock:
                seen += os.read(ours, 1 << 16)
                shown = SO_FAR.findall(seen)
                if shown and max(len(VERDICT.findall(each)) for each in shown) >= verdicts:
                    clock = time.perf_counter() - start
        process.terminate()
        with contextlib.suppress(OSError):
            while os.read(ours, 1 << 16):
                pass
        process.wait()
    os.close(ours)
    if not clock:
        raise SystemExit(f"grading {name} showed nothing before its end:\n{seen.decode()}")
    return Times(clock, processor_since(before))


def time_saved(name: str, cache: str) -> Times:
    """Times of a save: from another comment to the end of the report."""
    with edited(name) as file:
        process = subprocess.Popen(
            [*command_for(name, file), "--watch"],
            cwd=ROOT,
            env=environment(cache),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        wait_for_report(process)
        time.sleep(EDIT_SECONDS)
        before, start = tree_seconds(process.pid), time.perf_counter()
        edit(name, file)
        wait_for_report(process)
        clock = time.perf_counter() - start
        time.sleep(IDLE_SECONDS)
        processor = tree_seconds(process.pid) - before
        process.send_signal(signal.SIGINT)
        process.communicate()
    return Times(clock, processor)


def wait_for_report(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    if not any(line.startswith("Watching") for line in process.stdout):
        raise SystemExit("the watch ended before its report")


def tree_seconds(root: int) -> float:
    """CPU seconds of a process and its descendants, with those that have ended."""
    known: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = path.read_text().rpartition(")")[2].split()
            known[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    tree = {root}
    while more := {pid for pid, (parent, _) in known.items() if parent in tree} - tree:
        tree |= more
    return sum(known[pid][1] for pid in tree if pid in known) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def edited(name: str) -> Iterator[Path]:
    """The reference with a kernel that no cache knows."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{name}.cu"
        edit(name, file)
        yield file


def edit(name: str, file: Path) -> None:
    """Writes the reference with another kernel."""
    text, value = reference(name).read_text(encoding="utf-8"), time.time_ns()
    kernel = f"__global__ void edited(long long *value) {{ *value = {value}; }}"
    file.write_text(f"{text}\n{kernel}\n", encoding="utf-8")


def reference(name: str) -> Path:
    return ROOT / "solutions" / f"{name}.cu"


def time_grade(name: str, cache: str, *options: str, file: Path | None = None) -> Times:
    """Seconds of a grading, by default of the reference, with its caches in this folder."""
    command = [*command_for(name, file or reference(name)), "--quiet", *options]
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    completed = subprocess.run(
        command,
        cwd=ROOT,
        env=environment(cache),
        capture_output=True,
        text=True,
        check=False,
    )
    clock = time.perf_counter() - start
    if completed.returncode != 0:
        raise SystemExit(
            f"grading {name} ended with"
            f" {completed.returncode}:\n{completed.stdout}{completed.stderr}"
        )
    return Times(clock, processor_since(before))


def command_for(name: str, file: Path) -> list[str]:
    command = [sys.executable, "-m", "grader", f"exercises/{name}", str(file)]
    return [*command, "--device", "emulated"]


def environment(cache: str) -> dict[str, str]:
    return {**os.environ, "XDG_CACHE_HOME": cache}


def processor_since(before: resource.struct_rusage) -> float:
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


KINDS: dict[str, Callable[[str, str], Times]] = {
    "cold": time_cold,
    "edited": time_edited,
    "word": partial(time_until, 1),
    "facts": partial(time_until, 2),
    "warm": time_grade,
    "again": time_again,
    "saved": time_saved,
}


if __name__ == "__main__":
    main()
