"""Time of a launch: a simulation of one SM's resident warps, extended to all blocks of the
launch."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

import numpy as np

from grader.emulator.counts import InstructionCounts
from grader.emulator.machine import BlockTrace
from grader.emulator.timing.code import CodeTable, Kind, describe_code
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.representative import choose_representative, stand_for_all
from grader.emulator.timing.sm import L1_WAYS, PARAMETERS, STATISTICS, simulate
from grader.emulator.timing.streams import GLOBAL, LINE_BYTES, SECTOR_BYTES, Streams, make_streams
from grader.emulator.translate import NativeKernel

SUB_PARTITIONS = 4
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
class Use:
    """The part of a resource that a launch uses, 0 to 1, and what would move the time of one that
    it binds."""

    resource: str
    used: float
    advice: str


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
        )
        for traces in candidates
        if traces
    )
    chosen = choose_representative(streams, counts, len(kernel.decoded))
    return None if chosen is None else Run(chosen, code, shape, regions, figures).estimate()


_ADVICE = {
    "dram": (
        "DRAM bandwidth",
        (
            "Move fewer bytes between DRAM and the chip: use each one that is loaded, and load it"
            " once."
        ),
    ),
    "l2": (
        "L2 bandwidth",
        "Ask the L2 for less: keep what a block uses again in shared memory or registers.",
    ),
    "store_cycles": (
        "L2 stores",
        (
            "Fill whole 32-byte sectors with each store; let atomics of many threads meet in shared"
            " memory or registers first."
        ),
    ),
    "lsu": (
        "load/store unit",
        (
            "Take fewer wavefronts: avoid bank conflicts, keep what is used again in registers,"
            " read along rows."
        ),
    ),
    "issue": (
        "instruction issue",
        (
            "Execute fewer instructions: unroll, take index arithmetic out of loops, do more with"
            " each load."
        ),
    ),
    "fma": (
        "float arithmetic",
        "The float pipe is busy: only less arithmetic, or tensor cores, would be faster.",
    ),
    "alu": (
        "integer arithmetic",
        "Take index arithmetic out of the loop, or let each thread do more with it.",
    ),
    "latency": (
        "latency",
        (
            "Warps wait: let each thread have several independent loads in flight, or let more"
            " warps be resident."
        ),
    ),
}
LATENCY_BOUND = 0.75
"""Where no resource is used more than this, warps wait for latencies most of the time."""


def find_bounds(use: Mapping[str, float]) -> tuple[Use, ...]:
    """The three most used resources; latency comes first where none of them is busy."""
    parts = {
        "issue" if name == "issued" else name: part
        for name, part in use.items()
        if name in ("issued", *_ADVICE)
    }
    ordered = sorted(parts, key=lambda name: -parts[name])
    if parts[ordered[0]] < LATENCY_BOUND:
        parts["latency"] = 1.0 - parts[ordered[0]]
        ordered.insert(0, "latency")
    return tuple(Use(_ADVICE[name][0], parts[name], _ADVICE[name][1]) for name in ordered[:3])


class Run:
    def __init__(
        self,
        streams: Streams,
        code: CodeTable,
        shape: Shape,
        regions: Sequence[tuple[int, int]],
        figures: Figures,
    ) -> None:
        self.streams, self.code, self.shape, self.regions, self.figures = (
            streams,
            code,
            shape,
            regions,
            figures,
        )
        self.active = min(figures.multiprocessors, shape.blocks)
        kinds = code.table[streams.code, 1]
        self.kind_of_access = np.zeros(len(streams.space), dtype=np.int64)
        has = streams.access >= 0
        self.kind_of_access[streams.access[has]] = kinds[has]
        self.atomic_lines = self.count_atomic_lines()

    def estimate(self) -> Estimate:
        s, shape, f = self.streams, self.shape, self.figures
        needed = math.ceil(shape.blocks / self.active)
        resident = max(1, min(shape.resident, needed))
        per_block = max(1, len(s.code) // s.blocks)
        _, stats = self.run(self.choose_order(min(needed, resident)), resident, read=1.0, write=1.0)
        found = dict(zip(STATISTICS, stats, strict=True))
        scale = shape.executed / max(1.0, found["issued"])
        misses, (loads, stores, stored) = found["l1_misses"] * scale, self.footprint()
        read = min(1.0, loads / max(1.0, misses))
        kept = max(0.0, stores - f.retained_part * f.l2_bytes / SECTOR_BYTES)
        write = min(1.0, kept / max(1.0, stored))
        count = (
            max(resident, min(needed, SIMULATED_INSTRUCTIONS // per_block))
            if s.fraction == 1.0
            else resident
        )
        order = self.choose_order(count)
        found = self.settle(order, resident, read=read, write=write)
        cycles = self.extend(found, whole=s.fraction == 1.0 and len(order) == needed)
        cycles = max(cycles, self.longest_block(read=read, write=write), *self.floors(found))
        time_ms = f.launch_us / 1e3 + cycles / f.clock_mhz / 1e3
        use = {
            name: found[name] / found["cycles"]
            for name in ("issued", "fma", "alu", "lsu", "store_cycles")
        }
        use["issued"] /= SUB_PARTITIONS
        use["fma"] /= SUB_PARTITIONS
        use["alu"] /= SUB_PARTITIONS
        use["dram"] = (
            found["dram_bytes"]
            * self.active
            / found["cycles"]
            * f.clock_mhz
            * 1e6
            / (f.dram_gbps * 1e9)
        )
        use["l2"] = found["l2_bytes"] * self.active / found["cycles"] / f.l2_bytes_per_cycle
        use["hit"] = 1 - found["l1_misses"] / max(1.0, found["l1_sectors"])
        use["blocks"] = len(order)
        use["resident"] = resident
        use["fraction"] = s.fraction
        use["readpart"] = read
        dram_bytes = SECTOR_BYTES * (misses * read + stored * write)
        scale = shape.executed / max(1.0, found["issued"])
        return Estimate(
            time_ms,
            cycles,
            dram_bytes,
            found["load_sectors"] * scale,
            found["load_hits"] * scale,
            use,
            find_bounds(use),
        )

    def choose_order(self, count: int) -> np.ndarray:
        """The first of the traced blocks, so many; all of them where blocks differ in kind and the
        first ones are not of each its share."""
        return np.arange(count if stand_for_all(self.streams, count) else self.streams.blocks)

    def extend(self, found: Mapping[str, float], *, whole: bool) -> float:
        """Cycles of an SM's share of the launch's instructions: those that were simulated, and the
        others at the rate of the time when every place was taken. `whole`: as many blocks as an SM
        gets were simulated to their end, and others do hardly less.
        """
        share = self.shape.executed / self.active
        if whole and found["issued"] < UNEVEN * share:
            return found["cycles"] * self.fullest_sm()
        rate = found["full_issued"] / found["full_cycles"]
        drain = (
            found["cycles"] - found["full_cycles"] - (found["issued"] - found["full_issued"]) / rate
        )
        return share / rate + max(0.0, drain)

    def fullest_sm(self) -> float:
        """How much longer than the simulated SM the one takes that has the longest block, where all
        blocks are resident at once."""
        s = self.streams
        if self.shape.blocks > self.shape.resident * self.active:
            return 1.0
        own = int(
            np.max(
                np.add.reduceat(
                    np.diff(s.first), np.arange(0, s.blocks * s.warps_per_block, s.warps_per_block)
                )
            )
        )
        return min(UNEVEN, max(1.0, self.shape.longest / max(1, own)))

    def longest_block(self, *, read: float, write: float) -> float:
        """Cycles of the block that executed the most, if it did much more than the others: no SM
        helps another one with a block."""
        if self.shape.longest < UNEVEN * self.shape.executed / self.shape.blocks:
            return 0.0
        ends, stats = self.run(np.arange(1), 1, read=read, write=write)
        issued = stats[STATISTICS.index("issued")]
        return float(self.shape.longest * np.max(ends) / max(1.0, issued))

    def floors(self, found: Mapping[str, float]) -> tuple[float, ...]:
        """The fewest cycles in which the whole launch can pass each resource at its peak: issue
        slots, wavefronts, DRAM."""
        scale = self.shape.executed / max(1.0, found["issued"]) / self.active
        dram_cycles_per_byte = (
            self.figures.clock_mhz * 1e6 * self.active / (self.figures.dram_gbps * 1e9)
        )
        issue, wavefronts = found["issued"] / SUB_PARTITIONS, found["lsu"]
        return tuple(
            cycles * scale
            for cycles in (issue, wavefronts, found["dram_bytes"] * dram_cycles_per_byte)
        )

    def footprint(self) -> tuple[float, float, float]:
        """Sectors of global memory that the launch's loads touch, that its stores touch, and how
        often it stores one."""
        s = self.streams
        counts = np.diff(s.line_first)
        kind = np.repeat(self.kind_of_access, counts)
        space = np.repeat(s.space, counts)
        scale = self.shape.executed / max(1, len(s.code))
        sums = []
        for kinds in ((4, 9), (5, 6)):
            chosen = np.isin(kind, kinds) & (space == GLOBAL)
            lines, masks = s.lines[chosen], s.touched[chosen]
            sectors = np.concatenate([lines[(masks >> b) & 1 == 1] * 4 + b for b in range(4)])
            unique = np.unique(sectors)
            total = 0.0
            for start, end in self.regions:
                inside = np.count_nonzero(
                    (unique >= start // SECTOR_BYTES) & (unique < -(-end // SECTOR_BYTES))
                )
                total += min((end - start) / SECTOR_BYTES, inside * scale)
            sums += [total, len(sectors) * scale]
        return sums[0], sums[2], sums[3]

    def count_atomic_lines(self) -> float:
        """Lines of global memory that the launch's atomics meet at: each is in one slice of the L2,
        which takes a sector a cycle."""
        s = self.streams
        kind = np.repeat(self.kind_of_access, np.diff(s.line_first))
        unique = np.unique(
            s.lines[(kind == Kind.ATOMIC) & (np.repeat(s.space, np.diff(s.line_first)) == GLOBAL)]
        )
        scale = self.shape.executed / max(1, len(s.code))
        total = 0.0
        for start, end in self.regions:
            inside = np.count_nonzero(
                (unique >= start // LINE_BYTES) & (unique < -(-end // LINE_BYTES))
            )
            total += min(math.ceil((end - start) / LINE_BYTES), inside * scale)
        return max(1.0, total)

    def settle(
        self, order: np.ndarray, resident: int, *, read: float, write: float
    ) -> dict[str, float]:
        """Run the blocks with the waiting time in DRAM's queues that belongs to the load that they
        make, found by bisection."""
        low, high, load = 0.0, 1.0, 0.0
        for _ in range(9):
            _, stats = self.run(
                order,
                resident,
                read=read,
                write=write,
                wait=self.figures.dram_queue * load / (1.0 - load),
            )
            found = dict(zip(STATISTICS, stats, strict=True))
            made = (
                found["dram_bytes"]
                * self.parameters(0, 0, 1, 0)[PARAMETERS.index("dram_byte_cycles")]
                / found["cycles"]
            )
            if made < 0.05 or abs(made - load) < 0.004:
                break
            low, high = (max(low, load), high) if made > load else (low, min(high, load))
            low, high = max(low, min(made, load)), min(high, max(made, load))
            load = 0.5 * (low + min(high, 0.99))
        return found

    def run(
        self, order: np.ndarray, resident: int, *, read: float, write: float, wait: float = 0.0
    ) -> tuple[np.ndarray, np.ndarray]:
        s = self.streams
        ends, stats = simulate(
            self.code.table,
            s.first,
            s.code,
            s.access,
            s.space,
            s.wavefronts,
            s.tags,
            s.line_first,
            s.lines,
            s.touched,
            s.whole,
            s.warps_per_block,
            order,
            resident,
            self.parameters(read, write, resident, wait),
        )
        return ends, stats

    def parameters(self, read: float, write: float, resident: int, wait: float) -> np.ndarray:
        f = self.figures
        needed = resident * (self.shape.shared_bytes + 1024)
        carveout = next(
            (size for size in f.shared_carveouts if size >= needed), f.shared_carveouts[-1]
        )
        sms, sectors_per_cycle = self.active, f.l2_bytes_per_cycle / SECTOR_BYTES
        values = {
            "fma_cycles": 2.0,
            "float_halves": f.float_lanes / 16,
            "alu_cycles": 2.0,
            "double_cycles": 32.0 / f.double_lanes,
            "special_cycles": 8.0,
            "shared_latency": f.shared_latency,
            "l1_latency": f.l1_latency,
            "l2_latency": f.l2_latency,
            "dram_latency": f.dram_latency,
            "fill_cycles": f.fill_cycles,
            "l2_sector_cycles": sms / sectors_per_cycle,
            "store_sector_cycles": sms / sectors_per_cycle / f.whole_sector_part,
            "partial_sector_cycles": sms / sectors_per_cycle / f.partial_sector_part,
            "dram_byte_cycles": f.clock_mhz * 1e6 * sms / (f.dram_gbps * 1e9 * f.dram_part),
            "burst_cycles": f.burst_cycles,
            "lsu_queue": f.lsu_queue,
            "block_launch": f.block_launch,
            "store_queue": f.store_queue,
            "dram_read_part": read,
            "dram_write_part": write,
            "l1_lines": max(L1_WAYS, (f.l1_bytes - carveout) // LINE_BYTES),
            "atomic_cycles": sms / min(sectors_per_cycle * f.atomic_part, self.atomic_lines),
            "memory_issue": f.memory_issue,
            "barrier_latency": f.barrier_latency,
            "fill_port_cycles": 0.5,
            "dram_wait": wait,
            "access_cycles": 32 / f.load_lanes,
        }
        return np.array([values[name] for name in PARAMETERS], dtype=np.float64)
