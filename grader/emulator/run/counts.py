"""Counters per instruction, summed over the host threads that ran a launch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from grader.emulator.isa.decode import Decoded
from grader.emulator.isa.flow import Flow
from grader.emulator.layouts.execution import WORST
from grader.emulator.run.worst import WorstRequest, keep_worse, make_request
from grader.sass import Access, Way

SYSTEM_FENCE_INSTRUCTIONS = 9
"""What an H100 executes besides for each fence of the system (`MEMBAR.SYS`), and one of them is a
store request: tests/emulator/kernels/fence_system_*.cu."""


@dataclass(frozen=True)
class InstructionCounts:
    """What one instruction did in a launch. `executed` counts warps, `threads` their lanes on the
    path.

    Memory instructions: `space` is `shared` or `global`; `requests` are executions with an active
    lane; `passes` are wavefronts (shared) or 32-byte sectors (global), `passes_ideal` the fewest
    possible; `bytes` the distinct bytes; `elsewhere` are accesses to shared memory of other blocks,
    which none of these count. An atomic that returns what was there is a load, too. An
    instruction that may touch two spaces (generic addresses, asynchronous copies) has two records:
    the first one holds its executions, the second one only what it did to shared memory.
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
        """Without those that a fence of the system executes besides."""
        fences = self.requests if self.opcode.startswith("MEMBAR") else 0
        return self.executed - SYSTEM_FENCE_INSTRUCTIONS * fences


_SUMMED = ("executed", "threads", "requests", "passes", "passes_ideal", "bytes", "elsewhere")
_TOTALS = ("requests_total", "passes_total", "passes_ideal_total", "bytes_total", "elsewhere_total")
_REQUESTS = _SUMMED.index("requests")
_DRAWN = ("global", "shared")
"""The spaces whose worst accesses are drawn."""


class CountTable:
    """What the counters of a kernel are of: a row for each record of its reachable instructions, in
    the order of the code.

    `rows` are the records with zeros, `stores` the slots of plain stores to global memory.
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
            [access is not None and access.way is Way.FENCE for *_, access in found], np.int64
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

    def sum_up(self, parts: Iterable[tuple[np.ndarray, np.ndarray]]) -> LaunchCounts:
        """The counts of a launch. Each part is (blocks, COUNTS_PER_BLOCK), and SLOT records."""
        sums = np.zeros((len(self.rows), len(_SUMMED)), dtype=np.int64)
        worst = np.zeros(len(self._slots), WORST)
        for block_counts, slots in parts:
            keep_worse(worst, slots["worst"][self._slots])
            executed, threads, repetitions = block_counts[self._block].T.astype(np.int64)
            # a repetition of the last instruction is of the same threads
            sums[:, 0] += self._first * (executed + self._last * repetitions)
            sums[:, 1] += self._first * threads
            for column, total in enumerate(_TOTALS, start=_REQUESTS):
                sums[self._accesses, column] += slots[total][self._slots].astype(np.int64)
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
    """What every reachable instruction did in a launch: `sums` has a row for each of the table,
    and a column for each number of `InstructionCounts`; `worst` has a WORST for each of its
    accesses, or is empty."""

    table: CountTable
    sums: np.ndarray
    worst: np.ndarray = field(default_factory=lambda: np.zeros(0, WORST))

    @cached_property
    def records(self) -> tuple[InstructionCounts, ...]:
        """A record for each row."""
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
        """The sums over all instructions of a line that access memory alike; each is told as that
        of the first one."""
        return self.table.sum_lines(self.sums)

    def worst_requests(self) -> Iterator[WorstRequest]:
        """Of each instruction the access that cost most beyond what it needs; none of those that
        wasted nothing."""
        return self.table.name_worst(self.worst) if len(self.worst) else iter(())


NO_COUNTS = CountTable(Flow((), {}, 0), {}).sum_up(())
"""Of a launch that did not run."""


def join_counts(parts: Sequence[LaunchCounts], scale: float) -> LaunchCounts:
    """The counts of a launch that was run in parts, times `scale`."""
    sums = np.sum([part.sums for part in parts], axis=0)
    worst = parts[0].worst.copy()
    for part in parts[1:]:
        keep_worse(worst, part.worst)
    return LaunchCounts(parts[0].table, np.rint(scale * sums).astype(np.int64), worst)


def _counted(i: Decoded, slots: Mapping[tuple[int, str], int]) -> list[Access] | list[None]:
    """The accesses of an instruction that are counted; a single None where there are none."""
    return [each for each in i.accesses if (i.index, each.space) in slots] or [None]


def _make_row(i: Decoded, access: Access | None) -> InstructionCounts:
    row = InstructionCounts(i.index, i.opcode, i.line)
    if access is None:
        return row
    return replace(row, space=access.space, load=access.load, atomic=access.atomic)


def _fill(rows: Iterable[InstructionCounts], sums: np.ndarray) -> Iterator[InstructionCounts]:
    """The records with their numbers."""
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
