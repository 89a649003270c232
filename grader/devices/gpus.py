"""The GPUs of the emulated device, read from `gpus.json`, and theoretical occupancy on them."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from grader.devices.plan_limits import EMULATED_OWN_BYTES
from grader.records import DeviceInfo, Dim3, LaunchLimits

if TYPE_CHECKING:
    from grader.emulator.timing.figures import Figures

WARP_LANES = 32
VERIFIED_ARCH = "sm_90"
"""The architecture whose counters were compared with those of a real GPU."""
REGISTER_GRANULARITY = 256
"""Warps get registers in multiples of this number (cuda_occupancy.h, compute capability 3.0 to
12.x)."""
SUB_PARTITIONS = 4
MAX_THREADS_PER_BLOCK = 1024
MAX_BLOCK = Dim3(1024, 1024, 64)
MAX_GRID = Dim3(2**31 - 1, 65535, 65535)


@dataclass(frozen=True)
class Gpu:
    """A GPU's figures, published by NVIDIA (in `source`). Sizes in bytes, bandwidth in 10^9 B/s,
    the boost clock in MHz; the tensor cores' rate is for halves summed in float, without sparsity,
    None where it is not published."""

    id: str
    name: str
    compute_capability: str
    arch: str
    multiprocessors: int
    boost_mhz: int
    peak_bandwidth_gbps: float
    peak_fp32_tflops: float
    l2_bytes: int
    max_warps_per_multiprocessor: int
    max_blocks_per_multiprocessor: int
    registers_per_multiprocessor: int
    shared_bytes_per_multiprocessor: int
    max_shared_bytes_per_block: int
    shared_granularity_bytes: int
    reserved_shared_bytes_per_block: int
    source: str
    timing: Mapping[str, float | str | Sequence[int]] | None = None
    peak_tensor_tflops: float | None = None
    link_gbps: float = 31.5
    """PCI Express with 16 lanes, in each direction: generation 3, 4 or 5, of 15.75, 31.5 or 63 GB/s
    after its line code."""
    peer_gbps: float | None = None
    """NVLink to other GPUs, in each direction (white papers); None: peers use PCI Express."""

    @property
    def figures(self) -> Figures | None:
        """The figures for the timing model; None for a GPU without them."""
        from grader.emulator.timing.figures import Figures  # loads the emulator

        if self.timing is None:
            return None
        return Figures(
            multiprocessors=self.multiprocessors,
            clock_mhz=self.boost_mhz,
            dram_gbps=self.peak_bandwidth_gbps,
            l2_bytes=self.l2_bytes,
            measured=self.arch == VERIFIED_ARCH,
            **{name: value for name, value in self.timing.items() if name != "source"},  # type: ignore[arg-type]
        )

    @property
    def emulated_info(self) -> DeviceInfo:
        """The description of the emulated device for this GPU in a score."""
        limits = LaunchLimits(
            max_threads_per_block=MAX_THREADS_PER_BLOCK,
            max_block=MAX_BLOCK,
            max_grid=MAX_GRID,
            max_shared_bytes_per_block=self.max_shared_bytes_per_block,
            max_registers_per_block=self.registers_per_multiprocessor,
            max_own_bytes=EMULATED_OWN_BYTES,
        )
        stands_for = (
            f"executes {self.arch} machine code on this computer's processor:"
            f" {_exactness(self.arch)}, {_trust(self)}"
        )
        info = self.describe("emulated", limits, stands_for)
        return replace(info, name=f"emulated {self.name}")

    def describe(self, kind: str, limits: LaunchLimits, stands_for: str) -> DeviceInfo:
        """The description of a device of this kind with these figures."""
        return DeviceInfo(
            kind=kind,
            id=self.id,
            name=self.name,
            compute_capability=self.compute_capability,
            arch=self.arch,
            peak_bandwidth_gbps=self.peak_bandwidth_gbps,
            peak_fp32_tflops=self.peak_fp32_tflops,
            peak_tensor_tflops=self.peak_tensor_tflops,
            limits=limits,
            stands_for=stands_for,
        )


def _exactness(arch: str) -> str:
    if arch == VERIFIED_ARCH:
        return "counters are exact"
    return "counters follow the rules that an H100 confirmed"


def _trust(gpu: Gpu) -> str:
    if gpu.timing is None:
        return "times are not measured"
    if gpu.arch == VERIFIED_ARCH:
        return "times are modelled"
    return "times are modelled with published figures and unverified"


@functools.cache
def read_gpus() -> dict[str, Gpu]:
    """All GPUs of `gpus.json` by id."""
    table = json.loads((Path(__file__).parent / "gpus.json").read_text(encoding="utf-8"))
    return {name: Gpu(id=name, **figures) for name, figures in table.items()}


def theoretical_occupancy(gpu: Gpu, *, registers: int, threads: int, shared_bytes: int) -> float:
    """Resident warps over the largest number on a multiprocessor, 0 to 1; the arguments are those
    of `resident_blocks`."""
    blocks = resident_blocks(gpu, registers=registers, threads=threads, shared_bytes=shared_bytes)
    return blocks * -(-threads // WARP_LANES) / gpu.max_warps_per_multiprocessor


def resident_blocks(gpu: Gpu, *, registers: int, threads: int, shared_bytes: int) -> int:
    """Blocks that a multiprocessor holds at a time, computed like NVIDIA's cuda_occupancy.h.

    `registers` per thread, `threads` and `shared_bytes` (static and dynamic) per block.
    """
    warps = -(-threads // WARP_LANES)
    limits = [gpu.max_blocks_per_multiprocessor, gpu.max_warps_per_multiprocessor // warps]
    if registers:
        per_warp = _round_up(registers * WARP_LANES, REGISTER_GRANULARITY)
        per_partition = gpu.registers_per_multiprocessor // SUB_PARTITIONS // per_warp
        limits.append(per_partition * SUB_PARTITIONS // warps)
    shared = _round_up(
        shared_bytes + gpu.reserved_shared_bytes_per_block, gpu.shared_granularity_bytes
    )
    if shared:
        limits.append(gpu.shared_bytes_per_multiprocessor // shared)
    return min(limits)


def _round_up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
