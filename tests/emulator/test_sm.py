"""The simulated SM on code of a few instructions: the limiting units, and contents of the L1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.gpus import read_gpus
from grader.emulator.layouts.execution import SECTOR_BYTES, TraceWord
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.footprint import make_regions
from grader.emulator.timing.parameters import Share, choose_carveout, find_parameters
from grader.emulator.timing.pipes import Kind, Unit
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.sm import SimulatedSM, make_sm, make_sources
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import (
    AWAITS_EARLIER,
    AWAITS_SINGLE,
    LINE_BYTES,
    MERGING_LINES,
    NO_REGISTER,
    OPERANDS,
    PUBLISHES,
    Parameters,
)

NO_SCOREBOARD = 7
LOCAL = 1 << 40
"""The first line of local memory."""
Fields = dict[str, int]


def instruction(unit: Unit, kind: Kind = Kind.FIXED, **fields: int) -> Fields:
    """A row of code without scoreboards, apart from `fields`."""
    plain = {"stall": 1, "write_scoreboard": NO_SCOREBOARD, "read_scoreboard": NO_SCOREBOARD}
    plain |= {"passes": 1, "sources": registers()}
    return {"unit": unit, "kind": kind, **plain, **fields}


def registers(*numbers: int) -> int:
    """The registers of an instruction's operands, as in a row of code."""
    return int.from_bytes([*numbers, *[NO_REGISTER] * (OPERANDS - len(numbers))], "little")


ADD, EXIT = instruction(Unit.ALU, stall=4), instruction(Unit.NONE)
BUSY = instruction(Unit.ALU)
BARRIER = instruction(Unit.NONE, Kind.BARRIER)
LOAD = instruction(Unit.MEMORY, Kind.LOAD, write_scoreboard=0)
STORE = instruction(Unit.MEMORY, Kind.STORE)
ATOMIC = instruction(Unit.MEMORY, Kind.ATOMIC, write_scoreboard=0)
PREFETCH = instruction(Unit.MEMORY, Kind.PREFETCH)
COPY, COMMIT = instruction(Unit.MEMORY, Kind.COPY), instruction(Unit.NONE, Kind.COMMIT)
USE = instruction(Unit.ALU, wait_mask=1)
FROM_L2 = Share(0.0, 0.0, 0.9, of_buffers=0.0)
VECTOR, MATRIX = (
    (first * LINE_BYTES, last * LINE_BYTES) for first, last in ((500, 510), (510, 530))
)
ACCESSES = {
    *(Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.COPY),
    *(Kind.PREFETCH, Kind.SLEEP, Kind.CALL),
}


def parameters(share: Share = FROM_L2) -> Parameters:
    figures = read_gpus()["h100"].figures
    assert figures is not None
    carveout = choose_carveout(figures, 1, 0)
    return find_parameters(
        figures, 1, share, blocks=1, carveout=carveout, atomic_cycles=1.0, wait=0.0, kept_lines=0.0
    )


def run(
    *warps: Sequence[Fields],
    blocks: int = 1,
    resident: int = 1,
    whole: int = 0,
    lines: Sequence[int] = (0,),
    wavefronts: Sequence[int] = (1,),
    share: Share = FROM_L2,
    **changed: float,
) -> SimulatedSM:
    """An SM after a run of blocks of these warps."""
    sm = prepare(
        *warps,
        blocks=blocks,
        resident=resident,
        whole=whole,
        lines=lines,
        wavefronts=wavefronts,
        share=share,
        **changed,
    )
    sm.simulate(emulator_runtime())
    return sm


