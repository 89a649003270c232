"""A GPU whose peak nobody knows, as a virtual one is, or that is too old: PyCUDA is a stand-in
here, for no such GPU can be had at will."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from grader.errors import GraderError, UsageError
from grader.records import GivenPeak

DRIVER = Path(__file__).resolve().parents[2] / "grader" / "devices" / "gpu" / "driver.py"
SILENT = {"CLOCK_RATE": 0, "MEMORY_CLOCK_RATE": 0, "GLOBAL_MEMORY_BUS_WIDTH": 0}


class VirtualGpu:
    """A device that tells everything but its clocks. `contexts` holds what it did with contexts."""

    contexts: list[str]

    def __init__(self, index: int) -> None:
        self.index = index

    @staticmethod
    def count() -> int:
        return 1

    def name(self) -> str:
        return "GRID V"

    capability = 9, 0

    def compute_capability(self) -> tuple[int, int]:
        return self.capability

    def pci_bus_id(self) -> str:
        return "0000:01:00.0"

    def get_attribute(self, name: str) -> int:
        return SILENT.get(name, 4096)

    def make_context(self) -> VirtualGpu:
        self.contexts.append("made")
        return self

    def pop(self) -> None:
        self.contexts.append("popped")

    def detach(self) -> None:
        self.contexts.append("detached")


class EveryName:
    """An enumeration whose members are their own names."""

    def __getattr__(self, name: str) -> str:
        return name


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: ANN401 (a module made here)
    """grader.devices.gpu.driver over the stand-in, under a name of its own."""
    VirtualGpu.contexts = []
    cuda: Any = ModuleType("pycuda.driver")
    cuda.init, cuda.Error, cuda.Device, cuda.device_attribute = (
        lambda: None,
        RuntimeError,
        VirtualGpu,
        EveryName(),
    )
    cuda.limit, cuda.Context = EveryName(), SimpleNamespace(set_limit=lambda *_: None)
    package: Any = ModuleType("pycuda")
    package.driver = cuda
    spec = importlib.util.spec_from_file_location("driver_of_a_virtual_gpu", DRIVER)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    for name, stand_in in (("pycuda", package), ("pycuda.driver", cuda), (spec.name, module)):
        monkeypatch.setitem(sys.modules, name, stand_in)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "_read_uuid", lambda _: "GPU-0")
    return module


def test_without_a_peak_it_says_which_option_gives_it_and_leaves_no_context(
    driver: Any,  # noqa: ANN401
) -> None:
    with pytest.raises(
        GraderError, match="the peak memory bandwidth and fp32 rate of GRID V is not known"
    ) as caught:
        driver.open_gpu(0)
    assert "--peak GB/s,TFLOP/s" in caught.value.advice
    assert VirtualGpu.contexts == [], (
        "PyCUDA aborts a process that ends with a context on its stack"
    )


def test_with_a_peak_it_works(driver: Any) -> None:  # noqa: ANN401
    opened = driver.open_gpu(0, GivenPeak(500.0, 10.0))
    assert (opened.info.name, opened.info.peak_bandwidth_gbps, opened.info.peak_fp32_tflops) == (
        "GRID V",
        500.0,
        10.0,
    )
    assert opened.info.peak_source == "set by --peak; fp32: set by --peak"
    opened.close()
    assert VirtualGpu.contexts == ["made", "popped", "detached"]


def test_counting_asks_for_no_peak(driver: Any) -> None:  # noqa: ANN401
    """devices.gpu.profiled opens the GPU this options: under ncu nobody needs a peak, and nobody could
    set it."""
    driver.close_context(driver.make_context(driver.find_device(0)))
    assert VirtualGpu.contexts == ["made", "popped", "detached"]


def test_a_gpu_that_is_too_old_says_so(driver: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401
    monkeypatch.setattr(VirtualGpu, "capability", (7, 0))
    with pytest.raises(
        GraderError, match=r"GRID V has compute capability 7\.0; 7\.5 is the oldest"
    ) as caught:
        driver.open_gpu(0, GivenPeak(500.0, 10.0))
    assert "--device emulated" in caught.value.advice


def test_a_gpu_that_is_not_there_is_named(driver: Any) -> None:  # noqa: ANN401
    with pytest.raises(UsageError, match="there is no GPU 1") as caught:
        driver.find_device(1)
    assert "GPU 0 only" in caught.value.advice
