"""The timing model's table of machine instructions: pipe, passes and control bits of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from grader.emulator.codegen.opcodes import OPCODES
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import GROUP_END, Constant, Immediate, Predicate, Register
from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.timing.analysis_records import CodeRow
from grader.emulator.timing.pipes import ALU, Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.timing_records import (
    AWAITS_BLOCKS,
    AWAITS_EARLIER,
    AWAITS_SINGLE,
    ENDS_GROUP,
    FLOAT_ATOMIC,
    LEFT_SHARED,
    LINE_BYTES,
    NO_REGISTER,
    OBJECT_COPIES,
    OBJECT_SET,
    OPERANDS,
    PUBLISHES,
    SWAP_ATOMIC,
)
from grader.sass import read_control

NO_SCOREBOARD = 7
_SWAPS = {"CAS", "CAST"}
"""Modifiers of compare-and-swap atomics in global and shared memory."""

_PAST_L1, _LEAVE_NOTHING = {"STRONG", "BYPASS"}, {"NA", "LU"}
"""Modifiers of loads that the L1 does not answer. First set: volatile loads and asynchronous copies
by `.cg`. Second set: `L1::no_allocate` and `.lu`, which hit only lines in flight (H200:
benchmarks/kernels/costs/hinted_loads.cu, careless/product_without_l1_*.cu)."""
_MATRICES = {"HMMA", "IMMA", "HGMMA", "QGMMA", "IGMMA"}
"""Tensor core instructions for types below float64."""
_BULK = {Kind.BULK_LOAD, Kind.BULK_STORE}


@dataclass(frozen=True)
class Exchanges:
    """Instructions with which blocks hand on results to later blocks: `published` stores, and loads
    past the L1 that read results of several blocks at once, or of one block (`single`)."""

    published: np.ndarray
    several: np.ndarray
    single: np.ndarray


@dataclass(frozen=True)
class CodeTable:
    """Facts per instruction: `table` has CodeRows; `widths`: bytes that a lane moves; `barriers`:
    barriers of a block; `swaps`: compare-and-swaps in memory; `lookups`: reads of constants at an
    index per lane; `matrices`: tensor core instructions that lower the clock."""

    table: np.ndarray
    widths: np.ndarray
    barriers: np.ndarray
    swaps: np.ndarray
    lookups: np.ndarray
    matrices: np.ndarray

    @property
    def clusters(self) -> np.ndarray:
        """Mask of the barriers of clusters, and of the instructions that the model does not
        follow."""
        kind = self.table["kind"]
        of_cluster = (kind == Kind.BARRIER) & (self.table["latency"] > 0)
        return np.asarray(of_cluster | (kind == Kind.UNTIMED))

    def waiting_at(self, loops: Sequence[int]) -> np.ndarray:
        """The CodeRows if warps wait for all blocks of the grid in loops of these instructions: at
        their reads."""
        table = self.table.copy()
        table["argument"][self.reads_in(loops)] = AWAITS_BLOCKS
        return table

    def exchanging(self, exchanges: Exchanges) -> np.ndarray:
        """The CodeRows if blocks exchange results by these instructions."""
        table = self.table.copy()
        table["argument"][exchanges.published] = PUBLISHES
        table["argument"][exchanges.several] = AWAITS_EARLIER
        table["argument"][exchanges.single] = AWAITS_SINGLE
        return table

    def reads_in(self, loops: Sequence[int]) -> np.ndarray:
        """The loads and atomics among instructions of loops."""
        found = np.array(loops, dtype=np.int64)
        return found[np.isin(self.table["kind"][found], [Kind.LOAD, Kind.ATOMIC])]

    @property
    def atomics(self) -> np.ndarray:
        """1 for atomics on global memory, else 0, per instruction."""
        return np.asarray(self.table["kind"] == Kind.ATOMIC, dtype=np.int64)


def describe_code(decoded: Sequence[Decoded], encoding: bytes) -> CodeTable:
    """The table of a kernel's code. `encoding`: 16 bytes per instruction."""
    table = make_rows(CodeRow, len(decoded))
    for instruction in decoded:
        found = OPCODES.get(instruction.base)
        pipe = ALU if found is None else found.pipe_of(instruction)  # unknown ones never execute
        control = read_control(encoding, instruction.index)
        table[instruction.index] = (
            pipe.unit,
            pipe.kind,
            pipe.latency_cycles,
            pipe.passes,
            control.stall_cycles,
            NO_SCOREBOARD if control.writes is None else control.writes,
            NO_SCOREBOARD if control.reads is None else control.reads,
            sum(1 << scoreboard for scoreboard in control.waits),
            _sources(instruction),
            control.reuse & (1 << OPERANDS) - 1,
            _argument(instruction, pipe.kind),
            _atomic(instruction) if pipe.kind is Kind.ATOMIC else 0,
            _past_l1(instruction),
            pipe.kind is Kind.LOAD and 0 < instruction.access_bytes < 4,
        )
    return CodeTable(
        table,
        np.select(  # a lane of a trace is a line of a bulk copy, a sector of a texture
            [np.isin(table["kind"], list(_BULK)), table["kind"] == Kind.TEXTURE],
            [LINE_BYTES, SECTOR_BYTES],
            [instruction.access_bytes for instruction in decoded],
        ).astype(np.int64),
        table["kind"] == Kind.BARRIER,
        np.array([bool(_SWAPS & set(instruction.modifiers)) for instruction in decoded]),
        np.array([_reads_by_index(instruction) for instruction in decoded]),
        np.array([instruction.base in _MATRICES for instruction in decoded]),
    )


