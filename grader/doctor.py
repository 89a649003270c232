"""What `grade doctor` looks at: the programs, packages and rights that grading uses, and what the lack of each costs."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.errors import GraderError
from grader.records import RunTool, ToolLimits
from grader.report.doctor import Condition, Part
from grader.toolchain.nvcc import find_nvcc, find_nvdisasm

MINIMUM_PYTHON = (3, 11)
PROBE_LIMITS = ToolLimits(wall_seconds=20.0)
REINSTALL = "Install the grader again with its dependencies: `python -m pip install -e .` in its folder."
DRIVER_PARAMETERS = "driver/nvidia/params"
DRIVER_VERSION = "driver/nvidia/version"


@dataclass(frozen=True)
class Machine:
    """Where to look: the environment, how to run a tool, the cache folder, and the kernel's /proc."""

    environ: Mapping[str, str]
    run: RunTool
    cache: Path
    proc: Path = Path("/proc")

    def which(self, program: str) -> str | None:
        return shutil.which(program, path=self.environ.get("PATH", ""))

    def first_line(self, *argv: str) -> str:
        """The first line that a tool prints; empty when it fails."""
        done = self.run(argv, limits=PROBE_LIMITS)
        lines = done.stdout.splitlines()
        return lines[0].strip() if done.returncode == 0 and lines else ""


def examine(machine: Machine) -> tuple[Part, ...]:
    """Look at every part, needed ones first."""
    return tuple(probe(machine) for probe in PROBES)


def can_grade(parts: Sequence[Part]) -> bool:
    """Whether the emulated device can work."""
    return all(part.condition is not Condition.MISSING for part in parts)


def _probe_python(_: Machine) -> Part:
    what = f"{platform.python_version()} ({sys.executable})"
    if sys.version_info >= MINIMUM_PYTHON:
        return Part("Python", Condition.FOUND, what)
    return Part(
        "Python", Condition.MISSING, what, "The grader needs Python 3.11 or newer.", "Make its virtual environment with a newer one."
    )


def _probe_nvcc(machine: Machine) -> Part:
    costs = "Nothing can be compiled."
    try:
        nvcc = find_nvcc(machine.environ, machine.run, prefer_wheel=True)
    except GraderError as error:
        return Part("nvcc", Condition.MISSING, str(error), costs, error.advice)
    return Part("nvcc", Condition.FOUND, f"{nvcc.version} ({nvcc.path})")


def _probe_nvdisasm(machine: Machine) -> Part:
    costs = "The machine code of a submission cannot be read, so it cannot be emulated."
    try:
        nvdisasm = find_nvdisasm(machine.environ, machine.run)
    except GraderError as error:
        return Part("nvdisasm", Condition.MISSING, str(error), costs, error.advice)
    return Part("nvdisasm", Condition.FOUND, f"{nvdisasm.version} ({nvdisasm.path})")


def _probe_host_compiler(machine: Machine) -> Part:
    path = machine.which("g++")
    if path is None:
        mend = "Install it: `apt install g++`, `dnf install gcc-c++`, or your system's like."
        return Part("g++", Condition.MISSING, "not on PATH", "nvcc needs a host compiler.", mend)
    return Part("g++", Condition.FOUND, f"{machine.first_line(path, '--version')} ({path})")


def _probe_llvmlite(_: Machine) -> Part:
    costs = "Machine code cannot be made to run on this processor."
    try:
        import llvmlite
    except (ImportError, OSError) as error:
        return Part("llvmlite", Condition.MISSING, str(error), costs, REINSTALL)
    return Part("llvmlite", Condition.FOUND, llvmlite.__version__)


def _probe_numpy(_: Machine) -> Part:
    try:
        import numpy
    except ImportError as error:
        return Part("NumPy", Condition.MISSING, str(error), "Nothing can be checked.", REINSTALL)
    return Part("NumPy", Condition.FOUND, numpy.__version__)


def _probe_cache(machine: Machine) -> Part:
    try:
        machine.cache.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=machine.cache):
            pass
    except OSError as error:
        costs = "Every submission is compiled afresh each time."
        mend = "Set XDG_CACHE_HOME to a folder that you may write to."
        return Part("cache folder", Condition.ABSENT, f"{machine.cache}: {error.strerror}", costs, mend)
    return Part("cache folder", Condition.FOUND, str(machine.cache))


def _probe_gpu(machine: Machine) -> Part:
    costs = "Time, bandwidth and speed-up cannot be measured; correctness and counters come from the emulated device."
    smi = machine.which("nvidia-smi")
    if smi is not None:
        name = machine.first_line(smi, "--query-gpu=name,driver_version", "--format=csv,noheader")
        if name:
            return Part("GPU", Condition.FOUND, name)
    if (machine.proc / DRIVER_VERSION).exists():
        mend = "A driver is loaded, but nvidia-smi lists no GPU: is one visible to this user or container?"
        return Part("GPU", Condition.ABSENT, "a driver, but no GPU", costs, mend)
    return Part("GPU", Condition.ABSENT, "none", costs, "None is needed. To measure, use a machine with an NVIDIA GPU and its driver.")


def _probe_pycuda(_: Machine) -> Part:
    if importlib.util.find_spec("pycuda") is not None:
        return Part("PyCUDA", Condition.FOUND, importlib.metadata.version("pycuda"))
    costs = "Kernels cannot be run on a GPU."
    return Part(
        "PyCUDA", Condition.ABSENT, "not installed", costs, "Only of use with a GPU: `python -m pip install pycuda`, with the CUDA toolkit."
    )


def _probe_ncu(machine: Machine) -> Part:
    costs = "Counters cannot be taken from a GPU; the emulated device counts them."
    path = machine.which("ncu")
    if path is None:
        return Part("ncu", Condition.ABSENT, "not on PATH", costs, "Only of use with a GPU: install Nsight Compute.")
    version = machine.run([path, "--version"], limits=PROBE_LIMITS).stdout.strip().splitlines()
    return Part("ncu", Condition.FOUND, f"{version[-1] if version else 'of unknown version'} ({path})")


def _probe_counter_permission(machine: Machine) -> Part:
    """Whether this user may read GPU counters: the driver's RmProfilingAdminOnly (1 keeps them to the administrator)."""
    name, costs = "GPU counters", "ncu fails with ERR_NVGPUCTRPERM; the emulated device counts instead."
    try:
        text = (machine.proc / DRIVER_PARAMETERS).read_text()
    except OSError:
        return Part(name, Condition.ABSENT, "no NVIDIA driver", costs, "Only of use with a GPU.")
    if "RmProfilingAdminOnly: 1" in text and os.geteuid() != 0:
        mend = "As administrator: `options nvidia NVreg_RestrictProfilingToAdminUsers=0` in /etc/modprobe.d/, then load the driver again."
        return Part(name, Condition.ABSENT, "for the administrator only", costs, mend)
    return Part(name, Condition.FOUND, "permitted")


PROBES: tuple[Callable[[Machine], Part], ...] = (
    _probe_python,
    _probe_numpy,
    _probe_llvmlite,
    _probe_nvcc,
    _probe_host_compiler,
    _probe_nvdisasm,
    _probe_cache,
    _probe_gpu,
    _probe_pycuda,
    _probe_ncu,
    _probe_counter_permission,
)
