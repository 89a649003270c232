"""A kernel's machine code -> cells. A cell holds the address of the native code of an instruction
(its step), and the data that this code reads.

A step ends with a jump to the step of the next cell. A kernel is therefore ready as soon as its
cells are filled; native code is compiled once per shape of instruction (steps.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from grader.emulator.codegen.block_cycles import cycles_alone, cycles_behind
from grader.emulator.codegen.frame import cell_bytes
from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.codegen.opcodes import find_opcode, look_up
from grader.emulator.codegen.opcodes.collective import lanes_named_before
from grader.emulator.codegen.opcodes.copies import copy_form
from grader.emulator.codegen.shapes import (
    BANK_OF_LAUNCH,
    CONSTANT_WORDS,
    Hole,
    operand_at,
    register_and_predicate_values,
)
from grader.emulator.codegen.steps import DRAW, ENTER, UNKNOWN, Step, Steps
from grader.emulator.cpp import Runtime
from grader.emulator.isa.decode import Decoded, decode
from grader.emulator.isa.flow import Block, ControlFlow, Flow, find_blocks
from grader.emulator.isa.operands import Address, Constant, Immediate, Register
from grader.emulator.isa.program import (
    INSTRUCTION_BYTES,
    MAX_INSTRUCTIONS,
    MAX_LOCAL_BYTES,
    VARIABLES_BANK,
    KernelCode,
    Unsupported,
)
from grader.emulator.layouts.blocks import CODE_PLACE
from grader.emulator.layouts.execution import CONSTANT_BANKS, warp_layout
from grader.sass import MemoryOperation, is_branch

_LAST_ARGUMENT = 11
"""The last register with arguments of a system function (run/host.py)."""
_MASK = 0xFFFFFFFF
_DISTANCE = ("distance", 0)


def translate(code: KernelCode, runtime: Runtime) -> NativeKernel:
    """Translates a kernel. Raises Unsupported, with the source line, if its control flow is
    unknown or it exceeds a limit."""
    if len(code.instructions) > MAX_INSTRUCTIONS:
        raise Unsupported(
            f"a kernel of {len(code.instructions):,} machine instructions"
            f" (at most {MAX_INSTRUCTIONS:,})"
        )
    if code.local_bytes > MAX_LOCAL_BYTES:
        raise Unsupported(f"a stack of {code.local_bytes:,} bytes per thread")
    if code.cluster_blocks > 1 and code.architecture.words.cluster is None:
        raise Unsupported(f"thread-block clusters on {code.architecture.name}")
    decoded = decode(code.instructions)
    flow = find_blocks(decoded, find_flow, code.jump_targets)
    flow = _name_lanes(flow)
    reachable = [i for block in flow.blocks for i in block.instructions]
    ordered = code.cluster_blocks > 1 or any(
        (found := look_up(i)) and found.ordered(i) for i in reachable
    )
    cells = _Cells(code, flow, runtime.steps)
    steps = iter(runtime.steps.find(reachable))
    cells.fill((block, i, next(steps)) for block in flow.blocks for i in block.instructions)
    converged, diverged = cells.arrays()
    return NativeKernel(
        code,
        decoded,
        flow,
        warp_layout(_register_count(reachable)),
        cells.slots,
        cells.unknown,
        ordered,
        runtime,
        converged,
        diverged,
        np.array(cells.entries, dtype=np.uint32),
        (
            _jump_table(flow.blocks[each] for each in flow.jump_blocks),
            _jump_table(flow.return_points),
        ),
        np.array(cells.variable_words, dtype=np.intp).reshape(-1, 2),
    )


def find_flow(i: Decoded) -> ControlFlow | None:
    """An instruction's effect on control flow, if any. Raises Unsupported for an unknown branch."""
    found = find_opcode(i) if is_branch(i.base) else look_up(i)
    return None if found is None else found.flow


def _name_lanes(flow: Flow) -> Flow:
    """Adds to collective operations the lane masks that earlier instructions name for them."""
    code = {i.index: i for block in flow.blocks for i in block.instructions}
    gathering = {index for index, i in code.items() if (found := look_up(i)) and found.gathers}
    if not gathering:
        return flow
    blocks = tuple(
        replace(
            block,
            instructions=tuple(
                replace(i, named=lanes_named_before(code, i)) if i.index in gathering else i
                for i in block.instructions
            ),
        )
        for block in flow.blocks
    )
    return replace(flow, blocks=blocks)


def _register_count(reachable: list[Decoded]) -> int:
    """1 + the highest register in use; system functions use R4 to R11."""
    ends = [_LAST_ARGUMENT + 1]
    for i in reachable:
        found = look_up(i)
        for operand in i.operands:
            named = operand if isinstance(operand, Register) else getattr(operand, "register", None)
            if found and named is not None and not named.uniform and not named.is_zero:
                ends.append(named.index + found.registers)
    return max(ends)


