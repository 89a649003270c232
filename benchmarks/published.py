"""Compares the timing model with published results for GPUs that the project has not measured.

    python benchmarks/published.py [--record]

Models programs of this repository that do the same as the published kernels: siboehm's ladder of
SGEMM kernels on an RTX A6000 (github.com/siboehm/SGEMM_CUDA, README, 4092 x 4092), and the
transposes on an A100 80GB of fridayswithfaraday.com (posts/cuda-kernel-eng-matrix-transpose-
optimization, 4096 x 4096, GB/s read and written). Programs and compilers are not identical, so the
difference is not only the model's error. The A6000 is the RTX 3090's chip with other figures, the
A100 80GB is the 40GB model with faster memory. Prints both numbers, the difference, and the power
of the kind's interval that contains the published number; last, the power that contains nine of ten
(ELSEWHERE in grader/emulator/timing/intervals.py). --record writes the data from which `python
docs/generate.py` makes docs/reference/model-errors.md. Exit code 0.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import log
from pathlib import Path

from error_table import quantile
from jobs import Job
from kept_work import model_jobs
from model import record

from grader.devices.gpus import Gpu, read_gpus
from grader.emulator.timing.intervals import interval_of, read_intervals

ROOT = Path(__file__).resolve().parents[1]
TRUTH, REGISTERS = (
    ROOT / "tests" / "data" / "truth" / "kernels",
    ROOT / "tests" / "submissions" / "gemm_register_blocked",
)
GEMM, TRANSPOSE = dict.fromkeys("MNK", 4096), dict.fromkeys(("rows", "cols"), 4096)


@dataclass(frozen=True)
class Published:
    """A published rate of a kernel (GFLOP/s or GB/s), and the program of this repository that does
    the same."""

    kernel: str
    value: float
    exercise: str
    path: Path


A6000 = (
    Published("1: naive", 309.0, "gemm_coalesced", TRUTH / "gemm_naive_row.cu"),
    Published("2: coalesced", 1986.5, "gemm_coalesced", ROOT / "solutions" / "gemm_coalesced.cu"),
    Published("3: shared memory", 2980.3, "gemm_coalesced", TRUTH / "gemm_tiled.cu"),
    Published(
        "4: column of 8 a thread",
        8474.7,
        "gemm_register_blocked",
        REGISTERS / "failed--column_of_eight.cu",
    ),
    Published(
        "5: 8 x 8 a thread", 15971.7, "gemm_register_blocked", REGISTERS / "failed--adjacent_8x8.cu"
    ),
    Published(
        "6: 8 x 8 with float4",
        18237.3,
        "gemm_register_blocked",
        REGISTERS / "passed--vectorised_128x128.cu",
    ),
)
A100 = (
    Published("copy", 1870.0, "transpose", TRUTH / "transpose_copy.cu"),
    Published("naive", 150.0, "transpose", TRUTH / "transpose_naive.cu"),
    Published("tile", 900.0, "transpose", TRUTH / "transpose_conflict.cu"),
    Published("padded tile", 1600.0, "transpose", TRUTH / "transpose_padded.cu"),
)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--record", action="store_true")
    options = parser.parse_args()
    gpus = read_gpus()
    a6000 = replace(
        gpus["rtx3090"],
        name="RTX A6000",
        multiprocessors=84,
        boost_mhz=1800,
        peak_bandwidth_gbps=768.0,
    )
    a100 = replace(gpus["a100"], name="A100 80GB", peak_bandwidth_gbps=2039.0)
    work = 2 * 4096**3 / 1e9, 2 * 4 * 4096**2 / 1e9
    rows: list[dict[str, str]] = []
    powers: list[float] = []
    for gpu, kernels, sizes, giga, unit in (
        (a6000, A6000, GEMM, work[0], "GFLOP/s"),
        (a100, A100, TRANSPOSE, work[1], "GB/s"),
    ):
        for kernel, modelled, kind in model_all(gpu, kernels, sizes, giga):
            powers.append(power_of(kind, modelled / kernel.value))
            rows.append(
                {
                    "gpu": gpu.name,
                    "kernel": kernel.kernel,
                    "published": f"{kernel.value:,.0f} {unit}",
                    "modelled": f"{modelled:,.0f}",
                    "difference": f"{modelled / kernel.value - 1:+.0%}",
                }
            )
            print(" ".join(rows[-1].values()), f"{kind}: power {powers[-1]:.2f}", flush=True)
    print(f"nine of ten are inside with power {quantile(sorted(powers), 0.9):.2f}")
    if options.record:
        record("published", rows)


def model_all(
    gpu: Gpu, kernels: tuple[Published, ...], sizes: dict[str, int], giga: float
) -> Iterator[tuple[Published, float, str]]:
    """The modelled rate of each kernel, in 10^9 operations or bytes per second, and the kind of its
    launch; `giga`: 10^9 operations or bytes of a run."""
    figures = gpu.figures
    assert figures is not None
    jobs = [Job(each.exercise, each.path.stem, each.path, sizes) for each in kernels]
    for kernel, run in zip(kernels, model_jobs(jobs, gpu, figures), strict=True):
        if isinstance(run, str):
            raise SystemExit(f"{kernel.path}: {run}")
        yield kernel, giga / (run.time_ms / 1e3), run.kind


def power_of(kind: str, ratio: float) -> float:
    """The least power of the kind's interval that contains a ratio of published to modelled
    time."""
    interval = interval_of(kind, read_intervals())
    end = interval.high if ratio > 1 else interval.low
    return log(ratio) / log(end)


if __name__ == "__main__":
    main()
