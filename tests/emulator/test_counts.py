"""Counts of a launch: by instruction, by line, and of a launch in several parts."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from grader.emulator import NO_COUNTS, LaunchCounts, join_counts
from grader.emulator.run.counts import CountTable
from tests.support.assembler import build, launch

PROGRAM = """
    S2R R0, SR_TID.X
    ISETP.GT.U32.AND P0, PT, R0, 0x27, PT
    @P0 BRA end
    IMAD.SHL.U32 R4, R0, 0x4, RZ
    STS [R4+0x400], R0
    LDS R6, [R4+0x400]
    IMAD.WIDE.U32 R8, R0, 0x4, c[0x0][0x210]
    STG.E [R8.64], R6
    LDG.E R6, [R8.64]
    STG.E [R8.64], R6
    RED.E.ADD [R8.64], R6
end: EXIT
"""
SUMMED = ("executed", "threads", "requests", "passes", "passes_ideal", "bytes", "elsewhere")


@pytest.fixture(scope="module")
def counts() -> LaunchCounts:
    kernel = build(PROGRAM, shared_bytes=256)
    return launch(kernel, {"out": np.zeros(64, np.uint32)}, block=(64, 1, 1)).outcome.counts


def test_each_instruction_has_its_own(counts: LaunchCounts) -> None:
    found = [(each.executed, each.threads, each.space, each.requests) for each in counts]
    assert found == [
        (2, 64, None, 0),
        (2, 64, None, 0),
        (2, 64, None, 0),
        (2, 40, None, 0),
        (2, 40, "shared", 2),
        (2, 40, "shared", 2),
        (2, 40, None, 0),
        (2, 40, "global", 2),
        (2, 40, "global", 2),
        (2, 40, "global", 2),
        (2, 40, "global", 2),
        (0, 0, "shared", 0),  # of RED, whose address is generic
        (3, 64, None, 0),
    ]
    assert counts.executed == sum(executed for executed, *_ in found)


def test_lines_sum_up_instructions_that_access_memory_alike() -> None:
    kernel = build(PROGRAM, shared_bytes=256)
    blocks = tuple(
        replace(b, instructions=tuple(replace(i, line=i.index // 6) for i in b.instructions))
        for b in kernel.flow.blocks
    )
    table = CountTable(replace(kernel.flow, blocks=blocks), kernel.slots)
    sums = np.random.default_rng(1).integers(1 << 40, size=(len(table.rows), len(SUMMED)))
    counts = LaunchCounts(table, sums)
    wanted: Counter[tuple[object, ...]] = Counter()
    for each in counts:
        for name in SUMMED:
            kind = each.line, each.space, each.load, each.atomic, name
            wanted[kind] += getattr(each, name)
    by_line = list(counts.by_line())
    found = {
        (each.line, each.space, each.load, each.atomic, name): getattr(each, name)
        for each in by_line
        for name in SUMMED
    }
    assert found == wanted
    assert len(by_line) < len(table.rows)
    assert [each.line for each in by_line] == sorted(each.line or 0 for each in by_line)


def test_parts_are_joined_and_scaled(counts: LaunchCounts) -> None:
    joined = join_counts([counts, counts, counts], 0.5)
    for each, single in zip(joined, counts, strict=True):
        assert [getattr(each, name) for name in SUMMED] == [
            round(1.5 * getattr(single, name)) for name in SUMMED
        ]
        assert (each.index, each.opcode, each.line) == (single.index, single.opcode, single.line)


def test_a_launch_that_did_not_run_has_none() -> None:
    assert (list(NO_COUNTS), list(NO_COUNTS.by_line()), NO_COUNTS.executed) == ([], [], 0)
