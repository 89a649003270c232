"""Compilers and disassemblers of other CUDA toolkits: what they make is read, and runs as the
default one's does.

Each test compiles the kernels of `kernels/` as one source, reads it with every nvdisasm, runs the
kernels on the emulated device, and compares outputs with NumPy and counters with the default
toolchain's where the machine code is the same.
"""

from __future__ import annotations

import functools
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from grader.devices.base import Arrays
from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.records import Binary, Counters, Execution, Program
from grader.sandbox.process import run_tool
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from tests.support.corpus import LIMITS, make_arrays, make_buffers, make_launches, read_cases
from tests.support.toolkits import (
    NVCC,
    NVDISASM,
    NVRTC,
    Nvrtc,
    compile_kernels,
    fetch_nvcc,
    fetch_nvdisasm,
    fetch_nvrtc,
    read_again,
)

from .conftest import make_submission

pytestmark = pytest.mark.toolkits

KERNELS = {
    path.stem: read_cases(path)[0]
    for path in sorted((Path(__file__).parent / "kernels").glob("*.cu"))
}
SOURCE = make_submission("\n".join(case.path.read_text() for case in KERNELS.values()))
Outputs = dict[str, np.ndarray]


def transpose(arrays: Arrays) -> Outputs:
    return {"out": arrays["in"].reshape(73, 81).T.ravel()}


def gemm(arrays: Arrays) -> Outputs:
    return {"c": (arrays["a"].reshape(47, 53) @ arrays["b"].reshape(53, 55)).ravel()}


def divide(arrays: Arrays) -> Outputs:
    a, b, i = arrays["a"], arrays["b"], np.arange(1024)
    dividends, divisors = 1_000_000_007 * (i - 512), i % 7 - 9
    whole = np.sign(dividends) * np.sign(divisors) * (abs(dividends) // abs(divisors))
    with np.errstate(all="ignore"):
        return {
            "quotients": a / b,
            "roots": np.sqrt(a) / b,
            "wide": a.astype(np.float64) / (2.0 + i),
            "whole": whole,
        }


def print_(arrays: Arrays) -> Outputs:
    lanes = np.arange(32)
    return {
        "y": np.where(lanes % 8 == 3, 3, lanes % 8)
    }  # CUDA's printf returns the number of its arguments


def variables(arrays: Arrays) -> Outputs:
    i = np.arange(256)
    other, scale, primes = (
        np.array(values)
        for values in ([100, 200, 300, 400], [1, 10, 100, 1000], [2, 3, 5, 7, 11, 13, 17, 19])
    )
    return {
        "out": 16 + other[i % 4] * scale[arrays["in"] % 4] + primes[arrays["in"] % 8] + i + 1 + 128
    }


def template(arrays: Arrays) -> Outputs:
    twice = arrays["in"] + arrays["in"]
    return {"single": twice[::-1], "wide": 2 * arrays["in"][127::-1].astype(np.float64)}


EXPECTED: dict[str, Callable[[Arrays], Outputs]] = {
    "transpose": transpose,
    "gemm": gemm,
    "divide": divide,
    "print": print_,
    "variables": variables,
    "template": template,
}
PRINTED = {"print": "".join(f"{lane} of a warp: {lane / 4:.2f}\n" for lane in range(3, 32, 8))}


@pytest.mark.parametrize("version", NVCC)
def test_nvcc(version: str) -> None:
    check_compiler(fetch_nvcc(version))


@pytest.mark.parametrize("version", NVRTC)
def test_nvrtc(version: str) -> None:
    check_compiler(fetch_nvrtc(version))


def test_the_tools_on_path() -> None:
    """The toolkit of this machine: the nvcc and the nvdisasm that PATH, GRADER_NVCC and
    GRADER_NVDISASM give. No network needed."""
    path = os.environ.get("GRADER_NVDISASM") or shutil.which("nvdisasm")
    if path is None:
        pytest.skip("no nvdisasm on PATH, and GRADER_NVDISASM names none")
    nvdisasm = find_nvdisasm({**os.environ, "GRADER_NVDISASM": path}, run_tool)
    nvcc = find_nvcc(os.environ, run_tool, prefer_wheel=False)
    print(f"nvcc {nvcc.version}, nvdisasm {nvdisasm.version}")
    binary = compile_kernels(SOURCE, nvcc, nvdisasm)
    assert (
        binary.kernels == read_again(binary.cubin, SOURCE, nvcc.version, default_nvdisasm()).kernels
    )
    check_runs(binary)


def check_compiler(compiler: Nvcc | Nvrtc) -> None:
    others = [fetch_nvdisasm(version) for version in NVDISASM]
    binary = compile_kernels(SOURCE, compiler, default_nvdisasm())
    for nvdisasm in others:
        again = read_again(binary.cubin, SOURCE, compiler.version, nvdisasm)
        assert again.kernels == binary.kernels, (
            f"nvdisasm {nvdisasm.version} reads it otherwise than {default_nvdisasm().version}"
        )
    check_runs(binary)


def check_runs(binary: Binary) -> None:
    default = {kernel.symbol: kernel.encoding for kernel in default_binary().kernels}
    changed = {
        kernel.symbol for kernel in binary.kernels if default.get(kernel.symbol) != kernel.encoding
    }
    print(
        f"{len(binary.kernels) - len(changed)} of {len(binary.kernels)} kernels have the default"
        " toolchain's machine code"
    )
    for name, case in KERNELS.items():
        launched, outputs, execution = run(name, binary)
        for buffer, wanted in EXPECTED[name](make_arrays(case)).items():
            np.testing.assert_array_equal(
                outputs[buffer], wanted.astype(outputs[buffer].dtype), err_msg=f"{name}: {buffer}"
            )
        assert "".join(launch.printed for launch in execution.launches) == PRINTED.get(name, "")
        if not launched & changed:
            assert counters(execution) == counters(run(name, default_binary())[2]), name


def run(name: str, binary: Binary) -> tuple[set[str], Outputs, Execution]:
    """The symbols that a kernel file launches, and what comes of it on the emulated H100."""
    case, device = KERNELS[name], EmulatedDevice("h100", threads=1)
    launches = make_launches(case, binary, device.info)
    program = Program(name, binary, tuple(launches), tuple(make_buffers(case)))
    execution, outputs = device.run(program, make_arrays(case), limits=LIMITS)
    assert execution.failure is None, f"{name}: {execution.failure.message}"
    return {launch.symbol for launch in launches}, outputs, execution


def counters(execution: Execution) -> list[Counters]:
    return [launch.counters for launch in execution.launches]


@functools.cache
def default_nvdisasm() -> Nvdisasm:
    return find_nvdisasm({"PATH": os.environ["PATH"]}, run_tool)


@functools.cache
def default_binary() -> Binary:
    return compile_kernels(
        SOURCE,
        find_nvcc({"PATH": os.environ["PATH"]}, run_tool, prefer_wheel=True),
        default_nvdisasm(),
    )