def _sources(instruction: Decoded) -> int:
    """The registers of the first source operands, a byte each."""
    sources = [each for each in instruction.operands[1:] if not isinstance(each, Predicate)]
    numbers = [NO_REGISTER] * OPERANDS
    for slot, operand in enumerate(sources[:OPERANDS]):
        if isinstance(operand, Register) and not operand.uniform:
            numbers[slot] = operand.index
    return int.from_bytes(numbers, "little")


def _atomic(instruction: Decoded) -> int:
    """`CodeRow.atomic` of an atomic instruction."""
    if _SWAPS & set(instruction.modifiers):
        return SWAP_ATOMIC
    floats = {"F16x2", "F16", "BF16_V2", "BF16", "F32", "F64"}
    return (
        FLOAT_ATOMIC if floats & {each.partition("_")[0] for each in instruction.modifiers} else 1
    )


def _past_l1(instruction: Decoded) -> int:
    """`CodeRow.past_l1`. A strong load with block scope (`.ca`) may hit in the L1."""
    modifiers = set(instruction.modifiers)
    if _LEAVE_NOTHING & modifiers and instruction.base != "LDL":  # the L1 keeps spilled words
        return 2
    return int(bool(_PAST_L1 & modifiers) and "SM" not in modifiers)


def _reads_by_index(instruction: Decoded) -> bool:
    """Whether it reads constants at an index that may differ between lanes."""
    return any(
        isinstance(operand, Constant)
        and operand.register is not None
        and not operand.register.uniform
        and not operand.register.is_zero
        for operand in instruction.operands
    )


def _argument(instruction: Decoded, kind: Kind) -> int:
    """`CodeRow.argument`."""
    operands = instruction.operands
    if kind is Kind.PRODUCT:
        left = operands[1]
        in_registers = isinstance(left, Register) and not left.uniform
        return ENDS_GROUP * (GROUP_END in operands) | LEFT_SHARED * (not in_registers)
    if kind is Kind.OBJECT:
        return OBJECT_SET * instruction.has("EXCH") | OBJECT_COPIES * instruction.has("LDGSTSBAR")
    if kind not in (Kind.DEPEND, Kind.PRODUCTS_DEPEND) or not operands:
        return 0
    return (operands[-1].bits or 0) if isinstance(operands[-1], Immediate) else 0
