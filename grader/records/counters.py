"""Exact counters with Nsight Compute's meaning: one row per counter.

A new counter is a new field of `Counters`, with its row. The emulated device, the reader of
Nsight Compute's answer, the JSON, the pages and the schema of scores follow `COUNTERS`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from enum import Enum, IntEnum
from functools import cache
from operator import add, attrgetter
from typing import Literal, Protocol, TypeVar

from grader.sass import OPERANDS

GLOBAL, SHARED = "global", "shared"
EFFICIENCY = "useful bytes / moved bytes"
Number = Literal["executed", "threads", "requests", "passes", "passes_ideal", "bytes"]
Read = TypeVar("Read", bound=Callable[..., object])


class Accesses(Protocol):
    """Numbers of instructions that access memory alike, such as the emulator's
    `InstructionCounts`, which explains the attributes."""

    @property
    def space(self) -> str | None: ...
    @property
    def load(self) -> bool: ...
    @property
    def atomic(self) -> bool: ...


class Accessing(Enum):
    """Kinds of accesses that a counter includes, as pairs of `load` and `atomic`. An atomic that
    returns the old value (ATOMG, ATOM) is a fetch: `load` and `atomic` are both true."""

    LOADS = ((True, False),)
    STORES = ((False, False),)
    FETCHES = ((True, True),)
    ATOMICS = ((True, True), (False, True))
    ALL = ((True, False), (False, False), (True, True), (False, True))


@dataclass(frozen=True)
class Sum:
    """A number of `InstructionCounts`, added over the instructions that access `space` in these
    `ways`; over all instructions where `space` is None."""

    number: Number
    space: str | None = None
    ways: Accessing = Accessing.ALL

    def includes(self, space: str | None, *, load: bool, atomic: bool) -> bool:
        """Whether accesses of this kind are in the sum."""
        return self.space in (None, space) and (load, atomic) in self.ways.value


class Shown(IntEnum):
    """Where `grade run` shows a counter; the JSON also has the counters of the pages."""

    NOWHERE = 0
    IN_JSON = 1
    ON_PAGES = 2


@dataclass(frozen=True)
class Counter:
    """A counter, or a figure that follows from counters and has neither `sums` nor
    metrics.

    The emulated device adds the `sums`. Nsight Compute's reader adds `metrics`, `copies`
    (asynchronous copies to shared memory, LDGSTS, from sm_80 on) and, where the GPU has that
    metric, `matrices` (LDSM, STSM); then it subtracts the counters that `less` names. A counter
    without metrics is 0 in its answer.
    """

    unit: str
    shown: Shown
    sums: tuple[Sum, ...] = ()
    metrics: tuple[str, ...] = ()
    copies: str = ""
    matrices: str = ""
    less: tuple[str, ...] = ()
    name: str = ""


def counter_field(
    unit: str,
    *sums: Sum,
    metrics: tuple[str, ...] = (),
    shown: Shown = Shown.NOWHERE,
    copies: str = "",
    matrices: str = "",
    less: tuple[str, ...] = (),
) -> int:
    """A field of `Counters` with its row, 0 by default."""
    row = Counter(unit, shown, sums, metrics, copies, matrices, less)
    made: int = field(default=0, metadata={"row": row})
    return made


def figure(unit: str, shown: Shown) -> Callable[[Read], Read]:
    """A property of `Counters` with its row."""

    def mark(read: Read) -> Read:
        vars(read)["row"] = Counter(unit, shown)
        return read

    return mark


def row_of(member: object) -> Counter | None:
    """The row of a property of `Counters`, if it has one."""
    row: Counter | None = vars(getattr(member, "fget", row_of)).get("row")
    return row


_GLOBAL_METRICS: Mapping[Number, tuple[str, str]] = {
    "requests": ("requests", "l1tex__t_requests_pipe_lsu_mem_global_op_{}.sum"),
    "passes": ("sectors", "smsp__sass_l1tex_t_sectors_pipe_lsu_mem_global_op_{}.sum"),
    "bytes": ("bytes", "smsp__sass_data_bytes_mem_global_op_{}.sum"),
}
"""By number the unit, and the metrics of the operations in `_OPERATIONS`."""
_OPERATIONS = {
    Accessing.LOADS: ("ld",),
    Accessing.STORES: ("st",),
    Accessing.FETCHES: ("atom",),
    Accessing.ATOMICS: ("atom", "red"),
}


def _global(
    number: Number, ways: Accessing, *, shown: Shown = Shown.NOWHERE, copied: bool = False
) -> int:
    """A field for accesses to global memory; `copied`: asynchronous copies are added."""
    unit, metric = _GLOBAL_METRICS[number]
    return counter_field(
        unit,
        Sum(number, GLOBAL, ways),
        metrics=tuple(map(metric.format, _OPERATIONS[ways])),
        copies=metric.format("ldgsts") if copied else "",
        shown=shown,
    )


def _global_ideal(ways: Accessing, *metrics: str) -> int:
    return counter_field("sectors", Sum("passes_ideal", GLOBAL, ways), metrics=metrics)


@dataclass(frozen=True)
class GlobalAccesses:
    """Sums over accesses to global memory in a direction. `sectors` are of 32 bytes, `bytes` are
    requested by the threads. Nsight Compute adds the bytes that generic accesses had from
    shared and local memory: no ideal sectors hold those. `sectors_ideal` is 0 where it is not
    known."""

    requests: int
    sectors: int
    sectors_ideal: int
    bytes: int

    @property
    def efficiency(self) -> float | None:
        """Useful bytes over moved bytes, 0 to 1; None where no sector moved."""
        return self.useful_bytes / (32 * self.sectors) if self.sectors else None

    @property
    def useful_bytes(self) -> int:
        """Bytes of the sectors that the threads request."""
        return min(self.bytes, 32 * (self.sectors_ideal or self.sectors), 32 * self.sectors)

    @property
    def wasted_bytes(self) -> int:
        """Bytes of the sectors that no thread requests."""
        return 32 * self.sectors - self.useful_bytes


@dataclass(frozen=True)
class Counters:
    """Sums over instructions, warps and launches: adding two records adds every field.

    Atomics are neither loads nor stores. `global_atomic_*` include all of them; `global_fetch_*`
    include those that return the old value (ATOMG, ATOM; the others are reductions: REDG, RED).
    Lanes of an atomic that access the same address share its bytes and its sector.

    Order of fields: `devices.remote.protocol` sends the values in this order.
    """

    instructions_executed: int = counter_field(
        "instructions",
        Sum("executed"),
        metrics=("smsp__inst_executed.sum",),
        shown=Shown.ON_PAGES,
    )
    # The hardware's own count, smsp__thread_inst_executed, is a few higher for some kernels whose
    # warps diverge.
    thread_instructions_executed: int = counter_field(
        "instructions",
        Sum("threads"),
        metrics=("smsp__sass_thread_inst_executed.sum",),
        shown=Shown.IN_JSON,
    )
    shared_load_instructions: int = counter_field(
        "instructions",
        Sum("executed", SHARED, Accessing.LOADS),
        metrics=("smsp__inst_executed_op_shared_ld.sum",),
        matrices="smsp__inst_executed_op_ldsm.sum",
        shown=Shown.IN_JSON,
    )
    shared_store_instructions: int = counter_field(
        "instructions",
        Sum("executed", SHARED, Accessing.STORES),
        metrics=("smsp__inst_executed_op_shared_st.sum",),
        matrices="smsp__inst_executed_op_shared_stsm.sum",
        shown=Shown.IN_JSON,
    )
    shared_atomic_instructions: int = counter_field(
        "instructions",
        Sum("executed", SHARED, Accessing.ATOMICS),
        metrics=("smsp__inst_executed_op_shared_atom.sum",),
    )
    shared_load_wavefronts: int = counter_field(
        "wavefronts",
        Sum("passes", SHARED, Accessing.LOADS),
        metrics=("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",),
        matrices="smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ldsm.sum",
        shown=Shown.IN_JSON,
    )
    # Nsight Compute does not count them alone. All wavefronts minus the wavefronts of loads and
    # atomics belong to stores, to asynchronous copies, and to operands of warp group products.
    shared_store_wavefronts: int = counter_field(
        "wavefronts",
        Sum("passes", SHARED, Accessing.STORES),
        Sum("passes", OPERANDS),
        metrics=("memory_l1_wavefronts_shared",),
        less=("shared_load_wavefronts", "shared_atomic_wavefronts"),
        shown=Shown.IN_JSON,
    )
    shared_atomic_wavefronts: int = counter_field(
        "wavefronts",
        Sum("passes", SHARED, Accessing.ATOMICS),
        metrics=("smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_atom.sum",),
        shown=Shown.IN_JSON,
    )

    @property
    @figure("wavefronts", Shown.ON_PAGES)
    def shared_wavefronts(self) -> int:
        """Wavefronts of shared loads, stores and atomics together."""
        loaded, stored = self.shared_load_wavefronts, self.shared_store_wavefronts
        return loaded + stored + self.shared_atomic_wavefronts

    shared_wavefronts_ideal: int = counter_field(
        "wavefronts",
        Sum("passes_ideal", SHARED),
        Sum("passes_ideal", OPERANDS),
        metrics=("memory_l1_wavefronts_shared_ideal",),
        shown=Shown.IN_JSON,
    )

    @property
    @figure("wavefronts", Shown.ON_PAGES)
    def shared_bank_conflicts(self) -> int:
        """Wavefronts beyond the ideal: the bank conflicts that are graded, computed from addresses
        (docs/devices.md)."""
        return self.shared_wavefronts - self.shared_wavefronts_ideal

    # Hardware counters of loads include asynchronous copies; the software-patched counters have
    # them apart.
    global_load_requests: int = _global("requests", Accessing.LOADS, shown=Shown.IN_JSON)
    global_load_sectors: int = _global("passes", Accessing.LOADS, copied=True, shown=Shown.ON_PAGES)

    @property
    @figure(EFFICIENCY, Shown.ON_PAGES)
    def global_load_efficiency(self) -> float | None:
        """Useful bytes over moved bytes of global reads, 0 to 1; None without any."""
        return self.global_reads.efficiency

    # Nsight Compute has the ideal sectors of all global accesses together only: they are here then.
    global_load_sectors_ideal: int = _global_ideal(
        Accessing.LOADS, "memory_l2_theoretical_sectors_global_ideal"
    )
    global_load_bytes: int = _global("bytes", Accessing.LOADS, copied=True)
    global_store_requests: int = _global("requests", Accessing.STORES, shown=Shown.IN_JSON)
    global_store_sectors: int = _global("passes", Accessing.STORES, shown=Shown.ON_PAGES)

    @property
    @figure(EFFICIENCY, Shown.ON_PAGES)
    def global_store_efficiency(self) -> float | None:
        """Useful bytes over moved bytes of global writes, 0 to 1; None without any."""
        return self.global_writes.efficiency

    global_store_sectors_ideal: int = _global_ideal(Accessing.STORES)
    global_store_bytes: int = _global("bytes", Accessing.STORES)
    global_atomic_requests: int = _global("requests", Accessing.ATOMICS, shown=Shown.ON_PAGES)
    global_atomic_sectors: int = _global("passes", Accessing.ATOMICS, shown=Shown.ON_PAGES)
    global_atomic_sectors_ideal: int = _global_ideal(Accessing.ATOMICS)
    global_atomic_bytes: int = _global("bytes", Accessing.ATOMICS)
    global_fetch_requests: int = _global("requests", Accessing.FETCHES)
    global_fetch_sectors: int = _global("passes", Accessing.FETCHES)
    global_fetch_sectors_ideal: int = _global_ideal(Accessing.FETCHES)
    global_fetch_bytes: int = _global("bytes", Accessing.FETCHES)

    def __add__(self, other: Counters) -> Counters:
        return Counters(*map(add, self.values(), other.values()))

    def values(self) -> tuple[int, ...]:
        """All fields in declaration order."""
        return _VALUES(self)

    @property
    def shared_instructions(self) -> int:
        """Instructions that load, store or change shared memory, in warps."""
        loads, stores = self.shared_load_instructions, self.shared_store_instructions
        return loads + stores + self.shared_atomic_instructions

    @property
    def shared_wavefronts_excessive(self) -> int:
        """`shared_bank_conflicts` by Nsight Compute's name."""
        return self.shared_bank_conflicts

    @property
    def shared_atomic_conflicts(self) -> int:
        """Wavefronts of atomics beyond one for each instruction."""
        return max(0, self.shared_atomic_wavefronts - self.shared_atomic_instructions)

    @property
    def global_reads(self) -> GlobalAccesses:
        """Accesses that move data from global memory to a multiprocessor: loads and fetches."""
        return self._accesses("load", "fetch")

    @property
    def global_atomics(self) -> GlobalAccesses:
        """Atomics, as stores of their bytes."""
        return self._accesses("atomic")

    @property
    def global_writes(self) -> GlobalAccesses:
        """Accesses that move data from a multiprocessor to global memory: stores and atomics."""
        return self._accesses("store", "atomic")

    def _accesses(self, *ways: str) -> GlobalAccesses:
        names = (field.name for field in fields(GlobalAccesses))
        return GlobalAccesses(
            *(sum(getattr(self, f"global_{way}_{name}") for way in ways) for name in names)
        )

    @property
    def global_sectors(self) -> int:
        """Sectors of loads, stores and atomics together."""
        return self.global_load_sectors + self.global_store_sectors + self.global_atomic_sectors

    @property
    def global_sectors_excessive(self) -> int:
        """Sectors beyond the ideal number:
        `derived__memory_l2_theoretical_sectors_global_excessive` of Nsight Compute."""
        ideal = self.global_load_sectors_ideal
        ideal += self.global_store_sectors_ideal + self.global_atomic_sectors_ideal
        return self.global_sectors - ideal


