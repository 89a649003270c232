"""Gives instructions without a line of the submission the lines that call them.

Inlined code has the line of its call. The compiler's own functions (division, square root) and
functions of headers that were not inlined are separate and have no line. A function that several
lines call is repeated for each of them, so that each line's counters are exact; the total counts
stay the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from grader.records import SassInstruction
from grader.sass import depends_on_place, is_call, may_name_code

INSTRUCTION_BYTES = 16
MAX_INSTRUCTIONS = 12_288
"""Kernels are not made longer than this: the emulated device takes 16,384 (emulator.program)."""


@dataclass(frozen=True)
class _Function:
    """A function without lines: instructions `first` to `end` (not included). `movable`: it may be
    repeated elsewhere."""

    first: int
    end: int
    movable: bool

    @property
    def offset(self) -> int:
        return self.first * INSTRUCTION_BYTES


def give_to_callers(
    code: Sequence[SassInstruction], functions: Sequence[int]
) -> tuple[SassInstruction, ...]:
    """The kernel's code with lines for functions that have none. `functions`: the byte offsets of
    all functions, also of those with lines.

    A function stays without a line if it is called by pointer or by itself, or from several lines
    although it calls others.
    """
    if not functions or any(_calls_by_pointer(instruction) for instruction in code):
        return tuple(code)
    given = list(code)
    waiting = {function.offset: function for function in _find_functions(code, functions)}
    calls = _find_calls(code)
    looked_at = list(waiting)
    while looked_at:
        ready = [offset for offset in looked_at if _has_callers(given, calls.get(offset, ()))]
        looked_at = []
        for offset in ready:
            function = waiting.pop(offset)
            _give(given, function, calls[offset])
            targets = (
                _target(line)
                for line in code[function.first : function.end]
                if is_call(line.opcode)
            )
            looked_at += [
                target for target in targets if target in waiting
            ]  # its calls have a line now
        looked_at = sorted(set(looked_at))
    return tuple(given)


def _find_functions(code: Sequence[SassInstruction], functions: Sequence[int]) -> list[_Function]:
    starts = sorted(offset // INSTRUCTION_BYTES for offset in functions)
    extents = zip(starts, [*starts[1:], len(code)], strict=True)
    bare = [
        (first, end)
        for first, end in extents
        if all(instruction.line is None for instruction in code[first:end])
    ]
    return [
        _Function(
            first,
            end,
            not any(depends_on_place(instruction.opcode) for instruction in code[first:end]),
        )
        for first, end in bare
    ]


def _find_calls(code: Sequence[SassInstruction]) -> dict[int, list[int]]:
    """The calls of every function, by index, by the function's offset."""
    calls: dict[int, list[int]] = {}
    for i, instruction in enumerate(code):
        if is_call(instruction.opcode) and (target := _target(instruction)) is not None:
            calls.setdefault(target, []).append(i)
    return calls


def _has_callers(code: Sequence[SassInstruction], calls: Sequence[int]) -> bool:
    """Whether a function is called, and the lines of all its calls are known."""
    return bool(calls) and all(code[call].line is not None for call in calls)


def _give(code: list[SassInstruction], function: _Function, calls: Sequence[int]) -> None:
    by_line: dict[int | None, list[int]] = {}
    for call in calls:
        by_line.setdefault(code[call].line, []).append(call)
    lines = list(by_line)
    body = code[function.first : function.end]
    if len(lines) > 1 and (
        not function.movable or len(code) + (len(lines) - 1) * len(body) > MAX_INSTRUCTIONS
    ):
        return
    code[function.first : function.end] = [
        replace(instruction, line=lines[0]) for instruction in body
    ]
    for line in lines[1:]:
        moved_by = (len(code) - function.first) * INSTRUCTION_BYTES
        code += [replace(_move(instruction, moved_by), line=line) for instruction in body]
        for call in by_line[line]:
            code[call] = _retarget(code[call], function.offset + moved_by)


def _calls_by_pointer(instruction: SassInstruction) -> bool:
    by_name = _target(instruction) is not None
    return is_call(instruction.opcode) and ".REL" in instruction.opcode and not by_name


def _move(instruction: SassInstruction, moved_by: int) -> SassInstruction:
    moved = replace(instruction, offset=instruction.offset + moved_by)
    target = _target(instruction)
    return moved if target is None else _retarget(moved, target + moved_by)


def _target(instruction: SassInstruction) -> int | None:
    """The offset that a branch names; None if it names none."""
    last = instruction.operands.rpartition(",")[2].strip()
    return int(last, 16) if may_name_code(instruction.opcode) and last.startswith("0x") else None


def _retarget(instruction: SassInstruction, target: int) -> SassInstruction:
    before, comma, _ = instruction.operands.rpartition(",")
    return replace(instruction, operands=f"{before}{comma}{target:#x}")
