"""Probes of `grade doctor`: programs, packages and permissions that grading uses, and the effect if
one is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import re
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.devices.choose import BUILD_PYCUDA
from grader.devices.gpu.ncu import NCU_VARIABLE, find_ncu
from grader.devices.gpus import read_gpus
from grader.errors import GraderError
from grader.messages.counting import PERMIT
from grader.plumbing.children import python_environment
from grader.records import RunTool, ToolLimits
from grader.report.machine_parts import Condition, Part
from grader.sandbox.isolation import find_layer
from grader.toolchain.nvcc import find_nvcc, find_nvdisasm

MINIMUM_PYTHON = (3, 11)
PROBE_LIMITS = ToolLimits(wall_seconds=20.0)
# The driver reserves a very large address space.
DRIVER_LIMITS = ToolLimits(wall_seconds=60.0, memory_bytes=1 << 62)
REINSTALL = (
    "Install the grader again with its dependencies: `python -m pip install -e .` in its folder."
)
INSTALL_GPU = "Useful only with a GPU: `python -m pip install -e '.[gpu]'` in the grader's folder."
PERMIT_UNDER_WSL = "Permit them in Windows: NVIDIA Control Panel, Manage GPU Performance Counters."
DRIVER_PARAMETERS = "driver/nvidia/params"
DRIVER_VERSION = "driver/nvidia/version"
CAP_SYS_ADMIN, CAP_PERFMON = 1 << 21, 1 << 38
FIRST_WITH_PERFMON = 565  # the first driver that accepts CAP_PERFMON for reading counters


@dataclass(frozen=True)
class Machine:
    """The examined machine: environment, tool runner, cache folder, and the kernel's /proc."""

    environ: Mapping[str, str]
    run: RunTool
    cache: Path
    proc: Path = Path("/proc")

    def which(self, program: str) -> str | None:
        return shutil.which(program, path=self.environ.get("PATH", ""))

    def first_line(self, *argv: str) -> str:
        """The first line of a tool's output; empty if it fails."""
        done = self.run(argv, limits=PROBE_LIMITS)
        lines = done.stdout.splitlines()
        return lines[0].strip() if done.returncode == 0 and lines else ""

    def ask_python(self, program: str) -> tuple[bool, str]:
        """Runs a program in a separate Python, because a broken driver may crash it. Returns
        whether it worked, and its last line."""
        child = python_environment(self.environ)
        done = self.run([sys.executable, "-c", program], limits=DRIVER_LIMITS, env=child)
        lines = (done.stdout if done.returncode == 0 else done.stderr).strip().splitlines()
        return done.returncode == 0, lines[-1] if lines else f"exit code {done.returncode}"


def examine(machine: Machine) -> tuple[Part, ...]:
    """Examines every part; required parts come first."""
    return tuple(probe(machine) for probe in PROBES)


def can_grade(parts: Sequence[Part]) -> bool:
    """Whether the emulated device works here."""
    return all(part.condition is not Condition.MISSING for part in parts)


def _found(name: str, what: str) -> Part:
    return Part(name, Condition.FOUND, what)


def _probe_python(_: Machine) -> Part:
    what = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= MINIMUM_PYTHON:
        return _found("Python", what)
    costs = "The grader needs Python 3.11 or newer."
    fix = "Create the virtual environment with a newer Python."
    return Part("Python", Condition.MISSING, what, costs, fix)


def _probe_nvcc(machine: Machine) -> Part:
    try:
        nvcc = find_nvcc(machine.environ, machine.run, prefer_wheel=True)
    except GraderError as error:
        costs = "Nothing can be compiled."
        return Part("nvcc", Condition.MISSING, str(error), costs, error.advice)
    return _found("nvcc", f"{nvcc.version} ({nvcc.path})")


def _probe_nvdisasm(machine: Machine) -> Part:
    try:
        nvdisasm = find_nvdisasm(machine.environ, machine.run)
    except GraderError as error:
        costs = "The machine code of a submission cannot be read, so it cannot be emulated."
        return Part("nvdisasm", Condition.MISSING, str(error), costs, error.advice)
    return _found("nvdisasm", f"{nvdisasm.version} ({nvdisasm.path})")


