"""Gives code that stands in no line of the submission to the lines that call it.

What is inlined has the line that it was inlined at, but the compiler's own functions (division, square root) and those of headers
that were not inlined stand apart, with no line. One that several lines call is repeated for each of them, so that each line's
counters are exact; the machine counts the same either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.records import SassInstruction

INSTRUCTION_BYTES = 16
MAX_INSTRUCTIONS = 12_288
"""Kernels are not made longer than this: the emulated device takes 16,384 (emulator.program)."""
_BRANCHES = ("BRA", "BSSY", "CALL", "WARPSYNC.COLLECTIVE")
"""Opcodes that may end with an address of the code."""


@dataclass(frozen=True)
class _Function:
    """A function without lines: instructions `first` to `end` (not included). `movable`: it may be repeated elsewhere."""

    first: int
    end: int
    movable: bool

    @property
    def offset(self) -> int:
        return self.first * INSTRUCTION_BYTES


def give_to_callers(code: Sequence[SassInstruction], functions: Sequence[int]) -> tuple[SassInstruction, ...]:
    """The kernel's code with lines for functions that have none. `functions`: their byte offsets, of those with lines too.

    What is called by pointer, by itself, or from several lines although it calls others, stays without a line.
    """
    if not functions or any(_calls_by_pointer(instruction) for instruction in code):
        return tuple(code)
    given = list(code)
    waiting = _find_functions(code, functions)
    while ready := [function for function in waiting if _callers(given, function)]:
        for function in ready:
            _give(given, function, _callers(given, function))
            waiting.remove(function)
    return tuple(given)


def _find_functions(code: Sequence[SassInstruction], functions: Sequence[int]) -> list[_Function]:
    starts = sorted(offset // INSTRUCTION_BYTES for offset in functions)
    extents = zip(starts, [*starts[1:], len(code)], strict=True)
    bare = [(first, end) for first, end in extents if all(instruction.line is None for instruction in code[first:end])]
    return [_Function(first, end, all(map(_can_move, code[first:end]))) for first, end in bare]


def _callers(code: Sequence[SassInstruction], function: _Function) -> list[int]:
    """The calls of a function, by index; none while the line of one is not known."""
    calls = [i for i, instruction in enumerate(code) if instruction.opcode.startswith("CALL") and _target(instruction) == function.offset]
    return calls if all(code[call].line is not None for call in calls) else []


def _give(code: list[SassInstruction], function: _Function, calls: Sequence[int]) -> None:
    lines = list(dict.fromkeys(code[call].line for call in calls))
    body = code[function.first : function.end]
    if len(lines) > 1 and (not function.movable or len(code) + (len(lines) - 1) * len(body) > MAX_INSTRUCTIONS):
        return
    code[function.first : function.end] = [replace(instruction, line=lines[0]) for instruction in body]
    for line in lines[1:]:
        moved_by = (len(code) - function.first) * INSTRUCTION_BYTES
        code += [replace(_move(instruction, moved_by), line=line) for instruction in body]
        for call in calls:
            if code[call].line == line:
                code[call] = _retarget(code[call], function.offset + moved_by)


def _can_move(instruction: SassInstruction) -> bool:
    """Whether it does not tell where it stands: a call leaves its own address behind, and tables hold addresses."""
    return not instruction.opcode.startswith(("CALL", "BRX", "JMP", "LEPC"))


def _calls_by_pointer(instruction: SassInstruction) -> bool:
    return instruction.opcode.startswith("CALL.REL") and _target(instruction) is None


def _move(instruction: SassInstruction, moved_by: int) -> SassInstruction:
    moved = replace(instruction, offset=instruction.offset + moved_by)
    target = _target(instruction)
    return moved if target is None else _retarget(moved, target + moved_by)


def _target(instruction: SassInstruction) -> int | None:
    """The offset that a branch names; None for what names none."""
    last = instruction.operands.rpartition(",")[2].strip()
    return int(last, 16) if instruction.opcode.startswith(_BRANCHES) and last.startswith("0x") else None


def _retarget(instruction: SassInstruction, target: int) -> SassInstruction:
    before, comma, _ = instruction.operands.rpartition(",")
    return replace(instruction, operands=f"{before}{comma}{target:#x}")
