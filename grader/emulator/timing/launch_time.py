"""Time of a launch: a simulation of one SM's resident warps, extrapolated to all blocks."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from grader.emulator.codegen.native_kernel import NativeKernel
from grader.emulator.cpp import Runtime
from grader.emulator.layouts.execution import SECTOR_BYTES
from grader.emulator.timing.bounds import find_bounds
from grader.emulator.timing.contention import find_contention
from grader.emulator.timing.estimate import Estimate
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.footprint import Footprint, Traffic, make_regions
from grader.emulator.timing.kinds import Facts, find_kind, read_habits
from grader.emulator.timing.l2 import count_requests
from grader.emulator.timing.last_wave import WAVES, blocks_of_last_wave
from grader.emulator.timing.measured import correct
from grader.emulator.timing.parameters import Share, choose_carveout, find_parameters, find_share
from grader.emulator.timing.profile import Profiled, simulate_profiled
from grader.emulator.timing.representative import stand_for_all
from grader.emulator.timing.sm import SimulatedSM, make_sm, make_sources
from grader.emulator.timing.streams import Streams, join
from grader.emulator.timing.timing_records import CODE_LINE, LINE_BYTES, SUB_PARTITIONS, Statistics
from grader.emulator.timing.walks import BUSY_L2, HARDLY_SHARED, follow_walks, merged_part
from grader.emulator.timing.work import UNEVEN, TracedLaunch, Work, find_work

SIMULATED_INSTRUCTIONS = 400_000
MUCH = 0.5
"""A block that takes at least this fraction of a launch's time determines its kind."""
NEIGHBOURS_FROM = 0.2
"""Fraction of DRAM's bandwidth up to which neighbouring blocks and DRAM rows are ignored."""


def estimate(
    kernel: NativeKernel,
    traced: TracedLaunch,
    figures: Figures,
    held: Sequence[float] | None,
    spans: int | None = None,
) -> Estimate | None:
    """The time of a launch; None if none of its traces represents it. `held`: sectors that the L2
    holds after the previous launch, None for the first launch. `spans`: adds the profile, with at
    most this number of spans."""
    work = find_work(kernel, traced)
    if work is None:
        return None
    model = LaunchModel(work, figures, kernel.runtime, held)
    found = model.estimate()
    return found if spans is None else replace(found, profile=model.profile(spans))


