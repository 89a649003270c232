"""The pipes of a sub-partition, and an instruction's time there: the timing columns of the opcode
table.

Pipes have Nsight Compute's names for compute capability 7.0 and later. Latencies of the queued and
special units are from [19] and [25] of the notes, rounded.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum


class Unit(IntEnum):
    """The unit of a sub-partition that an instruction occupies. FMA: either half of the float pipe;
    HEAVY: the half that multiplies integers. NONE: no unit of limited rate, such as the uniform
    pipe. GROUP: the queue of products of warp groups before the tensor core."""

    FMA = 0
    HEAVY = 1
    ALU = 2
    DOUBLE = 3
    SPECIAL = 4
    MEMORY = 5
    NONE = 6
    TENSOR = 7
    GROUP = 8


class Kind(IntEnum):
    """The end of an instruction: after its stall count (FIXED), after a latency (VARIABLE), or with
    its memory access (SHARED to COPY; all but SHARED may access global memory). UNTIMED: after a
    latency, because the model does not follow its waits and transfers. SLEEP, fences and CALL hold
    up their warp until they end (cpp/timing/waits.cpp). OBJECT changes a barrier object, PHASE
    waits for it, BULK_LOAD and BULK_STORE copy (cpp/timing/objects.cpp). PRODUCT begins a product
    of a warp group, PRODUCTS_DEPEND waits for it."""

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
    """Invalidation of the L1, with which a fence makes other threads' stores visible."""
    SLEEP = 14
    FENCE_BLOCK = 15
    FENCE_GPU = 16
    FENCE_SYSTEM = 17
    CALL = 18
    """Call of a system function: `printf`, `malloc`, `free`."""
    INDIRECT = 19
    OBJECT = 20
    PHASE = 21
    BULK_LOAD = 22
    BULK_STORE = 23
    PRODUCT = 24
    PRODUCTS_DEPEND = 25
    TEXTURE = 26
    MATCH = 27
    """As VARIABLE, with a pass for each distinct value of the warp."""
    DELAY = 28
    """The warp's next instruction waits for the latency."""
    SURFACE_STORE = 29
    """As STORE; no counter of global memory counts it."""


@dataclass(frozen=True)
class Pipe:
    """An opcode's pipe, the kind of its end, and its passes through the pipe, or through the queue
    of the units that all sub-partitions share. `free`: the reason why it takes only an issue slot;
    required for pipes without a time."""

    unit: Unit
    kind: Kind = Kind.FIXED
    latency_cycles: int = 0
    passes: int = 1
    free: str = ""

    @property
    def has_time(self) -> bool:
        """Whether it takes more than its issue slot, or gives a reason why not."""
        return self.unit is not Unit.NONE or self.kind is not Kind.FIXED or bool(self.free)


def free(reason: str) -> Pipe:
    """No pipe: an instruction that takes only its issue slot and stall count."""
    return Pipe(Unit.NONE, free=reason)


