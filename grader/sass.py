"""Facts that can be read off machine code without execution: memory accesses and code addresses by
opcode, control bits by encoding.

The toolchain and the rules for submissions read code and must not load the emulator with LLVM; the
rows of the emulator's opcodes build on this module. So it is a leaf that all of them import.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum, auto


class MemoryOperation(Enum):
    """How memory is accessed. A FETCH is an atomic that returns the old value, a REDUCTION an
    atomic that does not; a FENCE orders other accesses, and may count as a store request."""

    LOAD = auto()
    STORE = auto()
    FETCH = auto()
    REDUCTION = auto()
    FENCE = auto()


OPERANDS = "operands"
"""Shared memory reads of products of warp groups. Nsight Compute leaves them out of the counts of
loads, but includes them in the sum of wavefronts, and as many are ideal: one for each 128 bytes of
each matrix, in any layout (tests/emulator/kernels/warp_group_layouts.cu)."""


BULK_LOAD, BULK_STORE, REMOTE = "bulk load", "bulk store", "asynchronous"
"""The source and the target of a bulk copy, and stores that arrive at a barrier object: Nsight
Compute counts neither sectors nor wavefronts of them (tests/emulator/kernels/bulk_copies.cu)."""


@dataclass(frozen=True)
class Access:
    """An access to `global` or `shared` memory (generic addresses and surfaces are `global`, too),
    or to OPERANDS, BULK_LOAD, BULK_STORE or REMOTE. An `asynchronous` access ends later than the
    instruction."""

    space: str
    kind: MemoryOperation
    asynchronous: bool = False

    @property
    def load(self) -> bool:
        return self.kind in (MemoryOperation.LOAD, MemoryOperation.FETCH)

    @property
    def atomic(self) -> bool:
        return self.kind in (MemoryOperation.FETCH, MemoryOperation.REDUCTION)

    @property
    def changes(self) -> bool:
        """Whether memory holds something else afterwards."""
        return self.atomic or self.kind is MemoryOperation.STORE


def _at(space: str, kind: MemoryOperation) -> tuple[Access, ...]:
    return (Access(space, kind),)


_BULK = (
    Access(BULK_LOAD, MemoryOperation.LOAD, asynchronous=True),
    Access(BULK_STORE, MemoryOperation.STORE, asynchronous=True),
)


def _anywhere(kind: MemoryOperation) -> tuple[Access, ...]:
    """By a generic address, which may be shared."""
    return _at("global", kind) + _at("shared", kind)


ACCESSES: Mapping[str, tuple[Access, ...]] = {
    "LDG": _at("global", MemoryOperation.LOAD),
    "STG": _at("global", MemoryOperation.STORE),
    "LDS": _at("shared", MemoryOperation.LOAD),
    "STS": _at("shared", MemoryOperation.STORE),
    "LDSM": _at("shared", MemoryOperation.LOAD),
    "STSM": _at("shared", MemoryOperation.STORE),
    "LD": _anywhere(MemoryOperation.LOAD),
    "ST": _anywhere(MemoryOperation.STORE),
    "LDGSTS": (
        Access("global", MemoryOperation.LOAD),
        Access("shared", MemoryOperation.STORE, asynchronous=True),
    ),
    "ATOMS": _at("shared", MemoryOperation.FETCH),
    "ATOMG": _at("global", MemoryOperation.FETCH),
    "REDG": _at("global", MemoryOperation.REDUCTION),
    "ATOM": _anywhere(MemoryOperation.FETCH),
    "RED": _anywhere(MemoryOperation.REDUCTION),
    "SULD": _at("global", MemoryOperation.LOAD),
    "SUST": _at("global", MemoryOperation.STORE),
    **dict.fromkeys(("HGMMA", "QGMMA", "IGMMA", "BGMMA"), _at(OPERANDS, MemoryOperation.LOAD)),
    "MEMBAR": _at("global", MemoryOperation.FENCE),
    **dict.fromkeys(("UBLKCP", "UTMALDG", "UTMASTG"), _BULK),
    **dict.fromkeys(("UBLKRED", "UTMAREDG"), (*_at("global", MemoryOperation.REDUCTION), *_BULK)),
    "STAS": (Access(REMOTE, MemoryOperation.STORE, asynchronous=True),),
    "REDAS": (
        *_at("shared", MemoryOperation.REDUCTION),
        Access(REMOTE, MemoryOperation.STORE, asynchronous=True),
    ),
    # No device here executes these, but code that holds them can be read:
    "SUATOM": _at("global", MemoryOperation.FETCH),
    "SURED": _at("global", MemoryOperation.REDUCTION),
}
"""By base opcode, without local memory: no two threads share it."""

GRID_WORKSPACE: Mapping[str, int] = {
    **dict.fromkeys(("sm_75", "sm_80", "sm_86", "sm_89"), 0x8C),
    "sm_90": 0x44,
    **dict.fromkeys(("sm_100", "sm_120"), 0x254),
}
"""By architecture, the offset in constant bank 0 of the address that a cooperative grid
synchronises with, its upper word first (`%envreg1`, `%envreg2`; seen in code of `grid.sync()`)."""

_WITH_ADDRESSES = ("BRA", "BSSY", "CALL", "WARPSYNC.COLLECTIVE")
_CALL = "CALL"
_PLACES = (_CALL, "BRX", "JMP", "LEPC")
_BLOCK_BARRIER = "BAR"
_BRANCHES = frozenset(
    ("BRA", "BRX", "BRXU", _CALL, "EXIT", "JMP", "JMX", "JMXU", "KILL", "RET", "RTT")
)


INSTRUCTION_BYTES = 16
_CONTROL_BIT = 105
"""Where an instruction's control bits begin (notes of Volta's micro-benchmarks; unchanged since):
four bits of a stall count, one bit that is 0 for an instruction that yields, three for each of two
scoreboards that it sets, six of scoreboards that it waits for, and four of reuse."""
_SCOREBOARDS = 6


@dataclass(frozen=True)
class Control:
    """The control bits of an instruction: cycles until the warp's next instruction may be issued,
    whether the scheduler then prefers another warp, the scoreboards that are set until its result
    is there (`writes`) and until its registers are read (`reads`), the scoreboards that it waits
    for, and a mask of the operands that the register cache keeps."""

    stall_cycles: int
    yields: bool
    writes: int | None
    reads: int | None
    waits: tuple[int, ...]
    reuse: int

    @property
    def sets(self) -> tuple[int, ...]:
        """The scoreboards that it sets."""
        return tuple(board for board in (self.writes, self.reads) if board is not None)


def read_control(encoding: bytes, index: int) -> Control:
    """The control bits of an instruction of a kernel. `encoding` holds 16 bytes for each."""
    start = index * INSTRUCTION_BYTES
    word = int.from_bytes(encoding[start : start + INSTRUCTION_BYTES], "little") >> _CONTROL_BIT
    writes, reads = word >> 5 & 7, word >> 8 & 7
    return Control(
        word & 15,
        not word >> 4 & 1,
        writes if writes < _SCOREBOARDS else None,
        reads if reads < _SCOREBOARDS else None,
        tuple(board for board in range(_SCOREBOARDS) if word >> 11 + board & 1),
        word >> 17 & 15,
    )


def base_of(opcode: str) -> str:
    """An opcode without its modifiers."""
    return opcode.partition(".")[0]


@functools.cache  # asked for each instruction of each run
def accesses_of(opcode: str) -> tuple[Access, ...]:
    """The accesses that an instruction may make, by its opcode with or without modifiers."""
    return ACCESSES.get(base_of(opcode), ())


def is_cooperative(kernels: Iterable[Iterable[str]], arch: str) -> bool:
    """Whether any of a file's kernels, given by their operands, synchronises its grid. Every device
    launches all kernels of the file cooperatively then: their grids have to be resident."""
    place = GRID_WORKSPACE.get(arch)
    return place is not None and any(
        reads_words(operands, (place, place + 4)) for operands in kernels
    )


def reads_words(operands: Iterable[str], places: Iterable[int]) -> bool:
    """Whether code with these operands reads any of these words of constant bank 0."""
    names = "|".join(f"{place:#x}" for place in places)
    words = re.compile(rf"c\[0x0\]\[(?:U?R\d+\+)?(?:{names})\]")
    return any(words.search(each) for each in operands)


def may_name_code(opcode: str) -> bool:
    """Whether the last operand may be an address of the code (a byte offset in the function)."""
    return opcode.startswith(_WITH_ADDRESSES)


def is_branch(opcode: str) -> bool:
    """Whether the opcode alone decides which instruction is next: a jump, a call, a return, an
    exit."""
    return base_of(opcode) in _BRANCHES


def is_call(opcode: str) -> bool:
    return base_of(opcode) == _CALL


def depends_on_place(opcode: str) -> bool:
    """Whether the code would not do the same elsewhere: a call leaves its own address behind, and
    tables hold addresses."""
    return base_of(opcode) in _PLACES


def is_block_barrier(opcode: str) -> bool:
    """Whether the threads of a block wait for each other."""
    return base_of(opcode) == _BLOCK_BARRIER
