"""A translated kernel: its native code, and facts about it that are equal for all launches."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from grader.emulator.codegen.block_cycles import cycles_alone, describe_blocks
from grader.emulator.cpp import Runtime
from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Flow
from grader.emulator.isa.program import VARIABLES_BANK, KernelCode
from grader.emulator.layouts.blocks import CODE_BLOCK
from grader.emulator.layouts.checked import EXTENT, Trait
from grader.emulator.layouts.execution import CONSTANT_BANKS
from grader.emulator.run.counts import CountTable
from grader.sass import MemoryOperation, accesses_of


@dataclass(frozen=True)
class NativeKernel:
    """A kernel that its `runtime` can run.

    `ordered`: the result depends on the order of blocks, or blocks may wait for each other; one
    host thread must run them all. `unknown` maps the index of each unknown instruction to its
    description; a launch that reaches it ends there. `slots` maps the index of a memory instruction
    and a space that it accesses to its SLOT. `converged` and `diverged` are its cells with the
    steps for converged and for diverged warps; `entries` holds the byte offset of each basic block
    in them. `jump_tables` holds, by JumpTable, the possible targets of computed branches.
    `variable_words`: pairs of a word of the cells and the word of the `__constant__` variables that
    it holds.
    """

    code: KernelCode
    decoded: tuple[Decoded, ...]
    flow: Flow
    warp_type: np.dtype
    slots: dict[tuple[int, str], int]
    unknown: dict[int, str]
    ordered: bool
    runtime: Runtime
    converged: np.ndarray
    diverged: np.ndarray
    entries: np.ndarray
    jump_tables: tuple[np.ndarray, np.ndarray]
    variable_words: np.ndarray

    def write_variables(self, contents: np.ndarray) -> None:
        """Changes the contents of `__constant__` variables, while it does not run."""
        bank = self.banks[VARIABLES_BANK]
        bank[:] = contents
        words = bank[: len(bank) // 4 * 4].view(np.uint32)
        places, sources = self.variable_words.T
        for cells in (self.converged, self.diverged):
            cells[places] = words[sources]

    @cached_property
    def banks(self) -> dict[int, np.ndarray]:
        """The contents of its constant banks, except bank 0, which each launch has."""
        return {
            bank: np.frombuffer(data, dtype=np.uint8).copy()
            for bank, data in self.code.constants.items()
            if 0 < bank < CONSTANT_BANKS and data
        }

    @cached_property
    def count_table(self) -> CountTable:
        """The meaning of the runtime's counters."""
        return CountTable(self.flow, self.slots)

    @cached_property
    def code_blocks(self) -> np.ndarray:
        """Its basic blocks as CODE_BLOCK records."""
        return np.array(list(describe_blocks(self.flow)), dtype=CODE_BLOCK)

    @cached_property
    def cycles_by_instruction(self) -> np.ndarray:
        """Cycles of a warp that runs alone, per instruction. The first instruction of a basic block
        holds the cycles of the whole block."""
        cycles = np.zeros(len(self.decoded), dtype=np.int64)
        for block in self.flow.blocks:
            cycles[block.instructions[0].index] = cycles_alone(block, self.code.encoding)
        return cycles

    @cached_property
    def checked_code(self) -> CheckedCode:
        return CheckedCode(self.code, self.decoded)

    @cached_property
    def shares_atomics(self) -> bool:
        """Whether blocks may interact through global atomics, or wait for each other. A sample of
        the blocks then does not give the result."""
        return self.ordered or any(
            access.atomic and access.space == "global"
            for block in self.flow.blocks
            for i in block.instructions
            for access in i.accesses
        )


_RETRIED = ("CAS", "CAST", "MIN", "MAX")


class CheckedCode:
    """A kernel's code in the checked mode. Per instruction: `traits`, `lines` (0: none) and
    `extents`, see CHECKED_STATE. `shifts`: log2 of the granule size per space. `shared_start`:
    start of a block's own shared memory in the shared window."""

    def __init__(self, kernel: KernelCode, code: tuple[Decoded, ...]) -> None:
        self.code = code
        self.shared_start = kernel.architecture.shared_window
        first = self.shared_start - kernel.shared_base
        self.shifts = _granule_shifts(code)
        self.traits = np.array(
            [_traits(each.base, each.modifiers) for each in code], dtype=np.uint8
        )
        self.lines = np.array([each.line or 0 for each in code], dtype=np.uint32)
        nothing = (0, 0)
        known = {
            offset: (first + start, first + end)
            for offset, (start, end) in kernel.shared_extents.items()
        }
        extents = [known.get(each.offset, nothing) for each in code]
        self.extents = np.array(extents, dtype=EXTENT)


def _granule_shifts(code: Iterable[Decoded]) -> dict[str, int]:
    """log2 of the narrowest access to each space, at most 2 (a word)."""
    shifts = {"shared": 2, "global": 2}
    for instruction in code:
        for access in instruction.accesses:
            if access.space in shifts:
                size = instruction.access_bytes.bit_length() - 1
                shifts[access.space] = min(shifts[access.space], size)
    return shifts


@lru_cache(maxsize=1 << 10)
def _traits(base: str, modifiers: tuple[str, ...]) -> int:
    """The Trait bits of an opcode."""
    accesses = accesses_of(base)
    atomic = any(access.atomic for access in accesses)
    present = {
        Trait.ATOMIC: atomic or "STRONG" in modifiers,
        Trait.CHANGES: atomic,
        Trait.RETRIED: atomic and any(name in modifiers for name in _RETRIED),
        Trait.DRAWS: any(access.kind is MemoryOperation.FETCH for access in accesses),
        Trait.EXCHANGES: atomic and "EXCH" in modifiers,
        Trait.ASYNC: any(access.asynchronous for access in accesses),
        Trait.STORES: any(access.changes for access in accesses),
    }
    return sum(trait for trait, holds in present.items() if holds)
