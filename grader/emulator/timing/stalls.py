"""The states of a resident warp in a cycle, with Nsight Compute's names, and the records of the
stall breakdown, which Python and the C++ runtime share (see timing_records.py).

Nsight Compute's `IMC Miss` is missing: simulated warps never have it, because the model has no
cache of immediate constants.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated


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


class Span:
    """Consecutive cycles of a warp at an instruction in one state (Stall): the index of the
    resident `warp`, and of its block in the order of blocks. `cause`: the instruction that it waits
    for, -1 for none."""

    start: int
    length: int
    warp: Annotated[int, "i4"]
    block: Annotated[int, "i4"]
    code: Annotated[int, "i4"]
    cause: Annotated[int, "i4"]
    stall: Annotated[int, "i4"]
    unused: Annotated[int, "i4"]


class Profile:
    """Each cycle of each warp, counted once. `cycles` has a row of states per instruction;
    `awaited`: cycles that warps wait for an instruction's result, by its index.

    By resident warp: the cycle up to which its cycles are counted (`assigned_until`), the
    instructions that set its scoreboards (`setters`), and its `latest` span. `issued_until`: the
    cycle from which on a sub-partition can issue again. `resident_cycles`: from the start of each
    warp to its end. The spans that fit are kept: all that begin before `filled_at`.
    """

    cycles: Annotated[int, "double *"]
    awaited: Annotated[int, "double *"]
    assigned_until: Annotated[int, "double *"]
    setters: Annotated[int, "int64_t *"]
    latest: Annotated[int, "int64_t *"]
    issued_until: Annotated[int, "double *"]
    spans: Annotated[int, "Span *"]
    span_capacity: int
    span_count: int
    resident_cycles: float
    filled_at: float
