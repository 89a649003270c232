"""Kinds of launches, by their dominant mechanism."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from grader.emulator.layouts.execution import TraceWord
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.code_table import CodeTable
from grader.emulator.timing.kinds import Facts, Habits, LaunchKind, find_kind, read_habits
from grader.emulator.timing.pipes import Kind
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.streams import Streams

PLAIN = Facts(
    Habits(swaps=0.0, lookups=0.0, local=0.0, split_stores=0.0),
    launching=0.02,
    atomics=0.0,
    unfilled=0.0,
    rows=0.0,
    unevenness=1.0,
    from_dram=1.0,
    warps=64,
    stores=0.4,
    load_store=0.3,
    instructions=0.2,
    l2=0.45,
    dram=0.3,
)
"""A copy without any obstacle."""
SPLIT = replace(PLAIN.habits, split_stores=1.0)


@pytest.mark.parametrize(
    ("kind", "facts"),
    [
        (LaunchKind.WAITING, PLAIN),
        (LaunchKind.FEW_WARPS, replace(PLAIN, warps=8)),
        (LaunchKind.DRAM, replace(PLAIN, dram=0.7, warps=8)),
        (LaunchKind.UNITS, replace(PLAIN, instructions=0.8, dram=0.6)),
        (LaunchKind.UNITS, replace(PLAIN, load_store=0.8)),
        (LaunchKind.IN_L2, replace(PLAIN, from_dram=0.1, load_store=0.8)),
        (LaunchKind.SCATTERED_READS, replace(PLAIN, rows=0.5, dram=0.6)),
        (LaunchKind.UNEVEN, replace(PLAIN, unevenness=9.0, instructions=0.8)),
        (LaunchKind.SHORT, replace(PLAIN, launching=0.3, dram=0.6)),
        (LaunchKind.SCATTERED, replace(PLAIN, habits=SPLIT, stores=0.9, dram=0.1)),
        (LaunchKind.BESIDE_DRAM, replace(PLAIN, habits=SPLIT, stores=0.9, dram=0.3)),
        (LaunchKind.WAITING, replace(PLAIN, habits=SPLIT, stores=0.05, unfilled=1.0)),
        (LaunchKind.PARTIAL, replace(PLAIN, habits=SPLIT, stores=0.5, unfilled=1.0)),
        (LaunchKind.LOCAL, replace(PLAIN, habits=replace(SPLIT, local=0.5), stores=0.9)),
        (LaunchKind.LOST, replace(PLAIN, habits=SPLIT, stores=0.9, lost=0.6)),
        (LaunchKind.LOOKUPS, replace(PLAIN, habits=replace(SPLIT, lookups=0.1))),
        (LaunchKind.CLUSTERS, replace(PLAIN, habits=replace(SPLIT, clusters=True, swaps=0.1))),
        (LaunchKind.PRODUCTS, replace(PLAIN, habits=replace(SPLIT, products=True, objects=True))),
        (LaunchKind.OBJECTS, replace(PLAIN, habits=replace(SPLIT, objects=True, swaps=0.1))),
        (LaunchKind.SWAPS, replace(PLAIN, atomics=0.9, habits=replace(SPLIT, swaps=0.1))),
        (LaunchKind.SCATTERED_ATOMICS, replace(PLAIN, atomics=0.9, rows=2.0)),
        (LaunchKind.ATOMICS, replace(PLAIN, atomics=0.9, habits=SPLIT)),
    ],
)
def test_poorly_modelled_mechanisms_come_before_used_resources(
    kind: LaunchKind, facts: Facts
) -> None:
    assert find_kind(facts) is kind


def test_habits_are_parts_of_instructions_and_sectors() -> None:
    """A load of a whole line, a store that covers a sector and two others in part, a store to local
    memory, and a compare-and-swap in shared memory."""
    kinds = (Kind.LOAD, Kind.STORE, Kind.STORE, Kind.SHARED)
    table = make_rows(CodeRow, len(kinds))
    table["kind"] = kinds
    steps, accesses, lines = make_rows(Step, 4), make_rows(Access, 3), make_rows(Line, 4)
    steps["code"], steps["access"] = range(4), (0, 1, 2, -1)
    accesses["first"], accesses["end"] = (0, 1, 3), (1, 3, 4)
    accesses["space"] = (TraceWord.GLOBAL, TraceWord.GLOBAL, TraceWord.LOCAL)
    lines["touched"], lines["whole"] = (0b1111, 0b0001, 0b0110, 0b0001), (0b1111, 0b0001, 0, 0b0001)
    nothing = np.zeros(4, dtype=bool)
    code = CodeTable(table, nothing, nothing, np.arange(4) == 3, nothing, nothing)
    streams = Streams(np.array([0, 4]), steps, accesses, lines, table, 1, 1.0)
    assert read_habits(streams, code) == Habits(
        *(0.25, 0.0, pytest.approx(1 / 8), 0.5), load_sectors=4.0, store_sectors=2.0
    )
    table["kind"][0] = Kind.UNTIMED
    table["kind"][1:3] = Kind.PRODUCT, Kind.PHASE
    habits = read_habits(streams, code)
    assert (habits.clusters, habits.products, habits.objects) == (True, True, True)
