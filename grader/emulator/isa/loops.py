"""Finds the loop in which a launch was stopped, from the execution counts of basic blocks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.emulator.isa.flow import Block, Flow
from grader.emulator.isa.program import Unsupported
from grader.sass import is_branch

ROUNDS = 1000
"""A loop with at least this many iterations per warp is endless; a loop with fewer only surrounds
the endless loop."""

Loop = tuple[int, int]
"""Its first basic block, and its last, which branches back."""


def find_lines(flow: Flow, executions: Sequence[int], index: int) -> tuple[int, int] | None:
    """First and last source line of the endless loop around instruction `index`, at which the
    launch was stopped. `executions` holds one count per basic block. None outside of loops."""
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
    """Among endless loops the outermost wins, otherwise the loop with the most iterations."""
    return loop[1] - loop[0] if endless else executions[loop[0]]


def _find_loops(flow: Flow) -> Iterator[Loop]:
    """A loop per backward branch; it consists of the blocks between target and branch."""
    for block in flow.blocks:
        target = _target(flow, block)
        if target is not None and target <= block.index:
            yield target, block.index


def _target(flow: Flow, block: Block) -> int | None:
    """The target of the last instruction; None if it is no direct branch."""
    last = block.instructions[-1]
    if not is_branch(last.base):
        return None
    try:
        return flow.target(last)
    except Unsupported:
        return None