FLOAT32, HEAVY, ALU = (Pipe(unit) for unit in (Unit.FMA, Unit.HEAVY, Unit.ALU))
JUMP = free("a jump costs Figures.jump_cycles where control goes elsewhere")
JOIN, CALL = (Pipe(Unit.NONE, Kind.DELAY, latency) for latency in (10, 15))
"""The end of a divergent region; a call and a return, each (H200: a warp alone)."""
UNIFORM = free("the uniform data path serves one warp a cycle, as the scheduler does")
NO_PIPE = free("measured on an H200: benchmarks/kernels/costs/issue_slots.cu")
LAUNCH_NEXT = Pipe(Unit.NONE, Kind.CONSTANT, 6)
"""Uses the divergence unit: 2 cycles of the SM (H200: issue_slots.cu)."""
HEAVY_TWICE = Pipe(Unit.HEAVY, passes=2)
FLOAT32_TWICE = Pipe(Unit.FMA, passes=2)
FLOAT64 = Pipe(Unit.DOUBLE, Kind.VARIABLE, 14)
SPECIAL_UNIT = Pipe(Unit.SPECIAL, Kind.VARIABLE, 18)
SPECIAL_REGISTER = Pipe(Unit.SPECIAL, Kind.VARIABLE, 20)
QUEUED = Pipe(Unit.MEMORY, Kind.VARIABLE, 24)
SHUFFLE = Pipe(Unit.MEMORY, Kind.VARIABLE, 21)
REDUCTION = Pipe(Unit.MEMORY, Kind.VARIABLE, 34, passes=2)
"""24 and 44 cycles from the operand to the next instruction of a warp alone (H200)."""
MATCH, MATCH_64 = (Pipe(Unit.MEMORY, Kind.MATCH, 15, passes) for passes in (2, 4))
"""Passes for each distinct value of a warp (H200: benchmarks/kernels/costs/matches.cu)."""
TENSOR_SLOW, TENSOR_FAST, TENSOR_SMALL = (
    Pipe(Unit.TENSOR, Kind.VARIABLE, latency, passes)
    for latency, passes in ((24, 6), (17, 4), (14, 4))
)
"""Products with 32 and with 16 bytes per row, measured on an H200: a pass every 6.15 and 4.1
cycles, two thirds of the rate of warp groups; latencies of 24.2 and 17.1 cycles (14.2 if A has 8
rows)."""
TENSOR_DOUBLES = {
    shape: Pipe(Unit.TENSOR, Kind.VARIABLE, latency, passes)
    for shape, latency, passes in (
        ("8x8x4", 26, 16),
        ("16x8x4", 34, 16),
        ("16x8x8", 50, 32),
        ("16x8x16", 82, 64),
    )
}
"""Products of float64 matrices, by shape, measured on an H200."""
GROUP_PRODUCTS = {
    f"64x{columns}x{depth}": Pipe(Unit.GROUP, Kind.PRODUCT, 33, passes=columns)
    for columns in range(8, 257, 8)
    for depth in (8, 16, 32, 256)
}
"""Products of warp groups, by shape. All rows have 32 bytes, so the rate depends on the columns
alone (cpp/timing/sm.cpp: product_cycles)."""
PRODUCTS_DEPEND = Pipe(Unit.NONE, Kind.PRODUCTS_DEPEND)
MATRIX_MOVE = Pipe(Unit.MEMORY, Kind.VARIABLE, 21)
TEXTURE = Pipe(Unit.MEMORY, Kind.TEXTURE, 130)
TEXTURE_FETCH = Pipe(Unit.MEMORY, Kind.TEXTURE, 160)
"""Reads of textures, and of linear memory by the texture unit (H200: 140 and 170 cycles with the
instructions around them)."""
SURFACE_LOAD = Pipe(Unit.MEMORY, Kind.TEXTURE, 70)
"""H200: 105 cycles for a turn of a loop that reads a surface."""
SURFACE_STORE = Pipe(Unit.MEMORY, Kind.SURFACE_STORE)
CONSTANT_LOAD = Pipe(Unit.NONE, Kind.CONSTANT, 30)
BARRIER_RESULT = Pipe(Unit.NONE, Kind.CONSTANT, 33)
"""What `__syncthreads_count()` and its like return: by the unit for address divergence, 2 cycles of
the SM (H200: 69 cycles of a warp alone, 2.3 cycles more per warp of 32 than a barrier)."""
SHARED_ACCESS, GLOBAL_LOAD, GLOBAL_STORE, GLOBAL_ATOMIC, COPY = (
    Pipe(Unit.MEMORY, kind) for kind in (Kind.SHARED, Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.COPY)
)
CLUSTER = Pipe(Unit.MEMORY, Kind.UNTIMED, 24)
CLUSTER_ARRIVAL = free("the wait counts as the arrival: programs wait directly after it")
CLUSTER_BARRIER = Pipe(Unit.NONE, Kind.BARRIER, 45)
"""As if all warps of the cluster were of the same block (H200: cluster_barriers*.cu)."""
BARRIER_OBJECT = Pipe(Unit.MEMORY, Kind.OBJECT, 24)
PHASE = Pipe(Unit.MEMORY, Kind.PHASE, 24)
BULK_LOAD, BULK_STORE = Pipe(Unit.NONE, Kind.BULK_LOAD, 44), Pipe(Unit.NONE, Kind.BULK_STORE, 44)
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