def prepare(
    *warps: Sequence[Fields],
    blocks: int = 1,
    resident: int = 1,
    whole: int = 0,
    lines: Sequence[int] = (0,),
    wavefronts: Sequence[int] = (1,),
    share: Share = FROM_L2,
    fetches: bool = False,
    packets: int | None = None,
    **changed: float,
) -> SimulatedSM:
    """An SM before a run of blocks of these warps. Each access is to the first sector of a line, in
    turn, or to a part of it, and takes `wavefronts` wavefronts; or it is to shared memory, with this
    number of `packets` to other blocks of the cluster."""
    code = [each for warp in warps for each in warp]
    table = make_rows(CodeRow, len(code))
    for row, fields in zip(table, code, strict=True):
        for name, value in fields.items():
            row[name] = value
    made = [index for index, fields in enumerate(code) if fields["kind"] in ACCESSES]
    steps, accesses = make_rows(Step, len(code)), make_rows(Access, len(made))
    steps["code"], steps["access"] = np.arange(len(code)), -1
    steps["access"][made] = accesses["first"] = np.arange(len(made))
    accesses["end"] = accesses["first"] + 1
    accesses["wavefronts"], accesses["tags"] = np.resize(wavefronts, len(made)), 1
    accesses["lanes"] = 1
    if packets is not None:
        accesses["space"], accesses["tags"] = TraceWord.SHARED, packets
    touched = make_rows(Line, len(made))
    touched["number"] = np.resize(lines, len(made))
    touched["touched"] = touched["rounds"] = 1
    touched["whole"] = whole
    first = np.cumsum([0, *map(len, warps)])
    streams = Streams(first, steps, accesses, touched, table, len(warps), 1.0, local_bytes=4)
    own = replace(parameters(share), **changed)
    order = np.zeros(blocks, dtype=np.int64)
    sources = make_sources(make_regions((VECTOR, MATRIX)), share.of_buffers, share.read)
    return make_sm(streams, order, resident, own, sources, fetches=fetches)


def test_stall_counts_set_the_pace_of_a_warp() -> None:
    sm = run([ADD, ADD, EXIT])
    assert (sm.statistics.cycles, sm.statistics.issued) == (8, 3)
    assert sm.statistics.alu == 2 * 2.0


def test_a_warp_may_have_ended_before_its_trace() -> None:
    rest = run([ADD, BARRIER, ADD], [])
    assert rest.ends.tolist() == run([ADD, BARRIER, ADD]).ends.tolist() > [0.0]


@pytest.mark.parametrize("begins", [0, 1, 2, 4])
def test_a_warp_that_begins_within_its_steps_ends_with_the_steps_before(begins: int) -> None:
    turned, rolled = (prepare([LOAD, ADD, USE, ADD, EXIT], blocks=2) for _ in range(2))
    turned.arrays["begins"] = np.array([begins])
    rolled.arrays["steps"] = np.roll(rolled.arrays["steps"], -begins)
    for sm in (turned, rolled):
        sm.simulate(emulator_runtime())
    assert turned.ends.tolist() == rolled.ends.tolist() > [0.0]


def test_warps_of_one_sub_partition_fill_each_others_stalls() -> None:
    alone, others = [ADD] * 8, [[EXIT]] * 3
    together = run(alone, *others, alone).statistics.cycles
    assert together < 1.5 * run(alone).statistics.cycles


def test_warps_of_a_block_progress_alike() -> None:
    chain = [instruction(Unit.FMA, sources=registers(8, 10), stall=4)] * 60
    others: list[list[Fields]] = [[EXIT]] * 3
    four = run(*[chain, *others] * 4).statistics.cycles  # on one sub-partition
    assert four == pytest.approx(4 * 60 * 2, rel=0.05), "no warp is left with its stalls at the end"


def test_stall_counts_stand_still_while_an_issue_waits() -> None:
    reads = instruction(Unit.FMA, sources=registers(8, 10, 12))
    others: list[list[Fields]] = [[EXIT]] * 3
    slow = [instruction(Unit.ALU, stall=6)] * 40
    both = run([reads] * 100, *others, slow).statistics.cycles
    assert run([reads] * 100).statistics.cycles == pytest.approx(300, abs=10)
    assert both > 400


@pytest.mark.parametrize(
    ("sources", "reuse", "cycles"),
    [((8, 10, 12), 0, 3), ((8, 10, 13), 0, 2), ((8, 8, 10), 0, 2), ((8, 10, 12), 0b110, 1)],
)
def test_registers_of_one_bank_are_read_one_a_cycle_unless_the_cache_holds_them(
    sources: tuple[int, ...], reuse: int, cycles: int
) -> None:
    fused = instruction(Unit.FMA, sources=registers(*sources), reuse=reuse)
    many, few = (run([fused] * count).statistics.cycles for count in (60, 30))
    assert many - few == 30 * cycles


def test_the_register_cache_forgets_what_it_holds_where_another_warp_reads() -> None:
    marked = instruction(Unit.FMA, sources=registers(8, 10, 12), reuse=0b110, stall=2)
    others: list[list[Fields]] = [[EXIT]] * 3
    alone = run([marked] * 40).statistics.cycles
    assert run([marked] * 40, *others, [marked] * 40).statistics.cycles > 2.5 * alone


