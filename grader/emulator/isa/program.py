"""Input of the emulator: a kernel's machine code as text, and facts for all its launches."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from grader.emulator.isa.architectures import ARCHITECTURES, Architecture
from grader.sass import reads_words

INSTRUCTION_BYTES = 16
"""Size of an encoded instruction from sm_70 on."""

JUMP_TABLE_BANK, VARIABLES_BANK = 2, 3
MAX_INSTRUCTIONS = 16_384
"""A tag of the checked mode has 14 bits for an instruction's number."""
MAX_LOCAL_BYTES = 512 << 10
"""Maximum local memory of a thread (CUDA C++ Programming Guide, technical specifications)."""


class Unsupported(Exception):  # noqa: N818 - a property of the kernel, not an error of ours
    """Code that the emulator does not know. An unknown instruction ends a launch when the launch
    reaches it. It prevents the translation of the kernel only if the instructions that execute next
    are unknown."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


@dataclass(frozen=True)
class Instruction:
    """A machine instruction as nvdisasm prints it; `guard` is its predicate (`@!P0`)."""

    offset: int
    guard: str | None
    opcode: str
    operands: str
    line: int | None


@dataclass(frozen=True)
class Pointer:
    """Eight bytes with the address of a variable or system function, plus `addend`."""

    offset: int
    symbol: str
    addend: int


@dataclass(frozen=True)
class Variable:
    """A `__device__` variable or a string literal; zeros follow the `initial` bytes."""

    name: str
    size_bytes: int
    initial: bytes = b""
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True)
class KernelCode:
    """A kernel's code and resources. `parameter_base`: the byte offset of the parameters in
    constant bank 0. `constants`: the constant banks with fixed contents, 2 (literals, jump tables),
    3 (`__constant__` variables) and 4 (addresses). `functions`: offsets of functions that may be
    called by pointer. `encoding`: the machine code, 16 bytes per instruction; the timing model
    reads its control bits. `shared_extents`, for the checked mode: the half-open byte range of the
    block's shared memory that the instruction at an offset may access. `cluster`: the extents of a
    thread-block cluster. `constant_address`: the generic address of constant bank 3; 0 if it has
    none.
    """

    name: str
    instructions: tuple[Instruction, ...]
    parameter_base: int
    parameter_bytes: int
    static_shared_bytes: int
    local_bytes: int = 0
    constants: Mapping[int, bytes] = field(default_factory=dict)
    functions: tuple[int, ...] = ()
    encoding: bytes = b""
    architecture: Architecture = ARCHITECTURES["sm_90"]
    shared_extents: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    cluster: tuple[int, int, int] = (1, 1, 1)
    constant_address: int = 0

    @cached_property
    def uses_system_shared(self) -> bool:
        """Whether the kernel reads the place of the shared memory that the system reserves. Its
        threads then access that memory, too."""
        place = self.architecture.words.system_shared
        return place is not None and reads_words(self._operands, (place, place + 4))

    @property
    def _operands(self) -> Iterator[str]:
        return (each.operands for each in self.instructions)

    @property
    def shared_base(self) -> int:
        """Start, in the shared window, of the shared memory that a block's threads may access."""
        return 0 if self.uses_system_shared else self.architecture.shared_window

    def shared_bytes(self, dynamic_bytes: int) -> int:
        """Size of the shared memory that a block's threads may access, with `dynamic_bytes`."""
        if not self.uses_system_shared:
            return self.static_shared_bytes + dynamic_bytes
        if self.architecture.shared_window:
            return self.architecture.shared_window + self.static_shared_bytes + dynamic_bytes
        return self.allocated_shared_bytes(dynamic_bytes)

    def allocated_shared_bytes(self, dynamic_bytes: int) -> int:
        """Size of a block's shared memory on its SM, with the part that the system reserves."""
        step = self.architecture.shared_step
        own = -(-(self.static_shared_bytes + dynamic_bytes) // step) * step
        return own + self.architecture.system_shared_bytes

    def system_shared_start(self, dynamic_bytes: int) -> int:
        """Start, in the shared window, of the shared memory that the system reserves per block."""
        if self.architecture.shared_window:
            return 0
        return self.allocated_shared_bytes(dynamic_bytes) - self.architecture.system_shared_bytes

    @property
    def cluster_blocks(self) -> int:
        return math.prod(self.cluster)

    @property
    def jump_targets(self) -> frozenset[int]:
        """Offsets that may be targets of indirect branches and calls: functions, and all words of
        bank 2 that are valid code offsets."""
        bank = self.constants.get(JUMP_TABLE_BANK, b"")
        words = struct.unpack(f"<{len(bank) // 4}I", bank[: len(bank) // 4 * 4])
        return frozenset(
            place
            for place in (*self.functions, *words)
            if place % INSTRUCTION_BYTES == 0
            and place // INSTRUCTION_BYTES < len(self.instructions)
        )

    def knows_constant(self, bank: int, offset: int) -> bool:
        """Whether the contents of a word are known; some system words of bank 0 are not."""
        return (
            bank != 0
            or offset >= self.architecture.system_bytes
            or offset in self.architecture.words.known
        )

    @property
    def constant_bytes(self) -> int:
        """Size of constant bank 0: the system's words, then the parameters, in whole words."""
        return max(
            self.architecture.system_bytes,
            (self.parameter_base + self.parameter_bytes + 3) // 4 * 4,
        )
