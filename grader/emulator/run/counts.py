"""Counters per instruction, summed over the host threads that ran a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Flow
from grader.emulator.layouts.execution import SLOT, WORST
from grader.emulator.run.worst import WorstRequest, keep_worse, make_request
from grader.sass import Access, MemoryOperation

SYSTEM_FENCE_INSTRUCTIONS = 9
"""Additional instructions that an H100 executes for each system-wide fence (`MEMBAR.SYS`); one of
them is a store request: tests/emulator/kernels/fence_system_*.cu."""


@dataclass(frozen=True)
class InstructionCounts:
    """Counters of an instruction in a launch. `executed` counts warps, `threads` their lanes on the
    path.

    For memory instructions: `space` is `shared` or `global`; `requests` counts executions with an
    active lane; `passes` wavefronts (shared) or 32-byte sectors (global), `passes_ideal` the fewest
    possible; `bytes` distinct bytes; `elsewhere` accesses to shared memory of other blocks, which
    no other counter includes. An atomic that returns the old value is also a load. An instruction
    with two spaces (generic addresses, asynchronous copies) has two records: the first holds its
    executions, the second only its shared-memory counters.
    """

    index: int
    opcode: str
    line: int | None
    executed: int = 0
    threads: int = 0
    space: str | None = None
    load: bool = False
    atomic: bool = False
    requests: int = 0
    passes: int = 0
    passes_ideal: int = 0
    bytes: int = 0
    elsewhere: int = 0

    @property
    def executed_in_code(self) -> int:
        """Executions without the additional instructions of system-wide fences."""
        fences = self.requests if self.opcode.startswith("MEMBAR") else 0
        return self.executed - SYSTEM_FENCE_INSTRUCTIONS * fences


_SUMMED = ("executed", "threads", "requests", "passes", "passes_ideal", "bytes", "elsewhere")
_TOTALS = ("requests_total", "passes_total", "passes_ideal_total", "bytes_total", "elsewhere_total")
_REQUESTS = _SUMMED.index("requests")
_DRAWN = ("global", "shared")
"""Spaces whose worst accesses are drawn in reports."""


@dataclass(frozen=True)
class Tally:
    """Counters of a host thread: COUNTS_PER_BLOCK numbers per basic block, totals per slot (see
    `totals_of`), and the slots' WORST records, or none."""

    blocks: np.ndarray
    totals: np.ndarray
    worst: np.ndarray

    def copy(self) -> Tally:
        """A copy without the worst accesses, which the next blocks do not change."""
        return Tally(self.blocks.copy(), self.totals.copy(), self.worst[:0])

    def since(self, before: Tally) -> Tally:
        """The counters after an earlier copy."""
        return Tally(self.blocks - before.blocks, self.totals - before.totals, self.worst[:0])


def totals_of(slots: np.ndarray) -> np.ndarray:
    """The five totals of each slot, in the order of `InstructionCounts`, in place."""
    assert SLOT.fields is not None
    first = SLOT.fields[_TOTALS[0]][1]
    return np.ndarray((len(slots), len(_TOTALS)), np.uint64, slots, first, (SLOT.itemsize, 8))


