"""Properties of the emulated device for the program: the attributes of the CUDA driver.

device_attributes.txt has the names of CUdevice_attribute with the values of an H200 (driver 580),
and 0 for functions that the emulated device does not have. The GPU's own figures replace them.
"""

from __future__ import annotations

from pathlib import Path

from grader.cuda.window import CLIENT_OFFSET
from grader.devices.gpus import WARP_LANES, Gpu
from grader.emulator.run.memory import LIMIT

_BUS_BITS = 5120
"""Of an H100; with it the clock follows from the published bandwidth."""


def describe_device(gpu: Gpu) -> str:
    """Lines `name=value`: NAME, TOTAL_MEMORY in bytes, and all attributes."""
    path = Path(__file__).with_name("device_attributes.txt")
    lines = path.read_text(encoding="utf-8").splitlines()
    values: dict[str, int | str] = {"NAME": gpu.name, "TOTAL_MEMORY": LIMIT - CLIENT_OFFSET}
    values |= {name: int(value) for name, _, value in (line.partition(" ") for line in lines)}
    return "".join(f"{name}={value}\n" for name, value in (values | _of_gpu(gpu)).items())


def _of_gpu(gpu: Gpu) -> dict[str, int | str]:
    major, minor = gpu.compute_capability.split(".")
    return {
        "COMPUTE_CAPABILITY_MAJOR": int(major),
        "COMPUTE_CAPABILITY_MINOR": int(minor),
        "MULTIPROCESSOR_COUNT": gpu.multiprocessors,
        "CLOCK_RATE": 1000 * gpu.boost_mhz,
        "MEMORY_CLOCK_RATE": round(gpu.peak_bandwidth_gbps * 1e9 * 8 / 2 / _BUS_BITS / 1e3),
        "GLOBAL_MEMORY_BUS_WIDTH": _BUS_BITS,
        "L2_CACHE_SIZE": gpu.l2_bytes,
        "MAX_THREADS_PER_MULTIPROCESSOR": WARP_LANES * gpu.max_warps_per_multiprocessor,
        "MAX_BLOCKS_PER_MULTIPROCESSOR": gpu.max_blocks_per_multiprocessor,
        "MAX_REGISTERS_PER_BLOCK": gpu.registers_per_multiprocessor,
        "MAX_REGISTERS_PER_MULTIPROCESSOR": gpu.registers_per_multiprocessor,
        "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR": gpu.shared_bytes_per_multiprocessor,
        "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN": gpu.max_shared_bytes_per_block,
        "RESERVED_SHARED_MEMORY_PER_BLOCK": gpu.reserved_shared_bytes_per_block,
        "CLUSTER_LAUNCH": int(int(major) >= 9),
        "TENSOR_MAP_ACCESS_SUPPORTED": int(int(major) >= 9),
    }
