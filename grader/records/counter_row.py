"""The row of a counter: how it is summed, its metrics of Nsight Compute, its unit
(records.counters has the rows)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, IntEnum
from typing import Literal, Protocol, TypeVar, cast


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

    number: Literal["executed", "threads", "requests", "passes", "passes_ideal", "bytes"]
    space: str | None = None
    ways: Accessing = Accessing.ALL

    def add(self, accesses: Accesses) -> int:
        """The share of these instructions in the sum."""
        kind = accesses.load, accesses.atomic
        included = self.space in (None, accesses.space) and kind in self.ways.value
        return cast(int, getattr(accesses, self.number)) if included else 0


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

    def count(self, accesses: Accesses) -> int:
        """The share of these instructions in the counter."""
        return sum(each.add(accesses) for each in self.sums)


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


Read = TypeVar("Read", bound=Callable[..., object])


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
