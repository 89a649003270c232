"""Accesses of a launch to its buffers, extrapolated from a few steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.gpus import read_gpus
from grader.emulator.layouts.execution import SECTOR_BYTES, TraceWord
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.figures import Figures
from grader.emulator.timing.footprint import L2_SET_BYTES, Footprint
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES

BUFFER = (10 * LINE_BYTES, 20 * LINE_BYTES)
ACROSS = (20 * LINE_BYTES, 22 * LINE_BYTES)
Touch = tuple[int, int, int, int]
LOAD, STORE, ATOMIC, SHARED = range(4)
KINDS = (Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.SHARED)


def streams_of(table: np.ndarray, touched: Sequence[Touch], space: int) -> Streams:
    steps, accesses = make_rows(Step, len(touched)), make_rows(Access, len(touched))
    lines = make_rows(Line, len(touched))
    for row, (code, line, sectors, words) in enumerate(touched):
        steps["code"][row] = code
        lines[row] = (line, sectors, 0, 2, 1, words)
    steps["access"] = accesses["first"] = np.arange(len(touched))
    accesses["end"], accesses["space"] = accesses["first"] + 1, space
    first = np.array([0, len(touched)], dtype=np.int64)
    return Streams(first, steps, accesses, lines, table, 1, 1.0)


def figures_of(*, sectors: float = 0.0, sets: float = 1e6) -> Figures:
    """A GPU whose L2 has these sectors for data that blocks access at random; DRAM moves 100 bytes
    while it opens a row for a read, and 150 for a write."""
    h100 = read_gpus()["h100"].figures
    assert h100 is not None
    l2_bytes = sets * L2_SET_BYTES
    return replace(
        h100,
        l2_bytes=l2_bytes,  # a fraction of a set
        shared_part=sectors * SECTOR_BYTES / l2_bytes,
        dram_gbps=float(h100.dram_channels),
        read_row_ns=100.0,
        write_row_ns=150.0,
    )


ROOMY = figures_of()


def footprint_of(
    *touched: Touch,
    space: int = TraceWord.GLOBAL,
    times: int = 1,
    around: Sequence[Sequence[Touch]] = (),
    held: Sequence[float] = (),
    figures: Figures = ROOMY,
) -> Footprint:
    """The footprint of a warp whose steps access a line each: instruction, line, masks of sectors
    and of covered words. The launch repeats these steps."""
    table = make_rows(CodeRow, len(KINDS))
    table["kind"] = KINDS
    return Footprint(
        streams_of(table, touched, space),
        times * len(touched),
        (BUFFER, ACROSS),
        figures,
        emulator_runtime(),
        around=[streams_of(table, group, space) for group in around],
        held=held,
    )


def moved(footprint: Footprint, *, closely: bool = False) -> tuple[float, float]:
    traffic = footprint.traffic(closely=closely)
    return traffic.read, traffic.written


def test_loads_move_pairs_of_sectors_once() -> None:
    assert moved(footprint_of((LOAD, 10, 15, 0), (LOAD, 10, 15, 0), (LOAD, 11, 1, 0))) == (6, 0)
    assert moved(footprint_of((LOAD, 10, 1, 0), (LOAD, 10, 2, 0), (LOAD, 10, 4, 0))) == (4, 0)


def test_a_sector_that_stays_stored_in_part_is_read_unless_the_l2_can_wait_for_the_rest() -> None:
    small = figures_of(sets=1e-3)
    assert moved(footprint_of((STORE, 12, 3, 0xFFFF), figures=small)) == (0, 2)
    assert moved(footprint_of((STORE, 12, 3, 0x0FFF), figures=small)) == (0, 3)
    twice = (STORE, 12, 1, 0x0F), (STORE, 12, 1, 0xF0)
    assert moved(footprint_of(*twice, figures=small)) == (0, 1)
    assert moved(footprint_of((STORE, 12, 3, 0x0FFF))) == (0, pytest.approx(2))
    assert moved(footprint_of((ATOMIC, 12, 1, 0xFF))) == (0, 2)


def test_loaded_sectors_are_not_read_again_for_stores() -> None:
    small = figures_of(sets=1e-3)
    assert moved(footprint_of((LOAD, 12, 1, 0), (STORE, 12, 1, 0x0F), figures=small)) == (2, 1)
    assert moved(footprint_of((STORE, 12, 1, 0x0F), (LOAD, 12, 1, 0), figures=small)) == (2, 1)
    assert moved(footprint_of((LOAD, 12, 1, 0), (ATOMIC, 12, 1, 0))) == (2, 1)


def test_slices_wait_for_rows_of_sectors_that_leave_the_l2_during_the_launch() -> None:
    def lost(words: int, figures: Figures) -> tuple[float, float]:
        found = footprint_of((STORE, 12, 15, words), figures=figures).traffic(closely=True)
        return found.write_lost, found.waited

    row = 150 / 4 - 32
    few, all_of_them = figures_of(sectors=3.0), figures_of(sectors=4.0, sets=1e-3)
    assert lost(0xFFFFFFFF, few) == pytest.approx((4 * row, row))
    assert lost(0x0FFFFFFF, few) == pytest.approx((4 * row, row))
    assert lost(0xFFFFFFFF, all_of_them) == pytest.approx((4 * row, 0.0))
    assert lost(0x0FFFFFFF, all_of_them) == pytest.approx((5 * row, 2 * row))


def test_it_is_carried_over_to_the_launch_and_ends_with_the_buffers() -> None:
    once = (LOAD, 10, 15, 0), (STORE, 11, 1, 0xFF)
    assert moved(footprint_of(*once, times=3)) == (12, 3)
    assert moved(footprint_of(*once, times=1000)) == (40, 40)


def test_lines_outside_of_buffers_are_not_counted() -> None:
    assert moved(footprint_of((LOAD, 9, 15, 0), (LOAD, 22, 15, 0), (STORE, 30, 1, 0))) == (0, 0)


def test_only_global_memory_counts() -> None:
    assert moved(footprint_of((LOAD, 10, 15, 0), space=TraceWord.LOCAL)) == (0, 0)
    assert moved(footprint_of((SHARED, 10, 15, 0))) == (0, 0)


def test_data_that_neighbours_do_not_share_is_read_again_unless_the_l2_holds_it() -> None:
    apart = [(LOAD, line, 3, 0) for line in (10, 13)]
    again = [(LOAD, line, 3, 0) for line in (10, 10)]
    assert moved(footprint_of(*apart, times=100, around=[apart])) == (40, 0)
    assert moved(footprint_of(*apart, times=100, around=[apart]), closely=True) == (400, 0)
    held = footprint_of(
        *apart, times=100, around=[apart], figures=figures_of(sectors=40.0, sets=1.0)
    )
    assert moved(held, closely=True) == (40, 0)
    assert moved(footprint_of(*again, times=100, around=[again]), closely=True)[0] <= 200


@pytest.mark.parametrize(
    ("line", "l2_sectors", "read"),
    [(11, 20.0, 5 * 40), (11, 40.0, 40), (10, 20.0, 40)],
    ids=["more than the L2 holds", "the L2 holds it", "shared by the blocks of a wave"],
)
def test_each_wave_reads_again_what_the_wave_before_has_read(
    line: int, l2_sectors: float, read: float
) -> None:
    """Ten blocks a wave, each with a line of its own or with the same, go through the buffer five
    times: a product whose second matrix does not fit the L2."""
    table = make_rows(CodeRow, len(KINDS))
    table["kind"] = KINDS
    own, next_block = (LOAD, 10, 15, 0), (LOAD, line, 15, 0)
    neighbours = streams_of(table, [own, next_block], TraceWord.GLOBAL)
    footprint = Footprint(
        streams_of(table, [own], TraceWord.GLOBAL),
        50,
        (BUFFER, ACROSS),
        figures_of(sectors=l2_sectors),
        emulator_runtime(),
        around=[replace(neighbours, first=np.arange(3))],
        resident=10,
    )
    assert footprint.traffic(closely=False, waves=5.0).loads.tolist() == [read, 0]
    assert footprint.traffic(closely=False, waves=5.0).new == 1.0


def test_sectors_that_the_l2_held_before_the_launch_are_not_read_again() -> None:
    loads = (LOAD, 10, 15, 0), (LOAD, 20, 15, 0)
    assert moved(footprint_of(*loads, held=(1.0, 40.0))) == (3, 0)
    assert moved(footprint_of((STORE, 12, 3, 0xFFFF), held=(40.0, 0.0))) == (0, 2)


def test_a_launch_leaves_its_sectors_in_the_l2_and_older_ones_that_fit() -> None:
    used = footprint_of((LOAD, 10, 15, 0), (STORE, 11, 3, 0xFFFF), held=(2.0, 8.0))
    assert used.held_after(100.0) == (4.0, 8.0)
    assert used.held_after(8.0) == (4.0, 4.0)
    assert used.held_after(4.0) == (4.0, 0.0)
    assert used.held_after(3.0) == (pytest.approx(1.0), 0.0)
    assert used.held_after(2.0) == (0.0, 0.0)


def test_rows_of_dram_are_opened_for_pages_that_are_touched_in_part() -> None:
    whole = footprint_of((LOAD, 10, 15, 0), (LOAD, 11, 15, 0))
    part = footprint_of((LOAD, 10, 1, 0), (STORE, 12, 1, 0xFF))
    lost = [each.traffic(closely=True) for each in (whole, part)]
    assert [each.read_lost for each in lost] == [0, 100 - 64]
    assert [each.write_lost for each in lost] == [0, 150 - 32]


def test_neighbouring_blocks_complete_each_other_s_sectors() -> None:
    """The blocks of an SM are not neighbours: each stores half a sector. Neighbours store both
    halves."""
    half, rest = (STORE, 10, 0b1, 0x0F), (STORE, 10, 0b1, 0xF0)
    few = figures_of(sets=0.001)
    alone = footprint_of(half, around=[[half]], figures=few).traffic(closely=False)
    beside = footprint_of(half, around=[[half, rest]], figures=few).traffic(closely=False)
    assert alone.filled == pytest.approx(1.0, rel=0.01)
    assert beside.filled == 0.0
    assert beside.written == 1.0
