"""Which device a name such as `auto`, `gpu:1` or `emulated:h100` stands for. Costs nothing where
PyCUDA is not installed."""

from __future__ import annotations

import contextlib
import difflib
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping

from grader.devices.gpus import read_gpus
from grader.errors import UsageError
from grader.plumbing.children import python_environment
from grader.records import Completed, DeviceChoice, RunTool, ToolLimits

DEFAULT_GPU = "h100"
"""What the emulated device stands for where nothing says another GPU."""
EMULATED, GPU = "emulated", "gpu"
BUILD_PYCUDA = "grade exec -- python -m pip install pycuda"
"""Builds PyCUDA with the headers and the library of grader.cuda, on a machine without CUDA."""
INSTALL_PYCUDA = (
    "Install the extra `gpu` (`python -m pip install -e '.[gpu]'`; it needs the CUDA toolkit to"
    " build), or use --device emulated, which needs no GPU; `grade doctor` shows what is there."
)
OLDEST_CAPABILITY = 7, 5
"""Of GPUs: that of the grader's own PTX, and the first one that nvcc 13 compiles for."""
_PROBE = (
    "import pycuda.driver as cuda; cuda.init(); raise"
    f" SystemExit(cuda.Device(0).compute_capability() < {OLDEST_CAPABILITY})"
)
_COUNT = "import pycuda.driver as cuda; cuda.init(); print(cuda.Device.count())"
# the driver reserves much address space
_PROBE_LIMITS = ToolLimits(wall_seconds=30.0, memory_bytes=1 << 62)


def parse_device(
    name: str, *, gpu_works: Callable[[], bool], has_pycuda: Callable[[], bool]
) -> DeviceChoice:
    """The device of a name; UsageError for a name that is none. `auto` asks whether a GPU works
    here."""
    kind, _, id_ = name.partition(":")
    if kind == "auto" and not id_:
        return DeviceChoice(GPU, "0") if gpu_works() else DeviceChoice(EMULATED, DEFAULT_GPU)
    if kind == GPU:
        return _parse_gpu(id_, has_pycuda=has_pycuda)
    if kind == EMULATED:
        return _parse_emulated(id_)
    raise UsageError(
        f"there is no device {name!r}",
        "Devices are auto, emulated, emulated:ID (for example emulated:h100), gpu and gpu:N.",
    )


def has_pycuda() -> bool:
    """Whether PyCUDA is installed; it is not loaded."""
    return importlib.util.find_spec("pycuda") is not None


def gpu_works(run: RunTool, environ: Mapping[str, str]) -> bool:
    """Whether PyCUDA is installed and reaches a GPU: tried in a child, for a driver that crashes
    takes its process along."""
    return has_pycuda() and _probe(_PROBE, run, environ).returncode == 0


def count_gpus(run: RunTool, environ: Mapping[str, str]) -> int:
    """How many GPUs PyCUDA reaches. UsageError where there is none."""
    counted = _probe(_COUNT, run, environ).stdout.strip() if has_pycuda() else ""
    if not counted.isdecimal() or counted == "0":
        raise UsageError("there is no GPU that PyCUDA reaches", INSTALL_PYCUDA)
    return int(counted)


def check_gpu(device: str, run: RunTool, environ: Mapping[str, str]) -> None:
    """UsageError if a course server grades on a GPU that this machine does not have."""
    kind, _, number = device.partition(":")
    with contextlib.suppress(UsageError):  # there is no GPU
        if kind != GPU or int(number or 0) < count_gpus(run, environ):
            return
    raise UsageError(
        f"the server grades on {device}, which this machine does not have",
        "Start the worker on a machine with this GPU and the extra `gpu`, or start the server"
        " with `--device emulated`.",
    )


def _probe(code: str, run: RunTool, environ: Mapping[str, str]) -> Completed:
    child = python_environment(environ)
    return run([sys.executable, "-c", code], limits=_PROBE_LIMITS, env=child)


def _parse_gpu(id_: str, *, has_pycuda: Callable[[], bool]) -> DeviceChoice:
    if not re.fullmatch(r"\d{0,3}", id_):
        raise UsageError(
            f"there is no GPU {id_!r}",
            "GPUs have numbers, from 0 on: --device gpu:1 is the second one.",
        )
    if not has_pycuda():
        raise UsageError("the gpu device needs PyCUDA, which is not installed", INSTALL_PYCUDA)
    return DeviceChoice(GPU, str(int(id_ or "0")))


def _parse_emulated(id_: str) -> DeviceChoice:
    known = read_gpus()
    if id_ and id_ not in known:
        close = difflib.get_close_matches(id_.lower(), known, n=1)
        guess = f"; did you mean {close[0]!r}?" if close else ""
        raise UsageError(
            f"the emulated device cannot stand for {id_!r}{guess}",
            f"It can stand for: {', '.join(known)}.",
        )
    return DeviceChoice(EMULATED, id_ or DEFAULT_GPU)
