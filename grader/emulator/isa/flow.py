"""Basic blocks of a kernel: runs of instructions that start at the first and end at the last."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.operands import Immediate
from grader.emulator.isa.program import INSTRUCTION_BYTES, Unsupported
from grader.sass import is_branch, is_call, may_name_code

Test = Callable[[Decoded], bool]


def always(i: Decoded) -> bool:
    return True


def never(i: Decoded) -> bool:
    return False


@dataclass(frozen=True)
class ControlFlow:
    """The effect of an opcode on control flow.

    `ends_block`: a basic block ends behind the instruction. `leaves`: without a guard, execution
    never continues at the next instruction. `indirect`: a jump table of the kernel or a pointer
    holds the target.
    """

    ends_block: bool = True
    leaves: Test = never
    indirect: Test = never


FindFlow = Callable[[Decoded], ControlFlow | None]


@dataclass(frozen=True)
class Block:
    """A basic block. `following` is the number of the next block, None for the last block."""

    index: int
    instructions: tuple[Decoded, ...]
    following: int | None


@dataclass(frozen=True)
class Flow:
    """All reachable basic blocks. `block_at` maps the index of an instruction to the block that
    starts there. `jump_blocks` are the possible targets of indirect branches."""

    blocks: tuple[Block, ...]
    block_at: dict[int, int]
    instruction_count: int
    jump_blocks: tuple[int, ...] = ()

    @property
    def return_points(self) -> tuple[Block, ...]:
        """The blocks behind calls: possible targets of returns."""
        calls = (block for block in self.blocks if is_call(block.instructions[-1].base))
        return tuple(self.blocks[block.following] for block in calls if block.following is not None)

    def ends_without(self, code: tuple[Decoded, ...], find_flow: FindFlow, index: int) -> bool:
        """Whether a path through `code` may reach an exit or return without the block that holds
        this instruction. A branch with unknown targets counts as such a path."""
        blocks = [[i.index for i in block.instructions] for block in self.blocks]
        extents = {each[0]: each[-1] + 1 for each in blocks if index not in each}
        jumps = {blocks[number][0] for number in self.jump_blocks}
        passed = _reachable(code, find_flow, extents, jumps)
        return any(_is_end(code[extents[start] - 1], find_flow) for start in passed)

    def target(self, instruction: Decoded) -> int:
        """The block that a branch (or BSSY) names as its target."""
        return self.block_at[target_index(instruction, self.instruction_count)]


def target_index(instruction: Decoded, count: int) -> int:
    """Index of a branch's target instruction in a kernel of `count` instructions."""
    address = instruction.operands[-1] if instruction.operands else None
    if (
        not isinstance(address, Immediate)
        or address.bits is None
        or address.bits % INSTRUCTION_BYTES
    ):
        raise Unsupported(f"{instruction.opcode} with a computed target", instruction.line)
    index = address.bits // INSTRUCTION_BYTES
    if not 0 <= index < count:
        raise Unsupported(f"{instruction.opcode} to outside of the kernel", instruction.line)
    return index


def find_blocks(
    code: tuple[Decoded, ...], find_flow: FindFlow, jump_targets: Collection[int] = ()
) -> Flow:
    """Splits the code at branch targets and behind instructions that end a block; omits
    unreachable blocks.

    `find_flow` returns None for an instruction that the next instruction always follows.
    `jump_targets` are the byte offsets to which indirect branches may go.
    """
    starts, jumps = {0}, set[int]()
    for instruction in code:
        flow = find_flow(instruction)
        if flow is None:
            continue
        if flow.ends_block:
            starts.add(instruction.index + 1)
        if _names_code(instruction, flow):
            starts.add(target_index(instruction, len(code)))
        if flow.indirect(instruction):
            jumps = {offset // INSTRUCTION_BYTES for offset in jump_targets}
    ordered = sorted(start for start in starts | jumps if start < len(code))
    ends = [*ordered[1:], len(code)]
    extents = dict(zip(ordered, ends, strict=True))
    reachable = _reachable(code, find_flow, extents, jumps)
    kept = [start for start in ordered if start in reachable]
    number = {start: index for index, start in enumerate(kept)}
    blocks = tuple(
        Block(number[start], code[start : extents[start]], number.get(extents[start]))
        for start in kept
    )
    return Flow(blocks, number, len(code), tuple(number[start] for start in sorted(jumps)))


def _reachable(
    code: tuple[Decoded, ...], find_flow: FindFlow, extents: dict[int, int], jumps: set[int]
) -> set[int]:
    seen: set[int] = set()
    waiting = [0, *jumps]
    while waiting:
        start = waiting.pop()
        if start in seen or start not in extents:
            continue
        seen.add(start)
        leaves = False
        for instruction in code[start : extents[start]]:
            flow = find_flow(instruction)
            if flow is not None and _names_code(instruction, flow):
                waiting.append(target_index(instruction, len(code)))
            leaves = flow is not None and instruction.guard is None and flow.leaves(instruction)
        if not leaves:
            waiting.append(extents[start])
    return seen


def _is_end(last: Decoded, find_flow: FindFlow) -> bool:
    """Whether lanes may leave the kernel or function at the last instruction of a block."""
    flow = find_flow(last)
    if flow is None or flow.indirect(last):
        return False
    return flow.leaves(last) and not _names_code(last, flow)


def _names_code(instruction: Decoded, flow: ControlFlow) -> bool:
    """Whether the last operand is a code address, unlike in system calls and calls by pointer."""
    named = may_name_code(instruction.opcode) and not instruction.has("ABS")
    return named and not flow.indirect(instruction)


ROUNDS = 1000
"""A loop with at least this many iterations per warp is endless; a loop with fewer only surrounds
the endless loop."""

Loop = tuple[int, int]
"""Its first basic block, and its last, which branches back."""


def find_lines(flow: Flow, executions: Sequence[int], index: int) -> tuple[int, int] | None:
    """First and last source line of the endless loop around instruction `index`, at which the
    launch was stopped. `executions` holds one count per basic block. None outside of loops."""
    around = [
        (first, last)
        for first, last in _find_loops(flow)
        if flow.blocks[first].instructions[0].index <= index
        and index <= flow.blocks[last].instructions[-1].index
    ]
    if not around:
        return None
    endless = [loop for loop in around if executions[loop[0]] >= ROUNDS * executions[0]]
    if endless:
        first, last = max(endless, key=lambda loop: loop[1] - loop[0])  # the outermost
    else:
        first, last = max(around, key=lambda loop: executions[loop[0]])
    blocks = flow.blocks[first : last + 1]
    lines = [i.line for block in blocks for i in block.instructions if i.line is not None]
    return (min(lines), max(lines)) if lines else None


def _find_loops(flow: Flow) -> Iterator[Loop]:
    """A loop per direct backward branch: the blocks between target and branch."""
    for block in flow.blocks:
        last = block.instructions[-1]
        with suppress(Unsupported):
            if is_branch(last.base) and flow.target(last) <= block.index:
                yield flow.target(last), block.index
