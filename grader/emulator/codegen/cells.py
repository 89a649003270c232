"""A cell of a kernel: the address of a step, then the words of data that the step reads."""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.codegen.shapes import Hole
from grader.emulator.codegen.tools import I64
from grader.emulator.layouts.execution import CELL_HEAD_BYTES


class CellLayout:
    """The words of data of a shape's cells, in the order in which they were first asked for. Both
    steps of a shape share it."""

    def __init__(self) -> None:
        self.holes: dict[Hole, int] = {}
        self.size = ir.Constant(I64, 0)

    def place(self, hole: Hole) -> int:
        """Where a word lies in a cell."""
        return CELL_HEAD_BYTES + 4 * self.holes.setdefault(hole, len(self.holes))

    def close(self) -> None:
        """All words are known: so is where the next cell begins."""
        self.size.constant = cell_bytes(len(self.holes))


def cell_bytes(words: int) -> int:
    """Size of a cell with so many words of data."""
    return CELL_HEAD_BYTES + 8 * -(-4 * words // 8)
