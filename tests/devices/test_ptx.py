"""The grader's own kernels, assembled for an H100 and run on the emulated device: what they compute
needs no GPU to be seen."""

from __future__ import annotations

import os

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.devices.gpu.ptx import COPY_BLOCK, COPY_QUADS, DIGEST_BLOCK, PTX, digest_on_host
from grader.records import (
    Binary,
    BufferArgument,
    DeviceBuffer,
    Dim3,
    Kernel,
    KernelParameter,
    Launch,
    Program,
    Role,
    RunLimits,
    ScalarArgument,
)
from grader.sandbox.process import run_tool
from grader.toolchain.cubin import read_cubin, read_labels
from grader.toolchain.elf import Elf
from grader.toolchain.nvcc import find_nvcc, find_nvdisasm
from grader.toolchain.nvdisasm import disassemble, parse_disassembly

ARCH = "sm_90"
LIMITS = RunLimits(warp_instructions=10**7, wall_seconds=30.0)


@pytest.fixture(scope="module")
def binary(tmp_path_factory: pytest.TempPathFactory) -> EmulatedDevice:
    folder = tmp_path_factory.mktemp("ptx")
    (folder / "own.ptx").write_text(PTX)
    nvcc = find_nvcc(os.environ, run_tool, prefer_wheel=True)
    done = run_tool(
        [str(nvcc.path), "-cubin", f"-arch={ARCH}", "own.ptx", "-o", "own.cubin"], cwd=folder
    )
    assert done.returncode == 0, done.stderr
    cubin = (folder / "own.cubin").read_bytes()
    listing = disassemble(
        folder / "own.cubin", nvdisasm=find_nvdisasm(os.environ, run_tool), run=run_tool
    )
    functions = parse_disassembly(listing, read_labels(Elf(cubin)), Elf(cubin).code, {})
    kernels = tuple(
        Kernel(
            symbol=found.symbol,
            name=found.symbol,
            parameters=tuple(KernelParameter(offset, size) for offset, size in found.parameters),
            parameter_base=found.parameter_base,
            registers=found.registers,
            static_shared_bytes=0,
            local_bytes=0,
            max_threads_per_block=None,
            instructions=functions[found.symbol],
        )
        for found in read_cubin(Elf(cubin), arch=ARCH)
    )
    return Binary(ARCH, nvcc.version, cubin, kernels)


def digest(binary: Binary, words: np.ndarray, *, blocks: int) -> int:
    threads = blocks * DIGEST_BLOCK
    buffers = (
        DeviceBuffer("words", "uint64", words.shape, Role.INPUT),
        DeviceBuffer("sums", "uint64", (threads,), Role.OUTPUT),
    )
    arguments = (BufferArgument("words"), ScalarArgument(words.size, 8), BufferArgument("sums"))
    launch = Launch("digest", Dim3(blocks), Dim3(DIGEST_BLOCK), 0, arguments, None, "digest")
    arrays = {"words": words, "sums": np.zeros(threads, dtype=np.uint64)}
    program = Program("digest", binary, (launch,), buffers)
    execution, outputs = EmulatedDevice("h100").run(program, arrays, limits=LIMITS)
    assert execution.failure is None, execution.failure
    return int(outputs["sums"].sum(dtype=np.uint64))


@pytest.mark.parametrize("count", [1, 255, 256, 1000, 5003])
@pytest.mark.parametrize("blocks", [1, 3])
def test_the_digest_is_that_of_the_host_whatever_the_grid(
    binary: Binary, count: int, blocks: int
) -> None:
    words = np.random.default_rng(count).integers(0, 1 << 64, count, dtype=np.uint64)
    assert digest(binary, words, blocks=blocks) == digest_on_host(words)


def test_the_digest_sees_one_bit_and_an_exchange() -> None:
    words = np.random.default_rng(1).integers(0, 1 << 64, 100, dtype=np.uint64)
    flipped, exchanged = words.copy(), words.copy()
    flipped[42] ^= np.uint64(1)
    exchanged[[7, 8]] = exchanged[[8, 7]]
    assert len({digest_on_host(words), digest_on_host(flipped), digest_on_host(exchanged)}) == 3
    assert digest_on_host(np.zeros(100, dtype=np.uint64)) != digest_on_host(
        np.zeros(101, dtype=np.uint64)
    )


@pytest.mark.parametrize("quads", COPY_QUADS)
def test_a_copy_kernel_copies(binary: Binary, quads: int) -> None:
    words = np.random.default_rng(quads).integers(
        0, 1 << 32, 3 * 4 * COPY_BLOCK * quads, dtype=np.uint32
    )
    buffers = (
        DeviceBuffer("to", "uint32", words.shape, Role.OUTPUT),
        DeviceBuffer("from", "uint32", words.shape, Role.INPUT),
    )
    launch = Launch(
        f"copy{quads}",
        Dim3(3),
        Dim3(COPY_BLOCK),
        0,
        (BufferArgument("to"), BufferArgument("from")),
        None,
        "copy",
    )
    program = Program("copy", binary, (launch,), buffers)
    arrays = {"to": np.zeros_like(words), "from": words}
    execution, outputs = EmulatedDevice("h100").run(program, arrays, limits=LIMITS)
    assert execution.failure is None, execution.failure
    assert np.array_equal(outputs["to"], words)
