"""Concurrent loads of the same lines, from a few steps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.layouts.execution import TraceWord
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import LINE_SECTORS
from grader.emulator.timing.walks import MOST_MERGED, Walked, follow_walks, merged_part

WHOLE = (1 << LINE_SECTORS) - 1


def streams_of(*blocks: Sequence[int], kind: Kind) -> Streams:
    """Blocks of a warp each, whose steps load whole lines of these numbers."""
    count = sum(map(len, blocks))
    table = make_rows(CodeRow, 1)
    table["kind"] = kind
    steps, accesses, lines = (make_rows(record, count) for record in (Step, Access, Line))
    lines["number"], lines["touched"] = [line for block in blocks for line in block], WHOLE
    steps["access"] = accesses["first"] = np.arange(count)
    accesses["end"], accesses["space"] = accesses["first"] + 1, TraceWord.GLOBAL
    first = np.cumsum([0, *map(len, blocks)], dtype=np.int64)
    return Streams(first, steps, accesses, lines, table, 1, 1.0)


def walks_of(
    *blocks: Sequence[int],
    resident: int = 1,
    around: Sequence[Sequence[int]] = (),
    kind: Kind = Kind.LOAD,
) -> Walked:
    streams = streams_of(*blocks, kind=kind)
    others = [streams_of(each, kind=kind) for each in around]
    return follow_walks(streams, resident, others, emulator_runtime())


def test_blocks_that_walk_alike_come_to_lines_together() -> None:
    walk = range(1000)
    assert walks_of(walk, around=[walk]) == Walked(distinct=4.0, together=1.0)
    assert walks_of(walk, around=[walk], kind=Kind.COPY).together == 1.0
    assert walks_of(walk, around=[walk], kind=Kind.STORE) == Walked(0.0, 0.0)


def test_blocks_that_start_elsewhere_come_to_lines_at_other_times() -> None:
    walk = [*range(1000)]
    assert walks_of(walk, around=[walk[500:] + walk[:500]]).together == 0.0
    in_part = walks_of(walk, around=[walk[:250] + walk[750:] + walk[250:750]]).together
    assert in_part == pytest.approx(0.25, abs=0.01)
    assert walks_of(walk, around=[range(1000, 2000)]).together == 0.0


def test_blocks_of_one_sm_are_one_visitor() -> None:
    walk = [5, 6, 5, 6]
    apart, beside = (walks_of(walk, walk, resident=resident) for resident in (1, 2))
    assert (apart.distinct, beside.distinct) == (2.0, 1.0)
    assert (apart.together, beside.together) == (1.0, 0.0)


def test_later_waves_find_the_reads_of_the_first_in_the_l2() -> None:
    walked = Walked(distinct=0.5, together=0.8)
    assert walked.missing(2.0, waves=1.0) == pytest.approx(0.8)
    assert walked.missing(2.0, waves=4.0) == pytest.approx(0.2)
    assert walked.missing(100.0, waves=1.0) == 2.0  # DRAM reads pairs of sectors


@pytest.mark.parametrize(
    ("blocks", "part"),
    [
        ([[0, 1, 2, 3]] * 4, MOST_MERGED),
        ([[0, 1, 10, 11], [0, 1, 20, 21], [0, 1, 30, 31], [0, 1, 40, 41]], 0.5),
        ([[0, 1], [2, 3], [4, 5]], 0.0),
        ([[0, 1]], 0.0),
    ],
)
def test_loads_of_neighbours_are_merged_where_they_are_of_the_same_lines(
    blocks: Sequence[Sequence[int]], part: float
) -> None:
    group = streams_of(*blocks, kind=Kind.LOAD)
    assert merged_part([group], emulator_runtime()) == pytest.approx(part)


def test_loads_at_other_times_are_not_merged() -> None:
    late = [*range(1000, 1020), *range(4)]
    group = streams_of([*range(4), *range(2000, 2020)], late, kind=Kind.LOAD)
    assert merged_part([group], emulator_runtime()) == 0.0


def test_loads_by_other_warps_are_not_merged() -> None:
    """Blocks that read a small table at random."""
    group = streams_of([0, 1], [2, 3], [2, 3], [0, 1], kind=Kind.LOAD)
    two_warps = replace(group, warps_per_block=2)
    assert merged_part([two_warps], emulator_runtime()) == 0.0
    assert merged_part([group], emulator_runtime()) > 0.0
