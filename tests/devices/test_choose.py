"""Which device a name stands for, and what a name that is none is told."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from grader.devices.choose import gpu_works, has_pycuda, parse_device
from grader.errors import UsageError
from grader.records import DeviceChoice
from grader.sandbox.process import run_tool


def choose(name: str, *, gpu: bool = False, pycuda: bool = True) -> DeviceChoice:
    return parse_device(name, gpu_works=lambda: gpu, has_pycuda=lambda: pycuda)


@pytest.mark.parametrize(
    ("name", "choice"),
    [
        ("emulated", DeviceChoice("emulated", "h100")),
        ("emulated:h200", DeviceChoice("emulated", "h200")),
        ("gpu", DeviceChoice("gpu", "0")),
        ("gpu:3", DeviceChoice("gpu", "3")),
        ("gpu:00", DeviceChoice("gpu", "0")),
    ],
)
def test_names_of_devices(name: str, choice: DeviceChoice) -> None:
    assert choose(name) == choice


def test_auto_prefers_a_gpu_that_works() -> None:
    assert choose("auto", gpu=True) == DeviceChoice("gpu", "0")
    assert choose("auto", gpu=False) == DeviceChoice("emulated", "h100")


@pytest.mark.parametrize(
    "name", ["", "cpu", "auto:h100", "emulated:h1000", "gpu:first", "gpu:-1", "gpu:1 "]
)
def test_names_that_are_none(name: str) -> None:
    with pytest.raises(UsageError):
        choose(name, gpu=True)


def test_a_gpu_without_pycuda_says_how_to_install_it() -> None:
    with pytest.raises(UsageError, match="needs PyCUDA") as refused:
        choose("gpu", pycuda=False)
    assert "[gpu]" in refused.value.advice


def test_only_an_asked_for_gpu_is_looked_for() -> None:
    def fail() -> bool:
        raise AssertionError("looked for a GPU")

    assert parse_device("emulated", gpu_works=fail, has_pycuda=fail).kind == "emulated"
    assert parse_device("gpu", gpu_works=fail, has_pycuda=lambda: True).kind == "gpu"


@pytest.mark.skipif(
    importlib.util.find_spec("pycuda") is not None, reason="PyCUDA is installed here"
)
def test_without_pycuda_no_gpu_works_and_nothing_is_run() -> None:
    assert not has_pycuda()
    assert not gpu_works(run_tool, os.environ)
    assert "pycuda" not in sys.modules


NO_DEVICE = "def init(): raise RuntimeError('cuInit failed: no CUDA-capable device is detected')\n"
DEVICE = """
def init(): pass
class Device:
    def __init__(self, number): pass
    def compute_capability(self): return CAPABILITY
"""


@pytest.mark.parametrize(
    ("driver", "works"),
    [
        (NO_DEVICE, False),
        (DEVICE.replace("CAPABILITY", "(7, 0)"), False),
        (DEVICE.replace("CAPABILITY", "(7, 5)"), True),
        (DEVICE.replace("CAPABILITY", "(12, 0)"), True),
    ],
    ids=["no device", "7.0", "7.5", "12.0"],
)
def test_a_driver_that_fails_or_an_old_gpu_is_none(
    driver: str, works: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a stand-in for PyCUDA: the probe runs in a child, with this interpreter's packages."""
    package = tmp_path / "pycuda"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "driver.py").write_text(driver)
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    assert has_pycuda()
    assert gpu_works(run_tool, os.environ) == works