def _read_rows() -> Iterator[Counter]:
    """The rows in the order of the class's body."""
    counted = {each.name: each.metadata["row"] for each in fields(Counters)}
    for name, member in vars(Counters).items():
        row = counted.get(name) or row_of(member)
        if row is not None:
            yield replace(row, name=name)


COUNTERS: Mapping[str, Counter] = {row.name: row for row in _read_rows()}
"""All counters and the figures that the pages or JSON show with them, in their order there."""


_VALUES: Callable[[Counters], tuple[int, ...]] = attrgetter(*Counters.__dataclass_fields__)


def count_accesses(accesses: Iterable[Accesses]) -> Counters:
    """The counters of instructions together; each record is of instructions that access memory
    alike."""
    totals = dict[str, int]()
    for each in accesses:
        for counter, number in _find_sums(each.space, each.load, each.atomic):
            totals[counter] = totals.get(counter, 0) + getattr(each, number)
    return Counters(**totals)


@cache
def _find_sums(space: str | None, load: bool, atomic: bool) -> tuple[tuple[str, Number], ...]:
    """The counters that include accesses of this kind, each with the number that it adds."""
    return tuple(
        (name, each.number)
        for name in Counters.__dataclass_fields__
        for each in COUNTERS[name].sums
        if each.includes(space, load=load, atomic=atomic)
    )
