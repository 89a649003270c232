"""Compiles one file several times with nvcc, with an nvcc that stays ready, and with NVRTC, and
counts the different codes.

    pip install nvidia-cuda-nvrtc==VERSION     # of the version that `nvcc --version` prints
    python benchmarks/repeated_code.py [FILE] [--times N]

The grader compiles with nvcc alone because of this count (docs/devices.md, "CUDA toolkits").
"""

from __future__ import annotations

import argparse
import importlib.metadata
import subprocess
import sys
import tempfile
from pathlib import Path

from grader.grading.tools import find_toolchain, keep_tools_ready
from grader.records import Submission, ToolLimits
from grader.submission.source_file import read_submission
from grader.toolchain.artifacts import Artifacts
from grader.toolchain.compilation import find_artifacts
from grader.toolchain.elf import CODE, Elf

ROOT = Path(__file__).resolve().parents[1]
FILE = ROOT / "benchmarks" / "kernels" / "local" / "commonest.cu"
SCRIPT = ROOT / "tests" / "support" / "nvrtc_script.py"


def compile_nvcc(source: Path) -> bytes:
    """The cubin that nvcc makes."""
    with tempfile.TemporaryDirectory() as folder:
        made = Path(folder, "made.cubin")
        nvcc = find_toolchain(prefer_wheel=True, cache=None).nvcc.path
        command = [nvcc, "-cubin", "-lineinfo", "-arch=sm_90", source, "-o", made]
        subprocess.run(command, check=True)
        return made.read_bytes()


def compile_ready(source: Path) -> bytes:
    """The cubin that an nvcc makes whose front end was ready before."""
    submission = read_submission(source)
    assert isinstance(submission, Submission)
    with keep_tools_ready():
        tools = find_toolchain(prefer_wheel=True, cache=None)
        made = find_artifacts(tools.order(submission, "sm_90", ToolLimits()))
    assert isinstance(made, Artifacts)
    return made.cubin


def compile_nvrtc(source: Path) -> bytes:
    """The cubin that NVRTC makes, in a process of its own."""
    options = ("--gpu-architecture=sm_90", "-std=c++17", "-lineinfo")
    command = [sys.executable, SCRIPT, find_library(), source, *options]
    return subprocess.run(command, check=True, capture_output=True).stdout


def find_library() -> Path:
    """The library of the package."""
    files = importlib.metadata.files("nvidia-cuda-nvrtc") or []
    return next(Path(str(each.locate())) for each in files if each.name.startswith("libnvrtc.so"))


def read_code(cubin: bytes) -> tuple[bytes, ...]:
    """The machine code of all kernels."""
    sections = Elf(cubin).sections
    return tuple(each.data() for each in sections if each.name.startswith(CODE))


COMPILERS = {"nvcc": compile_nvcc, "ready nvcc": compile_ready, "NVRTC": compile_nvrtc}


def main() -> int:
    parser = argparse.ArgumentParser(description="Counts the different codes of a file.")
    parser.add_argument("file", type=Path, nargs="?", default=FILE)
    parser.add_argument("--times", type=int, default=12)
    options = parser.parse_args()
    for name, compile_file in COMPILERS.items():
        codes = {read_code(compile_file(options.file)) for _ in range(options.times)}
        print(f"{name}: {len(codes)} different codes in {options.times} compilations")
    return 0


if __name__ == "__main__":
    sys.exit(main())
