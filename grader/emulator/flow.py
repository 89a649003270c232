"""Basic blocks of a kernel: runs of instructions that are entered at the top and left at the
bottom."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from grader.emulator.decode import Decoded
from grader.emulator.operands import Immediate, Register
from grader.emulator.program import INSTRUCTION_BYTES, Unsupported

BRANCHES = frozenset({"BRA", "BSSY", "CALL"})
"""Opcodes whose last operand is a code address (a byte offset in the function)."""


@dataclass(frozen=True)
class Block:
    """A basic block: its number, and its instructions in order. `following` is the block after it,
    None at the end."""

    index: int
    instructions: tuple[Decoded, ...]
    following: int | None


@dataclass(frozen=True)
class Flow:
    """All basic blocks that can be reached; `block_at` maps an instruction's index to the block
    that it starts.

    `jump_blocks` are the ones that indirect branches may go to.
    """

    blocks: tuple[Block, ...]
    block_at: dict[int, int]
    instruction_count: int
    jump_blocks: tuple[int, ...] = ()

    @property
    def return_points(self) -> tuple[Block, ...]:
        """The blocks behind calls: where a return may go."""
        calls = (block for block in self.blocks if block.instructions[-1].base == "CALL")
        return tuple(self.blocks[block.following] for block in calls if block.following is not None)

    def target(self, instruction: Decoded) -> int:
        """The block that a branch (or BSSY) names."""
        return self.block_at[target_index(instruction, self.instruction_count)]


def target_index(instruction: Decoded, count: int) -> int:
    """Index of the instruction that a branch names, in a kernel of `count` instructions."""
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
    code: tuple[Decoded, ...],
    ends_block: Callable[[Decoded], bool],
    jump_targets: Collection[int] = (),
) -> Flow:
    """Split the code at branch targets and after the instructions that end a block; what cannot be
    reached is left out.

    `jump_targets` are the offsets that indirect branches may go to, where there are any.
    """
    jumps = (
        {offset // INSTRUCTION_BYTES for offset in jump_targets}
        if any(map(is_indirect, code))
        else set()
    )
    starts = {0} | jumps
    for instruction in code:
        if ends_block(instruction):
            starts.add(instruction.index + 1)
        if _names_code(instruction):
            starts.add(target_index(instruction, len(code)))
    ordered = sorted(start for start in starts if start < len(code))
    ends = [*ordered[1:], len(code)]
    extents = dict(zip(ordered, ends, strict=True))
    reachable = _reachable(code, extents, jumps)
    kept = [start for start in ordered if start in reachable]
    number = {start: index for index, start in enumerate(kept)}
    blocks = tuple(
        Block(number[start], code[start : extents[start]], number.get(extents[start]))
        for start in kept
    )
    return Flow(blocks, number, len(code), tuple(number[start] for start in sorted(jumps)))


def _reachable(code: tuple[Decoded, ...], extents: dict[int, int], jumps: set[int]) -> set[int]:
    seen: set[int] = set()
    waiting = [0, *jumps]
    while waiting:
        start = waiting.pop()
        if start in seen or start not in extents:
            continue
        seen.add(start)
        body = code[start : extents[start]]
        waiting += [
            target_index(instruction, len(code)) for instruction in body if _names_code(instruction)
        ]
        if not _never_falls_through(body[-1]):
            waiting.append(extents[start])
    return seen


def is_indirect(instruction: Decoded) -> bool:
    """Whether it goes where a table of the kernel says: BRX, and calls of functions by pointers."""
    by_register = bool(instruction.operands) and isinstance(instruction.operands[0], Register)
    return instruction.base == "BRX" or (
        instruction.base == "CALL" and by_register and not instruction.has("ABS")
    )


def _names_code(instruction: Decoded) -> bool:
    if instruction.base == "CALL" and (instruction.has("ABS") or is_indirect(instruction)):
        return False
    return instruction.base in BRANCHES or (
        instruction.base == "WARPSYNC" and instruction.has("COLLECTIVE")
    )


def _never_falls_through(last: Decoded) -> bool:
    always = (
        last.base == "BRA"
        and len(last.operands) == 1
        and not last.has("DIV")
        and not last.has("CONV")
    )
    return last.guard is None and (always or last.base in ("EXIT", "RET", "BRX", "ENDCOLLECTIVE"))
