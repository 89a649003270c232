"""The state of a GPU's clocks during a measurement, sampled through NVML; a value that NVML does
not have is None."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from grader.records import ClockState

LEAST_SECONDS = 0.02
"""A sample costs up to a millisecond; a measurement lasts a second."""

REASONS = {
    0x1: "gpu_idle",
    0x2: "applications_clocks",
    0x4: "sw_power_cap",
    0x8: "hw_slowdown",
    0x10: "sync_boost",
    0x20: "sw_thermal_slowdown",
    0x40: "hw_thermal_slowdown",
    0x80: "hw_power_brake",
    0x100: "display_clock",
}
"""Bits of nvmlDeviceGetCurrentClocksEventReasons (NVML API reference, "NvmlClocksEventReasons")."""


@dataclass
class _Seen:
    """The values of the samples so far."""

    sm_mhz: list[int] = field(default_factory=list)
    memory_mhz: list[int] = field(default_factory=list)
    temperature_c: list[int] = field(default_factory=list)
    reasons: int = 0


class ClockSampler:
    """Samples the GPU with this PCI bus id. Take samples right after work: the clocks of an idle
    GPU fall."""

    def __init__(self, pci_bus_id: str) -> None:
        self._nvml, self._handle = _open(pci_bus_id)
        self.clear()

    def clear(self) -> None:
        self._seen = _Seen()
        self._due = 0.0

    def sample(self) -> None:
        """Take a sample, at most once per LEAST_SECONDS."""
        if self._nvml is None or time.monotonic() < self._due:
            return
        nvml, handle, seen = self._nvml, self._handle, self._seen
        self._add(seen.sm_mhz, lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_SM))
        self._add(seen.memory_mhz, lambda: nvml.nvmlDeviceGetClockInfo(handle, nvml.NVML_CLOCK_MEM))
        self._add(
            seen.temperature_c,
            lambda: nvml.nvmlDeviceGetTemperature(handle, nvml.NVML_TEMPERATURE_GPU),
        )
        with contextlib.suppress(nvml.NVMLError):
            seen.reasons |= nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle)
        self._due = time.monotonic() + LEAST_SECONDS

    def state(self) -> ClockState:
        """The ranges of the samples since `clear`."""
        seen = self._seen
        return ClockState(
            sm_mhz=_range(seen.sm_mhz),
            memory_mhz=_range(seen.memory_mhz),
            temperature_c=max(seen.temperature_c, default=None),
            throttled=tuple(name for bit, name in REASONS.items() if seen.reasons & bit),
        )

    def _add(self, figures: list[int], read: Callable[[], int]) -> None:
        with contextlib.suppress(self._nvml.NVMLError):
            figures.append(int(read()))


def read_versions() -> dict[str, str]:
    """The driver's version and the newest CUDA that it supports; empty where NVML is
    unavailable."""
    try:
        import pynvml
    except ImportError:
        return {}
    try:
        pynvml.nvmlInit()
        cuda = pynvml.nvmlSystemGetCudaDriverVersion()
        return {
            "driver": str(pynvml.nvmlSystemGetDriverVersion()),
            "driver_cuda": f"{cuda // 1000}.{cuda % 1000 // 10}",
        }
    except pynvml.NVMLError:
        return {}


def guess_arch(index: int) -> str | None:
    """The architecture of a GPU, such as `sm_90`, before CUDA has started. NVML's order of the GPUs
    can differ from CUDA's; None where it has no such GPU."""
    try:
        import pynvml
    except ImportError:
        return None
    try:
        pynvml.nvmlInit()
        handle = pynvml.nvmlDeviceGetHandleByIndex(index)
        return "sm_{}{}".format(*pynvml.nvmlDeviceGetCudaComputeCapability(handle))
    except pynvml.NVMLError:
        return None


def _open(pci_bus_id: str) -> tuple[Any, Any]:
    """NVML and its handle of the GPU; (None, None) where either is unavailable."""
    try:
        import pynvml
    except ImportError:
        return None, None
    try:
        pynvml.nvmlInit()
        return pynvml, pynvml.nvmlDeviceGetHandleByPciBusId(pci_bus_id)
    except pynvml.NVMLError:
        return None, None


def _range(figures: list[int]) -> tuple[int, int] | None:
    return (min(figures), max(figures)) if figures else None
