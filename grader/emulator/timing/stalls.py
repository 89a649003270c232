"""The states of a resident warp, one for each cycle, by the names that Nsight Compute has for them.

Of its states those are left out that no simulated warp is ever in: there is no cache of immediate
constants (`IMC Miss`).
"""

from __future__ import annotations

from enum import IntEnum


class Stall(IntEnum):
    """What a warp does in a cycle: SELECTED issues an instruction; all others keep its next one
    from being issued. A warp at a BARRIER is told at the barrier's own instruction."""

    SELECTED = 0
    WAIT = 1
    """The stall count of the instruction before has not passed."""
    BRANCH_RESOLVING = 2
    LONG_SCOREBOARD = 3
    """Waits for a load, a store, an atomic or a copy of global or local memory."""
    SHORT_SCOREBOARD = 4
    """Waits for shared memory, a special function, or another unit whose latency varies."""
    BARRIER = 5
    LG_THROTTLE = 6
    """The queue of the load/store unit is full, for an access to global or local memory."""
    MIO_THROTTLE = 7
    """The same for what else passes that queue."""
    MATH_PIPE_THROTTLE = 8
    DISPATCH_STALL = 9
    """The scheduler waits for register banks, or for a product of 64 bits."""
    NOT_SELECTED = 10
    """It could issue, and its scheduler issues another warp's instruction."""
    MEMBAR = 11
    SLEEPING = 12
    NO_INSTRUCTION = 13
