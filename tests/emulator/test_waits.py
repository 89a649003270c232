"""Instructions that delay warps of the simulated SM: sleeps, fences, system calls, instruction
fetches. The figures were measured on an H200 (benchmarks/kernels/costs)."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.run.memory import HOST_FUNCTIONS
from grader.emulator.timing.pipes import Kind, Unit
from grader.emulator.timing.profile import simulate_profiled
from grader.emulator.timing.sm import SimulatedSM
from grader.emulator.timing.stalls import Stall
from grader.emulator.timing.timing_records import AWAITS_BLOCKS
from tests.emulator.test_sm import (
    ADD,
    EXIT,
    LOAD,
    STORE,
    USE,
    Fields,
    instruction,
    parameters,
    prepare,
    run,
)

SLEEP = instruction(Unit.NONE, Kind.SLEEP)
FENCE, BLOCK_FENCE, SYSTEM_FENCE = (
    instruction(Unit.NONE, kind) for kind in (Kind.FENCE_GPU, Kind.FENCE_BLOCK, Kind.FENCE_SYSTEM)
)
ON_AN_H200 = {"system_fence": 1035}
"""System-scope fences depend on the machine around the GPU."""
CALL = instruction(Unit.NONE, Kind.CALL)
PREFETCH = instruction(Unit.MEMORY, Kind.PREFETCH)
INVALIDATE = instruction(Unit.NONE, Kind.INVALIDATE)


def cycles(*warps: Sequence[Fields], **how: float) -> float:
    return run(*warps, **how).statistics.cycles


def sleep_of(ns: int, count: int) -> SimulatedSM:
    return run([SLEEP] * count + [EXIT], wavefronts=[ns])


@pytest.mark.parametrize(
    ("asked", "slept"),
    [(0, 64), (20, 64), (100, 128), (500, 512), (2000, 2048), (10_000, 16_384), (100_000, 131_072)],
)
def test_sleeps_end_at_the_next_power_of_two_nanoseconds(asked: int, slept: int) -> None:
    more, less = (sleep_of(asked, count).statistics.cycles for count in (9, 5))
    assert more - less == pytest.approx(4 * slept * parameters().ns_cycles, rel=0.02)


def test_the_first_sleep_takes_half_of_that_on_the_average() -> None:
    assert sleep_of(100_000, 1).statistics.cycles == pytest.approx(65_536 * 1.98, rel=0.01)


def test_warps_sleep_beside_each_other() -> None:
    alone, eight = (run(*[[SLEEP, EXIT]] * count, wavefronts=[10_000]) for count in (1, 8))
    assert eight.statistics.cycles < 1.01 * alone.statistics.cycles


@pytest.mark.parametrize(
    ("fence", "stores", "turn"),
    [(FENCE, False, 282), (FENCE, True, 595), (SYSTEM_FENCE, True, 1036), (BLOCK_FENCE, False, 30)],
)
def test_a_fence_takes_a_warp_as_long_as_on_an_h200(fence: Fields, stores: bool, turn: int) -> None:
    body = [STORE, fence, ADD, ADD] if stores else [fence, ADD, ADD]
    more, less = (cycles([*body * count, EXIT], **ON_AN_H200) for count in (20, 10))
    assert (more - less) / 10 == pytest.approx(turn, rel=0.15)


@pytest.mark.parametrize(
    ("fence", "turn"), [(FENCE, 670), (BLOCK_FENCE, 222), (SYSTEM_FENCE, 2090)]
)
def test_fences_of_64_warps_hold_each_other_up(fence: Fields, turn: int) -> None:
    more, less = (cycles(*[[fence, ADD] * count + [EXIT]] * 64, **ON_AN_H200) for count in (20, 10))
    assert (more - less) / 10 == pytest.approx(turn, rel=0.15)


@pytest.mark.parametrize(
    ("fence", "pass_cycles"), [(FENCE, 10), (SYSTEM_FENCE, 35), (BLOCK_FENCE, 0)]
)
def test_nothing_moves_to_the_l2_while_a_fence_passes(fence: Fields, pass_cycles: int) -> None:
    """64 warps store so much that the L2 is always busy."""
    answers = dict.fromkeys(("gpu_fence", "system_fence", "store_answer", "busy_answer"), 1.0)

    def per_store(*body: Fields) -> float:
        how = {**ON_AN_H200, **answers, "store_line_cycles": 100.0}
        more, less = (
            run(*[[*body * turns, EXIT]] * 64, lines=range(64 * 40), **how).statistics.cycles
            for turns in (40, 20)
        )
        return (more - less) / (64 * 20)

    assert per_store(STORE, fence) - per_store(STORE) == pytest.approx(pass_cycles, abs=1)


def test_a_fence_lets_nothing_be_found_in_the_l1() -> None:
    kept = run([LOAD, USE, LOAD, USE, EXIT])
    emptied = run([LOAD, USE, INVALIDATE, LOAD, USE, EXIT])
    assert (kept.statistics.load_hits, emptied.statistics.load_hits) == (1, 0)
    later = emptied.statistics.cycles - kept.statistics.cycles
    assert later > parameters().invalidation + 200


def test_warps_that_wait_for_all_blocks_go_on_when_all_have_come() -> None:
    awaited = {**LOAD, "argument": AWAITS_BLOCKS}
    soon, late = [ADD, awaited, USE, EXIT], [*[ADD] * 500, awaited, USE, EXIT]
    plain = [*[ADD] * 500, LOAD, USE, EXIT]
    alone = cycles(plain)
    assert cycles(soon, late, blocks_wait=900.0) == pytest.approx(alone + 900, abs=60)
    assert cycles(late, soon, soon) > alone


def test_calls_of_the_system_go_one_after_another() -> None:
    prints = HOST_FUNCTIONS["vprintf"] & 0xFFFF
    more, less = (
        run(*[[CALL] * count + [EXIT]] * 32, wavefronts=[prints]).statistics.cycles
        for count in (20, 10)
    )
    assert more - less == pytest.approx(320 * parameters().print_pass, rel=0.02)
    alone = run([CALL, EXIT], wavefronts=[prints]).statistics.cycles
    assert alone == pytest.approx(parameters().print_latency, rel=0.01)


def test_malloc_and_free_cost_less_than_a_print() -> None:
    taken = [
        run(*[[CALL] * 20 + [EXIT]] * 16, wavefronts=[HOST_FUNCTIONS[name] & 0xFFFF])
        for name in ("malloc", "free", "vprintf")
    ]
    malloc, free, prints = (each.statistics.cycles for each in taken)
    assert malloc == free
    assert malloc < prints / 4


def test_nothing_waits_for_prefetches_but_the_load_store_unit() -> None:
    lines = list(range(0, 4096, 8))
    loads = run([LOAD, USE] * 8 + [EXIT], lines=lines).statistics.cycles
    prefetches = run([PREFETCH] * 8 + [EXIT], lines=lines)
    assert prefetches.statistics.cycles < loads / 4
    more, less = (cycles([PREFETCH] * count + [EXIT], lines=lines) for count in (200, 100))
    assert more - less == pytest.approx(100 * parameters().prefetch_pair, rel=0.2)


def test_instructions_that_the_cache_does_not_hold_are_fetched_once_for_warps_together() -> None:
    body = [ADD] * 800
    one, eight = (prepare(*[body] * count, fetches=True) for count in (1, 8))
    for sm in (one, eight):
        sm.simulate(emulator_runtime())
    lines = 800 / 8
    assert one.statistics.cycles == pytest.approx(lines * parameters().fetch_line, rel=0.05)
    assert eight.statistics.cycles >= one.statistics.cycles
    assert cycles(body) < one.statistics.cycles


@pytest.mark.parametrize(
    ("body", "stall", "wavefronts"),
    [
        ([SLEEP, ADD], Stall.SLEEPING, 1000),
        ([FENCE, ADD], Stall.MEMBAR, 1),
        ([CALL, ADD], Stall.LONG_SCOREBOARD, HOST_FUNCTIONS["vprintf"] & 0xFFFF),
    ],
)
def test_a_profile_names_the_instruction_that_holds_up_a_warp(
    body: list[Fields], stall: Stall, wavefronts: int
) -> None:
    sm = prepare([*body, EXIT], wavefronts=[wavefronts])
    found = simulate_profiled(sm, emulator_runtime(), spans=0)
    assert max(Stall, key=lambda each: found.cycles[1][each]) is stall
