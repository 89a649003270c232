"""Memory accesses of a kernel's code: what tells one kind from another, and the call of the runtime
that checks, counts and moves the data (cpp/memory/accesses.cpp)."""

from __future__ import annotations

from dataclasses import dataclass

from grader.emulator.layouts.execution import AccessFlag


@dataclass(frozen=True)
class AccessKind:
    """What a memory instruction does: `space` is `shared`, `global` or `local`, `width` in bytes.

    `part`: of the bytes only the first is sure to be accessed. `copied`: it is one of an
    asynchronous copy's two, which are counted together, and its store comes later. Of atomics in
    shared memory, `turns` says whether lanes that meet at one address take turns there, `rounds`
    how often the data goes through: twice for a compare-and-swap, and `one_a_bank` whether only the
    first of the lanes with a bank does. `matrix`: the data of each eight lanes are a matrix.
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
        """Words of a lane's data."""
        return max(1, self.width // 4)

    @property
    def function(self) -> str:
        """The runtime's function for such accesses."""
        way = "atomic" if self.atomic else "load" if self.load else "store"
        return f"{way}_{self.space}_{self.width}"

    @property
    def later(self) -> bool:
        """Whether the data is moved later than the access is counted."""
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
