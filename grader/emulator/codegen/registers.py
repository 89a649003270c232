"""Registers and predicates of a warp while an instruction is emitted: loaded once from the warp's
record, kept as SSA values, stored at the end of the instruction."""

from __future__ import annotations

from collections.abc import Callable

from llvmlite import ir

from grader.emulator.codegen.shapes import (
    field_place,
    lane_register_place,
    predicate_name,
    register_name,
)
from grader.emulator.codegen.tools import I1, I32, I64, LANES_I1, LANES_I32, Value, offset
from grader.emulator.layouts.execution import WARP_LANES

Name = tuple[str, int]
"""A kind and an index: `lanes` (`R5` of all lanes), `uniform` (`UR5`), `predicate` (`P5` as 32 i1)
or `uniform_predicate` (`UP5` as an i1)."""


class Registers:
    """Cached register values of an instruction. `data` returns words of its cell."""

    def __init__(
        self, builder: ir.IRBuilder, warp: Value, data: Callable[[str, int], Value]
    ) -> None:
        self._b, self._warp, self._data = builder, warp, data
        self._known: dict[Name, Value] = {}
        self._changed: set[Name] = set()

    def read(self, kind: str, index: int) -> Value:
        """A register or predicate as its kind's LLVM value."""
        if (kind, index) not in self._known:
            self._known[kind, index] = self._load((kind, index))
        return self._known[kind, index]

    def set(self, kind: str, index: int, value: Value) -> None:
        """Changes a register or predicate."""
        self._known[kind, index] = value
        self._changed.add((kind, index))

    def write_back(self) -> None:
        """Stores all changed registers to the warp's record."""
        for name in sorted(self._changed):
            self._write(name, self._known[name])
        self._changed.clear()

    def place_of(self, index: int) -> Value:
        """Address of `R<index>` of all lanes; the next registers follow it."""
        return self._place(("lanes", index))

    def place_of_predicate(self, index: int) -> Value:
        """Address of `P<index>`, a lane mask."""
        return self._place(("predicate", index))

    def _load(self, name: Name) -> Value:
        kind, _ = name
        if kind == "lanes":
            return self._b.load(self._place(name), typ=LANES_I32, align=4)
        word = self._b.load(self._place(name), typ=I32)
        if kind == "uniform":
            return word
        return self._b.bitcast(word, LANES_I1) if kind == "predicate" else self._b.trunc(word, I1)

    def _write(self, name: Name, value: Value) -> None:
        kind, _ = name
        if kind == "predicate":
            value = self._b.bitcast(value, I32)
        elif kind == "uniform_predicate":
            value = self._b.zext(value, I32)
        self._b.store(value, self._place(name), align=4)

    def _place(self, name: Name) -> Value:
        """Address of a register or predicate: from the cell's data for names of a shape, otherwise
        constant."""
        kind, index = name
        behind = 0
        if kind.endswith("predicate"):
            hole = predicate_name(index)
            fixed = field_place(f"{kind}s", index)
        else:
            step = 4 * WARP_LANES if kind == "lanes" else 4
            place = register_name(index)
            hole = None
            if place is not None:
                hole, behind = place[0], place[1] * step
            fixed = lane_register_place(index) if kind == "lanes" else field_place(kind, index)
        if hole is None:
            return offset(self._b, self._warp, fixed)
        word = self._data("predicate" if kind.endswith("predicate") else "register", hole)
        return offset(self._b, offset(self._b, self._warp, self._b.zext(word, I64)), behind)