def _probe_host_compiler(machine: Machine) -> Part:
    path = machine.which("g++")
    if path is None:
        costs = "nvcc needs a host compiler, and so does the emulated device."
        fix = "Install it: `apt install g++`, `dnf install gcc-c++`, or your system's equivalent."
        return Part("g++", Condition.MISSING, "not on PATH", costs, fix)
    return _found("g++", f"{machine.first_line(path, '--version')} ({path})")


def _probe_emulated_gpus(_: Machine) -> Part:
    return _found("emulated GPUs", ", ".join(f"emulated:{name}" for name in read_gpus()))


def _probe_llvmlite(_: Machine) -> Part:
    try:
        import llvmlite
    except (ImportError, OSError) as error:
        costs = "Machine code cannot be translated for this processor."
        return Part("llvmlite", Condition.MISSING, str(error), costs, REINSTALL)
    return _found("llvmlite", llvmlite.__version__)


def _probe_numpy(_: Machine) -> Part:
    try:
        import numpy
    except ImportError as error:
        return Part("NumPy", Condition.MISSING, str(error), "Nothing can be checked.", REINSTALL)
    return _found("NumPy", numpy.__version__)


def _probe_cache(machine: Machine) -> Part:
    try:
        machine.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=machine.cache):
            pass
    except OSError as error:
        what = f"{machine.cache}: {error.strerror}"
        costs = "Every submission is compiled again each time."
        fix = "Set XDG_CACHE_HOME to a folder that you may write to."
        return Part("cache folder", Condition.ABSENT, what, costs, fix)
    return _found("cache folder", str(machine.cache))


def _probe_gpu(machine: Machine) -> Part:
    costs = (
        "The emulated device checks and counts. It models time, bandwidth and speed-up, which a GPU"
        " measures."
    )
    smi = machine.which("nvidia-smi")
    if smi is not None:
        done = machine.run(
            [smi, "--query-gpu=name,driver_version", "--format=csv,noheader"], limits=PROBE_LIMITS
        )
        gpus = [line.strip() for line in done.stdout.splitlines() if line.strip()]
        if done.returncode == 0 and gpus:
            return _found("GPU", "; ".join(gpus))
    what = "none"
    fix = "No GPU is needed. To measure, use a machine with an NVIDIA GPU and its driver."
    if (machine.proc / DRIVER_VERSION).exists():
        what = "a driver, but no GPU"
        fix = "A driver is loaded, but nvidia-smi lists no GPU: is a GPU visible to this user or"
        fix += " container?"
    return Part("GPU", Condition.ABSENT, what, costs, fix)


def _probe_pycuda(machine: Machine) -> Part:
    name, costs = "PyCUDA", "Kernels cannot be run on a GPU."
    if importlib.util.find_spec("pycuda") is None:
        fix = (
            f"{INSTALL_GPU} Your machine compiles it: this takes some minutes and needs a C++"
            f" compiler and the CUDA toolkit. The tests use it without a GPU: `{BUILD_PYCUDA}`."
        )
        return Part(name, Condition.ABSENT, "not installed", costs, fix)
    works, output = machine.ask_python(_USE_PYCUDA)
    if not works:
        what = f"installed, but does not work: {output}"
        fix = next(fix for mark, fix in _PYCUDA_FIXES.items() if mark in output)
        return Part(name, Condition.ABSENT, what, costs, fix)
    return _found(name, f"{importlib.metadata.version('pycuda')} ({output})")


_USE_PYCUDA = """
import pycuda.driver as cuda
cuda.init()
context = cuda.Device(0).make_context()
version = cuda.get_driver_version()
spoken = f"{version // 1000}.{version % 1000 // 10}"
print(f"the driver speaks CUDA {spoken}, {cuda.Device.count()} GPU(s)")
context.pop()
"""
_PYCUDA_FIXES = {
    "libcuda.so": (
        "Install NVIDIA's driver; in a container, start it with GPU support (`--gpus all`). Without"
        " a GPU, PyCUDA works in programs that `grade exec` starts."
    ),
    "no CUDA-capable device": (
        "Is a GPU visible to this user or container? See CUDA_VISIBLE_DEVICES."
    ),
    "insufficient": "The driver is older than the CUDA toolkit of PyCUDA: update the driver.",
    "undefined symbol": (
        "PyCUDA was built with another CUDA toolkit: `python -m pip install --force-reinstall"
        " --no-cache-dir pycuda`."
    ),
    "out of memory": "Another program fills the GPU's memory: see nvidia-smi.",
    "": "Read the output of `python -c 'import pycuda.autoinit'`.",
}
"""The fix by a part of the error message; the first match is used."""


