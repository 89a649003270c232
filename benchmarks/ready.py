"""Translation time: seconds from machine code to native code for counting and checked mode, in a
process that has not translated before.

    python benchmarks/ready.py [--repeat N] [STATEMENTS ...]

The kernels are artificial, with some hundred and some thousand instructions. The cache holds their
native code, as it does after the first submissions on a machine. Prints medians of N processes, in
elapsed and CPU time. Needs no GPU.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from grader.devices.emulated.machine_code import Code
from grader.devices.emulated.runtime import emulator_runtime
from grader.grading.building import compile_source
from grader.grading.mistakes import value_of
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache
from grader.records import Binary, ToolLimits
from grader.submission.source_file import parse_submission

ROOT = Path(__file__).parents[1]
ARCH = "sm_90"
STATEMENTS = (30, 230)
"""Statements of kernels with about 280 and about 2,000 instructions."""
GOALS = "goals: 0.05 s for 280 instructions, 0.3 s for 2,000"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("statements", nargs="*", type=int, default=STATEMENTS)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.once:
        print(*time_ready(options.statements[0]))
        return
    print(f"{'instructions':>12} {'clock s':>8} {'CPU s':>8}")
    for statements in options.statements:
        command = [sys.executable, __file__, "--once", str(statements)]
        run_once(command)  # fills the caches
        samples = [run_once(command) for _ in range(options.repeat)]
        instructions, clock, processor = map(statistics.median, zip(*samples, strict=True))
        print(f"{instructions:12,.0f} {clock:8.3f} {processor:8.3f}", flush=True)
    print(GOALS)


def run_once(command: list[str]) -> tuple[float, ...]:
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True)
    return tuple(map(float, done.stdout.split()))


def time_ready(statements: int) -> tuple[int, float, float]:
    """Instructions of a kernel, and elapsed and CPU seconds until it is translated."""
    binary = compile_kernel(statements)
    kernel = binary.kernels[0]
    emulator_runtime()  # a worker loads it before it gets a submission
    clock, processor = time.perf_counter(), time.process_time()
    Code(binary, ARCH).translate(kernel, None)
    return (
        len(kernel.instructions),
        time.perf_counter() - clock,
        time.process_time() - processor,
    )


def compile_kernel(statements: int) -> Binary:
    body = "".join(
        f"  s = fmaf(a, x[k], s); k = (k * {2 * each + 3} + (k >> 3)) & n; if (k > i) s -= k;\n"
        for each in range(statements)
    )
    text = (
        "__global__ void made(float* y, const float* x, int n)\n{\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x, k = i;\n"
        f"  float a = x[i], s = 0;\n{body}  y[i] = s;\n}}\n"
    )
    source = value_of(parse_submission(text.encode(), "made.cu"))
    tools = find_toolchain(prefer_wheel=True, cache=default_cache(os.environ))
    return compile_source(source, tools, arch=ARCH, limits=ToolLimits())


if __name__ == "__main__":
    main()