class LaunchModel:
    """The time model of a launch, from the streams of some of its blocks."""

    def __init__(
        self, work: Work, figures: Figures, runtime: Runtime, held: Sequence[float] | None
    ) -> None:
        executed = np.flatnonzero(work.streams.executed.any(axis=0))
        if work.code.matrices[executed].any():
            figures = figures.with_tensor_cores()
        self.launch_us = figures.launch_us if held is None else figures.next_launch_us
        self.streams, self.code, shape = work.streams, work.code, work.shape
        self.figures, self.runtime, self.shape = figures, runtime, shape
        self.work = work
        self.active = min(figures.usable(shape.cluster_blocks), shape.blocks)
        self.rounds = math.ceil(shape.blocks / self.active)
        self.resident = max(1, min(shape.resident, self.rounds))
        self.full = self.rounds - self.rounds % self.resident  # blocks of an SM in full waves
        self.footprint = Footprint(
            work.streams,
            shape.executed,
            work.regions,
            figures,
            runtime,
            around=work.around,
            held=held or (),
            resident=self.active * self.resident,
        )
        self.simulated = self.streams
        if self.rounds >= WAVES * self.resident and self.count_simulated() <= self.resident:
            self.simulated = self.streams.staggered(self.resident)
        code_bytes = len(np.unique(executed // CODE_LINE)) * LINE_BYTES
        self.fetches = code_bytes > figures.code_bytes
        self.regions = make_regions(work.regions)
        place = (self.regions, figures.l2_slices, runtime)
        self.contention = find_contention(work.streams, *place)
        if work.around and self.contention.swaps:
            self.contention = self.contention.placed_as(find_contention(join(work.around), *place))
        times = shape.executed / max(1, len(work.streams.steps))
        self.busiest_slice = self.contention.cycles(times, figures)
        self.atomic_turns = times * float(self.contention.turns.sum())

    def estimate(self) -> Estimate:
        s, f = self.streams, self.figures
        order = self.choose_order(min(self.rounds, self.resident))
        share = self.share_of_dram(self.run(order, self.resident))
        order = self.choose_order(self.count_simulated())
        wait, ran = self.settle(order, share)
        whole = s.fraction == 1.0 and len(order) == self.rounds
        use, ends = self.use(ran.statistics, share), ran.ends[: self.resident]
        loaded, alike = max(use["dram"], use["l2"]), self.shape.unevenness < UNEVEN
        last = blocks_of_last_wave(ends, self.shape.blocks, self.active, loaded)
        self.last = last if alike else 0
        self.most = max(self.rounds, self.full + self.last)  # blocks of the SM with most blocks
        if whole and self.most > self.rounds:
            order = self.choose_order(self.most)
            ran = self.run(order, self.resident, share, wait=wait)
        self.settled = partial(self.make_sm, order, self.resident, share, wait)
        found = ran.statistics
        call = f.heap_ns * f.clock_mhz / 1e3  # if no simulated block calls
        call = found.call_cycles / found.calls / self.active if found.calls else call
        self.calling = self.work.calls * call
        self.floor = max(self.floors(found))
        cycles = max(self.extend(found, share, whole=whole), self.floor)
        alone = 0.0  # no correction shortens a block that is alone at the end
        if self.work.waits_long:
            cycles = max(self.floor, longest := self.in_turns(share))
        else:
            alone = longest = self.longest_block(share)
            cycles = max(cycles, self.start_of_longest() * cycles + longest)
        use = {**self.use(found, share), "blocks": len(order)}
        scale = self.scale(found)
        facts = self.facts(use, share, cycles, longest)
        kind = find_kind(facts)
        correction = correct(kind, facts, measured=f.measured)
        simulated = self.launch_us / 1e3 + cycles / f.clock_mhz / 1e3
        return Estimate(
            *correction.of(simulated, alone / f.clock_mhz / 1e3),
            simulated,
            cycles,
            scale * found.dram_bytes,
            found.load_sectors * scale,
            found.load_hits * scale,
            count_requests(found, scale, self.traffic, self.visits, f.l2_partitions),
            use,
            find_bounds(use),
            kind,
            facts,
            self.footprint.held_after(f.held_part * f.l2_bytes / SECTOR_BYTES),
            scale,
            f.clock_mhz,
        )

    def profile(self, spans: int) -> Profiled:
        """The stall breakdown of the warps that `estimate` has simulated."""
        return simulate_profiled(self.settled(), self.runtime, spans=spans)

    def facts(self, use: Mapping[str, float], share: Share, cycles: float, longest: float) -> Facts:
        """The properties that determine the kind of a launch, from the cycles of the launch, and of
        its longest block (0 without a long block)."""
        shape, launch = self.shape, self.launch_us * self.figures.clock_mhz
        return Facts(
            read_habits(self.streams, self.code),
            launching=launch / (launch + cycles),
            atomics=self.busiest_slice / cycles,
            unfilled=self.footprint.unfilled_part,
            rows=share.rows,
            unevenness=shape.unevenness if longest > MUCH * cycles else 1.0,
            from_dram=share.read if use["hit"] < 1.0 else 1.0,
            warps=self.resident * self.streams.warps_per_block,
            stores=use["store_cycles"],
            load_store=use["lsu"],
            instructions=max(use["issued"], use["fma"], use["alu"]),
            l2=use["l2"],
            dram=use["dram"],
            sleeps=use["slept"],
            fences=use["fenced"],
            calls=max(use["called"], self.calling / cycles),
            code=use["awaiting_code"],
            dram_share=1 / self.figures.byte_cycles(self.figures.multiprocessors),
            l1_hits=use["hit"],
            warps_per_block=self.streams.warps_per_block,
            waves=self.rounds / self.resident,
            floor=self.floor / cycles,
            in_turns=self.work.waits_long,
            lost=use["lost"],
        )

    def share_of_dram(self, cold: SimulatedSM) -> Share:
        """DRAM's work per sector that an SM reads and writes, from a first run."""
        f, first = self.figures, cold.statistics
        scale = self.scale(first)
        busy = f.byte_cycles(self.active) * SECTOR_BYTES * (first.l1_misses + first.stored)
        waves = self.shape.blocks / (self.active * self.resident)
        closely = busy > NEIGHBOURS_FROM * first.cycles
        self.traffic = self.footprint.traffic(closely=closely, waves=waves)
        loaded, stored = cold.misses * scale, first.stored * scale
        together = self.read_together(self.traffic, max(1.0, float(loaded.sum())))
        share = find_share(f, self.traffic, loaded, stored, together)
        if self.use(first, share)["l2"] > BUSY_L2:
            share = replace(share, merged=merged_part(self.work.around, self.runtime))
        return share

    def read_together(self, traffic: Traffic, loaded: float) -> float:
        """The fraction of the `loaded` sectors that the L2 does not hold when SMs request them."""
        alone, self.visits = traffic.read / loaded, 1.0
        if alone > HARDLY_SHARED:
            return alone
        walked = follow_walks(self.streams, self.resident, self.work.around, self.runtime)
        self.visits = walked.distinct * self.shape.executed / max(1.0, traffic.read)
        waves, each = (
            self.shape.blocks / (self.active * self.resident),
            self.shape.executed / loaded,
        )
        return max(alone, traffic.new * walked.missing(each, max(1.0, waves)))

    def scale(self, found: Statistics) -> float:
        """Instructions of the launch over simulated instructions."""
        return self.shape.executed / max(1.0, found.issued)

    def use(self, found: Statistics, share: Share) -> dict[str, float]:
        """The used fraction of each resource, and the hit rate of the L1."""
        f, cycles = self.figures, found.cycles
        warps = self.resident * self.streams.warps_per_block
        dram_rate = found.dram_bytes * self.active / cycles * f.clock_mhz * 1e6
        l2_rate = found.l2_bytes * self.active / cycles * (1.0 - share.merged)
        return {
            "issued": found.issued / cycles / SUB_PARTITIONS,
            "fma": found.fma / cycles / SUB_PARTITIONS,
            "alu": found.alu / cycles / SUB_PARTITIONS,
            "lsu": found.lsu / cycles,
            "store_cycles": found.store_cycles / cycles,
            "dram": dram_rate / (f.dram_gbps * 1e9),
            "l2": l2_rate / f.l2_bytes_per_cycle,
            **{
                name: getattr(found, name) / cycles / warps
                for name in ("slept", "fenced", "called", "awaiting_code")
            },
            "lost": found.lost * SECTOR_BYTES / max(1.0, found.dram_bytes),
            "hit": 1 - (found.load_sectors - found.load_hits) / max(1.0, found.load_sectors),
        }

    def count_simulated(self) -> int:
        """Number of blocks to simulate: all blocks of an SM, if that is fast enough."""
        if (s := self.streams).fraction < 1.0:
            return self.resident
        per_block = max(1, len(s.steps) // s.blocks)
        return max(self.resident, min(self.rounds, SIMULATED_INSTRUCTIONS // per_block))

    def choose_order(self, count: int) -> np.ndarray:
        """The first traced blocks, of which `count` work, or all of them if blocks differ in kind
        and the first do not contain each kind with its share. A block that ends at once leaves its
        place to the next. Numbers beyond the traced blocks stand for the same blocks again."""
        again, index = divmod(count - 1, len(self.streams.working))
        count = 1 + again * self.streams.blocks + int(self.streams.working[index])
        return np.arange(count if stand_for_all(self.streams, count) else self.streams.blocks)

    def extend(self, found: Statistics, share: Share, *, whole: bool) -> float:
        """Cycles of an SM's part of the launch: the simulated instructions, and the others at the
        rate of the time when all places were occupied. `whole`: all blocks of an SM were simulated
        to their end, and other SMs do hardly less.
        """
        per_block = self.shape.executed / self.shape.blocks
        if whole and found.issued < UNEVEN * per_block * self.most:
            return self.fullest_sm(found.cycles)
        rate = found.full_issued / found.full_cycles
        drain = found.cycles - found.full_cycles - (found.issued - found.full_issued) / rate
        part = per_block * self.full if self.last else self.shape.executed / self.active
        return part / rate + max(0.0, drain) + self.run_alone(self.last, share)

    def run_alone(self, blocks: int, share: Share) -> float:
        """Cycles of this number of blocks without other resident blocks."""
        if not blocks:
            return 0.0
        found = self.run(self.choose_order(blocks), blocks, share).statistics
        executed = self.shape.executed / self.shape.blocks * blocks
        return executed / found.issued * found.cycles

    def fullest_sm(self, cycles: float) -> float:
        """Cycles of the SM with the longest block, if all blocks are resident at once and the
        simulated SM takes `cycles`: the rest of that block runs at the simulated rate, or alone if
        that is faster."""
        if self.shape.blocks > self.shape.resident * self.active:
            return cycles
        own, longest = int(np.max(self.work.cycles_alone(self.streams))), self.shape.lengths.longest
        longer = min(UNEVEN, max(1.0, longest / max(1, own)))
        return min(cycles * longer, cycles + max(0, longest - own))

    def start_of_longest(self) -> float:
        """The fraction of the launch's time before the start of the longest block. Blocks that end
        at once delay nobody."""
        s, shape = self.streams, self.shape
        each = float(s.executed[s.working].sum()) / len(s.working) / s.fraction
        working = min(1.0, shape.executed / shape.blocks / each)
        later = shape.lengths.block - self.active * shape.resident / working
        return max(0.0, later) / shape.blocks

    def longest_block(self, share: Share) -> float:
        """Cycles of the longest block, if it takes much longer than the average; otherwise 0. It
        runs beside others first, then alone, because SMs do not share blocks. If it has a late
        trace, the trace covers the second part.
        """
        lengths = self.shape.lengths
        if self.shape.unevenness < UNEVEN:
            return 0.0
        done = self.work.cycles_alone(self.streams)
        longest = int(np.argmax(done))
        others = [index for index in range(len(done)) if index != longest]
        order = np.array([longest, *others[: self.resident - 1]])
        beside = self.run(order, len(order), share).ends
        known, of_first = max(1, int(done[longest])), float(beside[0])
        if self.work.late is None:
            alone = self.run(order[:1], 1, share).ends
            rest = max(0.0, lengths.longest / known - 1.0) * float(alone[0])
        else:
            of_first *= lengths.late_from / known
            late = self.work.late
            reading = share.at_most(late.new_sectors)
            alone = self.run(order[:1] * 0, 1, reading, streams=late).ends
            covered = max(1, int(self.work.cycles_alone(late)[0]))
            rest = (lengths.longest - lengths.late_from) / covered * float(alone[0])
        return of_first + rest

    def in_turns(self, share: Share) -> float:
        """Cycles until the last block has ended, by the blocks' clocks, at the speed of a block
        alone."""
        done = self.work.cycles_alone(self.streams)
        longest = np.argmax(done, keepdims=True)
        alone = self.run(longest, 1, share, contended=False).ends
        return float(self.shape.lengths.finished / max(1, done[longest[0]]) * alone[0])

    def floors(self, found: Statistics) -> tuple[float, ...]:
        """Lower bounds on the launch's cycles, per resource at its peak: issue slots, wavefronts,
        DRAM, the L2 slice with the most atomics, starts of blocks, system calls."""
        scale, f = self.scale(found) / self.active, self.figures
        dram = found.dram_bytes * scale
        issue, wavefronts = found.issued / SUB_PARTITIONS, found.lsu
        return (
            issue * scale,
            wavefronts * scale,
            dram * f.byte_cycles(self.active),
            self.busiest_slice,
            self.shape.blocks * f.dispatch_cycles,
            self.calling,
        )

    def settle(self, order: np.ndarray, share: Share) -> tuple[float, SimulatedSM]:
        """The mean delay in DRAM's queues that corresponds to the load of these blocks, found by
        bisection, and the SM after it has run them."""
        low, high, load, f = 0.0, 1.0, 0.0, self.figures
        for _ in range(9):
            wait = f.dram_queue * load / (1.0 - load)
            ran = self.run(order, self.resident, share, wait=wait)
            found = ran.statistics
            made = found.dram_bytes * f.byte_cycles(self.active, share.part) / found.cycles
            if made < 0.05 or abs(made - load) < 0.004:
                break
            low, high = (max(low, load), high) if made > load else (low, min(high, load))
            low, high = max(low, min(made, load)), min(high, max(made, load))
            load = 0.5 * (low + min(high, 0.99))
        return wait, ran

    def run(
        self,
        order: np.ndarray,
        resident: int,
        share: Share | None = None,
        *,
        wait: float = 0.0,
        streams: Streams | None = None,
        contended: bool = True,
    ) -> SimulatedSM:
        """The SM after it has run the blocks in this order. `wait`: mean delay of a read in DRAM's
        queues. `contended`: other SMs use atomics and barriers, too."""
        sm = self.make_sm(order, resident, share, wait, streams, contended=contended)
        sm.simulate(self.runtime)
        return sm

    def make_sm(
        self,
        order: np.ndarray,
        resident: int,
        share: Share | None,
        wait: float,
        streams: Streams | None = None,
        *,
        contended: bool = True,
    ) -> SimulatedSM:
        """The SM of `run`, before its start."""
        streams, f = streams or self.simulated, self.figures
        share = share or Share(1.0, 1.0, f.dram_part)
        contention = self.active * self.busiest_slice / max(1.0, self.atomic_turns)
        parameters = find_parameters(
            f,
            self.active,
            share,
            blocks=self.shape.blocks if contended else 0,
            carveout=choose_carveout(f, self.shape.resident, self.shape.shared_bytes),
            atomic_cycles=contention if contended else f.atomic_turn,
            wait=wait,
            kept_lines=self.footprint.kept_lines / self.active,
        )
        sources = make_sources(self.regions, share.of_buffers, share.read)
        return make_sm(streams, order, resident, parameters, sources, fetches=self.fetches)