def test_a_wide_product_passes_its_pipe_twice() -> None:
    once, twice = (instruction(Unit.HEAVY, passes=passes) for passes in (1, 2))
    assert run([twice] * 20).statistics.fma == 2 * run([once] * 20).statistics.fma


def test_behind_a_wide_product_its_sub_partition_issues_nothing_for_four_cycles() -> None:
    once, twice = (instruction(Unit.HEAVY, passes=passes) for passes in (1, 2))
    others: list[list[Fields]] = [[EXIT]] * 3
    add = instruction(Unit.FMA)
    narrow, wide = (
        run([each, add] * 20, *others, [each, add] * 20).statistics.cycles for each in (once, twice)
    )
    assert wide > 2 * 19 * (4 + 1)
    assert narrow < 2 * 20 * 3


def test_constants_of_all_warps_pass_one_unit() -> None:
    constant = instruction(Unit.NONE, Kind.CONSTANT, write_scoreboard=0)
    four = run(*[[*[constant] * 50, USE]] * 4).statistics.cycles
    assert four == pytest.approx(4 * 50 * 2.0, abs=10)


def test_a_dependent_instruction_waits_for_its_load() -> None:
    assert run([LOAD, EXIT]).statistics.cycles < 10
    assert run([LOAD, USE]).statistics.cycles > parameters().l2_latency


def test_dram_reads_the_part_of_each_buffer_that_the_l2_does_not_hold() -> None:
    """All blocks use the vector; each element of the matrix is read once."""
    share = Share(0.5, 0.0, 0.9, of_buffers=np.array([0.0, 2.0]))
    loads = [each for _ in range(24) for each in (LOAD, USE)]
    lines = [*range(500, 504), *range(510, 530)]
    sm = run(loads, lines=lines, share=share)
    assert sm.misses.tolist() == [4, 20, 0]
    assert sm.statistics.dram_bytes == 20 * 2 * SECTOR_BYTES
    outside = run(loads, lines=range(100, 124), share=share)
    assert outside.misses.tolist() == [0, 0, 24]
    assert outside.statistics.dram_bytes == 24 * 0.5 * SECTOR_BYTES


def test_a_sector_that_another_sm_reads_is_waited_for_and_read_once() -> None:
    loads = [each for _ in range(20) for each in (LOAD, USE)]
    from_l2, with_others, alone = (
        run(loads, lines=range(20), share=Share(read, 0.0, 0.9, others=others)).statistics
        for read, others in ((0.0, 0.0), (0.0, 2.0), (2.0, 0.0))
    )
    assert with_others.dram_bytes == from_l2.dram_bytes == 0 < alone.dram_bytes
    quickest = parameters().dram_latency - parameters().l2_latency
    assert (with_others.cycles - from_l2.cycles) / 20 == pytest.approx(quickest, rel=0.2)
    assert alone.cycles > with_others.cycles


def test_a_line_that_was_loaded_is_a_hit_and_comes_with_the_first_load() -> None:
    sm = run([LOAD, LOAD, USE])
    assert (sm.statistics.load_sectors, sm.statistics.load_hits) == (2, 1)
    assert sm.statistics.l2_bytes == 32
    assert sm.statistics.cycles == pytest.approx(run([LOAD, USE]).statistics.cycles, abs=4)


def test_accesses_of_one_wavefront_pass_the_tag_stage_beside_the_data_of_others() -> None:
    one, two, both = (
        run(*[[LOAD] * 100] * 4, wavefronts=wavefronts).statistics.cycles
        - run(*[[LOAD] * 50] * 4, wavefronts=wavefronts).statistics.cycles
        for wavefronts in ([1], [2], [2, 1])
    )
    assert one == pytest.approx(200, rel=0.02)
    assert two == pytest.approx(2 * 200, rel=0.02)
    assert both == pytest.approx(1.5 * 200, rel=0.02)  # the tags of one pass beside data of another


def test_further_wavefronts_of_a_load_take_more_than_a_cycle() -> None:
    few, many = (run([LOAD] * count, wavefronts=[32]).statistics.cycles for count in (20, 60))
    assert many - few == pytest.approx(40 * 34.1)


