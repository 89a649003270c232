"""A submission and what the compiler makes of it: kernels, their parameters, instructions and
variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Submission:
    """One `.cu` file as read: its shown name, the SHA-256 of its bytes, and its text."""

    name: str
    sha256: str
    text: str

    @cached_property
    def lines(self) -> list[str]:
        """The source lines, as compilers count them: a form feed or a Unicode line separator ends
        none."""
        return self.text.removesuffix("\n").split("\n")

    def line(self, number: int) -> str:
        """The 1-based source line, stripped; empty when there is no such line."""
        lines = self.lines
        return lines[number - 1].strip() if 1 <= number <= len(lines) else ""


@dataclass(frozen=True)
class SassInstruction:
    """One machine instruction as nvdisasm prints it. `predicate` is `@P0`, `@!UP1` or None.

    `line` is the 1-based line of the submission; None for code that comes from a header.
    """

    offset: int
    predicate: str | None
    opcode: str
    operands: str
    line: int | None


@dataclass(frozen=True)
class KernelParameter:
    """One `__global__` parameter: where it lies in the parameter space, and its C++ type where it
    is known.

    `type` is as the demangler prints it (`float const*`); None for C linkage, whose symbols carry
    no types.
    """

    offset: int
    size_bytes: int
    type: str | None = None

    @property
    def is_pointer(self) -> bool | None:
        """Whether the parameter points to data (`float*`, `float (*) [4]`); None when its type is
        not known."""
        return (
            None
            if self.type is None
            else re.search(r"(?:\*|\(\*+\)\s*(?:\[\d*\])+)\Z", self.type) is not None
        )


@dataclass(frozen=True)
class Pointer:
    """Eight bytes that a loader fills in: the address of a symbol (a variable, or a function of the
    system) plus `addend`."""

    offset: int
    symbol: str
    addend: int


@dataclass(frozen=True)
class DeviceVariable:
    """A `__device__` variable, or a literal string that the code points to. Behind `initial` it is
    zero up to `size_bytes`."""

    name: str
    size_bytes: int
    initial: bytes = b""
    pointers: tuple[Pointer, ...] = ()


MOST_SHARED_BYTES = 1 << 20
"""More than a block of any GPU can have."""


@dataclass(frozen=True)
class ConstantVariable:
    """A `__constant__` variable: its symbol, and where it lies in its bank."""

    name: str
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class SharedArray:
    """A `__shared__` variable: where it starts in a block's shared memory, in bytes. `size_bytes`
    None: dynamic, up to the end.

    `shape` and `element_bytes` are those of the source, where they are known; a dynamic array of
    one dimension has the shape (0,).
    """

    name: str
    offset: int
    size_bytes: int | None
    shape: tuple[int, ...] = ()
    element_bytes: int | None = None

    def holds(self, offset: int) -> bool:
        """Whether a byte of the block's shared memory is the variable's."""
        return self.offset <= offset and (
            self.size_bytes is None or offset < self.offset + self.size_bytes
        )

    def __str__(self) -> str:
        """As declared: `tile[32][33]`; the name alone where that is not known."""
        return self.name + "".join(f"[{extent or ''}]" for extent in self.shape)

    def name_byte(self, offset: int) -> str:
        """What lies at a byte of the block's shared memory, in the array's own indices:
        `tile[3][17]`; else its name and the byte."""
        place = offset - self.offset
        if self.element_bytes is None or not self.shape:
            single = self.size_bytes is not None and self.size_bytes <= 16
            return self.name if single else f"{self.name} + {place:,} bytes"
        number, indices = place // self.element_bytes, ""
        for extent in reversed(self.shape[1:]):
            indices = f"[{number % extent}]{indices}"
            number //= extent
        return f"{self.name}[{number}]{indices}"


@dataclass(frozen=True)
class SharedUse:
    """That an instruction means this array. It may begin or end up to `slack_bytes` outside: ptxas
    made it of several accesses."""

    array: SharedArray
    slack_bytes: int

    @property
    def extent(self) -> tuple[int, int]:
        """The bytes that it may access, from the first one to behind the last one."""
        size = self.array.size_bytes
        end = MOST_SHARED_BYTES if size is None else self.array.offset + size
        return self.array.offset - self.slack_bytes, end + self.slack_bytes


DEFAULT_STACK_BYTES = 1024
"""Of a thread, where the compiler cannot tell how much it needs (`cudaLimitStackSize`; an H200 has
exactly as many)."""


@dataclass(frozen=True)
class Kernel:
    """One compiled `__global__` function: resources as ptxas gave them, and its machine code.

    `name` is the source name (`transpose<32, 8>`, `ns::k`), `symbol` the mangled one.
    `static_shared_bytes` leaves out what the system reserves (1 KiB a block on sm_90). `constants`
    holds the constant banks with fixed contents: 2 (literals and jump tables), 3 (`__constant__`
    variables), 4 (addresses); `pointers` says what a loader fills in there. `functions` are the
    offsets of device functions among the instructions. `encoding` is the machine code itself, 16
    bytes an instruction. `shared_arrays` are the variables in shared memory, as far as they are
    known; `shared_uses` says which one an instruction (its offset) means, where that is sure.
    `stack_unknown`: calls or `alloca` decide how much local memory is used, and `local_bytes` is
    what there is.
    `cluster` are the blocks of a thread-block cluster.
    """

    symbol: str
    name: str
    parameters: tuple[KernelParameter, ...]
    parameter_base: int
    registers: int
    static_shared_bytes: int
    local_bytes: int
    max_threads_per_block: int | None
    instructions: tuple[SassInstruction, ...]
    constants: dict[int, bytes] = field(default_factory=dict)
    pointers: dict[int, tuple[Pointer, ...]] = field(default_factory=dict)
    functions: tuple[int, ...] = ()
    encoding: bytes = b""
    shared_arrays: tuple[SharedArray, ...] = ()
    shared_uses: dict[int, SharedUse] = field(default_factory=dict)
    stack_unknown: bool = False
    cluster: tuple[int, int, int] = (1, 1, 1)

    def array_meant_at(self, offset: int) -> SharedArray | None:
        """The array that an access to shared memory means, by the offset of its instruction: the
        only one, or by the compiler's text."""
        if len(self.shared_arrays) == 1:
            return self.shared_arrays[0]
        use = self.shared_uses.get(offset)
        return None if use is None else use.array


@dataclass(frozen=True)
class Recipe:
    """How to ask for a cubin again: the text, nvcc's options without the architecture, and the
    words of a program to call.

    The program takes the SHA-256 of the cubin that it must deliver, then nvcc's own command line.
    """

    source: str
    options: tuple[str, ...]
    program: tuple[str, ...]


@dataclass(frozen=True)
class Binary:
    """A cubin and what was read from it. `compiler` is nvcc's version, `arch` e.g. `sm_90`;
    `constants` are its `__constant__` variables, whose contents all kernels share.

    `variable_bytes` is what its `__device__` variables take on a device. `recipe` is there where
    the cubin can be asked for again.
    """

    arch: str
    compiler: str
    cubin: bytes
    kernels: tuple[Kernel, ...]
    warnings: str = ""
    variable_bytes: int = 0
    variables: tuple[DeviceVariable, ...] = ()
    recipe: Recipe | None = None
    constants: tuple[ConstantVariable, ...] = ()

    @property
    def symbols(self) -> dict[str, int]:
        """The bytes of all variables that a host can copy to, by their symbols."""
        of_variables = {each.name: each.size_bytes for each in self.variables}
        return of_variables | {each.name: each.size_bytes for each in self.constants}
