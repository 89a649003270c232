"""A submission and its compiled form: kernels, their parameters, instructions and variables."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property


@dataclass(frozen=True)
class Submission:
    """A `.cu` file as read: its shown name, the SHA-256 of its bytes, and its text. `others` are
    the names and texts of further files of a program, which the SHA-256 includes."""

    name: str
    sha256: str
    text: str
    others: tuple[tuple[str, str], ...] = ()

    @cached_property
    def lines(self) -> list[str]:
        """The source lines, as compilers count them: a form feed or a Unicode line separator does
        not end a line."""
        return self.text.removesuffix("\n").split("\n")

    def line(self, number: int) -> str:
        """The 1-based source line, stripped; empty when there is no such line."""
        lines = self.lines
        return lines[number - 1].strip() if 1 <= number <= len(lines) else ""


@dataclass(frozen=True)
class SassInstruction:
    """A machine instruction in nvdisasm's form. `predicate` is `@P0`, `@!UP1` or None.

    `line` is the 1-based line of the submission; None for code from a header.
    """

    offset: int
    predicate: str | None
    opcode: str
    operands: str
    line: int | None


@dataclass(frozen=True)
class KernelParameter:
    """A `__global__` parameter: its place in the parameter space, and its C++ type.

    `type` is in the demangler's form (`float const*`); None for C linkage, whose symbols contain no
    types.
    """

    offset: int
    size_bytes: int
    type: str | None = None

    @property
    def is_pointer(self) -> bool | None:
        """Whether the parameter points to data (`float*`, `float (*) [4]`); None when its type is
        not known."""
        if self.type is None:
            return None
        return re.search(r"(?:\*|\(\*+\)\s*(?:\[\d*\])+)\Z", self.type) is not None


@dataclass(frozen=True)
class Pointer:
    """Eight bytes that the loader fills with the address of a symbol (a variable, or a function of
    the system) plus `addend`."""

    offset: int
    symbol: str
    addend: int


@dataclass(frozen=True)
class DeviceVariable:
    """A `__device__` variable, or a literal string that the code points to. After `initial` its
    bytes are zero, up to `size_bytes`. `managed`: the host uses it too."""

    name: str
    size_bytes: int
    initial: bytes = b""
    pointers: tuple[Pointer, ...] = ()
    managed: bool = False


MOST_SHARED_BYTES = 1 << 20
"""An upper bound of a block's shared memory on any GPU."""


@dataclass(frozen=True)
class ConstantVariable:
    """A `__constant__` variable: its symbol, and its place in its bank."""

    name: str
    offset: int
    size_bytes: int


@dataclass(frozen=True)
class SharedArray:
    """A `__shared__` variable: its first byte in a block's shared memory. `size_bytes` None:
    dynamic, up to the end.

    `shape` and `element_bytes` are from the source, where they are known; a dynamic array of one
    dimension has the shape (0,).
    """

    name: str
    offset: int
    size_bytes: int | None
    shape: tuple[int, ...] = ()
    element_bytes: int | None = None

    def holds(self, offset: int) -> bool:
        """Whether a byte of the block's shared memory belongs to the variable."""
        return self.offset <= offset and (
            self.size_bytes is None or offset < self.offset + self.size_bytes
        )

    def __str__(self) -> str:
        """The declaration: `tile[32][33]`; the name alone where the shape is unknown."""
        return self.name + "".join(f"[{extent or ''}]" for extent in self.shape)

    def name_byte(self, offset: int) -> str:
        """The element at a byte of the block's shared memory, by the array's indices:
        `tile[3][17]`; where the shape is unknown, its name and the byte."""
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
    """The array that an instruction accesses. The access may begin or end up to `slack_bytes`
    outside, because ptxas combined several accesses."""

    array: SharedArray
    slack_bytes: int

    @property
    def extent(self) -> tuple[int, int]:
        """The bytes that it may access, as a half-open range."""
        size = self.array.size_bytes
        end = MOST_SHARED_BYTES if size is None else self.array.offset + size
        return self.array.offset - self.slack_bytes, end + self.slack_bytes


DEFAULT_STACK_BYTES = 1024
"""The stack of a thread where the compiler does not know its size (`cudaLimitStackSize`, the same
on an H200)."""


@dataclass(frozen=True)
class Kernel:
    """A compiled `__global__` function: its resources according to ptxas, and its machine code.

    `name` is the source name (`transpose<32, 8>`, `ns::k`), `symbol` the mangled name.
    `static_shared_bytes` excludes the bytes that the system reserves (1 KiB per block on sm_90).
    `constants` holds the constant banks with fixed contents: 2 (literals and jump tables), 3
    (`__constant__` variables), 4 (addresses); `pointers` are the places there that the loader
    fills. `functions` are the offsets of device functions among the instructions. `encoding` is the
    machine code, 16 bytes per instruction. `shared_arrays` are the known variables in shared
    memory; `shared_uses` maps the offset of an instruction to the array that it accesses, where
    that is certain. `stack_unknown`: calls or `alloca` determine the use of local memory, and
    `local_bytes` is the available amount. `cluster` is the shape of a thread-block cluster, in
    blocks.
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
        """The array of the instruction at this offset, which accesses shared memory: the kernel's
        only array, or the array that the compiler's text names."""
        if len(self.shared_arrays) == 1:
            return self.shared_arrays[0]
        use = self.shared_uses.get(offset)
        return None if use is None else use.array


@dataclass(frozen=True)
class Recipe:
    """The origin of a cubin: the source text, nvcc's options without the architecture, and the
    SHA-256 of the cubin that they gave."""

    source: str
    options: tuple[str, ...]
    sha256: str


@dataclass(frozen=True)
class Binary:
    """A cubin and its contents. `compiler` is nvcc's version, `arch` for example `sm_90`;
    `constants` are its `__constant__` variables, whose contents all kernels share.

    `variable_bytes` is the size of its `__device__` variables on a device. `recipe` is None where
    the source of the cubin is unknown.
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
        """The sizes of all variables that a host can copy to, by their symbols."""
        of_variables = {each.name: each.size_bytes for each in self.variables}
        return of_variables | {each.name: each.size_bytes for each in self.constants}
