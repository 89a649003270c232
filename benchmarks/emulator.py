"""How fast the emulator is: translation, run time and warp instructions a second, counting on, on
one core.

    python benchmarks/emulator.py [--repeat N] [KERNEL ...]
    python benchmarks/emulator.py --checked [--repeat N] [KERNEL ...]

The kernels are those of tests/data/truth, at 1024³ (GEMM) and 8192² (transpose). Prints the median
of N runs, and at the end the most memory that the process ever held beyond the buffers of its
largest kernel. Needs no GPU.

--checked compares the checked mode with counting, at the size of correctness cases: 256³ and 512².
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.gpus import read_gpus
from grader.devices.parameter_space import pack_parameters
from grader.emulator import GlobalMemory, LaunchSettings, run_launch, translate
from grader.grading.mistakes import SubmissionError, value_of
from grader.records import DeviceBuffer, Fact, Kernel, Launch, Role, ToolLimits
from grader.sandbox.process import run_tool
from grader.submission.plan import macro_names, read_macros, read_plan
from grader.submission.resolve import resolve_plan
from grader.submission.source_file import read_submission
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import find_nvcc, find_nvdisasm
from grader.toolchain.preprocess import preprocess

KERNELS = Path(__file__).parents[1] / "tests" / "data" / "truth" / "kernels"
GPU = read_gpus()["h100"]
SIZES = {"gemm": {"M": 1024, "N": 1024, "K": 1024}, "transpose": {"rows": 8192, "cols": 8192}}
SMALL_SIZES = {"gemm": {"M": 256, "N": 256, "K": 256}, "transpose": {"rows": 512, "cols": 512}}
BUFFERS = {
    "gemm": {"A": ("M", "K"), "B": ("K", "N"), "C": ("M", "N")},
    "transpose": {"out": ("cols", "rows"), "in": ("rows", "cols")},
}
OUTPUTS = ("C", "out")
T = TypeVar("T")
Compiled = tuple[Kernel, Launch, tuple[DeviceBuffer, ...]]
GOALS_S = {"gemm_registers_coalesced": 1.5, "gemm_naive_col": 4.0, "transpose_padded": 3.0}
"""What the project has set itself for one run, in seconds; translation: 1 s."""


@dataclass(frozen=True)
class Timed:
    """Medians of one kernel, in seconds."""

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
    options = parser.parse_args()
    names = options.kernels or sorted(path.stem for path in KERNELS.glob("*.cu"))
    os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})  # one core
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
    """Print how many times as long the checked mode takes, kernel by kernel."""
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


def measure(
    name: str, repeat: int, compiled: Compiled | None = None, *, checked: bool = False
) -> Timed:
    """Translate and run one kernel `repeat` times."""
    kernel, launch, buffers = compiled or compile_kernel(
        KERNELS / f"{name}.cu", SIZES[name.split("_")[0]]
    )
    sizes = {buffer.name: int(np.prod(buffer.shape)) * 4 for buffer in buffers}
    memory = GlobalMemory(sizes)
    for buffer in buffers:  # in place: the benchmark holds every buffer once
        view = memory.view(buffer.name).view(np.float32)
        np.random.default_rng(7).standard_normal(out=view, dtype=np.float32)
    if checked:
        memory.track_writes([buffer.name for buffer in buffers if buffer.role is Role.OUTPUT])
    addresses = {name: region.address for name, region in memory.regions.items()}
    settings = LaunchSettings(
        tuple(launch.grid),
        tuple(launch.block),
        pack_parameters(kernel, launch, addresses),
        threads=1,
        checked=checked,
    )
    translations, runs, instructions = [], [], 0
    for _ in range(repeat):
        start = time.perf_counter()
        native = translate(kernel_code(kernel), emulator_runtime())
        middle = time.perf_counter()
        outcome = run_launch(native, memory, settings)
        runs.append(time.perf_counter() - middle)
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
    """One kernel of truth/, its launch at these sizes, and its buffers."""
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
    nvdisasm = find_nvdisasm(os.environ, run_tool)
    binary = done(
        compile_submission(
            submission,
            nvcc=nvcc,
            nvdisasm=nvdisasm,
            arch=GPU.arch,
            run=run_tool,
            limits=limits,
            cache=None,
        )
    )
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


def done(result: T | Fact) -> T:
    """The result of a stage that must not fail here."""
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
