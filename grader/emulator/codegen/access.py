"""Kinds of memory accesses. The runtime has a function per kind that checks, counts and moves the
data (cpp/memory/accesses.cpp)."""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.layouts.execution import AccessFlag


@dataclass(frozen=True)
class AccessKind:
    """A kind of access: `space` is `shared`, `global` or `local`, `width` in bytes.

    `part`: only the first byte is certainly accessed. `copied`: one of the two accesses of an
    asynchronous copy, which are counted together; its store happens later. For atomics in shared
    memory, `turns`: lanes with equal addresses take turns; `rounds`: passes of the data, two for a
    compare-and-swap; `one_a_bank`: of the lanes that use a bank, only the first passes. `matrix`:
    the data of each eight lanes are a matrix.
    """

    space: str
    load: bool
    width: int
    atomic: bool = False
    part: bool = False
    copied: bool = False
    turns: bool = False
    rounds: int = 1
    matrix: bool = False
    one_a_bank: bool = False

    @property
    def words(self) -> int:
        """32-bit words of a lane's data, at least 1."""
        return max(1, self.width // 4)

    @property
    def function(self) -> str:
        """Name of the runtime's function for such accesses, without prefix."""
        verb = "atomic" if self.atomic else "load" if self.load else "store"
        return f"{verb}_{self.space}_{self.width}"

    @property
    def later(self) -> bool:
        """Whether the data moves after the access is counted."""
        return self.copied and not self.load

    @property
    def flags(self) -> int:
        """Its AccessFlag bits."""
        return (
            AccessFlag.PART * self.part
            | AccessFlag.COPIED * self.copied
            | AccessFlag.LATER * self.later
            | AccessFlag.TURNS * self.turns
            | AccessFlag.TWICE * (self.rounds == 2)
            | AccessFlag.MATRIX * self.matrix
            | AccessFlag.ONE_A_BANK * self.one_a_bank
        )
