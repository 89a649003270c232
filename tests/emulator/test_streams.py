"""Expansion of warps' traces: steps in order, and the properties of their accesses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.layouts.execution import FULL_MASK, WARP_LANES, TraceWord
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.streams import Streams, find_exchanges, make_streams
from grader.emulator.timing.timing_records import LINE_BYTES

WIDTHS = np.array([0, 4, 8, 16, 0], dtype=np.int64)
"""Bytes per lane, for the five instructions in two basic blocks."""
BLOCKS = (range(3), range(3, 5))
WORD, TWO, FOUR = 1, 2, 3
TABLE = make_rows(CodeRow, 5)
TABLE["kind"] = Kind.LOAD
NONE = np.zeros(5, dtype=bool)
CODE = CodeTable(TABLE, WIDTHS, np.array([False, False, False, True, False]), NONE, NONE, NONE)
"""The instructions of these widths in words."""


def block(index: int) -> list[int]:
    return [TraceWord.BLOCK | index]


def access(
    instruction: int,
    addresses: Sequence[int] = (),
    *,
    mask: int = FULL_MASK,
    passes: int = 1,
    space: int = TraceWord.GLOBAL,
) -> list[int]:
    head = TraceWord.ACCESS | space << TraceWord.SPACE_SHIFT | instruction
    return [head, mask, passes, *addresses]


def lanes(step: int, start: int = 0) -> list[int]:
    return [start + step * lane for lane in range(WARP_LANES)]


def expand(*warps: list[int], local_bytes: int = 0, executed: int = 0) -> Streams:
    traces = [[np.array(words, dtype=np.uint32) for words in warps]]
    return make_streams(traces, executed, BLOCKS, CODE, local_bytes, emulator_runtime())


LOOP, BARRIER, GROUP = range(3)


def running(*warps: Sequence[int], warps_per_block: int = 1) -> Streams:
    """Warps of blocks whose steps are these instructions."""
    table = make_rows(CodeRow, 3)
    table["kind"] = [Kind.FIXED, Kind.BARRIER, Kind.COMMIT]
    steps = make_rows(Step, sum(map(len, warps)))
    steps["code"] = [code for warp in warps for code in warp]
    steps["access"] = -1
    first = np.cumsum([0, *map(len, warps)])
    none = (make_rows(Access, 0), make_rows(Line, 0))
    return Streams(first, steps, *none, table, warps_per_block, 1.0)


def order_of(streams: Streams) -> list[int]:
    """The steps of all warps in the order in which each warp runs them."""
    first = streams.first.tolist()
    begins = first[:-1] if streams.begins is None else streams.begins.tolist()
    spans = zip(first[:-1], begins, first[1:], strict=True)
    return [
        step for start, begin, end in spans for step in [*range(begin, end), *range(start, begin)]
    ]


def test_staggered_blocks_begin_at_parts_of_their_steps() -> None:
    streams = running([LOOP] * 4, [LOOP] * 4, [LOOP] * 4)
    assert order_of(streams.staggered(2)) == [0, 1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 11]


def test_all_warps_of_a_staggered_block_begin_behind_the_same_barrier() -> None:
    long, short = [LOOP, LOOP, BARRIER, LOOP, BARRIER], [LOOP, BARRIER, BARRIER]
    moved = order_of(running(long, short, long, short, warps_per_block=2).staggered(2))
    assert moved == [*range(8), 11, 12, 8, 9, 10, 15, 13, 14]
    without = running(long, short, long, [LOOP], warps_per_block=2)
    assert order_of(without.staggered(2)) == order_of(without)


def test_steps_that_refer_to_earlier_ones_are_not_staggered() -> None:
    copies = running([LOOP, GROUP], [LOOP, GROUP])
    assert copies.staggered(2) is copies
    waiting = replace(running([LOOP] * 2, [LOOP] * 2), waited=(0,))
    assert waiting.staggered(2) is waiting


STORES, READS, READS_PAST_L1 = range(3)


def exchanging(*blocks: Sequence[tuple[int, int]]) -> Streams:
    """Blocks of a warp, of which each step is an instruction that accesses a line."""
    made = [access for block in blocks for access in block]
    table, steps = make_rows(CodeRow, 3), make_rows(Step, len(made))
    table["kind"] = [Kind.STORE, Kind.LOAD, Kind.LOAD]
    table["past_l1"] = [0, 0, 1]
    accesses, lines = make_rows(Access, len(made)), make_rows(Line, len(made))
    steps["code"], lines["number"] = np.array(made).T
    steps["access"] = accesses["first"] = np.arange(len(made))
    accesses["end"] = accesses["first"] + 1
    return Streams(np.cumsum([0, *map(len, blocks)]), steps, accesses, lines, table, 1, 1.0)


@pytest.mark.parametrize(
    ("blocks", "handed_on"),
    [
        ([[(STORES, 7)], [(READS_PAST_L1, 7)]], True),
        ([[(READS_PAST_L1, 7)], [(STORES, 6)], [(STORES, 7), (STORES, 8)]], True),
        ([[(STORES, 7)], [(STORES, 7), (READS_PAST_L1, 7)]], True),
        ([[(STORES, 7)], [(READS, 7)]], False),
        ([[(STORES, 7), (READS_PAST_L1, 7)], [(STORES, 8), (READS_PAST_L1, 9)]], False),
        ([[(READS_PAST_L1, 7)], [(READS_PAST_L1, 7)]], False),
    ],
)
def test_loads_past_the_l1_of_what_other_blocks_store_are_exchanges(
    blocks: list[list[tuple[int, int]]], *, handed_on: bool
) -> None:
    found = find_exchanges([exchanging(*blocks)])
    assert found.published.tolist() == [STORES] * handed_on
    assert [*found.several, *found.single] == [READS_PAST_L1] * handed_on


@pytest.mark.parametrize(
    ("lanes", "second", "several"), [(32, 7, True), (1, 7, False), (32, 8, False)]
)
def test_lanes_read_results_of_several_blocks_at_once(
    lanes: int, second: int, *, several: bool
) -> None:
    group = exchanging([(STORES, 7)], [(STORES, second)], [(READS_PAST_L1, 7)])
    group.accesses["lanes"] = lanes
    found = find_exchanges([group])
    assert (len(found.several), len(found.single)) == (several, not several)


def test_each_access_belongs_to_the_step_that_made_it() -> None:
    first = block(0) + access(WORD, lanes(4)) + access(TWO, lanes(8)) + block(1) + block(0)
    streams = expand(first, block(1))
    assert streams.first.tolist() == [0, 8, 10]
    assert streams.steps["code"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3, 4]
    assert streams.steps["access"].tolist() == [-1, 0, 1, -1, -1, -1, -1, -1, -1, -1]
    assert streams.accesses["first"].tolist() == [0, 1]
    assert streams.accesses["end"].tolist() == [1, 3]


@pytest.mark.parametrize(
    ("instruction", "addresses", "mask", "wavefronts", "tags", "touched", "whole"),
    [
        (WORD, lanes(4), FULL_MASK, 1, 1, [15], [15]),
        (WORD, lanes(4, start=64), FULL_MASK, 1, 1, [12, 3], [12, 3]),
        (WORD, lanes(0), FULL_MASK, 1, 1, [1], [0]),
        (WORD, lanes(4), 0xFF, 1, 1, [1], [1]),
        (WORD, lanes(4), 0x7F00, 1, 1, [2], [0]),
        (TWO, lanes(8), FULL_MASK, 2, 1, [15] * 2, [15] * 2),
        (FOUR, lanes(16), FULL_MASK, 4, 1, [15] * 4, [15] * 4),
        (WORD, lanes(128), FULL_MASK, 32, 8, [1] * 32, [0] * 32),
        (WORD, lanes(1 << 14), FULL_MASK, 32, 8, [1] * 32, [0] * 32),
    ],
    ids=[
        "contiguous",
        "across two lines",
        "broadcast",
        "eight lanes",
        "seven lanes",
        "two words a lane",
        "four words a lane",
        "column",
        "column of a large matrix",
    ],
)
def test_a_global_access_has_wavefronts_and_sectors(
    instruction: int,
    addresses: list[int],
    mask: int,
    wavefronts: int,
    tags: int,
    touched: list[int],
    whole: list[int],
) -> None:
    streams = expand(block(0) + access(instruction, addresses, mask=mask))
    (found,) = streams.accesses
    assert (found["wavefronts"], found["tags"]) == (wavefronts, tags)
    assert (streams.lines["touched"].tolist(), streams.lines["whole"].tolist()) == (touched, whole)
    assert len(set(streams.lines["number"])) == len(touched)


def test_the_work_of_each_block_is_added_up() -> None:
    once = block(0) + access(WORD, lanes(4)) + access(TWO, space=TraceWord.SHARED, passes=7)
    alone = block(0) + access(FOUR, lanes(128), space=TraceWord.LOCAL)
    traces = [[np.array(words, dtype=np.uint32)] for words in (once * 2 + block(1), alone)]
    runtime = emulator_runtime()
    work = make_streams(traces, 0, BLOCKS, CODE, 64, runtime).work
    assert work.executed.tolist() == [[2, 2, 2, 1, 1], [1, 1, 1, 0, 0]]
    assert (work.sectors.tolist(), work.wavefronts.tolist()) == ([8, 0], [14, 0])


def test_shared_memory_has_the_wavefronts_that_were_counted_and_no_lines() -> None:
    streams = expand(block(0) + access(WORD, space=TraceWord.SHARED, passes=7))
    assert (streams.accesses["wavefronts"].tolist(), len(streams.lines)) == ([7], 0)


def test_constants_have_the_different_words_that_were_counted_and_no_lines() -> None:
    streams = expand(block(0) + access(WORD, passes=7, space=TraceWord.CONSTANT))
    assert (streams.accesses["wavefronts"].tolist(), len(streams.lines)) == ([7], 0)


def test_words_of_local_memory_lie_side_by_side() -> None:
    warp = block(0) + access(WORD, lanes(0, start=4), space=TraceWord.LOCAL)
    streams = expand(warp, warp, local_bytes=64)
    assert streams.lines["touched"].tolist() == [15, 15]
    first, second = streams.lines["number"].tolist()
    assert first == second > 1 << 40


def test_each_word_of_a_wider_access_to_local_memory_has_a_line_of_its_own() -> None:
    warp = block(0) + access(FOUR, lanes(0, start=16), space=TraceWord.LOCAL)
    streams = expand(warp, local_bytes=64)
    assert streams.accesses["wavefronts"].tolist() == [4]
    assert streams.lines["whole"].tolist() == [15] * 4
    assert np.diff(streams.lines["number"]).tolist() == [1] * 3


def test_traces_that_were_cut_off_end_behind_equally_many_barriers() -> None:
    streams = expand(block(1) * 3, block(1), executed=16)
    assert streams.first.tolist() == [0, 1, 2]
    assert streams.fraction == 2 / 16


def lines_of(instruction: int, addresses: list[int], *, atomic: bool = False) -> np.ndarray:
    """The lines of an access."""
    table = TABLE.copy()
    table["kind"] = Kind.ATOMIC if atomic else Kind.STORE
    trace = np.array(block(0) + access(instruction, addresses), dtype=np.uint32)
    code = replace(CODE, table=table)
    return make_streams([[trace]], 0, BLOCKS, code, 0, emulator_runtime()).lines


def test_a_line_has_the_words_that_are_covered() -> None:
    assert lines_of(WORD, lanes(4))["words"].tolist() == [FULL_MASK]
    assert lines_of(WORD, lanes(8))["words"].tolist() == [0x55555555] * 2
    assert lines_of(TWO, lanes(16))["words"].tolist() == [0x33333333] * 4


def test_narrow_stores_cover_the_words_whose_bytes_are_all_there() -> None:
    bytes_wide = replace(CODE, widths=np.ones(5, dtype=np.int64))
    trace = np.array(block(0) + access(WORD, lanes(1)), dtype=np.uint32)
    lines = make_streams([[trace]], 0, BLOCKS, bytes_wide, 0, emulator_runtime()).lines
    assert (lines["words"].tolist(), lines["whole"].tolist()) == ([0xFF], [1])


def test_lanes_of_an_atomic_that_meet_at_a_word_take_turns() -> None:
    one = lines_of(WORD, [0] * 32, atomic=True)
    assert (one["rounds"].tolist(), one["chain"].tolist()) == ([32], [32])
    row = lines_of(WORD, lanes(4), atomic=True)
    assert (row["rounds"].tolist(), row["chain"].tolist()) == ([4], [1])
    pairs = lines_of(WORD, [lane // 2 * 4 for lane in range(32)], atomic=True)
    assert (pairs["rounds"].tolist(), pairs["chain"].tolist()) == ([4], [2])
    assert lines_of(WORD, [0] * 32)["rounds"].tolist() == [0]


def test_a_record_that_was_cut_off_is_not_there() -> None:
    words = block(0) + access(WORD, lanes(4))
    streams = expand(words[:-1], words)
    assert streams.first.tolist() == [0, 3, 6]
    assert len(streams.accesses) == 1


def test_a_bulk_copy_is_traced_by_lines_with_masks_of_their_sectors() -> None:
    widths = np.array([0, LINE_BYTES, 8, 16, 0], dtype=np.int64)
    code = replace(CODE, widths=widths)
    lines = [256 | 0b1111, 384 | 0b0110]
    record = access(WORD, [*lines, *[0] * (WARP_LANES - 2)], mask=0b11)
    arrival = access(WORD, mask=256, passes=5 << 16, space=TraceWord.CONSTANT)
    trace = [[np.array([*block(0), *record, *arrival], dtype=np.uint32)]]
    streams = make_streams(trace, 0, BLOCKS, code, 0, emulator_runtime())
    assert streams.steps["access"].tolist() == [-1, 0, -1]
    assert streams.accesses["more"].tolist() == [1, 0]
    assert streams.accesses["tags"][1] == 256
    assert streams.accesses["wavefronts"][1] == 5 << 16
    assert streams.lines["number"].tolist() == [2, 3]
    assert streams.lines["touched"].tolist() == streams.lines["whole"].tolist() == [0b1111, 0b0110]


def test_an_access_to_shared_memory_passes_no_tags() -> None:
    """Loads by generic addresses read these tags."""
    record = access(WORD, mask=0xFF00, space=TraceWord.SHARED)
    assert expand([*block(0), *record]).accesses["tags"].tolist() == [0]
