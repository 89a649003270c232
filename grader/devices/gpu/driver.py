"""Opens a GPU through PyCUDA: its context, its description, and two driver calls that PyCUDA
lacks."""

from __future__ import annotations

import ctypes
import re
import uuid
from dataclasses import dataclass, replace
from typing import Any

import pycuda.driver as cuda

from grader.devices.choose import OLDEST_CAPABILITY
from grader.devices.gpu.peak import Attributes, Peak, find_peak
from grader.devices.gpus import WARP_LANES, Gpu, read_gpus
from grader.errors import GraderError, UsageError
from grader.records import DeviceInfo, Dim3, GivenPeak, LaunchLimits

PRINTF_BYTES = 1 << 20
"""The text that a kernel may print between two synchronisations, to the worker's output."""
NO_GPU_NEEDED = "`--device emulated` needs no GPU."
DOCTOR = f"`grade doctor` tells what is missing; {NO_GPU_NEEDED}"
MODELLED = "an emulated driver: every time is modelled, no GPU is measured"


@dataclass(frozen=True)
class OpenGpu:
    """A GPU with its own context, current in this thread until `close`.

    `is_modelled`: the driver is the library of grader.cuda, whose clock stands still while the host
    works.
    """

    gpu: Gpu
    info: DeviceInfo
    uuid: str
    pci_bus_id: str
    is_modelled: bool
    _context: Any

    def close(self) -> None:
        """Leave the context, and everything in it, to the driver."""
        close_context(self._context)


def open_gpu(index: int, given: GivenPeak | None = None) -> OpenGpu:
    """Open the GPU with this CUDA index; `given` peaks replace its own.

    Raises UsageError when it does not exist, GraderError when it does not work or its peak is
    unknown.
    """
    device = find_device(index)
    attributes = _read_attributes(device)
    if attributes.compute_capability < OLDEST_CAPABILITY:
        found, oldest = (
            "{}.{}".format(*capability)
            for capability in (attributes.compute_capability, OLDEST_CAPABILITY)
        )
        raise GraderError(
            f"{attributes.name} has compute capability {found}; {oldest} is the oldest that can"
            " grade",
            NO_GPU_NEEDED,
        )
    peak = find_peak(attributes, given)
    gpu = describe_gpu(device, attributes, peak)
    info = _describe_device(device, gpu, peak)
    # Last of all: a process that ends with a context on PyCUDA's stack is aborted.
    return OpenGpu(
        gpu,
        info,
        _read_uuid(index),
        device.pci_bus_id(),
        is_modelled(),
        make_context(device),
    )


def find_device(index: int) -> Any:  # noqa: ANN401 (PyCUDA has no types)
    """PyCUDA's device with this CUDA index. Raises UsageError when it does not exist, GraderError
    when CUDA does not work."""
    try:
        cuda.init()
        count = cuda.Device.count()
    except cuda.Error as error:
        raise GraderError(f"CUDA finds no GPU that it can use: {error}", DOCTOR) from error
    if index >= count:
        known = "GPU 0 only" if count == 1 else f"GPUs 0 to {count - 1}"
        raise UsageError(
            f"there is no GPU {index}",
            f"This machine has {known}, as far as CUDA_VISIBLE_DEVICES lets CUDA see.",
        )
    return cuda.Device(index)


def make_context(device: Any) -> Any:  # noqa: ANN401
    """A new context on PyCUDA's stack, current in this thread. Raises GraderError when the GPU does
    not work."""
    try:
        context = device.make_context()
    except cuda.Error as error:
        raise GraderError(
            f"{device.name()} cannot be used: {error}",
            "Another process may hold it, or it needs a reset: see `nvidia-smi`.",
        ) from error
    cuda.Context.set_limit(cuda.limit.PRINTF_FIFO_SIZE, PRINTF_BYTES)
    return context


def close_context(context: Any) -> None:  # noqa: ANN401
    """Leave the context, and everything in it, to the driver."""
    context.pop()
    context.detach()


