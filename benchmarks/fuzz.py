"""Runs the grader on mutated kernels, cubins, launch lines and sources, and counts defects:
`python benchmarks/fuzz.py`.

A defect is a process that dies by a signal or exceeds its time, an undefined exception, a score
with status `grader_error`, or a byte written outside of the buffers. A mutant depends only on the
seed and its number, so `--seed S --first N --kernels 1` repeats it. Mutants run in forked children,
so that a crash does not end the run.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import traceback
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from random import Random

import numpy as np
from fuzz_kernels import Seed, make_kernel_seeds, run_kernel
from fuzz_sources import graded_sources, run_program, run_source

from grader.errors import GraderError, UsageError
from grader.grading.tools import find_toolchain
from grader.records import Binary, Submission, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission
from grader.toolchain.cubin import read_cubin, read_labels
from grader.toolchain.elf import Elf
from grader.toolchain.variables import read_variable_bytes, read_variables

ROOT = Path(__file__).resolve().parents[1]
KERNELS = ROOT / "tests" / "emulator" / "kernels"
FUZZED = ROOT / "benchmarks" / "fuzzed"
SEEDS = 40
"""Number of kernel files of the corpus from which mutants are made."""
OTHER_ARCHES = ("sm_80", "sm_120", "sm_75", "sm_100")
MEMORY_BYTES, SECONDS = 6 << 30, {"kernels": 30, "cubins": 10, "sources": 180, "programs": 20}


# --- cubins ---------------------------------------------------------------------------------------


def run_cubin(seeds: Sequence[Seed], rng: Random) -> str:
    """Reads a cubin with changed or missing bytes."""
    data = bytearray(rng.choice(seeds).cubin)
    for _ in range(rng.randint(1, 8)):
        data[rng.randrange(len(data))] = rng.choice([0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    if rng.random() < 0.2:
        del data[rng.randrange(len(data)) :]
    try:
        read_cubin(Elf(bytes(data)), arch="sm_90")
        read_labels(Elf(bytes(data)))
        read_variable_bytes(Elf(bytes(data)))
        read_variables(Elf(bytes(data)))
    except GraderError:
        return "refused"
    return "read"


# --- running --------------------------------------------------------------------------------------


def make_seeds(paths: Sequence[Path]) -> list[Seed]:
    """Compiled kernels of these files; every third file also for another architecture."""
    tools = find_toolchain(prefer_wheel=True, cache=Path(tempfile.gettempdir()) / "grader-fuzz")
    seeds: list[Seed] = []
    for number, path in enumerate(paths):
        for arch in ("sm_90", OTHER_ARCHES[number % len(OTHER_ARCHES)])[: 1 + (number % 3 == 2)]:
            source = Submission(path.name, "", path.read_text(encoding="utf-8"))
            binary = compile_submission(
                source,
                nvcc=tools.nvcc,
                nvdisasm=tools.nvdisasm,
                arch=arch,
                run=run_tool,
                limits=ToolLimits(),
                cache=tools.cache,
            )
            assert isinstance(binary, Binary) or arch != "sm_90", binary
            if isinstance(binary, Binary):
                seeds += make_kernel_seeds(binary, arch)
    return seeds


def choose_files(patterns: Sequence[str], count: int) -> list[Path]:
    """The files that match the patterns; without patterns, the files of FUZZED and `count` files of
    the corpus, evenly spread."""
    if patterns:
        named = (path for pattern in patterns for path in KERNELS.glob(f"{pattern}.cu"))
        return sorted({*named, *(path for p in patterns for path in FUZZED.glob(f"{p}.cu"))})
    corpus = sorted(KERNELS.glob("*.cu"))
    return [*sorted(FUZZED.glob("*.cu")), *corpus[:: max(1, len(corpus) // count)]]


def fuzz(
    kind: str, run: Callable[[Random], str], numbers: range, seed: int
) -> tuple[Counter[str], list[str]]:
    """Runs the mutants in children. Returns the number of each outcome, and the defects."""
    outcomes: Counter[str] = Counter()
    defects: list[str] = []
    next_number = numbers.start
    while next_number < numbers.stop:
        last, outcome = next_number, "died before its first mutant"
        for number, outcome in in_child(kind, run, range(next_number, numbers.stop), seed):
            if outcome != "started":
                outcomes[outcome.partition("\n")[0]] += 1
                if number % 100 == 99:
                    print(f"{kind}: {number + 1}", file=sys.stderr, flush=True)
                if outcome.startswith("DEFECT"):
                    defects.append(f"{kind} {number}: {outcome}")
                    print(defects[-1], flush=True)
            last = number
        if outcome == "started" or last < next_number:
            defects.append(f"{kind} {last}: DEFECT the process died or took too long")
            print(defects[-1], flush=True)
            outcomes["DEFECT died"] += 1
        next_number = last + 1
    return outcomes, defects


def in_child(
    kind: str, run: Callable[[Random], str], numbers: range, seed: int
) -> Iterator[tuple[int, str]]:
    """Each mutant's number with `started` and then with its outcome, as a child reports them, until
    it ends or dies."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(read)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with os.fdopen(write, "w", encoding="utf-8") as reports:
            for number in numbers:
                reports.write(json.dumps([number, "started"]) + "\n")
                reports.flush()
                signal.alarm(SECONDS[kind])
                outcome = _attempt(run, Random(f"{seed}/{kind}/{number}"))
                signal.alarm(0)
                reports.write(json.dumps([number, outcome]) + "\n")
                reports.flush()
        os._exit(0)
    os.close(write)
    with os.fdopen(read, encoding="utf-8") as reports:
        for line in reports:
            number, outcome = json.loads(line)
            yield number, outcome
    os.waitpid(pid, 0)


def _attempt(run: Callable[[Random], str], rng: Random) -> str:
    try:
        return run(rng)
    except UsageError as error:
        return f"usage: {error}"[:60]
    except Exception as error:
        return f"DEFECT {type(error).__name__}\n{traceback.format_exc()}"


def main(argv: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for kind, count in (("kernels", 2000), ("cubins", 500), ("programs", 20000), ("sources", 500)):
        parser.add_argument(
            f"--{kind}", type=int, default=count, help=f"mutants to run (default {count})"
        )
    parser.add_argument(
        "--seeds",
        type=int,
        default=SEEDS,
        help=f"kernel files of the corpus that mutants are made of (default {SEEDS})",
    )
    parser.add_argument(
        "--files", nargs="+", default=(), help="or the files that these patterns name: 'tensor_*'"
    )
    parser.add_argument("--first", type=int, default=0, help="number of the first mutant")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    found: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        seeds = (
            make_seeds(choose_files(options.files, options.seeds))
            if options.kernels or options.cubins
            else []
        )
        runs = {
            "kernels": partial(run_kernel, seeds),
            "cubins": partial(run_cubin, seeds),
            "programs": run_program,
            "sources": partial(run_source, graded_sources(Path(folder))),
        }
        for kind, run in runs.items():
            numbers = range(options.first, options.first + getattr(options, kind))
            outcomes, defects = fuzz(kind, run, numbers, options.seed)
            found += defects
            listed = ", ".join(f"{count} {outcome}" for outcome, count in outcomes.most_common())
            print(
                f"{kind}: {len(numbers) - len(defects)} of {len(numbers)} without a defect, seed"
                f" {options.seed}: {listed}",
                flush=True,
            )
    return 1 if found else 0


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main(sys.argv[1:]))
