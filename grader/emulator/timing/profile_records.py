"""Records of where the cycles of a simulated SM's warps go, which Python and the runtime in C++
share as they do those of timing_records.py."""

from __future__ import annotations

from typing import Annotated


class Span:
    """That a warp is at an instruction for some cycles, in one state (Stall): the `warp` of so many
    resident ones, and the number of its block in the order of blocks. `cause` is the instruction
    that it waits for, -1 for none."""

    start: int
    length: int
    warp: Annotated[int, "i4"]
    block: Annotated[int, "i4"]
    code: Annotated[int, "i4"]
    cause: Annotated[int, "i4"]
    stall: Annotated[int, "i4"]
    unused: Annotated[int, "i4"]


class Profile:
    """Each cycle of each warp, told once. `cycles` has a row of states an instruction; `awaited`
    are cycles in which warps wait for what an instruction does, by its index.

    By resident warp: the cycle up to which it is `told`, the instructions that set its scoreboards
    (`setters`), and its `latest` span. `issued_until`: when a sub-partition can issue again.
    `resident_cycles` are those from the start of each warp to its end. Spans are kept as far as
    there is room: all that begin before `filled_at`.
    """

    cycles: Annotated[int, "double *"]
    awaited: Annotated[int, "double *"]
    told: Annotated[int, "double *"]
    setters: Annotated[int, "int64_t *"]
    latest: Annotated[int, "int64_t *"]
    issued_until: Annotated[int, "double *"]
    spans: Annotated[int, "Span *"]
    span_room: int
    span_count: int
    resident_cycles: float
    filled_at: float
