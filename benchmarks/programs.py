"""The costs of whole CUDA programs: the first call, launches, copies, and `grade exec`.

    python -m benchmarks.programs [--launches 100000]

prints a table with the goals. `grade exec` and a program's private server are measured as whole
commands: wall time, and processor time of all their processes.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from grader.cuda.build import library_folder
from grader.cuda.compile_program import make_toolkit
from grader.cuda.nvcc_options import DEFAULT_ARCH
from grader.grading.tools import find_toolchain
from grader.plumbing.cache import default_cache

SOURCE = Path(__file__).with_suffix(".cu")
HELLO = """\
#include <cstdio>
__global__ void add(float *a, const float *b) { a[threadIdx.x] += b[threadIdx.x]; }
int main() {
    float *a, *b, host[256] = {};
    cudaMalloc(&a, sizeof host); cudaMalloc(&b, sizeof host);
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    cudaMemcpy(b, host, sizeof host, cudaMemcpyHostToDevice);
    add<<<1, 256>>>(a, b);
    cudaMemcpy(host, a, sizeof host, cudaMemcpyDeviceToHost);
    cudaFree(a); cudaFree(b);
    return host[0] != 0;
}
"""
GOALS = {"first call": 300_000.0, "launch": 200.0}
MEMCPY_GOAL = 1.5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--launches", type=int, default=100_000)
    launches = parser.parse_args().launches
    cache = default_cache(os.environ)
    toolkit = make_toolkit(find_toolchain(prefer_wheel=True, cache=cache).nvcc, cache)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program, hello = folder / "costs", folder / "hello"
        source = folder / "hello.cu"
        source.write_text(HELLO)
        for file, made in ((SOURCE, program), (source, hello)):
            subprocess.run(toolkit.compile_command([str(file)], [], DEFAULT_ARCH, made), check=True)
        grade = [sys.executable, "-m", "grader", "exec"]
        measure([*grade, str(source)])  # fills the caches
        print_command("grade exec hello.cu", [*grade, str(source)])
        print_command("grade exec -- hello", [*grade, "--", str(hello)])
        print_command("hello, private server", [str(hello)])
        done = subprocess.run(
            [*grade, "--", str(program), str(launches)], capture_output=True, text=True, check=True
        )
        for line in describe(done.stdout):
            print(line)


def print_command(name: str, command: Sequence[str]) -> None:
    wall, processor = min(measure(command) for _ in range(3))
    print(f"{name:24}{wall:10.2f} s wall {processor:8.2f} s processor")


def measure(command: Sequence[str]) -> tuple[float, float]:
    """Wall and processor seconds of a command and its processes."""
    environment = os.environ | {"LD_LIBRARY_PATH": str(library_folder())}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env=environment)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def describe(output: str) -> Iterator[str]:
    """Rows of the table: the cost, and its goal."""
    memcpy_us = 0.0
    for line in output.splitlines():
        name, _, text = line.rpartition(" ")
        us = float(text)
        row = f"{name:24}{us:12.2f} us"
        kind = name.rpartition(" ")[0] or name
        if kind == "memcpy":
            memcpy_us = us
        goal = GOALS.get(name, GOALS.get(kind))
        if goal is not None:
            row += f"   goal {goal:.0f}"
        elif kind in ("to device", "to host"):
            row += f"   {us / memcpy_us:.2f} x memcpy, goal {MEMCPY_GOAL}"
        yield row


if __name__ == "__main__":
    main()
