"""A compiled submission on the GPU: its module, and launches with their arguments packed. Grids
that synchronise are launched through the driver, since PyCUDA has no cooperative launch."""

from __future__ import annotations

import ctypes
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pycuda.driver as cuda
from pycuda.compiler import SourceModule

from grader.devices.gpu.arena import Arena
from grader.devices.gpu.compiler import write_compiler
from grader.devices.gpu.cuda_facts import read_damage, read_fault, read_refusal
from grader.devices.gpu.driver import find_driver
from grader.devices.parameter_space import pack_parameters
from grader.errors import GraderError
from grader.records import (
    SUBMISSION,
    Binary,
    Copy,
    Fill,
    Kernel,
    Launch,
    MemoryPlace,
    Step,
    Stop,
)
from grader.sass import is_cooperative

UNASKED_SHARED_BYTES = 48 << 10
"""More dynamic and static shared memory per block than this must be requested (CUDA C++ Programming
Guide, "Shared Memory" of each architecture)."""
MATCH_THEM = (
    "Set GRADER_NVCC to the nvcc of a CUDA toolkit that is not newer than the driver (`nvidia-smi`"
    " names the driver's CUDA version), or update the driver."
)
GRADE_AGAIN = (
    "Grade it again; if it comes back, empty the grader's cache folder of compiled submissions."
)


class PlanError(Exception):
    """A plan stopped early, for this reason."""

    def __init__(self, stop: Stop) -> None:
        super().__init__(stop)
        self.stop = stop
        self.culprit = SUBMISSION


@dataclass(frozen=True)
class ReadyLaunch:
    """A launch that is ready to start."""

    launch: Launch
    kernel: Kernel
    function: Any
    arguments: tuple[np.ndarray, ...]

    def start(self) -> None:
        """Queue the kernel. Raises PyCUDA's errors when CUDA refuses it."""
        grid, block = tuple(self.launch.grid), tuple(self.launch.block)
        self.function(
            *self.arguments, grid=grid, block=block, shared=self.launch.dynamic_shared_bytes
        )

    def run(self, arena: Arena) -> None:
        """Start the kernel, wait for its end, and check the guard bands. Raises PlanError; after a
        fault the context is lost."""
        try:
            self.start()
        except cuda.Error as error:
            raise PlanError(read_refusal(error, self.launch, self.kernel.name)) from error
        try:
            cuda.Context.synchronize()
        except cuda.Error as error:
            raise PlanError(read_fault(error, self.launch, self.kernel.name)) from error
        self.check_guards(arena)

    def check_guards(self, arena: Arena) -> None:
        """Raises PlanError when a guard band has changed."""
        damage = arena.find_damage()
        if damage is not None:
            raise PlanError(read_damage(damage, self.launch, self.kernel.name))


@dataclass(frozen=True)
class ReadyTransfer:
    """A copy or fill that is ready to start, with addresses on the device."""

    step: Copy | Fill
    target: int
    source: int = 0

    def start(self) -> None:
        """Queue it behind the queued launches."""
        size_bytes = self.step.size_bytes
        if not size_bytes:
            return
        if isinstance(self.step, Fill):
            cuda.memset_d8_async(self.target, self.step.byte, size_bytes)
        else:
            cuda.memcpy_dtod_async(self.target, self.source, size_bytes)

    def run(self, arena: Arena) -> None:
        """Start it and wait for its end. Its addresses were checked before; `arena` is not used."""
        self.start()
        cuda.Context.synchronize()


ReadyStep = ReadyLaunch | ReadyTransfer


class Code:
    """A binary, loaded. Raises GraderError when the driver cannot use it, and PyCUDA's MemoryError
    when its own variables do not fit."""

    def __init__(self, binary: Binary, module: Any = None) -> None:  # noqa: ANN401 (PyCUDA has no types)
        self.kernels = {kernel.symbol: kernel for kernel in binary.kernels}
        self.binary = binary
        self._module = module or load_module(binary)

    def load_again(self) -> Code:
        """The same code with the initial values of its `__device__` variables. Takes a millisecond:
        the driver has compiled the code before."""
        return Code(self.binary, _load_cubin(self.binary))

    def make_ready(
        self,
        steps: Sequence[Step],
        addresses: Mapping[str, int],
        objects: Mapping[str, bytes],
    ) -> tuple[ReadyStep, ...]:
        """The steps with the addresses and objects of their buffers. Raises PlanError
        when a launch requests more shared memory than the GPU has."""
        ready: list[ReadyStep] = []
        for launch in steps:
            if not isinstance(launch, Launch):
                ready.append(self._make_transfer(launch, addresses))
                continue
            kernel = self.kernels[launch.symbol]
            function = self._module.get_function(launch.symbol)
            try:
                shared_bytes = kernel.static_shared_bytes + launch.dynamic_shared_bytes
                if launch.dynamic_shared_bytes and shared_bytes > UNASKED_SHARED_BYTES:
                    function.set_attribute(
                        cuda.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES,
                        launch.dynamic_shared_bytes,
                    )
            except cuda.Error as error:
                raise PlanError(read_refusal(error, launch, kernel.name)) from error
            space = pack_parameters(kernel, launch, addresses, objects)
            # PyCUDA passes an array's bytes unchanged: the whole parameter space is one argument.
            arguments = (np.frombuffer(space, dtype=np.uint8),) if space else ()
            ready.append(ReadyLaunch(launch, kernel, function, arguments))
        return tuple(ready)

    def _make_transfer(self, step: Copy | Fill, addresses: Mapping[str, int]) -> ReadyTransfer:
        target = self._find_place(step.target, addresses)
        if isinstance(step, Fill):
            return ReadyTransfer(step, target)
        return ReadyTransfer(step, target, self._find_place(step.source, addresses))

    def _find_place(self, place: MemoryPlace, addresses: Mapping[str, int]) -> int:
        """The address of a place in a buffer, or in a variable of the module."""
        if not place.in_variable:
            return addresses[place.name] + place.offset_bytes
        start, _ = self._module.get_global(place.name)
        return int(start) + place.offset_bytes


