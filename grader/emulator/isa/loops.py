"""Which loop a launch was stopped in, by how often its blocks ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.emulator.isa.flow import Block, Flow
from grader.emulator.isa.program import Unsupported
from grader.sass import is_branch

ROUNDS = 1000
"""A loop that has begun so many rounds for each warp does not end, rather than one within it."""

Loop = tuple[int, int]
"""Its first basic block, and its last one, which leads back."""


def find_lines(flow: Flow, executions: Sequence[int], index: int) -> tuple[int, int] | None:
    """The first and the last source line of the loop that did not end, where the launch was stopped
    at this instruction; `executions` are those of each basic block. None where it was in none."""
    around = [
        loop
        for loop in _find_loops(flow)
        if flow.blocks[loop[0]].instructions[0].index
        <= index
        <= flow.blocks[loop[1]].instructions[-1].index
    ]
    if not around:
        return None
    endless = [loop for loop in around if executions[loop[0]] >= ROUNDS * executions[0]]
    first, last = max(endless or around, key=lambda loop: _rank(loop, executions, bool(endless)))
    blocks = flow.blocks[first : last + 1]
    lines = [i.line for block in blocks for i in block.instructions if i.line is not None]
    return (min(lines), max(lines)) if lines else None


def _rank(loop: Loop, executions: Sequence[int], endless: bool) -> int:
    """Of loops that do not end the outermost, else the one with the most rounds."""
    return loop[1] - loop[0] if endless else executions[loop[0]]


def _find_loops(flow: Flow) -> Iterator[Loop]:
    """The loops, as far as their blocks lie in a row: each branch back makes one."""
    for block in flow.blocks:
        target = _target(flow, block)
        if target is not None and target <= block.index:
            yield target, block.index


def _target(flow: Flow, block: Block) -> int | None:
    """The block that the last instruction jumps to, where it names one."""
    last = block.instructions[-1]
    if not is_branch(last.base):
        return None
    try:
        return flow.target(last)
    except Unsupported:
        return None
