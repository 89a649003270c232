"""Facts about a device: its name, its peaks, its limits; and the sources of its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from grader.records.bounds import LATER, Count, Named, Positive
from grader.records.requests import Dim3

DEVICE_KINDS = ("emulated", "gpu")
DeviceKind = Annotated[str, ("enum", DEVICE_KINDS)]


@dataclass(frozen=True)
class LaunchLimits:
    """Limits of one launch on a device (CUDA C++ Programming Guide, "Technical Specifications per
    Compute Capability")."""

    max_threads_per_block: Count
    max_block: Dim3
    max_grid: Dim3
    max_shared_bytes_per_block: Count
    max_registers_per_block: Count
    max_own_bytes: Annotated[Count | None, LATER] = None
    """Of scratch buffers and __device__ variables together; null where only the device itself
    knows it."""


@dataclass(frozen=True)
class DeviceInfo:
    """The device that graded; null where none was reached."""

    kind: DeviceKind
    id: str
    """Its key in devices/gpus.json."""
    name: str
    compute_capability: Annotated[str, ("pattern", r"^[0-9]+\.[0-9]+$")]
    arch: Annotated[str, ("pattern", "^sm_[0-9]+[a-z]?$")]
    peak_bandwidth_gbps: Positive
    peak_fp32_tflops: Positive
    limits: LaunchLimits
    stands_for: str
    """The meaning of the figures, as a sentence."""
    peak_source: Named = "published by NVIDIA"
    """The source of the two peaks; the bandwidth's first."""
    peak_tensor_tflops: Annotated[Positive | None, LATER] = None
    """Of tensor cores that multiply halves and sum in float, without sparsity; null where it is not
    known."""

    @property
    def description(self) -> str:
        """Its name, and the meaning of its figures."""
        return f"{self.name} ({self.stands_for})"


class Source(StrEnum):
    """A clock on hardware, an exact count, or a model."""

    MEASURED = "measured"
    COUNTED = "counted"
    MODELLED = "modelled"