def test_a_load_of_a_completely_stored_sector_hits() -> None:
    assert run([STORE, LOAD, USE], whole=1).statistics.load_hits == 1
    assert run([STORE, LOAD, USE]).statistics.load_hits == 0


@pytest.mark.parametrize(("kept", "part"), [(0, 0.0), (20, 1.0), (40, 0.95), (50, 0.36), (59, 0.0)])
def test_what_a_warp_loads_again_comes_from_dram_if_the_l2_has_lost_it(
    kept: int, part: float
) -> None:
    lines = [*range(60)] * 2
    found = run([LOAD] * len(lines), lines=lines, l1_lines=16, kept_lines=kept).statistics
    assert found.lost == pytest.approx(part * 60 * 2)  # pairs of sectors
    assert found.dram_bytes == pytest.approx(32 * found.lost, abs=64)


def test_what_a_warp_stores_again_is_written_again_if_the_l2_has_lost_it() -> None:
    lines = [*range(60)] * 2
    kept, lost = (
        run([STORE] * len(lines), lines=lines, kept_lines=most).statistics.dram_bytes
        for most in (59, 20)
    )
    assert (kept, lost) == (0, 60 * 32)


def test_warps_that_load_the_same_lines_do_so_at_the_same_time() -> None:
    loads, others = [LOAD] * 60, [[EXIT]] * 3
    lines = [*range(60)] * 2
    found = run(loads, *others, loads, lines=lines, l1_lines=16, kept_lines=20).statistics
    assert found.lost == 0


def test_local_memory_is_read_from_dram_once_and_then_is_in_the_l1_and_the_l2() -> None:
    cold, stored = run([LOAD, USE], lines=[LOCAL]), run([STORE, LOAD, USE], lines=[LOCAL])
    assert (cold.statistics.dram_bytes, stored.statistics.dram_bytes) == (64, 0)
    assert cold.statistics.cycles > parameters().dram_latency
    assert stored.statistics.cycles < parameters().l2_latency
    assert run([LOAD, USE], lines=[LOCAL], blocks=2).statistics.dram_bytes == 64
    assert run([LOAD, USE], lines=[LOCAL], blocks=2, resident=2).statistics.dram_bytes == 128


def test_a_load_waits_for_dram_unless_a_prefetch_has_brought_its_line() -> None:
    cold = Share(1.0, 1.0, 0.9)
    long, brief = [BUSY] * 5000, [BUSY] * 5
    alone, behind, beside = (
        run([*code, *pause, LOAD, USE, EXIT], share=cold, lines=[7])
        for code, pause in (([BUSY], long), ([PREFETCH], long), ([PREFETCH], brief))
    )
    assert behind.statistics.cycles < alone.statistics.cycles - 200
    read = [sm.statistics.dram_bytes / (2 * SECTOR_BYTES) for sm in (alone, behind, beside)]
    assert read == [1, 1, 2], "DRAM reads twice while the prefetch is on its way"


def test_the_l2_loses_prefetched_lines_too() -> None:
    code = [PREFETCH, *[LOAD] * 50, *[BUSY] * 5000, LOAD, USE, EXIT]
    held, lost = (
        run(code, share=Share(1.0, 1.0, 0.9), lines=[7, *range(100, 150), 7], kept_lines=kept)
        for kept in (1000.0, 10.0)
    )
    read = [sm.statistics.dram_bytes / (2 * SECTOR_BYTES) for sm in (held, lost)]
    assert read[0] < read[1]
    assert held.statistics.cycles < lost.statistics.cycles - 200


def test_prefetches_that_dram_cannot_follow_are_dropped() -> None:
    many, lines = [*[PREFETCH] * 8000, EXIT], range(8000)
    read = [
        run(many, share=Share(part, part, 0.9), lines=lines, dram_byte_cycles=1.0)
        for part in (1.0, 0.0)
    ]
    most = (read[0].statistics.cycles + 5000) / (2 * SECTOR_BYTES)
    assert 0 < read[0].statistics.dram_bytes / (2 * SECTOR_BYTES) <= most < 8000
    assert read[0].statistics.cycles == read[1].statistics.cycles, "nobody waits for prefetches"


