"""Stall breakdown of simulated warps: each cycle is counted once, at the right instruction and
state, and the simulation ends at the same cycle as without it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from grader.devices.emulated.runtime import emulator_runtime
from grader.emulator.timing.pipes import Kind, Unit
from grader.emulator.timing.profile import Profiled, simulate_profiled
from grader.emulator.timing.stalls import Stall
from grader.records import WarpState
from tests.emulator.test_sm import (
    ADD,
    ATOMIC,
    BARRIER,
    BUSY,
    COPY,
    EXIT,
    LOAD,
    STORE,
    USE,
    Fields,
    instruction,
    prepare,
    registers,
    run,
)

SHARED = instruction(Unit.MEMORY, Kind.SHARED, write_scoreboard=0)
IDLE: list[list[Fields]] = [[EXIT]] * 3
"""Warps of the other sub-partitions."""


def profile(*warps: Sequence[Fields], spans: int = 0, **how: int) -> Profiled:
    return simulate_profiled(prepare(*warps, **how), emulator_runtime(), spans=spans)


def stalls_at(found: Profiled, code: int) -> dict[str, float]:
    """The cycles at an instruction by state, without those in which it is issued."""
    return {
        stall.name: cycles
        for stall, cycles in zip(Stall, found.cycles[code].tolist(), strict=True)
        if cycles and stall is not Stall.SELECTED
    }


def test_states_have_the_names_that_scores_have() -> None:
    assert [stall.name for stall in Stall] == [state.name for state in WarpState]


def test_a_wait_for_a_load_is_counted_at_its_use_and_names_the_load() -> None:
    found = profile([LOAD, USE, EXIT])
    assert list(stalls_at(found, 1)) == ["LONG_SCOREBOARD"]
    waited = stalls_at(found, 1)["LONG_SCOREBOARD"]
    assert waited > 200
    assert found.awaited.tolist() == [waited, 0, 0]


def test_shared_memory_is_a_short_wait() -> None:
    assert list(stalls_at(profile([SHARED, USE, EXIT]), 1)) == ["SHORT_SCOREBOARD"]


def test_a_stall_count_is_a_wait_and_a_jump_resolves_behind_it() -> None:
    assert stalls_at(profile([ADD, EXIT]), 1) == {"WAIT": 3}
    jumping = prepare([ADD, ADD, EXIT])
    jumping.arrays["steps"]["code"] = [0, 2, 2]  # past the second one, and back again
    found = simulate_profiled(jumping, emulator_runtime())
    assert stalls_at(found, 2) == {"WAIT": 3, "BRANCH_RESOLVING": 8}


def test_a_barrier_is_waited_for_at_the_barrier_itself() -> None:
    found = profile([LOAD, USE, BARRIER, EXIT], [BARRIER, EXIT])
    slow, quick = stalls_at(found, 2)["BARRIER"], stalls_at(found, 4)["BARRIER"]
    assert quick > 200 > slow
    assert stalls_at(found, 3) == stalls_at(found, 5) == {}


def test_a_ready_warp_that_does_not_issue_is_not_selected() -> None:
    free = instruction(Unit.NONE)
    found = profile([free] * 8, *IDLE, [free] * 8)
    assert found.cycles[:, Stall.NOT_SELECTED].sum() == 7  # it starts a cycle later


def test_a_busy_pipe_and_full_queues_have_names_of_their_own() -> None:
    pipes = profile([BUSY] * 8)
    assert stalls_at(pipes, 3) == {"MATH_PIPE_THROTTLE": 1}
    stores = profile([STORE] * 20, wavefronts=[32])
    assert list(stalls_at(stores, 15)) == ["LG_THROTTLE"]
    queued = instruction(Unit.MEMORY, Kind.VARIABLE, passes=32)
    assert list(stalls_at(profile([queued] * 20), 15)) == ["MIO_THROTTLE"]


def test_banks_of_registers_hold_the_scheduler_up() -> None:
    fused = instruction(Unit.FMA, sources=registers(8, 10, 12))
    found = profile([fused] * 60, *IDLE)
    assert found.cycles[:60, Stall.DISPATCH_STALL].sum() > 40


MIXED = [LOAD, ADD, SHARED, USE, BARRIER, STORE, BUSY, ATOMIC, USE, COPY, EXIT]


@pytest.mark.parametrize("warps", [1, 4, 13])
def test_each_cycle_of_each_warp_is_counted_once(warps: int) -> None:
    how = {"blocks": 5, "resident": 2}
    found = profile(*[MIXED] * warps, spans=100_000, **how)
    plain = run(*[MIXED] * warps, **how)  # type: ignore[arg-type]
    assert found.cycles.sum() == found.resident_cycles
    assert (
        found.cycles[:, Stall.SELECTED].sum() == 5 * warps * len(MIXED) == plain.statistics.issued
    )
    assert found.sm_cycles == found.complete_until == plain.statistics.cycles + 1
    assert found.spans["length"].sum() == found.resident_cycles
    for warp in range(2 * warps):
        own = found.spans[found.spans["warp"] == warp]
        own = own[np.argsort(own["start"])]
        ends = own["start"] + own["length"]
        same = own["block"][1:] == own["block"][:-1]
        assert (own["start"][1:][same] == ends[:-1][same]).all()
        assert (own["start"][1:] >= ends[:-1]).all()


def test_where_spans_have_no_room_the_first_cycles_are_whole() -> None:
    whole, cut = (profile(*[MIXED] * 8, spans=spans, blocks=3) for spans in (10_000, 60))
    assert cut.complete_until < whole.complete_until
    assert (cut.spans["start"] + cut.spans["length"] <= cut.complete_until).all()
    before = whole.spans[whole.spans["start"] < cut.complete_until]
    ends = np.minimum(before["start"] + before["length"], int(cut.complete_until))
    assert cut.spans["length"].sum() == (ends - before["start"]).sum()
    assert (cut.cycles == whole.cycles).all()
