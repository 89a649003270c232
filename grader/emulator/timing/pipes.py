"""The pipes of a sub-partition, and how long an instruction takes there: what an opcode's row says
of its timing.

Pipes are as Nsight Compute names them for compute capability 7.0 and later; latencies of the queued
and special units are those of the notes' [19] and [25], rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Unit(IntEnum):
    """What an instruction occupies in its sub-partition. FMA: either half of the float pipe; HEAVY:
    the half that multiplies integers. NONE has no rival but itself, as the uniform pipe."""

    FMA = 0
    HEAVY = 1
    ALU = 2
    DOUBLE = 3
    SPECIAL = 4
    MEMORY = 5
    NONE = 6
    TENSOR = 7


class Kind(IntEnum):
    """How an instruction ends: after its stall count (FIXED), after a latency (VARIABLE), or as its
    memory access does (SHARED to COPY; all but SHARED may access global memory). UNTIMED: after a
    latency as far as the model knows, which does not follow what it waits for or moves. SLEEP,
    fences and CALL hold up their warp until they end (see timing_waits.cpp)."""

    FIXED = 0
    VARIABLE = 1
    SHARED = 2
    LOAD = 3
    STORE = 4
    ATOMIC = 5
    COPY = 6
    BARRIER = 7
    COMMIT = 8
    DEPEND = 9
    CONSTANT = 10
    UNTIMED = 11
    PREFETCH = 12
    INVALIDATE = 13
    """Of the L1, by which a fence makes other threads' stores visible."""
    SLEEP = 14
    FENCE_BLOCK = 15
    FENCE_GPU = 16
    FENCE_SYSTEM = 17
    CALL = 18
    """Of a function of the system: `printf`, `malloc`, `free`."""
    INDIRECT = 19


@dataclass(frozen=True)
class Pipe:
    """The pipe that an opcode takes, how it ends, and how often it passes the pipe, or the queue of
    the units that all sub-partitions share. `free`: why it takes an issue slot alone, which every
    pipe without a time must say."""

    unit: Unit
    kind: Kind = Kind.FIXED
    latency_cycles: int = 0
    passes: int = 1
    free: str = ""

    @property
    def has_time(self) -> bool:
        """Whether an instruction takes more than its issue slot, or says why it does not."""
        return self.unit is not Unit.NONE or self.kind is not Kind.FIXED or bool(self.free)


def free(reason: str) -> Pipe:
    """No pipe: an instruction that takes its issue slot and stall count, and nothing else."""
    return Pipe(Unit.NONE, free=reason)


FLOAT32, HEAVY, ALU = (Pipe(unit) for unit in (Unit.FMA, Unit.HEAVY, Unit.ALU))
JUMP = free("a jump costs Figures.jump_cycles where control goes elsewhere")
UNIFORM = free("the uniform data path serves one warp a cycle, as the scheduler does")
NO_PIPE = free("measured on an H200: benchmarks/kernels/costs/issue_slots.cu")
LAUNCH_NEXT = Pipe(Unit.NONE, Kind.CONSTANT, 6)
"""Passes the unit for divergence: 2 cycles of the SM (H200: issue_slots.cu)."""
HEAVY_TWICE = Pipe(Unit.HEAVY, passes=2)
FLOAT32_TWICE = Pipe(Unit.FMA, passes=2)
FLOAT64 = Pipe(Unit.DOUBLE, Kind.VARIABLE, 14)
SPECIAL_UNIT = Pipe(Unit.SPECIAL, Kind.VARIABLE, 18)
SPECIAL_REGISTER = Pipe(Unit.SPECIAL, Kind.VARIABLE, 20)
QUEUED = Pipe(Unit.MEMORY, Kind.VARIABLE, 24)
REDUCTION = Pipe(Unit.MEMORY, Kind.VARIABLE, 38, passes=2)
MATCH = Pipe(Unit.MEMORY, Kind.VARIABLE, 90, passes=16)
"""Takes two passes for each different word of a warp, of which a trace tells nothing: here 8."""
TENSOR_SLOW, TENSOR_FAST, TENSOR_SMALL = (
    Pipe(Unit.TENSOR, Kind.VARIABLE, latency, passes)
    for latency, passes in ((24, 6), (17, 4), (14, 4))
)
"""Of products of 32 and of 16 bytes a row, seen on an H200: one passes in 6.15 and 4.1 cycles, two
thirds of what warp groups reach; what waits for the sum does so for 24.2 and 17.1 (for 14.2 where A
has 8 rows)."""
TENSOR_DOUBLES = {
    shape: Pipe(Unit.TENSOR, Kind.VARIABLE, latency, passes)
    for shape, latency, passes in (
        ("8x8x4", 26, 16),
        ("16x8x4", 34, 16),
        ("16x8x8", 50, 32),
        ("16x8x16", 82, 64),
    )
}
"""Of float64 matrices, by shape, seen on an H200."""
TENSOR_GROUP = Pipe(Unit.TENSOR, Kind.UNTIMED, 128)
WARP_GROUP = Pipe(Unit.NONE, Kind.UNTIMED)
MATRIX_MOVE = Pipe(Unit.MEMORY, Kind.VARIABLE, 24)
TEXTURE = QUEUED
"""No launch with textures is modelled."""
CONSTANT_LOAD = Pipe(Unit.NONE, Kind.CONSTANT, 30)
SHARED_ACCESS, GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC, COPY = (
    Pipe(Unit.MEMORY, kind) for kind in (Kind.SHARED, Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.COPY)
)
BARRIER_OBJECT = Pipe(Unit.MEMORY, Kind.UNTIMED, 24)
PREFETCH = Pipe(Unit.MEMORY, Kind.PREFETCH)
INVALIDATE, SLEEP, FENCE_BLOCK, FENCE_GPU, FENCE_SYSTEM, SYSTEM_CALL, INDIRECT = (
    Pipe(Unit.NONE, kind)
    for kind in (
        *(Kind.INVALIDATE, Kind.SLEEP, Kind.FENCE_BLOCK, Kind.FENCE_GPU),
        *(Kind.FENCE_SYSTEM, Kind.CALL, Kind.INDIRECT),
    )
)
BARRIER, COMMIT, DEPEND = (
    Pipe(Unit.NONE, kind) for kind in (Kind.BARRIER, Kind.COMMIT, Kind.DEPEND)
)
