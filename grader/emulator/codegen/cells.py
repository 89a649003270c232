"""Layout of a cell: the address of a step, then the data words that the step reads."""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.codegen.shapes import Hole
from grader.emulator.codegen.tools import I64
from grader.emulator.layouts.execution import CELL_HEAD_BYTES


class CellLayout:
    """The data words of a shape's cells, in the order of their first use. Both steps of a shape
    share the layout."""

    def __init__(self) -> None:
        self.holes: dict[Hole, int] = {}
        self.size = ir.Constant(I64, 0)

    def place(self, hole: Hole) -> int:
        """Byte offset of a data word in a cell; adds the word on first use."""
        return CELL_HEAD_BYTES + 4 * self.holes.setdefault(hole, len(self.holes))

    def close(self) -> None:
        """Fixes the cell size, which is the distance to the next cell."""
        self.size.constant = cell_bytes(len(self.holes))


def cell_bytes(words: int) -> int:
    """Size of a cell with this number of data words."""
    return CELL_HEAD_BYTES + 8 * -(-4 * words // 8)
