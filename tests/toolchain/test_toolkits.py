"""Compilers and disassemblers of other CUDA toolkits: what they make is read, and runs as the default one's does.

Each test compiles the kernels of `kernels/`, reads them with every nvdisasm, runs them on the emulated device, and compares
outputs with NumPy and counters with the default toolchain's where the machine code is the same.
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
from grader.devices.emulated import EmulatedDevice
from grader.records import Binary, Counters, Submission
from grader.sandbox.process import run_tool
from grader.toolchain.nvcc import Nvcc, Nvdisasm, find_nvcc, find_nvdisasm
from tests.emulator.corpus import LIMITS, make_arrays, make_buffers, make_launches, read_cases

from .conftest import make_submission
from .toolkits import NVCC, NVDISASM, NVRTC, Nvrtc, compile_kernels, fetch_nvcc, fetch_nvdisasm, fetch_nvrtc, read_again

pytestmark = pytest.mark.toolkits

KERNELS = {path.stem: read_cases(path)[0] for path in sorted((Path(__file__).parent / "kernels").glob("*.cu"))}
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
        return {"quotients": a / b, "roots": np.sqrt(a) / b, "wide": a.astype(np.float64) / (2.0 + i), "whole": whole}


def print_(arrays: Arrays) -> Outputs:
    lanes = np.arange(32)
    return {"y": np.where(lanes % 8 == 3, 3, lanes % 8)}  # CUDA's printf returns the number of its arguments


def variables(arrays: Arrays) -> Outputs:
    i = np.arange(256)
    other, scale, primes = (np.array(values) for values in ([100, 200, 300, 400], [1, 10, 100, 1000], [2, 3, 5, 7, 11, 13, 17, 19]))
    return {"out": 16 + other[i % 4] * scale[arrays["in"] % 4] + primes[arrays["in"] % 8]}


def template(arrays: Arrays) -> Outputs:
    twice = arrays["in"] + arrays["in"]
    return {"single": twice[::-1], "wide": 2 * arrays["in"][127::-1].astype(np.float64)}


EXPECTED: dict[str, Callable[[Arrays], Outputs]] = {
    "transpose": transpose, "gemm": gemm, "divide": divide, "print": print_, "variables": variables, "template": template,
}  # fmt: skip
PRINTED = {"print": "".join(f"{lane} of a warp: {lane / 4:.2f}\n" for lane in range(3, 32, 8))}


@pytest.mark.parametrize("version", NVCC)
def test_nvcc(version: str) -> None:
    check_compiler(fetch_nvcc(version))


@pytest.mark.parametrize("version", NVRTC)
def test_nvrtc(version: str) -> None:
    check_compiler(fetch_nvrtc(version))


def test_the_tools_on_path() -> None:
    """The toolkit of this machine: the nvcc and the nvdisasm that PATH, GRADER_NVCC and GRADER_NVDISASM give. No network needed."""
    path = os.environ.get("GRADER_NVDISASM") or shutil.which("nvdisasm")
    if path is None:
        pytest.skip("no nvdisasm on PATH, and GRADER_NVDISASM names none")
    nvdisasm = find_nvdisasm({**os.environ, "GRADER_NVDISASM": path}, run_tool)
    nvcc = find_nvcc(os.environ, run_tool, prefer_wheel=False)
    print(f"nvcc {nvcc.version}, nvdisasm {nvdisasm.version}")
    for name in KERNELS:
        binary = compile_kernels(source_of(name), nvcc, nvdisasm)
        assert binary.kernels == read_again(binary.cubin, source_of(name), nvcc.version, default_nvdisasm()).kernels
        check_run(name, binary)


def check_compiler(compiler: Nvcc | Nvrtc) -> None:
    others = [fetch_nvdisasm(version) for version in NVDISASM]
    for name in KERNELS:
        binary = compile_kernels(source_of(name), compiler, default_nvdisasm())
        for nvdisasm in others:
            again = read_again(binary.cubin, source_of(name), compiler.version, nvdisasm)
            assert again.kernels == binary.kernels, f"{name} reads otherwise by nvdisasm {nvdisasm.version}"
        check_run(name, binary)


def check_run(name: str, binary: Binary) -> None:
    outputs, printed, counters = run(name, binary)
    for buffer, wanted in EXPECTED[name](make_arrays(KERNELS[name])).items():
        np.testing.assert_array_equal(outputs[buffer], wanted.astype(outputs[buffer].dtype), err_msg=f"{name}: {buffer}")
    assert printed == PRINTED.get(name, "")
    default = default_binary(name)
    if [kernel.encoding for kernel in binary.kernels] == [kernel.encoding for kernel in default.kernels]:
        assert counters == run(name, default)[2]


def run(name: str, binary: Binary) -> tuple[Outputs, str, tuple[Counters, ...]]:
    """Outputs, what was printed, and the counters of each launch, on the emulated H100."""
    case, device = KERNELS[name], EmulatedDevice("h100", threads=1)
    device.load(binary)
    execution, outputs = device.execute(make_launches(case, binary, device.info), make_buffers(case), make_arrays(case), limits=LIMITS)
    assert execution.failure is None, f"{name}: {execution.failure.message}"
    return outputs, "".join(launch.printed for launch in execution.launches), tuple(launch.counters for launch in execution.launches)


def source_of(name: str) -> Submission:
    return make_submission(KERNELS[name].path.read_text(), KERNELS[name].path.name)


@functools.cache
def default_nvdisasm() -> Nvdisasm:
    return find_nvdisasm({"PATH": os.environ["PATH"]}, run_tool)


@functools.cache
def default_binary(name: str) -> Binary:
    nvcc = find_nvcc({"PATH": os.environ["PATH"]}, run_tool, prefer_wheel=True)
    return compile_kernels(source_of(name), nvcc, default_nvdisasm())