def _jump_table(blocks: Iterable[Block]) -> np.ndarray:
    return np.array([(each.instructions[0].offset, each.index) for each in blocks], CODE_PLACE)


class _Cells:
    """The words of a kernel's cells; `unknown` describes instructions without steps."""

    def __init__(self, code: KernelCode, flow: Flow, find: Steps) -> None:
        self._code, self._flow, self._find = code, flow, find
        self._words: list[int] = []
        self._steps: list[tuple[int, Step]] = []
        self._branches: list[tuple[int, int, int]] = []
        self.variable_words: list[tuple[int, int]] = []
        self.slots: dict[tuple[int, str], int] = {}
        self.unknown: dict[int, str] = {}
        self.entries: list[int] = []

    def fill(self, chain: Iterable[tuple[Block, Decoded, Step | Unsupported]]) -> None:
        """Appends the cells of all instructions, with an entry cell before each block."""
        enter = self._find.find_one(ENTER)
        for block, i, step in chain:
            if i is block.instructions[0]:
                self.entries.append(4 * len(self._words))
                draws = any(map(_draws, block.instructions))
                self._append(block, i, self._find.find_one(DRAW) if draws else enter, {})
            try:
                self._try_append(block, i, step)
            except Unsupported as problem:
                if is_branch(i.base):
                    raise
                self._append_unknown(block, i, problem.what)
            if i is block.instructions[-1]:
                _end(block, i)

    def _try_append(self, block: Block, i: Decoded, step: Step | Unsupported) -> None:
        if isinstance(step, Unsupported):
            raise step
        try:
            self._append(block, i, step, register_and_predicate_values(i))
        except Unsupported as problem:
            what = problem.what
            form = what if what.startswith(("at ", "of ", "with ")) else f"with {what}"
            raise Unsupported(f"{i.opcode} {form}", i.line) from None

    def _append_unknown(self, block: Block, i: Decoded, what: str) -> None:
        """Appends a cell that ends the launch if a lane executes it."""
        self.unknown[i.index] = what
        standing = replace(UNKNOWN, guard=i.guard)
        step = self._find.find_one(standing)
        self._append(block, i, step, register_and_predicate_values(standing))

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """The cells with the steps for converged, and for diverged warps."""
        for place, cell, block in self._branches:
            self._words[place] = (self.entries[block] - 4 * cell) & _MASK
        words = np.array(self._words, dtype=np.uint32)
        places = np.array([place for place, _ in self._steps])
        found = []
        for ways in ("converged", "diverged"):
            addresses = np.array([getattr(step, ways) for _, step in self._steps], dtype=np.uint64)
            cells = words.copy()
            cells[places], cells[places + 1] = addresses & _MASK, addresses >> 32
            found.append(cells)
        return found[0], found[1]

    def _append(self, block: Block, i: Decoded, step: Step, values: dict[Hole, int]) -> None:
        start = len(self._words)
        words = [0, 0]
        for hole in step.holes:
            value = values.get(hole)
            if value is None:
                value = self._fact(block, i, *hole)
                self._record_variable(i, hole, start + len(words))
            words.append(value & _MASK)
        if _DISTANCE in step.holes:
            place = start + 2 + step.holes.index(_DISTANCE)
            self._branches.append((place, start, self._flow.target(i)))
        self._steps.append((start, step))
        self._words += words
        self._words += [0] * (cell_bytes(len(step.holes)) // 4 - len(words))

    def _record_variable(self, i: Decoded, hole: Hole, place: int) -> None:
        """Keeps the place of a word that holds contents of a `__constant__` variable."""
        kind, which = hole
        if kind != "constant":
            return
        position, words_behind = divmod(which, CONSTANT_WORDS)
        operand = operand_at(i, position)
        assert isinstance(operand, Constant)
        if operand.bank == VARIABLES_BANK:
            self.variable_words.append((place, operand.offset // 4 + words_behind))

    def _fact(self, block: Block, i: Decoded, kind: str, which: int) -> int:
        """A data word of a cell that is not the place of a register."""
        if kind.startswith(_SLOT):
            return self.slots.setdefault((i.index, kind.removeprefix(_SLOT)), len(self.slots))
        if kind in _LITERALS:
            operand = operand_at(i, which)
            assert isinstance(operand, Immediate)
            return _LITERALS[kind](operand)
        return _FACTS[kind](_Place(self._code, self._flow, block, i, which))


_SLOT = "slot "
_LITERALS: dict[str, Callable[[Immediate], int]] = {
    "integer": lambda operand: operand.integer(),
    "integer64 low": lambda operand: operand.integer64() & _MASK,
    "integer64 high": lambda operand: operand.integer64() >> 32,
    "float32": lambda operand: operand.float32_bits(),
    "float64 low": lambda operand: operand.float64_bits() & _MASK,
    "float64 high": lambda operand: operand.float64_bits() >> 32,
}


@dataclass(frozen=True)
class _Place:
    """An instruction in its kernel, and the number of a data word within its kind."""

    code: KernelCode
    flow: Flow
    block: Block
    i: Decoded
    which: int


def _following(at: _Place) -> int:
    if at.block.following is None:
        raise Unsupported("at the end of the code")
    return at.block.following


def _constant(at: _Place) -> int:
    position, words_behind = divmod(at.which, CONSTANT_WORDS)
    operand = operand_at(at.i, position)
    assert isinstance(operand, Constant)
    return constant_data(at.code, operand, words_behind)


def _known_place(at: _Place) -> int:
    """Refuses an unknown system word as the base of an indexed constant."""
    operand = operand_at(at.i, at.which)
    assert isinstance(operand, Constant)
    by_cluster = operand.offset in at.code.architecture.words.by_cluster
    if by_cluster and not at.code.knows_constant(operand.bank, operand.offset):
        raise Unsupported(f"of c[{operand.bank:#x}][{operand.offset:#x}]")
    return 0


def _one_register(at: _Place) -> int:
    if len({operand for operand in at.i.operands if isinstance(operand, Register)}) != 1:
        raise Unsupported("with these operands")
    return 0


def _offset(at: _Place) -> int:
    operand = operand_at(at.i, at.which)
    assert isinstance(operand, Address | Constant)
    return operand.offset


def _no_offset(at: _Place) -> int:
    if _offset(at) != 0:
        raise Unsupported("with this address")
    return 0


_FACTS: dict[str, Callable[[_Place], int]] = {
    "index": lambda at: at.i.index,
    "code offset": lambda at: at.i.offset,
    "next offset": lambda at: at.i.offset + INSTRUCTION_BYTES,
    "block": lambda at: at.block.index,
    "cycles": lambda at: cycles_alone(at.block, at.code.encoding),
    "length": lambda at: len(at.block.instructions),
    "cycles behind": lambda at: cycles_behind(at.block, at.code.encoding, at.i.index),
    "following": _following,
    "target": lambda at: at.flow.target(at.i),
    "distance": lambda at: 0,  # filled in when all entries are known
    "constant": _constant,
    "known place": _known_place,
    "known bank": lambda at: constant_bank_bytes(at.code, at.which),
    "one register": _one_register,
    "offset": _offset,
    "no offset": _no_offset,
    "object": lambda at: constant_data(at.code, Constant(0, 4 * at.which), 0),
    "copy form": lambda at: copy_form(at.i),
    "tensor places": lambda at: at.code.architecture.tensor_places,
    "tensor bytes": lambda at: at.code.architecture.tensor_bytes,
}


def _draws(i: Decoded) -> bool:
    """Whether the instruction returns the old value of an atomic on global memory."""
    return any(each.kind is MemoryOperation.FETCH and each.space == "global" for each in i.accesses)


def _end(block: Block, i: Decoded) -> None:
    """Refuses a block at the end of the code whose last instruction may continue."""
    found = look_up(i)
    if block.following is None and not (found and found.ends_block):
        raise Unsupported(f"{i.opcode} at the end of the code", i.line)


def constant_data(code: KernelCode, operand: Constant, words_behind: int) -> int:
    """The data word of a cell for a constant operand: for bank 0 its offset, for other banks its
    contents. Raises Unsupported if they are unknown."""
    place = operand.offset // 4 * 4 + 4 * words_behind
    size = constant_bank_bytes(code, operand.bank)
    if operand.bank == VARIABLES_BANK and place >= size:
        raise Unsupported(
            f"of c[{operand.bank:#x}][{place:#x}], behind the {size} bytes of __constant__"
            " variables"
        )
    if not 0 <= place <= size - 4 or not code.knows_constant(operand.bank, place):
        raise Unsupported(f"of c[{operand.bank:#x}][{place:#x}]")
    if operand.bank == BANK_OF_LAUNCH:
        return place
    return int.from_bytes(code.constants[operand.bank][place : place + 4], "little")


def constant_bank_bytes(code: KernelCode, bank: int) -> int:
    """Size of a constant bank. Raises Unsupported for unknown contents (bank 4: addresses)."""
    if bank == BANK_OF_LAUNCH:
        return code.constant_bytes
    if bank not in code.constants or bank >= CONSTANT_BANKS:
        raise Unsupported(f"with constant bank {bank}")
    return len(code.constants[bank])
