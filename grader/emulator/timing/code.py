"""What the timing model knows of each machine instruction: its pipe, how long it holds it, and the
control bits of its encoding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum

import numpy as np

from grader.emulator.decode import Decoded
from grader.emulator.operands import ZERO_REGISTER, Register
from grader.emulator.program import INSTRUCTION_BYTES
from grader.emulator.timing.compiled import make_rows

CONTROL_SHIFT = 105 - 64
"""The control bits start at bit 105 of an instruction: bit 41 of its upper half (notes of Volta's
micro-benchmarks; unchanged since)."""
NO_SCOREBOARD = 7


class Unit(IntEnum):
    """What an instruction occupies in its sub-partition. FMA: either half of the float pipe; HEAVY:
    the half that multiplies integers."""

    FMA = 0
    HEAVY = 1
    ALU = 2
    DOUBLE = 3
    SPECIAL = 4
    MEMORY = 5
    NONE = 6


class Kind(IntEnum):
    """How an instruction ends: after its stall count (FIXED), after a latency (VARIABLE), or as its
    memory access does (SHARED to COPY; all but SHARED may access global memory)."""

    FIXED = 0
    VARIABLE = 1
    SHARED = 2
    LOAD = 3
    STORE = 4
    ATOMIC = 5
    COPY = 6
    BARRIER = 7
    COMMIT = 8
    DEPEND = 9


@dataclass(frozen=True)
class _Class:
    unit: Unit
    kind: Kind = Kind.FIXED
    latency_cycles: int = 0


_FLOAT, _HEAVY, _ALU = _Class(Unit.FMA), _Class(Unit.HEAVY), _Class(Unit.ALU)
_SPECIAL = _Class(Unit.SPECIAL, Kind.VARIABLE, 18)
_QUEUED = _Class(Unit.MEMORY, Kind.VARIABLE, 24)
_CLASSES: Mapping[str, _Class] = {
    **dict.fromkeys(("FFMA", "FADD", "FMUL"), _FLOAT),
    **dict.fromkeys(("IMAD", "HFMA2", "HADD2", "HMUL2", "IDP"), _HEAVY),
    **dict.fromkeys(("DFMA", "DADD", "DMUL", "DSETP"), _Class(Unit.DOUBLE, Kind.VARIABLE, 14)),
    **dict.fromkeys(("MUFU", "I2F", "F2I", "F2F", "FRND", "POPC", "FLO", "BREV", "I2FP"), _SPECIAL),
    **dict.fromkeys(("SHFL", "MATCH", "VOTEU", "R2UR", "REDUX"), _QUEUED),
    **dict.fromkeys(("S2R", "S2UR", "CS2UR"), _Class(Unit.SPECIAL, Kind.VARIABLE, 20)),
    **dict.fromkeys(("LDC", "ULDC"), _Class(Unit.NONE, Kind.VARIABLE, 30)),
    "LDS": _Class(Unit.MEMORY, Kind.SHARED),
    "STS": _Class(Unit.MEMORY, Kind.SHARED),
    "ATOMS": _Class(Unit.MEMORY, Kind.SHARED),
    **dict.fromkeys(("LDG", "LD", "LDL"), _Class(Unit.MEMORY, Kind.LOAD)),
    **dict.fromkeys(("STG", "ST", "STL"), _Class(Unit.MEMORY, Kind.STORE)),
    **dict.fromkeys(("ATOM", "ATOMG", "RED", "REDG"), _Class(Unit.MEMORY, Kind.ATOMIC)),
    "LDGSTS": _Class(Unit.MEMORY, Kind.COPY),
    "LDGDEPBAR": _Class(Unit.NONE, Kind.COMMIT),
    "DEPBAR": _Class(Unit.NONE, Kind.DEPEND),
    "BAR": _Class(Unit.NONE, Kind.BARRIER),
    "EXIT": _Class(Unit.NONE),
    **dict.fromkeys(
        (
            "BRA",
            "BRX",
            "JMP",
            "BSSY",
            "BSYNC",
            "WARPSYNC",
            "NOP",
            "YIELD",
            "CALL",
            "RET",
            "NANOSLEEP",
            "MEMBAR",
            "ERRBAR",
            "CCTL",
            "CS2R",
        ),
        _Class(Unit.NONE),
    ),
}
"""By base opcode; what is not here is ALU's. Pipes as Nsight Compute names them for compute
capability 7.0 and later; latencies of the queued and special units are those of the notes' [19] and
[25], rounded."""
_UNIFORM_NOT_QUEUED = frozenset({"ULDC", "R2UR"})


class CodeRow:
    """An instruction: its class, and the control bits of its encoding. `even_reads` and `odd_reads`
    are of the two register banks; `argument` is the count of `DEPBAR.LE SB0, n`, else 0."""

    unit: int
    kind: int
    latency: int
    stall: int
    write_scoreboard: int
    read_scoreboard: int
    wait_mask: int
    even_reads: int
    odd_reads: int
    argument: int


@dataclass(frozen=True)
class CodeTable:
    """`table` holds a CodeRow an instruction; `widths` are the bytes a lane moves; `barriers` marks
    the barriers of a block."""

    table: np.ndarray
    widths: np.ndarray
    barriers: np.ndarray


def describe_code(decoded: Sequence[Decoded], encoding: bytes) -> CodeTable:
    """The table of a kernel's code. `encoding` holds 16 bytes an instruction."""
    table = make_rows(CodeRow, len(decoded))
    for instruction in decoded:
        found = _classify(instruction)
        high = int.from_bytes(
            encoding[
                instruction.index * INSTRUCTION_BYTES + 8 : (instruction.index + 1)
                * INSTRUCTION_BYTES
            ],
            "little",
        )
        control = high >> CONTROL_SHIFT
        table[instruction.index] = (
            found.unit,
            found.kind,
            found.latency_cycles,
            control & 15,
            control >> 5 & 7,
            control >> 8 & 7,
            control >> 11 & 63,
            *_bank_reads(instruction, control >> 17 & 15),
            _argument(instruction),
        )
    return CodeTable(
        table,
        np.array([instruction.access_bytes for instruction in decoded], dtype=np.int64),
        table["kind"] == Kind.BARRIER,
    )


def _classify(instruction: Decoded) -> _Class:
    if instruction.base in _CLASSES:
        return _CLASSES[instruction.base]
    if instruction.base.startswith("U"):  # the uniform pipe: no rival but itself
        return _Class(Unit.NONE)
    return _ALU


def _bank_reads(instruction: Decoded, reuse: int) -> tuple[int, int]:
    """Registers read from each of the two register banks, less those that the reuse cache holds
    (the reuse bits of the encoding)."""
    sources = [
        operand
        for operand in instruction.operands[1:]
        if isinstance(operand, Register) and not operand.uniform
    ]
    read = {
        operand.index
        for slot, operand in enumerate(sources[:3])
        if not reuse >> slot & 1 and operand.index != ZERO_REGISTER
    }
    even = sum(index % 2 == 0 for index in read)
    return even, len(read) - even


def _argument(instruction: Decoded) -> int:
    """The count of `DEPBAR.LE SB0, n`, and 1 for other instructions that are told apart by a
    flag."""
    last = instruction.operands[-1] if instruction.operands else None
    bits = getattr(last, "bits", None)
    return int(bits) if instruction.base == "DEPBAR" and bits is not None else 0
