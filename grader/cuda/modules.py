"""Modules of a program: the kernels and variables of a cubin. Variables have places in the window;
kernels are disassembled and translated when they are first launched."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from grader import records
from grader.cuda.images import BadImage, Status
from grader.cuda.window import Space, Window, WindowFull
from grader.devices.emulated.machine_code import kernel_code
from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator import (
    ARCHITECTURES,
    CONSTANT_MEMORY,
    GRID_WORKSPACE,
    HEAP_FUNCTIONS,
    HOST_FUNCTIONS,
    VARIABLES_BANK,
    NativeKernel,
    Pointer,
    fill_pointers,
    translate,
)
from grader.emulator.run.memory import UNKNOWN_FUNCTION, Region
from grader.errors import GraderError
from grader.grading.tools import Toolchain
from grader.records import DeviceVariable, Kernel
from grader.toolchain.compile import list_cubin, read_program_kernels
from grader.toolchain.cubin import read_cubin
from grader.toolchain.elf import Elf
from grader.toolchain.linked_functions import Linker
from grader.toolchain.variables import read_constant_variables, read_pointers, read_variables

Triple = tuple[int, int, int]
_CONSTANTS = ".nv.constant3"


@dataclass(frozen=True)
class Ready:
    """A kernel that can be launched, and the path of its source, empty where it is unknown."""

    kernel: Kernel
    native: NativeKernel
    source: str


class Module:
    """A cubin on a device. Raises BadImage where it cannot be loaded."""

    def __init__(
        self, number: int, cubin: bytes, device: int, window: Window, tools: Toolchain
    ) -> None:
        self.number, self.device = number, device
        self._cubin, self._window, self._tools = cubin, window, tools
        try:
            self._elf = Elf(cubin)
            self._linker = Linker(self._elf)
            self.arch = self._elf.arch
            self.kernels = read_cubin(self._elf, arch=self.arch)
            self._variables = read_variables(self._elf)
            self._constants = read_constant_variables(self._elf)
        except GraderError as error:
            raise BadImage(Status.INVALID_IMAGE, str(error)) from error
        if self.arch not in ARCHITECTURES:
            raise BadImage(Status.NO_BINARY, f"The emulated device does not run {self.arch} code.")
        self._regions: dict[str, Region] = {}
        try:
            self._place()
        except WindowFull:
            self.unload()
            log = "The variables and the heap are too large for the emulated device."
            raise BadImage(Status.OUT_OF_MEMORY, log) from None
        self._ready: dict[tuple[int, Triple], Ready] = {}
        self._held: dict[int, bytes] = {}

    def _place(self) -> None:
        """Places all variables, with their contents."""
        for variable in self._variables:
            space = Space.MANAGED if variable.managed else Space.DEVICE
            self._add(variable.name, variable.size_bytes, space)
        section = self._elf.named.get(_CONSTANTS)
        data = b"" if section is None else section.data()
        if data:
            self._add(CONSTANT_MEMORY, len(data), Space.DEVICE)
        self._add(GRID_WORKSPACE.name, GRID_WORKSPACE.size_bytes, Space.DEVICE)
        self.addresses = HOST_FUNCTIONS | {
            name: region.address for name, region in self._regions.items()
        }
        for constant in self._constants:
            self.addresses[constant.name] = self.addresses[CONSTANT_MEMORY] + constant.offset
        self.addresses |= self._linker.places
        self.addresses |= self._linker.kernels
        for name in (*self._elf.undefined_functions, *self._linker.device_runtime):
            self.addresses.setdefault(name, UNKNOWN_FUNCTION)
        for variable in self._variables:
            self._fill(variable.name, _pointers_filled(variable, self.addresses))
        if data:
            pointers = tuple(_pointer(each) for each in read_pointers(self._elf, _CONSTANTS) or ())
            self._fill(CONSTANT_MEMORY, fill_pointers(data, pointers, self.addresses))
        uses_heap = any(symbol.name in HEAP_FUNCTIONS for symbol in self._elf.symbols)
        if uses_heap or self.launches_kernels:
            self._window.add_heap(self.device)

    def _add(self, name: str, size_bytes: int, space: Space) -> None:
        label = f"__device__ {name}"
        self._regions[name] = self._window.place(label, size_bytes, self.device, space)

    def _fill(self, name: str, contents: bytes) -> None:
        target = self._window.of(self._regions[name])
        target[: len(contents)] = np.frombuffer(contents, np.uint8)
        target[len(contents) :] = 0

    def unload(self) -> None:
        """Removes its variables."""
        for region in self._regions.values():
            self._window.free(region.offset)
        self._regions.clear()

    def describe(self) -> Iterator[str]:
        """The lines of its kernels and variables in the answer to LOAD."""
        constants = self._regions.get(CONSTANT_MEMORY)
        constant_bytes = constants.size_bytes if constants else 0
        for index, kernel in enumerate(self.kernels):
            sizes = ",".join(f"{at}:{size}" for at, size in kernel.parameters)
            numbers = (kernel.registers, kernel.static_shared_bytes, kernel.local_bytes)
            threads = kernel.max_threads_per_block or 1024
            of_kernel = " ".join(map(str, (*numbers, constant_bytes, threads, *kernel.cluster)))
            yield f"kernel {index} {kernel.symbol} {of_kernel} {sizes or '-'}"
        for variable in self._variables:
            kind = "managed" if variable.managed else "device"
            address = self._regions[variable.name].address
            yield f"variable {variable.name} {address} {variable.size_bytes} {kind}"
        for constant in self._constants:
            address = self._regions[CONSTANT_MEMORY].address + constant.offset
            yield f"variable {constant.name} {address} {constant.size_bytes} constant"

    def parameter_bytes(self, index: int) -> int:
        """The size of a kernel's parameters."""
        return max((at + size for at, size in self.kernels[index].parameters), default=0)

    @property
    def launches_kernels(self) -> bool:
        """Whether its kernels may launch kernels (dynamic parallelism)."""
        return bool(self._linker.device_runtime)

    def find_kernel(self, address: int) -> int:
        """The number of the kernel at an address, for a launch by device code. Raises KeyError."""
        return self._numbers[address]

    @cached_property
    def _numbers(self) -> dict[int, int]:
        places = self._linker.kernels
        return {places[kernel.symbol]: index for index, kernel in enumerate(self.kernels)}

    def name(self, index: int) -> str:
        """The name of a kernel in its source."""
        return self._listed[0][self.kernels[index].symbol].name

    def ready(self, index: int, cluster: Triple) -> Ready:
        """A kernel with its native code, for clusters of this shape. Raises Unsupported."""
        known = self._ready.get((index, cluster))
        if known is None:
            symbol = self.kernels[index].symbol
            kernel = replace(self._listed[0][symbol], cluster=cluster)
            code = kernel_code(kernel, self.addresses, arch=self.arch)
            native = translate(code, emulator_runtime())
            known = Ready(kernel, native, self._listed[1].get(symbol, ""))
            self._ready[index, cluster] = known
        return known

    @cached_property
    def _listed(self) -> tuple[dict[str, Kernel], dict[str, str]]:
        """All kernels with their instructions, and the paths of their sources, by symbol."""
        tools = self._tools
        artifacts = list_cubin(
            self._cubin,
            nvdisasm=tools.nvdisasm,
            arch=self.arch,
            run=tools.run,
            cache=tools.cache,
        )
        kernels, sources = read_program_kernels(artifacts, self._linker, self.addresses)
        return {kernel.symbol: kernel for kernel in kernels}, sources

    def refresh(self, native: NativeKernel) -> None:
        """Gives native code the present contents of `__constant__` variables."""
        region = self._regions.get(CONSTANT_MEMORY)
        if region is None or VARIABLES_BANK not in native.banks:
            return
        now = self._window.of(region).tobytes()
        if self._held.get(id(native)) != now:
            native.write_variables(np.frombuffer(now, np.uint8))
            self._held[id(native)] = now

    def clear_workspace(self) -> int:
        """The address of the memory with which a cooperative grid synchronises."""
        region = self._regions[GRID_WORKSPACE.name]
        self._window.of(region)[:] = 0
        return region.address


def _pointers_filled(variable: DeviceVariable, addresses: dict[str, int]) -> bytes:
    pointers = tuple(_pointer(each) for each in variable.pointers)
    return fill_pointers(variable.initial, pointers, addresses)


def _pointer(pointer: records.Pointer) -> Pointer:
    return Pointer(pointer.offset, pointer.symbol, pointer.addend)
