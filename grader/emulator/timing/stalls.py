"""The states of a resident warp in a cycle, with Nsight Compute's names.

Nsight Compute's `IMC Miss` is missing: simulated warps never have it, because the model has no
cache of immediate constants.
"""

from __future__ import annotations

from enum import IntEnum


class Stall(IntEnum):
    """The state of a warp in a cycle. SELECTED: it issues an instruction; in all other states, it
    does not. BARRIER is counted at the barrier's own instruction."""

    SELECTED = 0
    WAIT = 1
    """The stall count of the previous instruction has not passed."""
    BRANCH_RESOLVING = 2
    LONG_SCOREBOARD = 3
    """Waits for a load, a store, an atomic or a copy of global or local memory."""
    SHORT_SCOREBOARD = 4
    """Waits for shared memory, a special function, or another unit whose latency varies."""
    BARRIER = 5
    LG_THROTTLE = 6
    """The queue of the load/store unit is full, for an access to global or local memory."""
    MIO_THROTTLE = 7
    """The same for other instructions in that queue."""
    MATH_PIPE_THROTTLE = 8
    DISPATCH_STALL = 9
    """The scheduler waits for register banks, or for a 64-bit product."""
    NOT_SELECTED = 10
    """It could issue, but its scheduler issues another warp's instruction."""
    MEMBAR = 11
    SLEEPING = 12
    NO_INSTRUCTION = 13