def describe_gpu(device: Any, attributes: Attributes, peak: Peak) -> Gpu:  # noqa: ANN401 (PyCUDA has no types)
    """A GPU's figures from its attributes, with its id in gpus.json, else an id made of its
    name."""
    capability = attributes.compute_capability
    return Gpu(
        id=_find_id(attributes),
        name=attributes.name,
        compute_capability="{}.{}".format(*capability),
        arch="sm_{}{}".format(*capability),
        multiprocessors=attributes.multiprocessors,
        boost_mhz=attributes.clock_khz // 1000,
        peak_bandwidth_gbps=round(peak.bandwidth_gbps, 1),
        peak_fp32_tflops=round(peak.fp32_tflops, 1),
        peak_tensor_tflops=peak.tensor_tflops,
        l2_bytes=_attribute(device, "L2_CACHE_SIZE"),
        max_warps_per_multiprocessor=_attribute(device, "MAX_THREADS_PER_MULTIPROCESSOR")
        // WARP_LANES,
        max_blocks_per_multiprocessor=_attribute(device, "MAX_BLOCKS_PER_MULTIPROCESSOR"),
        registers_per_multiprocessor=_attribute(device, "MAX_REGISTERS_PER_MULTIPROCESSOR"),
        shared_bytes_per_multiprocessor=_attribute(device, "MAX_SHARED_MEMORY_PER_MULTIPROCESSOR"),
        max_shared_bytes_per_block=_attribute(device, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN"),
        shared_granularity_bytes=128 if capability >= (8, 0) else 256,  # cuda_occupancy.h
        reserved_shared_bytes_per_block=_attribute(device, "RESERVED_SHARED_MEMORY_PER_BLOCK"),
        source="the device's attributes",
    )


def reset_persisting_l2() -> None:
    """Release every L2 line that a kernel marked as persisting. GPUs before compute capability 8.0
    do not have them and return an error."""
    find_driver().cuCtxResetPersistingL2Cache()


def _read_attributes(device: Any) -> Attributes:  # noqa: ANN401
    return Attributes(
        name=device.name(),
        compute_capability=device.compute_capability(),
        multiprocessors=_attribute(device, "MULTIPROCESSOR_COUNT"),
        clock_khz=_attribute(device, "CLOCK_RATE"),
        memory_clock_khz=_attribute(device, "MEMORY_CLOCK_RATE"),
        memory_bus_bits=_attribute(device, "GLOBAL_MEMORY_BUS_WIDTH"),
    )


def _describe_device(device: Any, gpu: Gpu, peak: Peak) -> DeviceInfo:  # noqa: ANN401
    limits = LaunchLimits(
        max_threads_per_block=_attribute(device, "MAX_THREADS_PER_BLOCK"),
        max_block=Dim3(*(_attribute(device, f"MAX_BLOCK_DIM_{axis}") for axis in "XYZ")),
        max_grid=Dim3(*(_attribute(device, f"MAX_GRID_DIM_{axis}") for axis in "XYZ")),
        max_shared_bytes_per_block=gpu.max_shared_bytes_per_block,
        max_registers_per_block=_attribute(device, "MAX_REGISTERS_PER_BLOCK"),
    )
    stands_for = MODELLED if is_modelled() else f"runs {gpu.arch} machine code, and is measured"
    source = f"{peak.bandwidth_source}; fp32: {peak.fp32_source}"
    return replace(gpu.describe("gpu", limits, stands_for), peak_source=source)


def _find_id(attributes: Attributes) -> str:
    """The id in gpus.json that is a part of the name, with the same number of multiprocessors: an
    H100 PCIe is not an H100 SXM."""
    name = attributes.name.lower()
    squeezed = re.sub(r"[^a-z0-9]", "", name)
    for gpu in read_gpus().values():
        if gpu.id in squeezed and gpu.multiprocessors == attributes.multiprocessors:
            return gpu.id
    return re.sub(r"[^a-z0-9]+", "-", name.removeprefix("nvidia ")).strip("-")


def _attribute(device: Any, name: str) -> int:  # noqa: ANN401
    return int(device.get_attribute(getattr(cuda.device_attribute, name)))


def _read_uuid(index: int) -> str:
    """The UUID in nvidia-smi's form: the same in every process, independent of
    CUDA_VISIBLE_DEVICES."""
    handle, raw = ctypes.c_int(), (ctypes.c_ubyte * 16)()
    find_driver().cuDeviceGet(ctypes.byref(handle), index)
    find_driver().cuDeviceGetUuid(raw, handle)
    return f"GPU-{uuid.UUID(bytes=bytes(raw))}"


def is_modelled() -> bool:
    """Whether the driver is the library of grader.cuda."""
    try:
        return hasattr(find_driver(), "grader_host_finding")
    except OSError:
        return False


def find_driver() -> ctypes.CDLL:
    return ctypes.CDLL("libcuda.so.1")
