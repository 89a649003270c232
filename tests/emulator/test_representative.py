"""Whether some traced blocks represent all of them, and traces a launch."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator.run.counts import InstructionCounts
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.representative import (
    choose_representative,
    measure_distance,
    stand_for_all,
)
from grader.emulator.timing.streams import Streams

LENGTH, INSTRUCTIONS = 100, 5


def streams_of(*blocks: tuple[int, ...]) -> Streams:
    """Blocks of a warp each, which repeats these instructions without memory accesses."""
    code = np.concatenate([np.resize(np.array(block, dtype=np.int64), LENGTH) for block in blocks])
    steps = make_rows(Step, len(code))
    steps["code"], steps["access"] = code, -1
    first = np.arange(len(blocks) + 1, dtype=np.int64) * LENGTH
    none = make_rows(Access, 0), make_rows(Line, 0)
    table = make_rows(CodeRow, INSTRUCTIONS)
    return Streams(first, steps, *none, table, warps_per_block=1, fraction=1.0)


def counts_of(*executed: int) -> list[InstructionCounts]:
    return [
        InstructionCounts(index, "IADD3", None, number, 32 * number)
        for index, number in enumerate(executed)
    ]


def test_the_first_blocks_stand_for_others_of_their_kind_only() -> None:
    good, bad = (0, 1), (2, 3, 4)
    assert stand_for_all(streams_of(good, good, good, good), 1)
    assert not stand_for_all(streams_of(good, bad, bad, bad), 1)
    assert not stand_for_all(streams_of(good, good, bad, bad), 3)
    assert stand_for_all(streams_of(good, bad, good, bad), 2)
    assert stand_for_all(streams_of(good, bad), 2)


def test_takes_the_first_similar_candidate_and_makes_no_other() -> None:
    asked = []

    def make() -> object:
        for blocks in (((2, 3),), ((0, 1),), ((0, 1), (0, 1))):
            asked.append(blocks)
            yield streams_of(*blocks)

    chosen = choose_representative(make(), counts_of(500, 500, 0, 0))  # type: ignore[arg-type]
    assert chosen is not None
    assert (chosen.blocks, len(asked)) == (1, 2)


def test_where_none_is_alike_the_nearest_is_taken_and_none_that_is_unlike() -> None:
    counts = counts_of(400, 400, 200, 0)
    assert measure_distance(streams_of((0, 1)), counts) == pytest.approx(0.2)
    near = choose_representative([streams_of((2, 3)), streams_of((0, 1))], counts)
    assert near is not None
    assert near.steps["code"][0] == 0
    assert choose_representative([streams_of((2, 3))], counts) is None
