"""Speed of the emulator in counting mode: translation, run time and warp instructions per second,
on one core, in CPU seconds.

    python benchmarks/emulator.py [--repeat N] [KERNEL ...]
    python benchmarks/emulator.py --checked [--repeat N] [KERNEL ...]
    python benchmarks/emulator.py --fixed [--repeat N]
    python benchmarks/emulator.py --whole [--repeat N]

The kernels are those of tests/data/truth, at 1024³ (GEMM) and 8192² (transpose). Prints medians of
N runs, and at the end the process's peak memory beyond the buffers of its largest kernel. Needs no
GPU.

--checked compares the checked mode with counting, at the size of correctness cases: 256³ and 512².

--fixed runs a warp of kernels of 20 to 2,000 instructions, which execute in a few microseconds, so
that the result is the fixed cost of a run: in this process in CPU seconds, and through a worker in
elapsed time. Prints the minimum of N runs.

--whole runs the reference of gemm_register_blocked at its timed sizes (4096³), all blocks on all
processors. Prints the median of N runs in seconds of elapsed time.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import resource
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from grader.devices.base import Arrays, Device
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.gpus import read_gpus
from grader.devices.parameter_space import pack_parameters
from grader.devices.remote.remote_device import RemoteDevice
from grader.emulator import GlobalMemory, LaunchSettings, run_launch, translate
from grader.grading.mistakes import SubmissionError, value_of
from grader.records import (
    Binary,
    BufferArgument,
    CheckedMode,
    CountingMode,
    DeviceBuffer,
    Dim3,
    Fact,
    Kernel,
    Launch,
    Mode,
    Program,
    Role,
    RunLimits,
    Submission,
    ToolLimits,
)
from grader.sandbox.process import run_tool
from grader.submission.plan import macro_names, read_macros, read_plan
from grader.submission.resolve import resolve_plan
from grader.submission.source_file import read_submission
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import Nvcc, find_nvcc, find_nvdisasm
from grader.toolchain.preprocess import preprocess

ROOT = Path(__file__).parents[1]
KERNELS = ROOT / "tests" / "data" / "truth" / "kernels"
WHOLE, WHOLE_GOAL_S = ROOT / "solutions" / "gemm_register_blocked.cu", 6.0
GPU = read_gpus()["h100"]
SIZES = {"gemm": {"M": 1024, "N": 1024, "K": 1024}, "transpose": {"rows": 8192, "cols": 8192}}
SMALL_SIZES = {"gemm": {"M": 256, "N": 256, "K": 256}, "transpose": {"rows": 512, "cols": 512}}
BUFFERS = {
    "gemm": {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")},
    "transpose": {"out": ("cols", "rows"), "in": ("rows", "cols")},
}
OUTPUTS = ("C", "out")
FIXED_STEPS = (0, 272, 1984)
T = TypeVar("T")
Compiled = tuple[Kernel, Launch, tuple[DeviceBuffer, ...]]
GOALS_S = {"gemm_registers_coalesced": 1.5, "gemm_naive_col": 4.0, "transpose_padded": 3.0}
"""The project's goals for a run, in seconds; the goal for translation is 1 s."""