def test_a_load_past_the_l1_of_a_recent_store_keeps_an_l2_slice_busy() -> None:
    past = instruction(Unit.MEMORY, Kind.LOAD, write_scoreboard=0, past_l1=1)
    busy, others = (
        run([STORE] * 50 + [past] * 50 + [USE], lines=[*range(50), *loaded], stored_read_cycles=40)
        for loaded in (range(50), range(50, 100))
    )
    longer = busy.statistics.cycles - others.statistics.cycles
    assert longer == pytest.approx(50 * 40, rel=0.1)


def test_a_store_is_not_waited_for_and_costs_by_the_part_of_its_sector() -> None:
    sm = run([STORE, USE])
    p = parameters()
    assert sm.statistics.store_cycles == p.store_line_cycles + p.partial_sector_cycles
    assert sm.statistics.l2_bytes == 32
    assert sm.statistics.cycles < 20


def test_a_store_goes_to_the_l2_with_one_to_the_same_sector_that_is_on_its_way() -> None:
    others = range(1, MERGING_LINES + 1)
    soon, late = [0, *others[:-1], 0], [0, *others, 0]
    assert run([STORE] * len(soon), lines=soon).statistics.l2_bytes == 32 * (len(soon) - 1)
    assert run([STORE] * len(late), lines=late).statistics.l2_bytes == 32 * len(late)


def test_merging_of_stores_does_not_change_dram_writes() -> None:
    apart, together = (
        run([STORE] * 200, lines=lines, share=Share(0.0, 0.5, 0.9)).statistics
        for lines in (range(100), (0,))
    )
    assert apart.l2_bytes == 100 * together.l2_bytes * 2
    assert apart.dram_bytes == together.dram_bytes == 200 * 0.5 * 32


def test_an_atomic_has_its_result_from_the_l2() -> None:
    sm = run([ATOMIC, USE])
    assert sm.statistics.store_cycles == parameters().atomic_cycles
    assert sm.statistics.cycles > parameters().l2_latency


@pytest.mark.parametrize("left", [0, 1])
def test_a_warp_waits_for_groups_of_copies_but_the_latest_so_many(left: int) -> None:
    depend = instruction(Unit.NONE, Kind.DEPEND, argument=left)
    cycles = run([COPY, COMMIT, depend, EXIT]).statistics.cycles
    assert (cycles > parameters().l2_latency) == (left == 0)


def test_a_barrier_is_passed_by_all_warps_of_a_block_or_by_those_that_are_left() -> None:
    short, long = [BARRIER, EXIT], [ADD] * 20 + [BARRIER, EXIT]
    waited = run(short, long).statistics.cycles
    assert waited >= 20 * ADD["stall"] + parameters().barrier_latency
    assert run(short, [ADD] * 20).statistics.cycles >= 19 * ADD["stall"]


def test_a_barrier_of_a_cluster_takes_longer_than_that_of_a_block() -> None:
    of_cluster = {**BARRIER, "latency": 45}
    own, cluster = (run([each, EXIT]).statistics.cycles for each in (BARRIER, of_cluster))
    assert cluster - own == 45


@pytest.mark.parametrize("kind", [Kind.LOAD, Kind.STORE, Kind.ATOMIC])
def test_packets_to_other_blocks_of_a_cluster_pass_one_after_another(kind: Kind) -> None:
    """As many cycles as a packet takes on an H200: 3.9 to 4.6."""
    code = [instruction(Unit.MEMORY, kind, write_scoreboard=0)] * 40 + [USE, EXIT]

    def cycles(packets: int) -> float:
        sm = prepare(code, packets=packets)
        sm.simulate(emulator_runtime())
        return float(sm.statistics.cycles)

    assert cycles(0) < 300
    assert 3.5 * 40 * 16 < cycles(32) - cycles(16) < 5 * 40 * 16


def test_the_block_that_started_first_has_priority() -> None:
    first, second = run(*[[BUSY] * 40] * 4, blocks=2, resident=2).ends
    assert second > 1.8 * first


def test_loads_in_the_queue_are_served_in_their_order_whatever_their_block() -> None:
    first, second = run(*[[LOAD, USE] * 20] * 16, blocks=2, resident=2, wavefronts=[32]).ends
    assert first > 0.95 * second


def test_loads_of_the_block_that_started_first_enter_a_full_queue_first() -> None:
    ends = run(*[[LOAD, USE] * 20] * 32, blocks=4, resident=4, wavefronts=[32]).ends
    assert ends[0] < 0.8 * ends[-1]


