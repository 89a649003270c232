"""Registers and predicates of a warp while a basic block is emitted: read from the warp's record
once, kept as SSA values, and written back at the block's end."""

from __future__ import annotations

from llvmlite import ir

from grader.emulator.layout import WARP_LANES
from grader.emulator.native.tools import (
    I1,
    I32,
    LANES_I32,
    Record,
    Value,
    bits_to_lanes,
    lane_bits,
)

Name = tuple[str, int]
"""A kind of register, which is the name of a method of Registers, and its index."""


class Registers:
    """What is known of a warp's registers in one basic block."""

    def __init__(self, builder: ir.IRBuilder, warp: Record) -> None:
        self._b, self._warp = builder, warp
        self._known: dict[Name, Value] = {}
        self._changed: set[Name] = set()

    def lanes(self, index: int) -> Value:
        """`R<index>` of all lanes."""
        return self._read(("lanes", index))

    def uniform(self, index: int) -> Value:
        """`UR<index>`."""
        return self._read(("uniform", index))

    def predicate(self, index: int) -> Value:
        """`P<index>` as 32 i1."""
        return self._read(("predicate", index))

    def uniform_predicate(self, index: int) -> Value:
        """`UP<index>` as an i1."""
        return self._read(("uniform_predicate", index))

    def set(self, kind: str, index: int, value: Value) -> None:
        """Change a register of a kind, which is the name of one of the methods above."""
        self._known[kind, index] = value
        self._changed.add((kind, index))

    def write_back(self) -> None:
        """Write all that was changed to the warp's record; it stays known."""
        for name in sorted(self._changed):
            self._write(name, self._known[name])
        self._changed.clear()

    def _read(self, name: Name) -> Value:
        if name not in self._known:
            self._known[name] = self._load(name)
        return self._known[name]

    def _load(self, name: Name) -> Value:
        kind, index = name
        if kind == "lanes":
            return self._b.load(self._place(index), typ=LANES_I32, align=4)
        if kind == "uniform":
            return self._warp.load("uniform", index)
        word = self._warp.load(f"{kind}s", index)
        return bits_to_lanes(self._b, word) if kind == "predicate" else self._b.trunc(word, I1)

    def _write(self, name: Name, value: Value) -> None:
        kind, index = name
        if kind == "lanes":
            self._b.store(value, self._place(index), align=4)
        elif kind == "uniform":
            self._warp.store("uniform", value, index)
        else:
            word = lane_bits(self._b, value) if kind == "predicate" else self._b.zext(value, I32)
            self._warp.store(f"{kind}s", word, index)

    def _place(self, index: int) -> Value:
        return self._warp.at("registers", index * WARP_LANES)
