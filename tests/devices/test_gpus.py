"""The table of GPUs, and theoretical occupancy against NVIDIA's own calculator."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import grader.devices
from grader.devices.gpus import read_gpus, theoretical_occupancy

OCCUPANCY = [
    # registers, threads, static and dynamic shared bytes, resident blocks
    (16, 256, 0, 8),
    (32, 1024, 8192, 2),
    (32, 256, 4224, 8),
    (33, 256, 0, 6),
    (40, 1024, 0, 1),
    (64, 1024, 0, 1),
    (255, 256, 0, 1),
    (255, 64, 0, 4),
    (128, 256, 8320, 2),
    (96, 64, 0, 10),
    (16, 32, 0, 32),
    (16, 1, 0, 32),
    (16, 33, 0, 32),
    (16, 96, 0, 21),
    (24, 768, 0, 2),
    (41, 192, 0, 6),
    (32, 128, 6273, 16),
    (32, 256, 49152, 4),
    (32, 256, 100000, 2),
    (32, 256, 113664, 2),
    (32, 256, 115712, 2),
    (32, 256, 115713, 1),
    (32, 256, 232448, 1),
    (32, 32, 1, 32),
    (32, 512, 49920, 4),
    (72, 288, 0, 3),
    (168, 384, 0, 1),
    (65, 1024, 0, 0),
]
"""What `cudaOccMaxActiveBlocksPerMultiprocessor` of cuda_occupancy.h (CUDA 13.0) answers with the
properties of an H100: compute capability 9.0, 2,048 threads, 65,536 registers and 233,472 bytes of
shared memory a multiprocessor, 1,024 reserved a block."""


@pytest.mark.parametrize(("registers", "threads", "shared_bytes", "blocks"), OCCUPANCY)
def test_occupancy_equals_the_calculator_of_the_toolkit(
    registers: int, threads: int, shared_bytes: int, blocks: int
) -> None:
    warps = -(-threads // 32)
    got = theoretical_occupancy(
        read_gpus()["h100"], registers=registers, threads=threads, shared_bytes=shared_bytes
    )
    assert got == blocks * warps / 64


def test_a_kernel_without_registers_is_bounded_by_warps_alone() -> None:
    assert (
        theoretical_occupancy(read_gpus()["h100"], registers=0, threads=1024, shared_bytes=0) == 1.0
    )


def test_every_gpu_of_the_table_is_read_with_all_its_figures() -> None:
    table = json.loads(
        (Path(grader.devices.__file__).parent / "gpus.json").read_text(encoding="utf-8")
    )
    gpus = read_gpus()
    assert set(gpus) == set(table)
    for name, figures in table.items():
        assert gpus[name].id == name
        assert {key: getattr(gpus[name], key) for key in figures} == figures


@pytest.mark.parametrize("name", read_gpus())
def test_the_documentation_lists_the_gpu(name: str) -> None:
    page = (Path(__file__).parents[2] / "docs" / "devices.md").read_text(encoding="utf-8")
    (row,) = (line for line in page.splitlines() if line.startswith(f"| `emulated:{name}`"))
    assert f"| {read_gpus()[name].arch} |" in row


@pytest.mark.parametrize("name", sorted(read_gpus()))
def test_an_emulated_gpu_says_what_it_stands_for(name: str) -> None:
    gpu = read_gpus()[name]
    info = gpu.emulated_info
    assert (info.kind, info.id, info.arch) == ("emulated", name, gpu.arch)
    assert info.arch == f"sm_{gpu.compute_capability.replace('.', '')}"
    assert gpu.name in info.name
    assert gpu.arch in info.stands_for
    assert info.limits.max_shared_bytes_per_block == gpu.max_shared_bytes_per_block
    assert (
        info.limits.max_shared_bytes_per_block + gpu.reserved_shared_bytes_per_block
        <= gpu.shared_bytes_per_multiprocessor
    )
    assert (info.limits.max_threads_per_block, info.limits.max_grid.y) == (1024, 65535)
