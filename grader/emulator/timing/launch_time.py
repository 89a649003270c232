"""Time of a launch: a simulation of one SM's resident warps, extended to all blocks of the
launch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from grader.emulator.counts import InstructionCounts
from grader.emulator.layout import SECTOR_BYTES
from grader.emulator.machine import BlockTrace
from grader.emulator.runtime import Runtime
from grader.emulator.timing.bounds import Use, find_bounds
from grader.emulator.timing.code_table import CodeTable, describe_code
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.footprint import Footprint
from grader.emulator.timing.parameters import Load, find_parameters
from grader.emulator.timing.representative import choose_representative, stand_for_all
from grader.emulator.timing.sm import make_sm
from grader.emulator.timing.streams import Streams, make_streams
from grader.emulator.timing.timing_records import SUB_PARTITIONS, Statistics
from grader.emulator.translate import NativeKernel

SIMULATED_INSTRUCTIONS = 400_000
UNEVEN = 1.5
"""Where the traced blocks did so much more than the average one (of a triangle, from a queue),
their number says nothing of the time."""


@dataclass(frozen=True)
class Shape:
    """What a launch asks for: blocks in all, blocks resident on an SM, bytes of shared memory a
    block, executed instructions in all, and those of the block that executed the most.
    """

    blocks: int
    resident: int
    shared_bytes: int
    executed: int
    longest: int = 0


@dataclass(frozen=True)
class Estimate:
    """What the model says of a launch. `bounds` are the three resources that are used most, the
    most used one first.

    `load_sectors` are those that global loads ask the L1 for, `load_hits` those that it holds, or
    that are on their way to it.
    """

    time_ms: float
    cycles: float
    dram_bytes: float
    load_sectors: float
    load_hits: float
    use: Mapping[str, float]
    bounds: tuple[Use, ...]


def choose_blocks(
    blocks: int, resident: int, figures: Figures, rng: Random, most: int = 64
) -> tuple[int, ...]:
    """Blocks that one SM runs one after another, as the hardware hands them out: to one SM after
    another, then the next round.

    `rng` draws the SM, of those that run the most blocks, and the round from which on they are
    taken.
    """
    rounds = -(-blocks // figures.multiprocessors)
    count = min(rounds, max(2 * resident, 4), most)
    sm = rng.randrange(blocks - (rounds - 1) * figures.multiprocessors)
    start = rng.randrange(rounds - count + 1)
    return tuple(sm + index * figures.multiprocessors for index in range(start, start + count))


def estimate(
    kernel: NativeKernel,
    candidates: Sequence[Sequence[BlockTrace]],
    shape: Shape,
    counts: Sequence[InstructionCounts],
    regions: Sequence[tuple[int, int]],
    figures: Figures,
) -> Estimate | None:
    """The time of a launch from the first of the `candidates` that does what the launch does on the
    whole, by its `counts`.

    None where none of them stands for the launch.
    """
    code = describe_code(kernel.decoded, kernel.code.encoding)
    blocks = [
        range(b.instructions[0].index, b.instructions[-1].index + 1) for b in kernel.flow.blocks
    ]
    streams = (
        make_streams(
            [trace.warps for trace in traces],
            sum(trace.executed for trace in traces),
            blocks,
            code.widths,
            code.barriers,
            kernel.code.local_bytes,
            kernel.runtime,
        )
        for traces in candidates
        if traces
    )
    chosen = choose_representative(streams, counts)
    if chosen is None:
        return None
    return Run(chosen, code, shape, regions, figures, kernel.runtime).estimate()


class Run:
    """A launch whose time is modelled from the streams of some of its blocks."""

    def __init__(
        self,
        streams: Streams,
        code: CodeTable,
        shape: Shape,
        regions: Sequence[tuple[int, int]],
        figures: Figures,
        runtime: Runtime,
    ) -> None:
        self.streams, self.code, self.shape = streams, code, shape
        self.regions, self.figures, self.runtime = regions, figures, runtime
        self.active = min(figures.multiprocessors, shape.blocks)
        self.rounds = math.ceil(shape.blocks / self.active)
        self.resident = max(1, min(shape.resident, self.rounds))
        self.footprint = Footprint(streams, code, shape.executed, regions, runtime)

    def estimate(self) -> Estimate:
        s, f = self.streams, self.figures
        _, first = self.run(self.choose_order(min(self.rounds, self.resident)), self.resident)
        scale = self.scale(first)
        misses, (loads, stores, stored) = first.l1_misses * scale, self.footprint.sectors()
        read = min(1.0, loads / max(1.0, misses))
        kept = max(0.0, stores - f.retained_part * f.l2_bytes / SECTOR_BYTES)
        write = min(1.0, kept / max(1.0, stored))
        order = self.choose_order(self.count_simulated())
        found = self.settle(order, read=read, write=write)
        cycles = self.extend(found, whole=s.fraction == 1.0 and len(order) == self.rounds)
        cycles = max(cycles, self.longest_block(read=read, write=write), *self.floors(found))
        use = {
            **self.use(found),
            "blocks": len(order),
            "resident": self.resident,
            "fraction": s.fraction,
            "readpart": read,
        }
        scale = self.scale(found)
        return Estimate(
            f.launch_us / 1e3 + cycles / f.clock_mhz / 1e3,
            cycles,
            SECTOR_BYTES * (misses * read + stored * write),
            found.load_sectors * scale,
            found.load_hits * scale,
            use,
            find_bounds(use),
        )

    def scale(self, found: Statistics) -> float:
        """How many times the simulated instructions the launch executes."""
        return self.shape.executed / max(1.0, found.issued)

    def use(self, found: Statistics) -> dict[str, float]:
        """The part of each resource that is used, and of the L1's sectors that it holds."""
        f, cycles = self.figures, found.cycles
        dram_rate = found.dram_bytes * self.active / cycles * f.clock_mhz * 1e6
        return {
            "issued": found.issued / cycles / SUB_PARTITIONS,
            "fma": found.fma / cycles / SUB_PARTITIONS,
            "alu": found.alu / cycles / SUB_PARTITIONS,
            "lsu": found.lsu / cycles,
            "store_cycles": found.store_cycles / cycles,
            "dram": dram_rate / (f.dram_gbps * 1e9),
            "l2": found.l2_bytes * self.active / cycles / f.l2_bytes_per_cycle,
            "hit": 1 - found.l1_misses / max(1.0, found.l1_sectors),
        }

    def count_simulated(self) -> int:
        """Blocks to simulate: as many as an SM gets, if that is quick."""
        s = self.streams
        if s.fraction < 1.0:
            return self.resident
        per_block = max(1, len(s.steps) // s.blocks)
        return max(self.resident, min(self.rounds, SIMULATED_INSTRUCTIONS // per_block))

    def choose_order(self, count: int) -> np.ndarray:
        """The first of the traced blocks, so many; all of them where blocks differ in kind and the
        first ones are not of each its share."""
        return np.arange(count if stand_for_all(self.streams, count) else self.streams.blocks)

    def extend(self, found: Statistics, *, whole: bool) -> float:
        """Cycles of an SM's share of the launch's instructions: those that were simulated, and the
        others at the rate of the time when every place was taken. `whole`: as many blocks as an SM
        gets were simulated to their end, and others do hardly less.
        """
        share = self.shape.executed / self.active
        if whole and found.issued < UNEVEN * share:
            return found.cycles * self.fullest_sm()
        rate = found.full_issued / found.full_cycles
        drain = found.cycles - found.full_cycles - (found.issued - found.full_issued) / rate
        return share / rate + max(0.0, drain)

    def fullest_sm(self) -> float:
        """How much longer than the simulated SM the one takes that has the longest block, where all
        blocks are resident at once."""
        if self.shape.blocks > self.shape.resident * self.active:
            return 1.0
        ends = self.streams.first[:: self.streams.warps_per_block]
        own = int(np.max(np.diff(ends)))
        return min(UNEVEN, max(1.0, self.shape.longest / max(1, own)))

    def longest_block(self, *, read: float, write: float) -> float:
        """Cycles of the block that executed the most, if it did much more than the others: no SM
        helps another one with a block."""
        if self.shape.longest < UNEVEN * self.shape.executed / self.shape.blocks:
            return 0.0
        ends, found = self.run(np.arange(1), 1, read=read, write=write)
        return float(self.shape.longest * np.max(ends) / max(1.0, found.issued))

    def floors(self, found: Statistics) -> tuple[float, ...]:
        """The fewest cycles in which the whole launch can pass each resource at its peak: issue
        slots, wavefronts, DRAM."""
        scale, f = self.scale(found) / self.active, self.figures
        dram_cycles_per_byte = f.clock_mhz * 1e6 * self.active / (f.dram_gbps * 1e9)
        issue, wavefronts = found.issued / SUB_PARTITIONS, found.lsu
        return tuple(
            cycles * scale
            for cycles in (issue, wavefronts, found.dram_bytes * dram_cycles_per_byte)
        )

    def settle(self, order: np.ndarray, *, read: float, write: float) -> Statistics:
        """Run the blocks with the waiting time in DRAM's queues that belongs to the load that they
        make, found by bisection."""
        low, high, load, f = 0.0, 1.0, 0.0, self.figures
        byte_cycles = f.clock_mhz * 1e6 * self.active / (f.dram_gbps * 1e9 * f.dram_part)
        for _ in range(9):
            wait = f.dram_queue * load / (1.0 - load)
            _, found = self.run(order, self.resident, read=read, write=write, wait=wait)
            made = found.dram_bytes * byte_cycles / found.cycles
            if made < 0.05 or abs(made - load) < 0.004:
                break
            low, high = (max(low, load), high) if made > load else (low, min(high, load))
            low, high = max(low, min(made, load)), min(high, max(made, load))
            load = 0.5 * (low + min(high, 0.99))
        return found

    def run(
        self,
        order: np.ndarray,
        resident: int,
        *,
        read: float = 1.0,
        write: float = 1.0,
        wait: float = 0.0,
    ) -> tuple[np.ndarray, Statistics]:
        """When each block of the order ended, and what the SM did. `read` and `write` are the parts
        of the sectors that DRAM moves; `wait` is the mean time that a read waits there."""
        load = Load(
            self.active,
            resident,
            self.shape.shared_bytes,
            self.footprint.atomic_lines,
            read,
            write,
            wait,
        )
        parameters = find_parameters(self.figures, load)
        sm = make_sm(self.code.table, self.streams, order, resident, parameters)
        sm.simulate(self.runtime)
        return sm.ends, sm.statistics
