"""What the special-function unit gives for all arguments, as sums: recorded, of the emulated
device, and of a GPU.

A sum is over the 2^23 float32 arguments of a sign and an exponent (of RCP64H and RSQ64H they are
the upper words of a float64), or over all 2^16 halves: 32 bits, in which each argument has a part.

    python -m tests.support.special_sums        on a GPU machine: records what its GPU gives
"""

from __future__ import annotations

import ctypes
import hashlib
import json
import subprocess
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
from llvmlite import binding

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.layouts.execution import FUNCTION_PREFIX
from grader.records import Submission
from tests.support.compiling import compile_source

RECORD = Path(__file__).parents[1] / "data" / "special_sums.json"
FUNCTIONS = ("COS", "SIN", "EX2", "LG2", "RCP", "RSQ", "RCP64H", "RSQ64H", "SQRT", "TANH")
"""In the order of the instruction's bits 74 to 77."""
HALF_FUNCTIONS = ("EX2.F16", "EX2.BF16", "TANH.F16", "TANH.BF16")
FORMS = ("", "F16", "BF16")
"""In the order of its bits 72 and 73."""
RANGES = 512
"""Signs and exponents, as the upper 9 bits of an argument."""
RANGE = 1 << 23
HALVES = 1 << 16

_SUM = """
#include <cstdint>
extern "C" uint32_t sum(void (*function)(uint32_t *), uint32_t first, uint32_t count)
{
    uint32_t total = 0, words[32];
    for (uint32_t n = first; n != first + count; n += 32) {
        for (uint32_t lane = 0; lane < 32; ++lane) words[lane] = n + lane;
        function(words);
        for (uint32_t lane = 0; lane < 32; ++lane) {
            uint32_t mixed = words[lane] * 0x9E3779B1u + (n + lane) * 0x7FEB352Du;
            total += (mixed ^ mixed >> 15) * 0x85EBCA77u;
        }
    }
    return total;
}
"""
_KERNEL = """
extern "C" __global__ void sum(unsigned *totals, unsigned count)
{
    unsigned total = 0, first = blockIdx.x * count;
    for (unsigned n = first + threadIdx.x; n != first + threadIdx.x + count; n += blockDim.x) {
        float result;
        asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(result) : "f"(__uint_as_float(n)));
        unsigned mixed = __float_as_uint(result) * 0x9E3779B1u + n * 0x7FEB352Du;
        total += (mixed ^ mixed >> 15) * 0x85EBCA77u;
    }
    atomicAdd(&totals[first >> 23], total);
}
"""
_BLOCK = 1 << 18
"""Arguments that a block of the kernel adds up."""
_MUFU, _EX2 = 0x308, 2


def read_recorded() -> dict[str, tuple[int, ...]]:
    """By function: a sum for each range, one for all halves."""
    sums = json.loads(RECORD.read_text(encoding="utf-8"))["sums"]
    return {
        name: tuple(int(text[at : at + 8], 16) for at in range(0, len(text), 8))
        for name, text in sums.items()
    }


def mix(arguments: np.ndarray, results: np.ndarray) -> int:
    """The sum over these arguments."""
    mixed = results.astype(np.uint32) * np.uint32(0x9E3779B1)
    mixed += arguments.astype(np.uint32) * np.uint32(0x7FEB352D)
    parts = (mixed ^ (mixed >> np.uint32(15))) * np.uint32(0x85EBCA77)
    return int(parts.sum(dtype=np.uint32))


def add_up_emulated(name: str, ranges: Iterable[int], folder: Path) -> Iterator[int]:
    """The sums of a function of the runtime; the folder is for what is compiled."""
    source, library = folder / "sum.cpp", folder / "sum.so"
    if not library.exists():
        source.write_text(_SUM, encoding="utf-8")
        flags = ["-O3", "-march=native", "-shared", "-fPIC"]
        subprocess.run(["g++", *flags, str(source), "-o", str(library)], check=True)
    add_up = ctypes.CDLL(str(library)).sum
    add_up.restype = ctypes.c_uint32
    emulator_runtime()  # loads the symbol
    address = binding.address_of_symbol(f"{FUNCTION_PREFIX}mufu_{name.lower()}")
    assert address, name
    for upper in ranges:
        first = ctypes.c_uint32(upper << 23)
        yield add_up(ctypes.c_void_p(address), first, ctypes.c_uint32(RANGE))


def add_up_on_gpu(name: str) -> tuple[int, ...]:
    """All sums of a function of the GPU's unit: the kernel's machine code is told which."""
    import pycuda.autoprimaryctx  # noqa: F401 - a machine without a GPU has none
    import pycuda.driver as cuda

    major, minor = cuda.Device(0).compute_capability()
    source = Submission("sum.cu", hashlib.sha256(_KERNEL.encode()).hexdigest(), _KERNEL)
    binary = compile_source(source, arch=f"sm_{major}{minor}", prefer_wheel=False)
    function, _, form = name.partition(".")
    cubin = with_function(binary.cubin, FUNCTIONS.index(function), FORMS.index(form))
    kernel = cuda.module_from_buffer(cubin).get_function("sum")
    ranges, count = (1, HALVES) if form else (RANGES, _BLOCK)
    totals = np.zeros(ranges, dtype=np.uint32)
    grid = (ranges * RANGE // count if not form else 1, 1, 1)
    kernel(cuda.InOut(totals), np.uint32(count), block=(256, 1, 1), grid=grid)
    return tuple(map(int, totals))


def with_function(cubin: bytes, function: int, form: int) -> bytes:
    """The machine code with another function in its MUFU.EX2."""
    words = np.frombuffer(cubin[: len(cubin) // 16 * 16], dtype="<u8").reshape(-1, 2).copy()
    found = (words[:, 0] & 0xFFF == _MUFU) & (words[:, 1] >> 8 & 0x3F == _EX2 << 2)
    found &= words[:, 0] >> 32 < 256  # operands are registers
    assert found.any()
    cleared = words[found, 1] & ~np.uint64(0x3F00)
    words[found, 1] = cleared | np.uint64(function << 10 | form << 8)
    return words.tobytes() + cubin[len(cubin) // 16 * 16 :]


def _record() -> None:
    import pycuda.driver as cuda

    sums = {
        name: "".join(f"{total:08x}" for total in add_up_on_gpu(name))
        for name in (*FUNCTIONS, *HALF_FUNCTIONS)
    }
    about = {"device": cuda.Device(0).name(), "driver": cuda.get_driver_version(), "sums": sums}
    RECORD.write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _record()
