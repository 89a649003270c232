"""Contention of atomics, from a few lines that blocks access."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.devices.gpus import read_gpus
from grader.emulator.layouts.execution import SECTOR_BYTES, TraceWord
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.contention import Contention, find_contention
from grader.emulator.timing.footprint import make_regions
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.streams import Streams, join
from grader.emulator.timing.timing_records import (
    FLOAT_ATOMIC,
    LINE_BYTES,
    PAIR_SECTORS,
    SWAP_ATOMIC,
)

SLICES = 8
LOAD, FLOAT, SWAP = range(3)
KINDS = (Kind.LOAD, Kind.ATOMIC, Kind.ATOMIC)
BUFFER = (0, 64 * LINE_BYTES)
PAIRS = 128
"""Pairs of sectors in the buffer."""


Block = Sequence[tuple[int, int]]


def streams_of(*blocks: Block, instruction: int = FLOAT, words: int = 1) -> Streams:
    """Blocks of a warp each, whose steps access a line: its number, and the lanes that share a
    word of it."""
    touched = [line for block in blocks for line in block]
    table = make_rows(CodeRow, len(KINDS))
    table["kind"], table["atomic"] = KINDS, [0, FLOAT_ATOMIC, SWAP_ATOMIC]
    steps, accesses = make_rows(Step, len(touched)), make_rows(Access, len(touched))
    lines = make_rows(Line, len(touched))
    for row, (line, lanes) in enumerate(touched):
        lines[row] = (line, 1, 0, lanes, lanes, words)
    steps["code"] = instruction
    steps["access"] = accesses["first"] = np.arange(len(touched))
    accesses["end"], accesses["space"] = accesses["first"] + 1, TraceWord.GLOBAL
    accesses["lanes"] = [lanes * words.bit_count() for _, lanes in touched]
    first = np.cumsum([0, *map(len, blocks)], dtype=np.int64)
    return Streams(first, steps, accesses, lines, table, 1, 1.0)


def meetings_of(*blocks: Block, instruction: int = FLOAT, words: int = 1) -> Contention:
    streams = streams_of(*blocks, instruction=instruction, words=words)
    return find_contention(streams, make_regions([BUFFER]), SLICES, emulator_runtime())


COSTS = ("turn", "wait", "window", "chain", "swap")


def cycles_of(
    met: Contention,
    *,
    times: float = 1.0,
    held: int = PAIRS,
    passing: float = 0.0,
    **costs: float,
) -> float:
    """Cycles, with 0 for all costs that are not named."""
    h100 = read_gpus()["h100"].figures
    assert h100 is not None
    figures = replace(
        h100,
        l2_bytes=held * PAIR_SECTORS * SECTOR_BYTES,
        l2_bytes_per_cycle=64 * h100.l2_slices / 3 / passing if passing else math.inf,
        **{f"atomic_{name}": costs.get(name, 0.0) for name in COSTS},
    )
    return met.cycles(times, figures)


def spread_evenly(turns: float, pairs: int, repeated: int = 0) -> Contention:
    """Atomics that access a sector each, spread over this number of pairs; `repeated` of them after
    another of the same block."""
    of_buffer = np.array([pairs]), np.array([repeated]), np.array([PAIRS])
    visits = int(turns * SLICES)
    return Contention(np.full(SLICES, turns), visits, visits, 0, 0.0, 0.0, 0.0, *of_buffer)


def test_a_line_of_all_blocks_keeps_one_slice_busy() -> None:
    met = meetings_of(*[[(10, 32)]] * 4)
    assert sorted(met.turns.tolist()) == [0.0] * (SLICES - 1) + [128.0]
    assert met.busiest == pytest.approx(SLICES)
    assert cycles_of(met, turn=1.5) == pytest.approx(192)
    assert cycles_of(met, turn=1.5, times=10) == pytest.approx(1920)


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
    assert (met.longest_chain, cycles_of(met, chain=3.0)) == (128, 384.0)


def test_a_word_is_swapped_by_one_thread_after_another() -> None:
    met = meetings_of(*[[(10, 32)]] * 4, instruction=SWAP)
    assert (met.swaps_of_word, cycles_of(met, swap=500.0)) == (4, 2000.0)
    two = meetings_of(*[[(10, 1)]] * 4, instruction=SWAP, words=3)
    assert two.swaps_of_word == pytest.approx(3.5)
    assert meetings_of([(10, 1)], [(12, 1)], instruction=SWAP).swaps_of_word < 1


def test_blocks_of_the_whole_grid_give_the_swaps_per_word() -> None:
    alone = meetings_of(*[[(10, 1)]] * 4, instruction=SWAP)
    groups = [
        streams_of([(line, 1)], [(line + 2, 1)], instruction=SWAP) for line in (10, 10, 14, 14)
    ]
    joined = join(groups)
    regions, runtime = make_regions([BUFFER]), emulator_runtime()
    others = find_contention(joined, regions, SLICES, runtime)
    assert others.swaps == 8
    told = alone.placed_as(others)
    assert (alone.swaps_of_word, told.swaps_of_word) == (4, 0.625)
    assert told.turns is alone.turns
    assert alone.placed_as(meetings_of([(10, 1)])) is alone


def test_tries_that_fail_take_turns_but_nobody_waits_for_their_word() -> None:
    once = meetings_of(*[[(10, 1)]] * 4, instruction=SWAP)
    again = meetings_of(*[[(10, 1)] * 10] * 4, instruction=SWAP)
    assert cycles_of(again, turn=1.5) == 10 * cycles_of(once, turn=1.5)
    assert cycles_of(again, swap=500.0) == cycles_of(once, swap=500.0) == 2000.0


def test_a_swap_of_several_words_brings_more_than_an_addition() -> None:
    single, several = (
        meetings_of(*[[(10, 1)]] * 2, instruction=SWAP, words=words).turns.sum()
        for words in (0x1, 0xFF)
    )
    assert 1.5 * single < several < 2 * single


def test_most_words_of_a_sector_together_take_less_than_a_single_one() -> None:
    single, dense = (meetings_of(*[[(10, 1)]] * 2, words=words) for words in (0x1, 0xFF))
    assert 0.5 < dense.turns.sum() / single.turns.sum() < 1.0


def test_other_slices_pass_on_requests_for_the_other_half() -> None:
    assert cycles_of(spread_evenly(100.0, 0), turn=1.5, passing=0.5) == 200.0


def test_a_slice_waits_for_dram_at_first_accesses() -> None:
    once = spread_evenly(10.0, 80)
    assert cycles_of(once, wait=8.0) == pytest.approx(80)
    assert cycles_of(once, wait=8.0, window=3.0) == pytest.approx(20)
    again = cycles_of(once, wait=8.0, times=160)
    assert again == pytest.approx(PAIRS / SLICES * 8.0, rel=0.1)


def test_sectors_beyond_the_l2_miss_again() -> None:
    often = spread_evenly(10.0, 80)
    held, half = (cycles_of(often, wait=8.0, times=160, held=held) for held in (128, 64))
    assert half == pytest.approx(held + (160 * 10 - PAIRS / SLICES) * 8.0 / 2, rel=0.1)


def test_pairs_of_sectors_are_counted_once() -> None:
    assert meetings_of([(10, 1), (10, 1)], [(10, 1), (11, 1)]).pairs.tolist() == [2]


def test_visits_of_a_pair_by_its_only_block_are_repeated() -> None:
    own = [(10, 1), (10, 1), (11, 1), (10, 1)]
    assert meetings_of(own, [(14, 1)]).repeated.tolist() == [2]
    assert meetings_of(own, [(10, 1)]).repeated.tolist() == [0]


def test_atomics_wait_together_for_a_pair_that_is_on_its_way() -> None:
    """A transpose by atomics: the warps of a block add to the words of the same sectors."""
    apart, together = spread_evenly(10.0, 20), spread_evenly(10.0, 20, repeated=60)
    assert cycles_of(apart, wait=8.0) == pytest.approx(cycles_of(together, wait=8.0))
    one_by_one, at_once = (cycles_of(each, wait=8.0, window=50.0) for each in (apart, together))
    assert at_once < 0.5 * one_by_one


def test_chance_alone_makes_no_slice_the_busiest() -> None:
    drawn = np.random.default_rng(1).poisson(40.0, SLICES).astype(float)
    none = np.zeros(1, dtype=np.int64)
    assert Contention(drawn, int(drawn.sum()), 0, 0, 0.0, 0.0, 0.0, none, none, none).busiest < 1.3


def test_loads_meet_nowhere() -> None:
    assert cycles_of(meetings_of([(10, 1)], instruction=LOAD), turn=1.0, chain=1.0) == 0.0


def test_a_pair_of_sectors_is_waited_for_once() -> None:
    single, several = (
        cycles_of(meetings_of(*[[(10, 1)], [(20, 1)]], words=words), turn=1.0, waiting=9.0)
        for words in (0x1, 0x101)
    )
    assert several == single
