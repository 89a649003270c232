"""Where atomics meet, from a few lines that blocks access."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.layout import TraceWord
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.footprint import make_regions
from grader.emulator.timing.meetings import Met, find_meetings
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.streams import Streams, add_up
from grader.emulator.timing.timing_records import (
    FLOAT_ATOMIC,
    LINE_BYTES,
    Access,
    CodeRow,
    Line,
    Step,
)

SLICES = 8
LOAD, FLOAT = range(2)
KINDS = (Kind.LOAD, Kind.ATOMIC)
BUFFER = (0, 64 * LINE_BYTES)


def meetings_of(
    *blocks: Sequence[tuple[int, int]], instruction: int = FLOAT, words: int = 1
) -> Met:
    """Of blocks of a warp each, whose steps access one line: its number, and the lanes that meet at
    one word of it."""
    touched = [line for block in blocks for line in block]
    table = make_rows(CodeRow, len(KINDS))
    table["kind"], table["atomic"] = KINDS, [0, FLOAT_ATOMIC]
    steps, accesses = make_rows(Step, len(touched)), make_rows(Access, len(touched))
    lines = make_rows(Line, len(touched))
    for row, (line, lanes) in enumerate(touched):
        lines[row] = (line, 1, 0, lanes, lanes, words)
    steps["code"] = instruction
    steps["access"] = accesses["first"] = np.arange(len(touched))
    accesses["end"], accesses["space"] = accesses["first"] + 1, TraceWord.GLOBAL
    first = np.cumsum([0, *map(len, blocks)], dtype=np.int64)
    runtime = emulator_runtime()
    work = add_up(first, steps, accesses, lines, 1, table, runtime)
    streams = Streams(first, steps, accesses, lines, work, 1, 1.0)
    code = CodeTable(table, np.full(2, 4, dtype=np.int64), np.array([False, True]))
    return find_meetings(streams, code, make_regions([BUFFER]), SLICES, runtime)


def test_what_all_blocks_come_back_to_keeps_one_slice_busy() -> None:
    met = meetings_of(*[[(10, 32)]] * 4)
    assert sorted(met.turns.tolist()) == [0.0] * (SLICES - 1) + [128.0]
    assert met.busiest == pytest.approx(SLICES)
    assert met.cycles(1.5, 0.0, 0.0) == pytest.approx(192)


def test_lines_of_single_blocks_stand_for_all_of_their_buffer() -> None:
    alone, alike = meetings_of([(10, 4)], [(26, 4)]), meetings_of([(10, 4)], [(10, 4)])
    assert alone.turns.max() < alike.turns.max()
    assert alone.turns.sum() == pytest.approx(alike.turns.sum())
    assert alone.longest_chain == 0


def test_neighbouring_lines_lie_on_few_slices_and_far_ones_on_all() -> None:
    used = [
        np.count_nonzero(meetings_of(*[[(line, 1) for line in range(count)]] * 2).turns)
        for count in (1, 2, 4, 8, 16)
    ]
    assert used == [1, 1, 2, 2, 4]


def test_floats_that_are_added_to_one_word_wait_for_each_other() -> None:
    met = meetings_of(*[[(10, 32)]] * 4)
    assert (met.longest_chain, met.cycles(0.0, 0.0, 3.0)) == (128, 384.0)


def test_most_words_of_a_sector_together_take_less_than_a_single_one() -> None:
    single, dense = (meetings_of(*[[(10, 1)]] * 2, words=words) for words in (0x1, 0xFF))
    assert 0.5 < dense.turns.sum() / single.turns.sum() < 1.0


def test_other_slices_pass_on_what_lies_in_the_other_half() -> None:
    spread = Met(np.full(SLICES, 100.0), 800, 0)
    assert spread.cycles(1.5, 0.5, 0.0) == 200.0


def test_chance_alone_makes_no_slice_the_busiest() -> None:
    drawn = np.random.default_rng(1).poisson(40.0, SLICES).astype(float)
    assert Met(drawn, int(drawn.sum()), 0).busiest < 1.3


def test_loads_meet_nowhere() -> None:
    assert meetings_of([(10, 1)], instruction=LOAD).cycles(1.0, 1.0, 1.0) == 0.0
