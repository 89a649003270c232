"""What a device is."""

from __future__ import annotations

from dataclasses import dataclass

from grader.records.requests import Dim3


@dataclass(frozen=True)
class LaunchLimits:
    """What CUDA allows one launch on a device (CUDA C++ Programming Guide, "Technical
    Specifications per Compute Capability").

    `max_own_bytes`: of scratch buffers and `__device__` variables together; None where only the
    device itself can tell.
    """

    max_threads_per_block: int
    max_block: Dim3
    max_grid: Dim3
    max_shared_bytes_per_block: int
    max_registers_per_block: int
    max_own_bytes: int | None = None


@dataclass(frozen=True)
class DeviceInfo:
    """The device that a score was made on. `stands_for` says in words what the figures stand for;
    `id` is its key in gpus.json.

    `peak_source` says where the peaks are from. `peak_tensor_tflops` is that of tensor cores, with
    halves summed in float; None where it is not known.
    """

    kind: str
    id: str
    name: str
    compute_capability: str
    arch: str
    peak_bandwidth_gbps: float
    peak_fp32_tflops: float
    limits: LaunchLimits
    stands_for: str
    peak_source: str = "published by NVIDIA"
    peak_tensor_tflops: float | None = None