def _probe_nvml(machine: Machine) -> Part:
    name = "NVML"
    costs = (
        "Clocks and throttling cannot be watched during the timing: a disturbed measurement may not"
        " be noticed."
    )
    if importlib.util.find_spec("pynvml") is None:
        return Part(name, Condition.ABSENT, "nvidia-ml-py is not installed", costs, INSTALL_GPU)
    works, output = machine.ask_python(
        "import pynvml; pynvml.nvmlInit(); print(pynvml.nvmlSystemGetNVMLVersion())"
    )
    if not works:
        fix = "NVML comes with NVIDIA's driver: install it, or give the container GPU support."
        return Part(name, Condition.ABSENT, f"does not work: {output}", costs, fix)
    return _found(name, output)


def _probe_ncu(machine: Machine) -> Part:
    costs = "Counters cannot be taken from a GPU; the emulated device counts them."
    path = find_ncu(machine.environ)
    if path is None:
        fix = (
            "Useful only with a GPU: install Nsight Compute and put ncu on PATH, or set"
            f" {NCU_VARIABLE} to its path."
        )
        return Part("ncu", Condition.ABSENT, "not on PATH", costs, fix)
    version = machine.run([str(path), "--version"], limits=PROBE_LIMITS).stdout.strip().splitlines()
    return _found("ncu", f"{version[-1] if version else 'of unknown version'} ({path})")


def _probe_counter_permission(machine: Machine) -> Part:
    """Whether this process may read GPU counters: by the driver's RmProfilingAdminOnly (1: only the
    administrator). For the driver, root without capabilities (in containers) is no
    administrator."""
    name = "GPU counters"
    costs = (
        "Without this permission ncu fails with ERR_NVGPUCTRPERM; the emulated device counts"
        " instead."
    )
    parameters = _read(machine.proc / DRIVER_PARAMETERS)
    if "RmProfilingAdminOnly: 1" in parameters and not _is_administrator(machine):
        what, fix = f"only for the administrator, not for user {os.geteuid()}", PERMIT
    elif parameters:
        return _found(name, "permitted")
    elif _has_driver(machine):
        what = "unknown permission"
        fix = PERMIT_UNDER_WSL if _is_wsl(machine) else PERMIT
    else:
        what = "nothing to count on: no NVIDIA driver"
        costs = "No GPU's counters can be read here."
        fix = "Nothing to do: the emulated device counts."
    return Part(name, Condition.ABSENT, what, costs, fix)


def _has_driver(machine: Machine) -> bool:
    """Whether there is a driver: the kernel's, or in WSL the one of Windows."""
    return (machine.proc / DRIVER_VERSION).exists() or (
        _is_wsl(machine) and machine.which("nvidia-smi") is not None
    )


def _probe_isolation(_: Machine) -> Part:
    try:
        return _found("isolation", find_layer().value)
    except GraderError as error:
        what, costs = "neither bubblewrap nor Landlock works", "Submissions are refused."
        return Part("isolation", Condition.MISSING, what, costs, error.advice)


def _is_wsl(machine: Machine) -> bool:
    return "microsoft" in _read(machine.proc / "version").lower()


def _is_administrator(machine: Machine) -> bool:
    """Whether the driver accepts this process as administrator: CAP_SYS_ADMIN, or CAP_PERFMON since
    driver 565."""
    found = re.search(
        r"^CapEff:\s*([0-9a-f]+)", _read(machine.proc / "self" / "status"), re.MULTILINE
    )
    capabilities = int(found[1], 16) if found else 0
    driver = re.search(r"Kernel Module.*?\s(\d+)\.\d", _read(machine.proc / DRIVER_VERSION))
    enough = CAP_SYS_ADMIN | (CAP_PERFMON if driver and int(driver[1]) >= FIRST_WITH_PERFMON else 0)
    return bool(capabilities & enough)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


PROBES: tuple[Callable[[Machine], Part], ...] = (
    _probe_python,
    _probe_numpy,
    _probe_llvmlite,
    _probe_nvcc,
    _probe_host_compiler,
    _probe_nvdisasm,
    _probe_emulated_gpus,
    _probe_isolation,
    _probe_cache,
    _probe_gpu,
    _probe_pycuda,
    _probe_nvml,
    _probe_ncu,
    _probe_counter_permission,
)