@dataclass(frozen=True)
class Timed:
    """Medians for a kernel, in seconds."""

    name: str
    instructions: int
    translate_s: float
    run_s: float
    buffer_bytes: int


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("kernels", nargs="*", help="names of kernels; all by default")
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument(
        "--checked",
        action="store_true",
        help="compare the checked mode with counting, at small sizes",
    )
    parser.add_argument("--fixed", action="store_true", help="measure the fixed cost of a run")
    parser.add_argument("--whole", action="store_true", help="run a large product as a whole")
    options = parser.parse_args()
    if options.whole:
        measure_whole(options.repeat)
        return
    names = options.kernels or sorted(path.stem for path in KERNELS.glob("*.cu"))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core
    if options.fixed:
        measure_fixed(options.repeat)
        return
    if options.checked:
        compare_modes(names, options.repeat)
        return
    print(
        f"{'kernel':28} {'M inst.':>8} {'translate s':>11} {'run s':>7} {'goal s':>6}"
        f" {'M inst./s':>9}"
    )
    timed = []
    for name in names:
        timed.append(measure(name, options.repeat))
        print(format_row(timed[-1]), flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(
        "peak memory beyond the largest buffers:"
        f" {(peak - max(row.buffer_bytes for row in timed)) / 1e6:.0f} MB"
    )


def compare_modes(names: Sequence[str], repeat: int) -> None:
    """Prints the slowdown of the checked mode, kernel by kernel."""
    print(
        f"{'kernel':28} {'counting s':>10} {'checked s':>10} {'times':>6} {'translate s':>12}"
        f" {'checked':>8}"
    )
    for name in names:
        compiled = compile_kernel(KERNELS / f"{name}.cu", SMALL_SIZES[name.split("_")[0]])
        counting, checked = (
            measure(name, repeat, compiled, checked=mode) for mode in (False, True)
        )
        print(
            f"{name:28} {counting.run_s:10.4f} {checked.run_s:10.4f}"
            f" {checked.run_s / counting.run_s:6.1f} {counting.translate_s:12.2f}"
            f" {checked.translate_s:8.2f}",
            flush=True,
        )


def measure_fixed(repeat: int) -> None:
    """Prints the fixed cost of a run, by number of instructions and mode."""
    print(f"{'instructions':>12} {'mode':14} {'in process ms':>13} {'by a worker ms':>14}")
    inside, inputs = EmulatedDevice(), {"y": np.ones(32, dtype=np.float32)}
    with RemoteDevice("emulated:h100") as worker:
        for steps in FIXED_STEPS:
            program = make_straight(steps)
            count = len(program.binary.kernels[0].instructions)
            for mode in (CountingMode(), CheckedMode()):
                least = [
                    min(time_run(device, program, inputs, mode, clock) for _ in range(repeat + 1))
                    for device, clock in ((inside, time.process_time), (worker, time.monotonic))
                ]
                row = f"{count:12} {type(mode).__name__:14} {least[0]:13.2f} {least[1]:14.2f}"
                print(row, flush=True)


def measure_whole(repeat: int) -> None:
    """Prints the elapsed time of the whole product."""
    threads = len(os.sched_getaffinity(0))
    compiled = compile_kernel(WHOLE, dict.fromkeys("MNK", 4096))
    found = measure(WHOLE.stem, repeat, compiled, threads=threads, clock=time.perf_counter)
    print(
        f"{found.name}, 4096³, {threads} processors: {found.instructions / 1e6:.0f} M warp"
        f" instructions in {found.run_s:.1f} s (goal {WHOLE_GOAL_S:g} s)"
    )


def time_run(
    device: Device, program: Program, inputs: Arrays, mode: Mode, clock: Callable[[], float]
) -> float:
    """Milliseconds of a run."""
    began = clock()
    execution, _ = device.run(program, inputs, limits=RunLimits(10**6, 60.0), mode=mode)
    assert execution.failure is None, execution.failure
    return 1e3 * (clock() - began)


def make_straight(steps: int) -> Program:
    """A launch of a warp whose kernel has `steps` dependent multiply-adds, sixteen per line."""
    lines = "\n".join(["x = x * x + 1.0f; " * 16] * (steps // 16))
    text = f"""__global__ void k(float* y) {{
float x = y[threadIdx.x];
{lines}
y[threadIdx.x] = x; }}"""
    digest = hashlib.sha256(text.encode()).hexdigest()
    binary = compile_file(
        Submission("k.cu", digest, text), find_nvcc(os.environ, run_tool, prefer_wheel=True)
    )
    (kernel,) = binary.kernels
    launch = Launch(
        kernel.symbol, Dim3(1), Dim3(32), 0, (BufferArgument("y"),), None, "k<<<1, 32>>>(y)"
    )
    return Program("k", binary, (launch,), (DeviceBuffer("y", "float32", (32,), Role.OUTPUT),))


def measure(
    name: str,
    repeat: int,
    compiled: Compiled | None = None,
    *,
    checked: bool = False,
    threads: int = 1,
    clock: Callable[[], float] = time.process_time,
) -> Timed:
    """Translates and runs a kernel `repeat` times."""
    kernel, launch, buffers = compiled or compile_kernel(
        KERNELS / f"{name}.cu", SIZES[name.split("_")[0]]
    )
    sizes = {buffer.name: int(np.prod(buffer.shape)) * 4 for buffer in buffers}
    memory = GlobalMemory(sizes)
    for buffer in buffers:  # in place, so that each buffer is in memory only once
        view = memory.view(buffer.name).view(np.float32)
        np.random.default_rng(7).standard_normal(out=view, dtype=np.float32)
    if checked:
        memory.track_writes([buffer.name for buffer in buffers if buffer.role is Role.OUTPUT])
    addresses = {name: region.address for name, region in memory.regions.items()}
    settings = LaunchSettings(
        tuple(launch.grid),
        tuple(launch.block),
        pack_parameters(kernel, launch, addresses),
        threads=threads,
        checked=checked,
    )
    translations, runs, instructions = [], [], 0
    for _ in range(repeat):
        start = clock()
        native = translate(kernel_code(kernel), emulator_runtime())
        middle = clock()
        outcome = run_launch(native, memory, settings)
        runs.append(clock() - middle)
        translations.append(middle - start)
        assert outcome.fault is None, outcome.fault
        instructions = sum(counts.executed for counts in outcome.counts)
    return Timed(
        name,
        instructions,
        statistics.median(translations),
        statistics.median(runs),
        sum(sizes.values()),
    )


def compile_kernel(path: Path, sizes: Mapping[str, int]) -> Compiled:
    """A kernel of truth/, its launch at these sizes, and its buffers."""
    family = path.stem.split("_")[0]
    buffers = tuple(
        DeviceBuffer(
            name,
            "float32",
            tuple(sizes[side] for side in shape),
            Role.OUTPUT if name in OUTPUTS else Role.INPUT,
        )
        for name, shape in BUFFERS[family].items()
    )
    submission = done(read_submission(path))
    plan = done(read_plan(submission))
    assert plan is not None
    nvcc, limits = find_nvcc(os.environ, run_tool, prefer_wheel=True), ToolLimits()
    known: Iterable[str] = {*sizes, *BUFFERS[family]}
    seen = done(
        preprocess(
            submission,
            macro_names(plan, known),
            nvcc=nvcc,
            arch=GPU.arch,
            run=run_tool,
            limits=limits,
        )
    )
    binary = compile_file(submission, nvcc)
    resolved = done(
        resolve_plan(
            plan,
            sizes=sizes,
            macros=done(read_macros(plan, seen.macros, submission.text)),
            buffers=buffers,
            kernels=binary.kernels,
            limits=GPU.emulated_info.limits,
            source=submission.text,
        )
    )
    return binary.kernels[0], resolved.launches[0], buffers


def compile_file(submission: Submission, nvcc: Nvcc) -> Binary:
    """Its kernels for the GPU that the emulated device models."""
    return done(
        compile_submission(
            submission,
            nvcc=nvcc,
            nvdisasm=find_nvdisasm(os.environ, run_tool),
            arch=GPU.arch,
            run=run_tool,
            limits=ToolLimits(),
            cache=None,
        )
    )


def done(result: T | Fact) -> T:
    """The result of a stage; a failure ends the program."""
    try:
        return value_of(result)
    except SubmissionError as error:
        raise SystemExit(f"{error.message}\n{error.failure.detail}") from None


def format_row(row: Timed) -> str:
    goal = GOALS_S.get(row.name)
    return (
        f"{row.name:28} {row.instructions / 1e6:8.1f} {row.translate_s:11.2f} {row.run_s:7.2f} "
        f"{goal if goal else '':>6} {row.instructions / 1e6 / row.run_s:9.1f}"
    )


if __name__ == "__main__":
    main()
