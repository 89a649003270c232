"""Executed steps of the warps of some blocks, from their traces; a simulation reads them in
order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import TraceWord
from grader.emulator.timing.analysis_records import Access, Line, Step, Stream, Trace
from grader.emulator.timing.code_table import CodeTable, Exchanges
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import first_row, make_pointing, make_rows
from grader.emulator.timing.timing_records import LINE_SECTORS

_SECTORS = np.array([mask.bit_count() for mask in range(1 << LINE_SECTORS)])
"""Number of sectors in a mask of a line."""


_COUNTED_APART = [
    *(Kind.COPY, Kind.PREFETCH, Kind.BULK_LOAD, Kind.BULK_STORE),
    *(Kind.TEXTURE, Kind.SURFACE_STORE),
]
_IN_ORDER = [
    *(Kind.COMMIT, Kind.DEPEND, Kind.OBJECT, Kind.PHASE),
    *(Kind.PRODUCT, Kind.PRODUCTS_DEPEND),
]
"""Steps that refer to earlier steps of their warp."""
IDLE, BUSY = 0.25, 0.9
"""A block ends at once if it executes at most this fraction of the instructions of a busy block: of
this quantile of the blocks."""


@dataclass(frozen=True)
class Work:
    """Totals per block, without the loops in which its warps waited: executions of each instruction
    (a row per block); sectors of global accesses and wavefronts of shared accesses, without
    asynchronous copies."""

    executed: np.ndarray
    sectors: np.ndarray
    wavefronts: np.ndarray


@dataclass(frozen=True)
class Streams:
    """The warps of some blocks. Warp w runs `steps[first[w]:first[w + 1]]`.

    `steps`, `accesses` and `lines` are arrays of records; `table` has the CodeRows of their code.
    `fraction`: the fraction of the blocks' executed instructions that the traces contain, as they
    may be cut off. `local_bytes`: local memory per thread. `waited`: instructions of loops in which
    warps waited for others; the traces contain only the last round of a wait. `begins`: the step
    with which each warp begins, if not with its first; then it runs the steps before at the end.
    """

    first: np.ndarray
    steps: np.ndarray
    accesses: np.ndarray
    lines: np.ndarray
    table: np.ndarray
    warps_per_block: int
    fraction: float
    local_bytes: int = 0
    waited: Sequence[int] = ()
    begins: np.ndarray | None = None

    @property
    def blocks(self) -> int:
        return (len(self.first) - 1) // self.warps_per_block

    @property
    def new_sectors(self) -> float:
        """The fraction of the sectors of the lines that no earlier line has touched."""
        numbers = np.repeat(self.lines["number"], 4) * 4 + np.tile(np.arange(4), len(self.lines))
        bits = self.lines["touched"][:, np.newaxis] >> np.arange(4) & 1
        touched = numbers[bits.ravel() == 1]
        return len(np.unique(touched)) / max(1, len(touched))

    @cached_property
    def executed(self) -> np.ndarray:
        """Executions of each instruction: a row per block."""
        return np.array(
            [
                np.bincount(self.steps["code"][start:end], minlength=len(self.table))
                for start, end in pairwise(self.first[:: self.warps_per_block])
            ]
        )

    @cached_property
    def working(self) -> np.ndarray:
        """The blocks that do not end at once."""
        work = self.executed.sum(axis=1)
        return np.flatnonzero(work > IDLE * np.quantile(work, BUSY, method="lower"))

    @cached_property
    def work(self) -> Work:
        """Its totals. Counters of copies and prefetches differ from their times."""
        codes, access = self.steps["code"], self.steps["access"]
        ends, executed = self.first[:: self.warps_per_block], self.executed.copy()
        executed[:, self.waited] = 0
        made = np.flatnonzero(access >= 0)
        kinds = self.table["kind"][codes[made]]
        made = made[~np.isin(kinds, _COUNTED_APART) & ~np.isin(codes[made], self.waited)]
        edges, space = np.searchsorted(made, ends), self.accesses["space"]
        of_access = (
            self.sectors("touched", self.accesses) * (space == TraceWord.GLOBAL),
            self.accesses["wavefronts"] * (space == TraceWord.SHARED),
        )
        sectors, wavefronts = (
            np.diff(np.concatenate([[0], np.cumsum(each[access[made]], dtype=np.int64)])[edges])
            for each in of_access
        )
        return Work(executed, sectors, wavefronts)

    def sectors(self, mask: str, accesses: np.ndarray) -> np.ndarray:
        """The number of sectors in a `mask` of each access's lines."""
        before = np.concatenate([[0], np.cumsum(_SECTORS[self.lines[mask]])])
        return np.asarray(before[accesses["end"]] - before[accesses["first"]])

    def lines_of(self, instructions: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The lines that a mask of instructions accesses: for each its step, and its number."""
        steps = np.flatnonzero(instructions[self.steps["code"]] & (self.steps["access"] >= 0))
        accesses = self.accesses[self.steps["access"][steps]]
        counts = accesses["end"] - accesses["first"]
        of_access = np.repeat(accesses["first"] - np.cumsum(counts) + counts, counts)
        numbers = self.lines["number"][of_access + np.arange(len(of_access))]
        return np.repeat(steps, counts), numbers

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """Its arrays, by name."""
        names = ("table", "first", "steps", "accesses", "lines")
        return {name: getattr(self, name) for name in names}

    def record(self) -> np.ndarray:
        """A record of Stream, which these streams must outlive."""
        numbers = {"block_count": self.blocks, "warps_per_block": self.warps_per_block}
        return make_pointing(Stream, self.arrays, numbers)

    def staggered(self, resident: int) -> Streams:
        """Blocks as an SM runs them after some waves: no longer in step. The k-th of `resident`
        blocks begins behind k / `resident` of its barriers, or of its steps if it has none, and
        ends with the steps before. Steps that refer to earlier steps keep their order: then no
        block is changed."""
        kinds = self.table["kind"]
        if len(self.waited) or self.executed[:, np.isin(kinds, _IN_ORDER)].any():
            return self
        begins, is_barrier = self.first[:-1].copy(), np.equal(kinds, Kind.BARRIER)
        for block in range(self.blocks):
            warps = range(block * self.warps_per_block, (block + 1) * self.warps_per_block)
            spans = [slice(*self.first[warp : warp + 2]) for warp in warps]
            behind = [np.flatnonzero(is_barrier[self.steps["code"][span]]) + 1 for span in spans]
            count, part = len(behind[0]), block % resident / resident
            if any(len(each) != count for each in behind):
                continue
            for warp, span, places in zip(warps, spans, behind, strict=True):
                size = int(span.stop - span.start)
                k = round(part * (count or size))
                begins[warp] += (places[k - 1] if count and k else k) % max(1, size)
        return replace(self, begins=begins)

    def block(self, index: int) -> Streams:
        """The stream of a single block."""
        first = self.first[index * self.warps_per_block : (index + 1) * self.warps_per_block + 1]
        steps = self.steps[first[0] : first[-1]]
        return replace(self, first=first - first[0], steps=steps)


def make_streams(
    traces: Sequence[Sequence[np.ndarray]],
    executed: int,
    blocks: Sequence[range],
    code: CodeTable,
    local_bytes: int,
    runtime: Runtime,
    waited: Sequence[int] = (),
) -> Streams:
    """Streams of the blocks' traces. `blocks`: the instruction range of each basic block; `waited`:
    instructions of loops in which warps of the launch waited."""
    warps = [warp for block in traces for warp in block]
    first = np.zeros(len(warps) + 1, dtype=np.int64)
    arrays: dict[str, np.ndarray] = {
        "words": np.concatenate(warps) if warps else np.zeros(0, dtype=np.uint32),
        "ends": np.cumsum([0, *map(len, warps)], dtype=np.int64),
        "starts": np.array([block.start for block in blocks], dtype=np.int64),
        "sizes": np.array([len(block) for block in blocks], dtype=np.int64),
        "widths": code.widths,
        "atomics": code.atomics,
        "first": first,
    }
    numbers = {"warp_count": len(warps)}
    steps, accesses, lines = _expand(arrays, numbers, runtime)
    fraction = 1.0
    if len(steps) < executed:
        first, steps = _cut_at_barriers(first, steps, code.barriers, len(traces[0]))
        fraction = len(steps) / max(1, executed)
    table, warps_per_block = code.waiting_at(waited), len(traces[0])
    return Streams(
        first, steps, accesses, lines, table, warps_per_block, fraction, local_bytes, waited
    )


def find_exchanges(groups: Sequence[Streams]) -> Exchanges:
    """The exchanges between the blocks of each group: stores and loads of the same lines."""
    found: list[Sequence[np.ndarray]] = [[np.zeros(0, dtype=np.int64)] * 3]
    for each in groups:
        codes, kinds = each.steps["code"], each.table["kind"]
        loads = (kinds == Kind.LOAD) & (each.table["past_l1"] == 1)
        if loads[codes].any():
            found.append(_find_exchanges(each, loads))
    return Exchanges(*(np.unique(np.concatenate(part)) for part in zip(*found, strict=True)))


def _find_exchanges(group: Streams, loads: np.ndarray) -> Sequence[np.ndarray]:
    """The fields of Exchanges, with repetitions."""
    stores, stored = group.lines_of(group.table["kind"] == Kind.STORE)
    readers, read = group.lines_of(loads)
    blocks = np.searchsorted(group.first, np.concatenate([stores, readers]), "right") - 1
    storers, of_reader = np.split(blocks // group.warps_per_block, [len(stores)])
    pairs = np.unique(stored * group.blocks + storers)  # of a line and a block that stores it
    first, end = (np.searchsorted(pairs, (read + k) * group.blocks) for k in range(2))
    others = end - first - np.isin(read * group.blocks + of_reader, pairs)
    lanes = group.accesses["lanes"][group.steps["access"][readers]]
    several = (end - first > 1) & (lanes > 1)
    handed = np.isin(stored, read[others > 0])
    codes = group.steps["code"].astype(np.int64)
    return (
        codes[stores[handed]],
        codes[readers[(others > 0) & several]],
        codes[readers[(others > 0) & ~several]],
    )


def join(groups: Sequence[Streams]) -> Streams:
    """The concatenation of several streams of one launch."""
    first, steps, accesses = [np.zeros(1, dtype=np.int64)], [], []
    step = access = line = 0
    for each in groups:
        first.append(each.first[1:] + step)
        steps.append(each.steps.copy())
        steps[-1]["access"][each.steps["access"] >= 0] += access
        accesses.append(each.accesses.copy())
        accesses[-1]["first"] += line
        accesses[-1]["end"] += line
        step, access = step + len(each.steps), access + len(each.accesses)
        line += len(each.lines)
    return replace(
        groups[0],
        first=np.concatenate(first),
        steps=np.concatenate(steps),
        accesses=np.concatenate(accesses),
        lines=np.concatenate([each.lines for each in groups]),
    )


def _expand(
    arrays: dict[str, np.ndarray], numbers: dict[str, int], runtime: Runtime
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The steps, accesses and lines of a Trace (cpp/timing/traces.cpp)."""
    measured = make_pointing(Trace, arrays, numbers)
    runtime.measure_traces(measured.ctypes.data)
    capacity = first_row(Trace, measured)
    steps = make_rows(Step, capacity.step_count)
    accesses, lines = make_rows(Access, capacity.access_count), make_rows(Line, capacity.line_count)
    made = {"steps": steps, "accesses": accesses, "lines": lines}
    expanded = make_pointing(Trace, arrays | made, numbers)
    runtime.expand_traces(expanded.ctypes.data)
    return steps, accesses, lines[: first_row(Trace, expanded).line_count]


def _cut_at_barriers(
    first: np.ndarray, steps: np.ndarray, barriers: np.ndarray, warps: int
) -> tuple[np.ndarray, np.ndarray]:
    """Shortens traces whose buffer was full, so that all warps of a block end after the same number
    of barriers."""
    parts, new_first = [], [0]
    for start in range(0, len(first) - 1, warps):
        spans = [np.arange(first[w], first[w + 1]) for w in range(start, start + warps)]
        places = [span[barriers[steps["code"][span]]] for span in spans]
        common = min(len(place) for place in places)
        shortest = min(len(span) for span in spans)
        for span, place in zip(spans, places, strict=True):
            end = place[common - 1] + 1 - span[0] if common else shortest
            parts.append(span[:end])
            new_first.append(new_first[-1] + end)
    return np.array(new_first, dtype=np.int64), steps[np.concatenate(parts)]