class CountTable:
    """The meaning of a kernel's counters: a row per record of its reachable instructions, in code
    order.

    `rows` are the records with zeros.
    """

    def __init__(self, flow: Flow, slots: Mapping[tuple[int, str], int]) -> None:
        found = [
            (block, i, access)
            for block in flow.blocks
            for i in block.instructions
            for access in _counted(i, slots)
        ]
        self.rows = tuple(_make_row(i, access) for _, i, access in found)
        self._block = np.array([block.index for block, _, _ in found], dtype=np.intp)
        self._last = np.array([i is block.instructions[-1] for block, i, _ in found], np.int64)
        self._fences = np.array(
            [access is not None and access.kind is MemoryOperation.FENCE for *_, access in found],
            np.int64,
        )
        indices = np.array([i.index for _, i, _ in found])
        self._first = np.diff(indices, prepend=-1) != 0
        reached = [
            (row, slots[i.index, access.space])
            for row, (_, i, access) in enumerate(found)
            if access is not None
        ]
        self._accesses, self._slots = np.array(reached, dtype=np.intp).reshape(-1, 2).T
        kinds = [(row.line, row.space, row.load, row.atomic) for row in self.rows]
        numbers = {kind: number for number, kind in enumerate(dict.fromkeys(kinds))}
        self._kind = np.array([numbers[kind] for kind in kinds], dtype=np.intp)
        self._first_of_kind = np.unique(self._kind, return_index=True)[1]

    def sum_up(self, parts: Iterable[Tally]) -> LaunchCounts:
        """The counts of a launch, from the counters of its host threads."""
        sums = np.zeros((len(self.rows), len(_SUMMED)), dtype=np.int64)
        worst = np.zeros(len(self._slots), WORST)
        for part in parts:
            if len(part.worst):
                keep_worse(worst, part.worst[self._slots])
            executed, threads, repetitions = part.blocks[self._block].T.astype(np.int64)
            # the repeated last instruction has the same threads
            sums[:, 0] += self._first * (executed + self._last * repetitions)
            sums[:, 1] += self._first * threads
            sums[self._accesses, _REQUESTS:] += part.totals[self._slots].astype(np.int64)
        sums[:, 0] += SYSTEM_FENCE_INSTRUCTIONS * self._fences * sums[:, _REQUESTS]
        return LaunchCounts(self, sums, worst)

    def name_worst(self, worst: np.ndarray) -> Iterator[WorstRequest]:
        """See LaunchCounts.worst_requests."""
        for row, found in zip(self._accesses.tolist(), worst, strict=True):
            of = self.rows[row]
            if found["rank"] and of.space in _DRAWN:
                yield make_request(found, of.line, of.space, load=of.load, atomic=of.atomic)

    def sum_lines(self, sums: np.ndarray) -> Iterator[InstructionCounts]:
        """See LaunchCounts.by_line."""
        of_kinds = np.zeros((len(self._first_of_kind), len(_SUMMED)), dtype=np.int64)
        np.add.at(of_kinds, self._kind, sums)
        return _fill([self.rows[row] for row in self._first_of_kind.tolist()], of_kinds)


@dataclass(frozen=True, eq=False)
class LaunchCounts:
    """The counters of every reachable instruction in a launch. `sums` has a row per row of the
    table, and a column per number of `InstructionCounts`; `worst` has a WORST per access, or is
    empty."""

    table: CountTable
    sums: np.ndarray
    worst: np.ndarray = field(default_factory=lambda: np.zeros(0, WORST))

    @cached_property
    def records(self) -> tuple[InstructionCounts, ...]:
        """A record per row of the table."""
        return tuple(_fill(self.table.rows, self.sums))

    def __iter__(self) -> Iterator[InstructionCounts]:
        return iter(self.records)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LaunchCounts) and self.records == other.records

    @property
    def executed(self) -> int:
        """Warp instructions of the launch."""
        return int(self.sums[:, 0].sum())

    def by_line(self) -> Iterator[InstructionCounts]:
        """Sums counters per (line, space, load, atomic). `index` and `opcode` are the first
        instruction's: do not filter by them."""
        return self.table.sum_lines(self.sums)

    def worst_requests(self) -> Iterator[WorstRequest]:
        """Per instruction, the access with the highest cost beyond its minimum; instructions
        without such cost are omitted."""
        return self.table.name_worst(self.worst) if len(self.worst) else iter(())


NO_COUNTS = CountTable(Flow((), {}, 0), {}).sum_up(())
"""Counts of a launch that did not run."""


def join_counts(parts: Sequence[LaunchCounts], scale: float) -> LaunchCounts:
    """The sum of the counts of a launch's parts, times `scale`."""
    sums = np.sum([part.sums for part in parts], axis=0)
    worst = parts[0].worst.copy()
    for part in parts[1:]:
        keep_worse(worst, part.worst)
    return LaunchCounts(parts[0].table, np.rint(scale * sums).astype(np.int64), worst)


def _counted(i: Decoded, slots: Mapping[tuple[int, str], int]) -> list[Access] | list[None]:
    """The counted accesses of an instruction; a single None if it has none."""
    return [each for each in i.accesses if (i.index, each.space) in slots] or [None]


def _make_row(i: Decoded, access: Access | None) -> InstructionCounts:
    row = InstructionCounts(i.index, i.opcode, i.line)
    if access is None:
        return row
    return replace(row, space=access.space, load=access.load, atomic=access.atomic)


def _fill(rows: Iterable[InstructionCounts], sums: np.ndarray) -> Iterator[InstructionCounts]:
    """The records with the sums as their numbers."""
    for row, (executed, threads, *of_access) in zip(rows, sums.tolist(), strict=True):
        yield InstructionCounts(
            row.index,
            row.opcode,
            row.line,
            executed,
            threads,
            row.space,
            row.load,
            row.atomic,
            *of_access,
        )