def load_module(binary: Binary) -> Any:  # noqa: ANN401 (PyCUDA has no types)
    """The binary as a module of the current context.

    SourceModule gets the submission's own source and options, and as its nvcc a script that
    delivers the cubin that was checked and is counted, or fails. A binary without a recipe is
    loaded as it is, and so is one whose grids synchronise.
    """
    try:
        if binary.recipe is None or _synchronises(binary):
            return _load_cubin(binary)
        with tempfile.TemporaryDirectory(prefix="grader-") as name:
            nvcc = write_compiler(Path(name), binary, binary.recipe)
            source, options = binary.recipe.source, list(binary.recipe.options)
            return SourceModule(
                source,
                nvcc=str(nvcc),
                options=options,
                arch=binary.arch,
                no_extern_c=True,
                cache_dir=False,
            )
    except cuda.MemoryError:
        raise
    except cuda.CompileError as error:
        message = (
            "The compiler does not deliver the machine code that was checked:"
            f" {error.stderr.strip()}"
        )
        raise GraderError(message, GRADE_AGAIN) from error
    except cuda.Error as error:
        made_by = f"nvcc {binary.compiler} for {binary.arch}"
        raise GraderError(
            f"The GPU's driver cannot load machine code of {made_by}: {error}", MATCH_THEM
        ) from error


def _load_cubin(binary: Binary) -> Any:  # noqa: ANN401 (PyCUDA has no types)
    if _synchronises(binary):
        kernels = {kernel.symbol: kernel for kernel in binary.kernels}
        return CooperativeModule(find_driver(), binary.cubin, kernels)
    return cuda.module_from_buffer(binary.cubin)


def _synchronises(binary: Binary) -> bool:
    texts = ((line.operands for line in kernel.instructions) for kernel in binary.kernels)
    return is_cooperative(texts, binary.arch)


@dataclass(frozen=True)
class CooperativeFunction:
    """A kernel of a CooperativeModule, called like PyCUDA's functions. `offsets` are the offsets of
    its parameters in the parameter space."""

    driver: ctypes.CDLL
    handle: ctypes.c_void_p
    offsets: tuple[int, ...]

    def __call__(
        self, *arguments: np.ndarray, grid: Sequence[int], block: Sequence[int], shared: int
    ) -> None:
        """Queue the kernel; the argument is its parameter space. Raises PyCUDA's Error."""
        (space,) = arguments or (np.zeros(0, dtype=np.uint8),)
        places = (space.ctypes.data + offset for offset in self.offsets)
        parameters = (ctypes.c_void_p * len(self.offsets))(*places)
        _call(
            self.driver,
            "cuLaunchCooperativeKernel",
            *(self.handle, *grid, *block, shared, None, parameters),
        )

    def set_attribute(self, attribute: Any, value: int) -> None:  # noqa: ANN401 (PyCUDA has no types)
        """The equivalent of the method of PyCUDA's functions."""
        _call(self.driver, "cuFuncSetAttribute", self.handle, int(attribute), value)


class CooperativeModule:
    """A cubin, loaded into the current context, whose kernels are launched cooperatively."""

    def __init__(self, driver: ctypes.CDLL, cubin: bytes, kernels: Mapping[str, Kernel]) -> None:
        self._driver, self._kernels = driver, kernels
        self._handle = ctypes.c_void_p()
        _call(driver, "cuModuleLoadData", ctypes.byref(self._handle), cubin)

    def __del__(self) -> None:
        self._driver.cuModuleUnload(self._handle)

    def get_global(self, symbol: str) -> tuple[int, int]:
        """Address and bytes of a variable by its symbol."""
        address, size_bytes = ctypes.c_uint64(), ctypes.c_size_t()
        places = ctypes.byref(address), ctypes.byref(size_bytes)
        _call(self._driver, "cuModuleGetGlobal_v2", *places, self._handle, symbol.encode())
        return address.value, size_bytes.value

    def get_function(self, symbol: str) -> CooperativeFunction:
        handle = ctypes.c_void_p()
        place = ctypes.byref(handle)
        _call(self._driver, "cuModuleGetFunction", place, self._handle, symbol.encode())
        offsets = tuple(each.offset for each in self._kernels[symbol].parameters)
        return CooperativeFunction(self._driver, handle, offsets)


def _call(driver: ctypes.CDLL, name: str, *arguments: Any) -> None:  # noqa: ANN401
    """Call a function of the driver. Raises PyCUDA's Error, with the text of PyCUDA."""
    code = getattr(driver, name)(*arguments)
    if code:
        text = ctypes.c_char_p()
        driver.cuGetErrorString(code, ctypes.byref(text))
        raise cuda.Error(f"{name} failed: {(text.value or b'unknown error').decode()}")
