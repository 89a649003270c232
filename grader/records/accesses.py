"""Single accesses of a warp to memory, with their addresses: what pictures are drawn from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from grader.records.requests import Dim3

SECTOR_BYTES, WARP_LANES = 32, 32


class Memory(StrEnum):
    """What is accessed, and with that what is counted: sectors, or wavefronts."""

    GLOBAL = "global"
    SHARED = "shared"


class Operation(StrEnum):
    """What an access does."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


@dataclass(frozen=True)
class WarpAccess:
    """The access of a source line that cost most beyond what it needs, of all that were executed
    there: wavefronts beyond the ideal, or bytes that nobody asked for.

    `addresses` and `elements` have an entry for each of the 32 lanes, None where it took no part:
    bytes from the start of the block's shared memory, or addresses in global memory, and what lies
    there in its array's own indices (`tile[3][17]`), where that is known. `array` is the one that
    all lanes access. The warp is number `warp` of its block, of `block_size` threads; `launch` is
    the number of the launch in the plan, from 1.

    `passes` are wavefronts or sectors of 32 bytes, `passes_ideal` the fewest for so many bytes.
    `bytes_used` are distinct ones. `wavefronts`, of shared memory, holds the lanes that each
    serves; which one is first is not known.
    """

    line: int
    kernel: str
    launch: int
    memory: Memory
    operation: Operation
    width_bytes: int
    array: str | None
    block: Dim3
    block_size: Dim3
    warp: int
    addresses: tuple[int | None, ...]
    elements: tuple[str | None, ...]
    passes: int
    passes_ideal: int
    bytes_used: int
    wavefronts: tuple[tuple[int, ...], ...] = ()

    @property
    def excess(self) -> int:
        """Wavefronts beyond the ideal, or bytes that were moved and not asked for."""
        if self.memory is Memory.SHARED:
            return self.passes - self.passes_ideal
        return self.bytes_moved - self.bytes_used

    @property
    def bytes_moved(self) -> int:
        """By an access to global memory: whole sectors."""
        return self.passes * SECTOR_BYTES

    def thread(self, lane: int) -> Dim3:
        """The thread of a lane, by its index in the block."""
        number = WARP_LANES * self.warp + lane
        rows, x = divmod(number, self.block_size.x)
        z, y = divmod(rows, self.block_size.y)
        return Dim3(x, y, z)
