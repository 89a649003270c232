"""Records of the stall breakdown, which Python and the C++ runtime share (see
timing_records.py)."""

from __future__ import annotations

from typing import Annotated


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
