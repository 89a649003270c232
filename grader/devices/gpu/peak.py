"""The theoretical peak of a GPU: the value of the option, else from the device's attributes, else
from a table of published figures.

Bandwidth is 2 x memory clock x bus width (two transfers per clock, for every GDDR and HBM part);
fp32 peak is multiprocessors x fp32 lanes x 2 (a fused multiply-add is two operations) x clock. The
result names its source. Attributes can be 0 on virtual and integrated GPUs; nothing is guessed
then.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from grader.devices.gpus import read_gpus
from grader.errors import GraderError, UsageError
from grader.records import GivenPeak

FP32_LANES = {
    (6, 0): 64,
    (6, 1): 128,
    (7, 0): 64,
    (7, 2): 64,
    (7, 5): 64,
    (8, 0): 64,
    (8, 6): 128,
    (8, 7): 128,
    (8, 9): 128,
    (9, 0): 128,
    (10, 0): 128,
    (10, 3): 128,
    (12, 0): 128,
    (12, 1): 128,
}
"""fp32 lanes per multiprocessor: CUDA C++ Programming Guide, "Throughput of Native Arithmetic
Instructions"."""


@dataclass(frozen=True)
class Listed:
    """A board with the figures of this id in `gpus.json`, and NVIDIA's publication of them."""

    id: str
    source: str


@dataclass(frozen=True)
class Published:
    """NVIDIA's figures for a board: GB/s, TFLOP/s (fp32, and of tensor cores that multiply halves
    and sum in float, without sparsity), and the publication."""

    bandwidth_gbps: float
    fp32_tflops: float
    tensor_tflops: float | None
    source: str


BOARDS: dict[str, Published | Listed] = {
    "Tesla T4": Listed("t4", "T4 datasheet"),
    "Tesla V100-SXM2-16GB": Published(900.0, 15.7, 125.0, "V100 datasheet"),
    "Tesla V100-SXM2-32GB": Published(900.0, 15.7, 125.0, "V100 datasheet"),
    "NVIDIA A100-SXM4-40GB": Listed("a100", "A100 datasheet"),
    "NVIDIA A100-PCIE-40GB": Published(1555.0, 19.5, 312.0, "A100 datasheet"),
    "NVIDIA A100-SXM4-80GB": Published(2039.0, 19.5, 312.0, "A100 datasheet"),
    "NVIDIA A100 80GB PCIe": Published(1935.0, 19.5, 312.0, "A100 datasheet"),
    "NVIDIA H100 80GB HBM3": Listed("h100", "H100 datasheet and architecture paper"),
    "NVIDIA H200": Listed("h200", "H200 datasheet"),
    "NVIDIA A10": Published(600.0, 31.2, 125.0, "A10 datasheet"),
    "NVIDIA L4": Published(300.0, 30.3, 121.0, "L4 datasheet"),
    "NVIDIA L40S": Listed("l40s", "L40S datasheet"),
    "NVIDIA RTX A6000": Published(768.0, 38.7, 154.8, "RTX A6000 datasheet"),
    "NVIDIA GeForce RTX 2080 Ti": Published(616.0, 13.4, 53.8, "Turing architecture paper"),
    "NVIDIA GeForce RTX 3080": Published(760.0, 29.8, 59.5, "Ampere GA102 architecture paper"),
    "NVIDIA GeForce RTX 3090": Listed("rtx3090", "Ampere GA102 architecture paper"),
    "NVIDIA GeForce RTX 4090": Listed("rtx4090", "Ada architecture paper"),
    "NVIDIA GeForce RTX 5090": Listed("rtx5090", "Blackwell RTX architecture paper"),
    "NVIDIA GeForce RTX 5070": Listed("rtx5070", "Blackwell RTX architecture paper"),
    "NVIDIA B200": Listed("b200", "HGX B200 datasheet"),
}
"""By CUDA's name of the board."""


@dataclass(frozen=True)
class Attributes:
    """A device's attributes from the driver; 0 where the driver has no value. Clocks in kHz, like
    CUDA's attributes."""

    name: str
    compute_capability: tuple[int, int]
    multiprocessors: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int


