"""Single accesses of a warp to memory, with the addresses of all lanes: the data of pictures."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from grader.records.bounds import Count, Number
from grader.records.requests import Dim3

SECTOR_BYTES, WARP_LANES = 32, 32
PER_LANE = (("minItems", WARP_LANES), ("maxItems", WARP_LANES))
Lane = Annotated[int, ("minimum", 0), ("maximum", WARP_LANES - 1)]


class Memory(StrEnum):
    """The accessed memory: the cost is counted in sectors (global) or wavefronts (shared)."""

    GLOBAL = "global"
    SHARED = "shared"


class Operation(StrEnum):
    """The operation of an access."""

    LOAD = "load"
    STORE = "store"
    ATOMIC = "atomic"


@dataclass(frozen=True)
class WarpAccess:
    """An access of a warp. Lane i of warp w is the thread with the linear index 32 * w + i of
    the block, x first.

    Of all accesses that a source line executed it has the largest `excess`.
    """

    line: Number
    """1-based line of the submission."""
    kernel: str
    launch: Number
    """Number of the launch in the plan, from 1."""
    memory: Memory
    operation: Operation
    width_bytes: Annotated[int, ("enum", (1, 2, 4, 8, 16, 32))]
    """Of one lane."""
    array: str | None
    """The array that all lanes access, with its extents; null where there are several, or its name
    is not known."""
    block: Dim3
    """Index of the block in the grid."""
    block_size: Dim3
    """Threads of a block."""
    warp: Count
    """Number of the warp in its block, from 0."""
    addresses: Annotated[tuple[Annotated[int | None, ("minimum", 0)], ...], *PER_LANE]
    """Of each lane: the byte from the start of the block's shared memory, or the address in global
    memory. null: the lane took no part."""
    elements: Annotated[tuple[str | None, ...], *PER_LANE]
    """Of each lane: the element there, by the indices of its array (`tile[3][17]`); null where it
    is not known."""
    passes: Number
    """Wavefronts (shared), or sectors of 32 bytes (global)."""
    passes_ideal: Number
    """The fewest for so many bytes."""
    bytes_used: Count
    """Distinct bytes that the lanes request."""
    wavefronts: tuple[Annotated[tuple[Lane, ...], ("minItems", 1)], ...] = ()
    """Of shared memory: the lanes that each wavefront serves. Their order is not known. Empty for
    global memory."""

    @property
    def excess(self) -> int:
        """Wavefronts beyond the ideal, or bytes that were moved and not requested."""
        if self.memory is Memory.SHARED:
            return self.passes - self.passes_ideal
        return self.bytes_moved - self.bytes_used

    @property
    def bytes_moved(self) -> int:
        """Bytes of the sectors that an access to global memory moves."""
        return self.passes * SECTOR_BYTES

    def thread(self, lane: int) -> Dim3:
        """The thread of a lane, by its index in the block."""
        number = WARP_LANES * self.warp + lane
        rows, x = divmod(number, self.block_size.x)
        z, y = divmod(rows, self.block_size.y)
        return Dim3(x, y, z)