def test_the_load_that_waits_longest_is_issued_before_other_instructions() -> None:
    loads, adds = [LOAD] * 60 + [EXIT], [BUSY] * 400 + [EXIT]
    idle = [[EXIT]] * 3
    both = run(loads, *idle, adds).statistics.cycles  # on one sub-partition
    assert both == pytest.approx(run(adds, *idle).statistics.cycles + 60, abs=10)


def test_a_load_of_less_than_a_word_passes_twice_if_it_waits_for_data() -> None:
    narrow = {**LOAD, "narrow": 1}
    waits, hits = ([each] * 8 for each in (narrow, LOAD))
    assert run(waits).statistics.lsu - run(hits).statistics.lsu == 8
    waits, hits = ([each, USE] * 8 for each in (narrow, LOAD))
    assert run(waits).statistics.lsu - run(hits).statistics.lsu == 1  # the first


def test_warps_that_wait_for_a_line_get_their_data_one_after_another() -> None:
    one, many = (run(*[[LOAD, USE]] * count).statistics.cycles for count in (1, 32))
    assert many - one == pytest.approx(31, abs=3)


def test_only_loads_of_the_same_cycle_share_a_fetch_past_the_l1() -> None:
    past = {**LOAD, "past_l1": 2}
    fetched = [run(*[[past]] * warps).statistics.l1_misses for warps in (1, 4, 8, 16)]
    assert fetched == [1, 1, 2, 4]


def test_few_loads_wait_for_a_line_together() -> None:
    few, many = (run(*[[LOAD]] * count).statistics.lsu for count in (9, 32))
    assert many - few == pytest.approx(23 * 1.8)
    few, many = (run([LOAD, USE], *[[BUSY] * 900 + [LOAD]] * n).statistics.lsu for n in (9, 31))
    assert many - few == pytest.approx(22)  # the L1 has the line


def test_slices_of_the_l2_answer_at_different_times() -> None:
    waits = [run([LOAD, USE], lines=[line]).statistics.cycles for line in range(40)]
    assert 40 < max(waits) - min(waits) <= 64
    waits = [run([LOAD, USE], lines=[line], l2_spread=0).statistics.cycles for line in range(40)]
    assert max(waits) == min(waits)


def test_a_warp_waits_once_for_the_results_of_earlier_blocks() -> None:
    looks = {**LOAD, "argument": AWAITS_EARLIER}
    ages = (1000, 2000)
    plain, waiting, twice = (
        [run([BUSY] * age + [each, USE] * count + [EXIT]).statistics.cycles for age in ages]
        for each, count in ((LOAD, 1), (looks, 1), (looks, 2))
    )
    assert plain[1] - plain[0] == 2000
    assert waiting[1] - waiting[0] == pytest.approx(1.75 * 2000, abs=1)
    assert twice[1] - twice[0] == pytest.approx(1.75 * 2000, abs=1)


def test_earlier_blocks_are_late_with_their_results_by_a_part_of_the_own_time() -> None:
    publishes = {**STORE, "argument": PUBLISHES}
    looks, single = ({**LOAD, "argument": value} for value in (AWAITS_EARLIER, AWAITS_SINGLE))
    soon, late, one_by_one = (
        run([BUSY] * before + [publishes] + [BUSY] * (3000 - before) + [each, USE, EXIT])
        for before, each in ((10, looks), (3000, looks), (10, single))
    )
    cycles = [sm.statistics.cycles for sm in (soon, late, one_by_one)]
    assert cycles[1] - cycles[0] == pytest.approx(0.75 * 6000, rel=0.1)
    assert cycles[2] > cycles[0] + 1000, "each read takes the latency of the L2"


def test_first_warps_of_blocks_are_on_one_sub_partition_after_the_other() -> None:
    first, second = run([BUSY] * 40, *[[EXIT]] * 3, blocks=2, resident=2).ends
    assert second < 1.2 * first


def test_blocks_that_find_no_room_start_when_others_end() -> None:
    both = run([ADD] * 10, blocks=2, resident=2)
    in_turn = run([ADD] * 10, blocks=2)
    assert both.ends[0] == in_turn.ends[0]
    assert in_turn.ends[1] - in_turn.ends[0] > parameters().block_launch
    assert both.ends[1] < in_turn.ends[1]
