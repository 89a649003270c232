"""Barrier objects, bulk copies and products of warp groups in the simulated SM, on code of a few
instructions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.layouts.execution import TraceWord
from grader.emulator.timing.analysis_records import Access, CodeRow, Line, Step
from grader.emulator.timing.footprint import make_regions
from grader.emulator.timing.parameters import Share
from grader.emulator.timing.pipes import Kind, Unit
from grader.emulator.timing.record_arrays import make_rows
from grader.emulator.timing.sm import SimulatedSM, make_sm, make_sources
from grader.emulator.timing.streams import Streams
from grader.emulator.timing.timing_records import (
    ENDS_GROUP,
    LEFT_SHARED,
    OBJECT_COPIES,
    OBJECT_SET,
    QUEUED_PRODUCTS,
)
from tests.emulator.test_sm import ADD, BARRIER, EXIT, USE, Fields, instruction, parameters

WHOLE_LINE = 0b1111


@dataclass(frozen=True)
class Made:
    """An instruction with what it did: to a barrier object (its number, threads or parity, bytes),
    and the lines that it copied."""

    fields: Fields
    operation: tuple[int, int, int] | None = None
    lines: Sequence[int] = ()
    lanes: int = 0


Warp = Sequence[Made]


def plain(fields: Fields) -> Made:
    return Made(fields)


def set_up(threads: int) -> Made:
    return Made(instruction(Unit.MEMORY, Kind.OBJECT, argument=OBJECT_SET), (1, threads, 0))


def arrive(threads: int = 1, *, expects: int = 0, argument: int = 0) -> Made:
    fields = instruction(Unit.MEMORY, Kind.OBJECT, argument=argument)
    return Made(fields, (1, threads, -expects))


def wait(parity: int = 0, lanes: int = 32) -> Made:
    fields = instruction(Unit.MEMORY, Kind.PHASE, write_scoreboard=0)
    return Made(fields, (1, parity, 0), lanes=lanes)


def copy(lines: Sequence[int]) -> Made:
    return Made(instruction(Unit.NONE, Kind.BULK_LOAD), (1, 0, 128 * len(lines)), lines)


def product(columns: int, argument: int = 0, latency: int = 33) -> Made:
    fields = instruction(Unit.GROUP, Kind.PRODUCT, passes=columns, latency=latency)
    return Made({**fields, "argument": argument})


AFTER = [plain(USE), plain(EXIT)]
AWAIT_PRODUCTS = plain(instruction(Unit.NONE, Kind.PRODUCTS_DEPEND))


def run(*warps: Warp, order: Sequence[int] = (0,)) -> SimulatedSM:
    """An SM after a run of blocks of these warps."""
    code = [each for warp in warps for each in warp]
    table, steps = make_rows(CodeRow, len(code)), make_rows(Step, len(code))
    accesses: list[tuple[int, ...]] = []
    lines: list[int] = []
    steps["code"], steps["access"] = np.arange(len(code)), -1
    for row, step, made in zip(table, steps, code, strict=True):
        for name, value in made.fields.items():
            row[name] = value
        if made.operation is None:
            continue
        step["access"] = len(accesses)
        number, threads, copied = made.operation
        first, more = len(lines), bool(made.lines)
        lines += made.lines
        if more:
            accesses.append((first, len(lines), 1, 1, TraceWord.GLOBAL, 32, 1))
        last = len(lines)
        passes = number << 16 | threads
        accesses.append((last, last, passes, copied, TraceWord.CONSTANT, made.lanes, 0))
    touched = make_rows(Line, len(lines))
    touched["number"], touched["touched"], touched["whole"] = lines, WHOLE_LINE, WHOLE_LINE
    made_accesses = np.array(accesses, dtype=make_rows(Access, 0).dtype)
    first = np.cumsum([0, *map(len, warps)])
    streams = Streams(first, steps, made_accesses, touched, table, len(warps), 1.0)
    own = parameters(Share(0.0, 0.0, 0.9))
    sm = make_sm(streams, np.array(order), 1, own, make_sources(make_regions([]), 0.0, 0.0))
    sm.simulate(emulator_runtime())
    return sm


def cycles(*warps: Warp) -> float:
    return run(*warps).statistics.cycles


def test_a_wait_ends_after_the_last_arrival() -> None:
    late = [plain(ADD)] * 100
    waiting = [set_up(2), arrive(), wait(), *AFTER]
    soon = cycles(waiting, [arrive(), plain(EXIT)])
    assert cycles(waiting, [*late, arrive(), plain(EXIT)]) == pytest.approx(soon + 400, abs=60)


def test_a_phase_that_has_ended_is_not_waited_for() -> None:
    once = cycles([set_up(1), arrive(), wait(), *AFTER])
    assert cycles([set_up(1), wait(1), *AFTER]) < once < 150


@pytest.mark.parametrize(("warps", "cycles"), [(1, 44), (4, 44), (16, 16 * 4), (32, 32 * 4)])
def test_tests_of_all_warps_pass_one_unit(warps: int, cycles: int) -> None:
    """benchmarks/kernels/costs/object_tests.cu on an H200 takes 60, 60, 64 and 128 cycles per turn; a
    warp alone spends 16 of them in its loop."""
    tests = [wait(1), plain(USE)] * 20
    assert run(*[tests] * warps).statistics.cycles == pytest.approx(20 * cycles, rel=0.2)


@pytest.mark.parametrize(("warps", "cycles"), [(8, 46), (32, 196)])
def test_arrivals_of_all_warps_pass_one_unit(warps: int, cycles: int) -> None:
    """benchmarks/kernels/costs/object_arrivals.cu on an H200."""
    turns = [*[arrive()] * 20, wait(1), plain(USE)]
    assert run(*[turns] * warps).statistics.cycles == pytest.approx(20 * cycles, rel=0.2)


def test_each_phase_needs_all_its_threads_again() -> None:
    hand_over = [each for turn in range(10) for each in (arrive(), wait(turn % 2), plain(USE))]
    alone, ten = cycles([set_up(1), arrive(), wait(), *AFTER]), cycles([set_up(1), *hand_over])
    assert ten > 6 * alone


def test_a_bulk_copy_arrives_with_its_last_line() -> None:
    def time_of(count: int) -> float:
        copied = 128 * count
        return cycles(
            [set_up(1), arrive(expects=copied), copy(range(count)), wait(), *AFTER], [plain(EXIT)]
        )

    latency = parameters().l2_latency
    assert latency < time_of(1) < latency + 200
    per_line = (time_of(192) - time_of(64)) / 128
    assert 128 / 98 < per_line < 128 / 45  # an H200's SM receives up to 98 bytes per cycle


def test_bytes_that_nobody_copies_are_not_waited_for_forever() -> None:
    """A trace that is cut off may lack the copy."""
    sm = run([set_up(1), arrive(expects=64), wait(), *AFTER], [plain(EXIT)])
    assert sm.ends.tolist() > [0.0]


def test_an_arrival_after_copies_waits_for_them() -> None:
    load = Made(instruction(Unit.MEMORY, Kind.COPY), (0, 0, 0), [7])
    behind, before = (
        cycles([set_up(1), load, arrive(argument=argument), wait(), *AFTER])
        for argument in (OBJECT_COPIES, 0)
    )
    assert behind > parameters().l2_latency > before


def test_a_block_begins_without_the_objects_of_the_block_before() -> None:
    block = [set_up(1), arrive(), wait(), *AFTER]
    sm = run(block, order=(0, 0))
    first, second = sm.ends.tolist()
    assert second - first == pytest.approx(first + parameters().block_launch, abs=20)


def test_products_of_a_tensor_core_follow_each_other() -> None:
    def time_of(columns: int, count: int, argument: int = 0) -> float:
        products = [product(columns, argument)] * (count - 1)
        return cycles([*products, product(columns, argument | ENDS_GROUP), AWAIT_PRODUCTS, *AFTER])

    assert time_of(64, 16) - time_of(64, 6) == pytest.approx(10 * 32, abs=4)
    assert time_of(256, 16) - time_of(256, 6) == pytest.approx(10 * 128, abs=4)
    in_shared = time_of(8, 16, LEFT_SHARED) - time_of(8, 6, LEFT_SHARED)
    assert in_shared == pytest.approx(10 * 18, abs=4)  # A: 16 wavefronts, B: 2


def test_a_warp_runs_on_until_the_queue_of_products_is_full() -> None:
    few, many = (cycles([*[product(256)] * count, plain(EXIT)]) for count in (QUEUED_PRODUCTS, 16))
    assert few < 128 < 8 * 128 < many


def test_only_the_last_groups_may_be_under_way() -> None:
    """`wait_group 1` waits for the first of two groups."""
    groups = [product(256, ENDS_GROUP), product(256, ENDS_GROUP)]
    one_left = plain({**AWAIT_PRODUCTS.fields, "argument": 1})
    all_ended = cycles([*groups, AWAIT_PRODUCTS, *AFTER])
    assert all_ended - cycles([*groups, one_left, *AFTER]) == pytest.approx(128, abs=4)


def test_copies_that_more_threads_await_than_an_sm_holds_take_longer() -> None:
    def copies(waiting: int, lanes: int) -> float:
        later = [plain(BARRIER), *[plain(ADD)] * 100]
        copied = [copy(range(k, k + 8)) for k in range(0, 160, 8)]
        leader = [set_up(1), arrive(expects=128 * 160), *later, *copied, wait(), *AFTER]
        others = [plain(BARRIER), wait(lanes=lanes), *AFTER]
        return cycles(leader, *[others] * waiting)

    few, many, single = copies(31, 32), copies(63, 32), copies(63, 1)
    assert single == pytest.approx(few, rel=0.1)
    assert many > 1.5 * few
