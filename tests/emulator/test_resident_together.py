"""Data that concurrently resident blocks share, from the accesses of two neighbours."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_BYTES
from grader.emulator.timing.walks import share_together

BUFFER = (0, 64 * LINE_BYTES)


def neighbours(*lines: tuple[int, ...]) -> Streams:
    """Blocks of a warp each, which load the first sector of some lines in order."""
    numbers = np.array(lines)
    steps, accesses, touched = (make_rows(each, numbers.size) for each in (Step, Access, Line))
    steps["access"] = accesses["first"] = np.arange(numbers.size)
    accesses["end"] = accesses["first"] + 1
    touched["number"], touched["touched"] = numbers.reshape(-1), 1
    table = make_rows(CodeRow, 1)
    table["kind"] = Kind.LOAD
    first = np.arange(len(lines) + 1, dtype=np.int64) * numbers.shape[1]
    return Streams(first, steps, accesses, touched, table, 1, 1.0)


def test_the_next_column_of_blocks_touches_the_same_sectors() -> None:
    """Each block accesses data 16 lines after its neighbour's: four blocks cover the buffer, and
    the others access the same data again."""
    groups = [neighbours((0, 1), (16, 17)), neighbours((32, 33), (48, 49))]
    assert share_together(groups, BUFFER, 4) == 0
    assert share_together(groups, BUFFER, 16) == pytest.approx(0.75)


def test_blocks_that_go_through_a_buffer_once_share_nothing() -> None:
    assert share_together([neighbours((0,), (1,))], BUFFER, 64) == 0


def test_warps_of_a_block_that_load_the_same_data_do_not_count_as_neighbours() -> None:
    group = replace(neighbours((0,), (0,), (1,), (1,)), warps_per_block=2)
    assert share_together([group], BUFFER, 64) == 0


def test_blocks_may_have_no_common_pattern() -> None:
    groups = [neighbours((0,), (16,)), neighbours((5,), (40,))]
    assert share_together(groups, BUFFER, 16) is None
    assert share_together([], BUFFER, 16) is None


def test_a_common_start_is_no_common_pattern() -> None:
    """The links of a list: only the first accesses of blocks are at fixed distances."""
    assert share_together([neighbours((0, 33), (1, 12))], BUFFER, 16) is None
