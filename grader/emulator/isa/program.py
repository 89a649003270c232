"""What the emulator is given: the machine code of one kernel as text, and the facts that a launch
does not change."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from grader.emulator.isa.architectures import ARCHITECTURES, Architecture
from grader.sass import reads_words

INSTRUCTION_BYTES = 16
"""Size of an encoded instruction (sm_70 and later)."""

JUMP_TABLE_BANK, VARIABLES_BANK = 2, 3
MAX_INSTRUCTIONS = 16_384
"""Longer kernels are refused: a tag of the checked mode has room for the numbers of so many."""
MAX_LOCAL_BYTES = 512 << 10
"""Local memory that a thread can have (CUDA C++ Programming Guide, technical specifications)."""


class Unsupported(Exception):  # noqa: N818 - a property of the kernel, not an error of ours
    """Something that the emulator does not know; never a guess. It ends a launch that reaches
    such an instruction, and keeps a kernel from being translated only where nothing can be said of
    what is executed next."""

    def __init__(self, what: str, line: int | None = None) -> None:
        super().__init__(what)
        self.what = what
        self.line = line


@dataclass(frozen=True)
class Instruction:
    """One machine instruction as nvdisasm prints it; `guard` is its predicate (`@!P0`), `line` its
    source line."""

    offset: int
    guard: str | None
    opcode: str
    operands: str
    line: int | None


@dataclass(frozen=True)
class Pointer:
    """Eight bytes that hold the address of a variable, or of a function of the system, plus
    `addend`."""

    offset: int
    symbol: str
    addend: int


@dataclass(frozen=True)
class Variable:
    """A `__device__` variable or a literal string: zero behind `initial`."""

    name: str
    size_bytes: int
    initial: bytes = b""
    pointers: tuple[Pointer, ...] = ()


@dataclass(frozen=True)
class KernelCode:
    """A kernel's code and resources. `parameter_base` is where parameters start in constant bank 0,
    in bytes. `constants` are the constant banks with fixed contents: 2 (literals, jump tables), 3
    (`__constant__` variables), 4 (addresses). `functions` are the offsets of functions that calls
    by pointers may go to. `encoding` is the machine code, 16 bytes an instruction: the timing model
    reads the control bits in it. `shared_extents`, for the checked mode, are the bytes of a block's
    shared memory (from the first one to behind the last one) that an instruction (its offset) may
    access. `cluster` are the blocks of a thread-block cluster. `constant_address`: where constant
    bank 3 can be read by generic addresses, too; 0: nowhere.
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
        """Whether it asks where the shared memory lies that the system reserves: its threads
        access that, too, then."""
        place = self.architecture.words.system_shared
        return place is not None and reads_words(self._operands, (place, place + 4))

    @property
    def _operands(self) -> Iterator[str]:
        return (each.operands for each in self.instructions)

    @property
    def shared_base(self) -> int:
        """Where the shared memory that a block's threads may access starts in its window."""
        return 0 if self.uses_system_shared else self.architecture.shared_window

    def shared_bytes(self, dynamic_bytes: int) -> int:
        """How much shared memory a block's threads may access; `dynamic_bytes` are those that the
        launch asks for."""
        if not self.uses_system_shared:
            return self.static_shared_bytes + dynamic_bytes
        if self.architecture.shared_window:
            return self.architecture.shared_window + self.static_shared_bytes + dynamic_bytes
        return self.allocated_shared_bytes(dynamic_bytes)

    def allocated_shared_bytes(self, dynamic_bytes: int) -> int:
        """What a block takes of its multiprocessor's shared memory, with what the system
        reserves."""
        step = self.architecture.shared_step
        own = -(-(self.static_shared_bytes + dynamic_bytes) // step) * step
        return own + self.architecture.system_shared_bytes

    def system_shared_start(self, dynamic_bytes: int) -> int:
        """Where in its window the shared memory lies that the system reserves of a block."""
        if self.architecture.shared_window:
            return 0
        return self.allocated_shared_bytes(dynamic_bytes) - self.architecture.system_shared_bytes

    @property
    def cluster_blocks(self) -> int:
        """How many blocks a cluster has."""
        return math.prod(self.cluster)

    @property
    def jump_targets(self) -> frozenset[int]:
        """Offsets that may be targets of indirect branches and calls: functions, and the words of
        bank 2, as far as they are offsets of code."""
        bank = self.constants.get(JUMP_TABLE_BANK, b"")
        words = struct.unpack(f"<{len(bank) // 4}I", bank[: len(bank) // 4 * 4])
        return frozenset(
            place
            for place in (*self.functions, *words)
            if place % INSTRUCTION_BYTES == 0
            and place // INSTRUCTION_BYTES < len(self.instructions)
        )

    def knows_constant(self, bank: int, offset: int) -> bool:
        """Whether the contents of a word of a constant bank are known; not all that the system
        keeps in bank 0 are."""
        return (
            bank != 0
            or offset >= self.architecture.system_bytes
            or offset in self.architecture.words.known
        )

    @property
    def constant_bytes(self) -> int:
        """Size of constant bank 0: what the system keeps there, then the parameters, whole
        words."""
        return max(
            self.architecture.system_bytes,
            (self.parameter_base + self.parameter_bytes + 3) // 4 * 4,
        )
