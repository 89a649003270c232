"""What a launch touches in its buffers, from a few steps."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.layout import TraceWord
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.footprint import Footprint
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.streams import Streams, add_up
from grader.emulator.timing.timing_records import (
    LINE_BYTES,
    Access,
    CodeRow,
    Line,
    Step,
    make_rows,
)

BUFFER = (10 * LINE_BYTES, 20 * LINE_BYTES)
ACROSS = (19 * LINE_BYTES + 64, 22 * LINE_BYTES)
LOAD, STORE, ATOMIC, SHARED = range(4)
KINDS = (Kind.LOAD, Kind.STORE, Kind.ATOMIC, Kind.SHARED)


def footprint_of(
    *touched: tuple[int, int, int], space: int = TraceWord.GLOBAL, times: int = 1
) -> Footprint:
    """Of a warp whose steps each access one line: the instruction, the line, its sectors' mask. The
    launch does it so many times."""
    table = make_rows(CodeRow, len(KINDS))
    table["kind"] = KINDS
    steps, accesses = make_rows(Step, len(touched)), make_rows(Access, len(touched))
    lines = make_rows(Line, len(touched))
    columns: Sequence[Sequence[int]] = tuple(zip(*touched, strict=True))
    steps["code"], lines["number"], lines["touched"] = columns
    steps["access"] = accesses["first"] = np.arange(len(touched))
    accesses["end"], accesses["space"] = accesses["first"] + 1, space
    first, runtime = np.array([0, len(touched)], dtype=np.int64), emulator_runtime()
    work = add_up(first, steps, accesses, lines, 1, len(KINDS), runtime)
    streams = Streams(first, steps, accesses, lines, work, 1, 1.0)
    widths = np.full(len(KINDS), 4, dtype=np.int64)
    code = CodeTable(table, widths, np.zeros(len(KINDS), dtype=np.bool_))
    return Footprint(streams, code, times * len(touched), (BUFFER, ACROSS), runtime)


def test_a_sector_counts_once_for_loads_and_as_often_as_it_is_stored() -> None:
    once = footprint_of((LOAD, 10, 15), (LOAD, 10, 15), (LOAD, 11, 1), (STORE, 12, 3))
    assert once.sectors() == (5, 2, 2)
    again = footprint_of((STORE, 12, 3), (STORE, 12, 6), (LOAD, 12, 3))
    assert again.sectors() == (2, 3, 4)


def test_it_is_carried_over_to_the_launch_and_ends_with_the_buffers() -> None:
    assert footprint_of((LOAD, 10, 15), (STORE, 11, 1), times=3).sectors() == (12, 3, 3)
    loads, stores, stored = footprint_of((LOAD, 10, 15), (STORE, 11, 1), times=1000).sectors()
    assert (loads, stores, stored) == (40, 40, 1000)


def test_what_lies_in_no_buffer_is_not_touched() -> None:
    assert footprint_of((LOAD, 9, 15), (LOAD, 22, 15), (STORE, 30, 1)).sectors() == (0, 0, 1)
    assert footprint_of((LOAD, 19, 15)).sectors()[0] == 4 + 2  # the last two are of both


def test_only_global_memory_counts() -> None:
    assert footprint_of((LOAD, 10, 15), space=TraceWord.LOCAL).sectors() == (0, 0, 0)
    assert footprint_of((SHARED, 10, 15)).sectors() == (0, 0, 0)


def test_atomics_meet_at_lines_and_store_their_sectors() -> None:
    found = footprint_of((ATOMIC, 10, 1), (ATOMIC, 10, 2), (ATOMIC, 11, 1), (LOAD, 12, 1))
    assert (found.atomic_lines, found.sectors()) == (2, (1, 3, 3))
    assert footprint_of((LOAD, 10, 1)).atomic_lines == 1
