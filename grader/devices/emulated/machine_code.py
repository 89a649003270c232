"""A binary's machine code in the emulator's form, and the native code that was compiled from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from grader import records
from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.parameter_space import parameter_bytes
from grader.emulator import (
    ARCHITECTURES,
    BANK_OF_PARAMETERS,
    CONSTANT_MEMORY,
    GRID_WORKSPACE,
    HEAP,
    HEAP_FUNCTIONS,
    HOST_FUNCTIONS,
    VARIABLES_BANK,
    Instruction,
    KernelCode,
    NativeKernel,
    Pointer,
    Unsupported,
    Variable,
    fill_pointers,
    translate,
    variable_addresses,
)
from grader.records import Binary, DeviceVariable, Kernel, Progress, ShowProgress
from grader.sass import is_cooperative, reads_words


class Code:
    """A binary on a device with this architecture: its kernels by symbol, its variables, and the
    native code of the kernels that were translated."""

    def __init__(self, binary: Binary, arch: str) -> None:
        self.binary = binary
        self._arch = arch
        self.kernels = {kernel.symbol: kernel for kernel in binary.kernels}
        self.variables = tuple(map(_variable, binary.variables))
        texts = ((line.operands for line in kernel.instructions) for kernel in binary.kernels)
        self.cooperative = is_cooperative(texts, arch)
        if self.cooperative:
            self.variables += (GRID_WORKSPACE,)
        self.variables += tuple(_constant_memory(binary, arch))
        if any(pointer.symbol in HEAP_FUNCTIONS for pointer in _pointers(binary)):
            self.variables += (HEAP,)
        if bytes_kept := max((_bank_bytes(kernel, arch) for kernel in binary.kernels), default=0):
            self.variables += (Variable(BANK_OF_PARAMETERS, bytes_kept),)
        self._native: dict[str, tuple[dict[int, bytes], NativeKernel]] = {}

    def translate(self, kernel: Kernel, progress: ShowProgress | None) -> NativeKernel:
        """The kernel's native code, compiled once per contents of its constants. `progress` reports
        the compilation, and the code that a confined process could not keep."""
        known = self._native.get(kernel.symbol)
        if known is None or known[0] != kernel.constants:
            show = progress or (lambda note: None)
            runtime = emulator_runtime()
            unkept = runtime.steps.unkept
            addresses = variable_addresses(self.variables)
            code = kernel_code(kernel, addresses, arch=self._arch)
            known = kernel.constants, translate(code, runtime)
            self._native[kernel.symbol] = known
            show(Progress(f"emulating {kernel.name}", unkept=runtime.steps.unkept - unkept))
        return known[1]


def make_steps(binary: Binary, arch: str) -> None:
    """Compile and cache the native code of a binary's kernels that is not in this machine's
    cache."""
    code = Code(binary, arch)
    for kernel in binary.kernels:
        with suppress(Unsupported):
            code.translate(kernel, None)


def kernel_code(
    kernel: Kernel, addresses: Mapping[str, int] = HOST_FUNCTIONS, *, arch: str = "sm_90"
) -> KernelCode:
    """A kernel that was compiled for `arch`, in the emulator's form. `addresses` are those of all
    variables of its binary, and of the system's functions: the code contains them."""
    instructions = tuple(
        Instruction(line.offset, line.predicate, line.opcode, line.operands, line.line)
        for line in kernel.instructions
    )
    constants = {
        bank: fill_pointers(data, map(_pointer, kernel.pointers.get(bank, ())), addresses)
        for bank, data in kernel.constants.items()
    }
    return KernelCode(
        name=kernel.name,
        instructions=instructions,
        parameter_base=kernel.parameter_base,
        parameter_bytes=parameter_bytes(kernel),
        static_shared_bytes=kernel.static_shared_bytes,
        local_bytes=kernel.local_bytes,
        constants=constants,
        functions=kernel.functions,
        encoding=kernel.encoding,
        architecture=ARCHITECTURES[arch],
        cluster=kernel.cluster,
        constant_address=addresses.get(CONSTANT_MEMORY, 0),
        shared_extents={offset: use.extent for offset, use in kernel.shared_uses.items()},
    )


def _constant_memory(binary: Binary, arch: str) -> Iterator[Variable]:
    """The memory of `__constant__` variables of a binary whose code takes their addresses."""
    place = ARCHITECTURES[arch].words.constant_memory
    texts = (line.operands for kernel in binary.kernels for line in kernel.instructions)
    if not reads_words(texts, (place, place + 4)):
        return
    holder = max(binary.kernels, key=lambda kernel: len(kernel.constants.get(VARIABLES_BANK, b"")))
    contents = holder.constants.get(VARIABLES_BANK, b"")
    pointers = tuple(map(_pointer, holder.pointers.get(VARIABLES_BANK, ())))
    yield Variable(CONSTANT_MEMORY, len(contents) or 1, contents, pointers)


def _bank_bytes(kernel: Kernel, arch: str) -> int:
    """The size of constant bank 0 of a kernel that takes the address of a parameter, else 0."""
    place = ARCHITECTURES[arch].words.parameters
    if not reads_words((line.operands for line in kernel.instructions), (place, place + 4)):
        return 0
    return kernel_code(kernel, arch=arch).constant_bytes


def _pointers(binary: Binary) -> Iterator[records.Pointer]:
    for kernel in binary.kernels:
        for pointers in kernel.pointers.values():
            yield from pointers
    for variable in binary.variables:
        yield from variable.pointers


def _variable(variable: DeviceVariable) -> Variable:
    return Variable(
        variable.name,
        variable.size_bytes,
        variable.initial,
        tuple(map(_pointer, variable.pointers)),
    )


def _pointer(pointer: records.Pointer) -> Pointer:
    return Pointer(pointer.offset, pointer.symbol, pointer.addend)