@dataclass(frozen=True)
class Peak:
    """A GPU's peak in 10^9 B/s and 10^12 fp32 operations/s, each with its source as text; the
    tensor cores' peak is always the published figure."""

    bandwidth_gbps: float
    fp32_tflops: float
    bandwidth_source: str
    fp32_source: str
    tensor_tflops: float | None = None

    def __str__(self) -> str:
        return (
            f"{self.bandwidth_gbps:,.0f} GB/s ({self.bandwidth_source}), {self.fp32_tflops:,.1f}"
            f" TFLOP/s fp32 ({self.fp32_source})"
        )


def parse_peak(text: str) -> GivenPeak:
    """The value of `--peak`: `GB/s` or `GB/s,TFLOP/s`, each a positive number. Raises
    UsageError."""
    parts = text.split(",")
    try:
        figures = [float(part) for part in parts]
    except ValueError:
        figures = []
    if not 1 <= len(figures) <= 2 or not all(
        math.isfinite(figure) and figure > 0 for figure in figures
    ):
        raise UsageError(
            f"--peak {text!r} is no peak",
            "Give GB/s or GB/s,TFLOP/s as positive numbers, for instance --peak 3352 or --peak"
            " 3352,66.9.",
        )
    return GivenPeak(*figures)


def find_peak(attributes: Attributes, given: GivenPeak | None = None) -> Peak:
    """The peak of a device with the source of each figure. Raises GraderError when it is
    unknown."""
    given = given or GivenPeak()
    published = find_published(attributes.name)
    bandwidth = _choose(
        given.bandwidth_gbps,
        _bandwidth(attributes),
        (published.bandwidth_gbps, published.source) if published else None,
    )
    fp32 = _choose(
        given.fp32_tflops,
        _fp32(attributes),
        (published.fp32_tflops, published.source) if published else None,
    )
    if bandwidth is None or fp32 is None:
        raise _not_known(
            attributes.name, bandwidth_missing=bandwidth is None, fp32_missing=fp32 is None
        )
    tensor = published.tensor_tflops if published else None
    return Peak(bandwidth[0], fp32[0], bandwidth[1], fp32[1], tensor)


def find_published(name: str) -> Published | None:
    board = BOARDS.get(name)
    if not isinstance(board, Listed):
        return board
    gpu = read_gpus()[board.id]
    return Published(
        gpu.peak_bandwidth_gbps, gpu.peak_fp32_tflops, gpu.peak_tensor_tflops, board.source
    )


_Sourced = tuple[float, str]


def _not_known(name: str, *, bandwidth_missing: bool, fp32_missing: bool) -> GraderError:
    """The error that names the missing figures and the form of --peak that sets them."""
    missing = [*["memory bandwidth"] * bandwidth_missing, *["fp32 rate"] * fp32_missing]
    option = (
        "--peak GB/s,TFLOP/s (for instance --peak 3352,66.9)"
        if fp32_missing
        else "--peak GB/s (for instance --peak 3352)"
    )
    return GraderError(
        f"the peak {' and '.join(missing)} of {name} is not known: its driver does not tell what it"
        " follows from, and no table has it",
        f"Set it from the board's datasheet: {option}.",
    )


def _choose(
    given: float | None, computed: _Sourced | None, published: _Sourced | None
) -> _Sourced | None:
    return (given, "set by --peak") if given is not None else computed or published


def _bandwidth(attributes: Attributes) -> _Sourced | None:
    clock_khz, bus_bits = attributes.memory_clock_khz, attributes.memory_bus_bits
    if not (clock_khz > 0 and bus_bits > 0):
        return None
    return (
        2 * clock_khz * 1e3 * bus_bits / 8 / 1e9,
        f"2 x {clock_khz / 1e3:g} MHz x {bus_bits} bit, device attributes",
    )


def _fp32(attributes: Attributes) -> _Sourced | None:
    lanes = FP32_LANES.get(attributes.compute_capability)
    if lanes is None or not (attributes.clock_khz > 0 and attributes.multiprocessors > 0):
        return None
    tflops = attributes.multiprocessors * lanes * 2 * attributes.clock_khz * 1e3 / 1e12
    return (
        tflops,
        (
            f"{attributes.multiprocessors} x {lanes} lanes x 2 x {attributes.clock_khz / 1e3:g}"
            " MHz, device attributes"
        ),
    )
