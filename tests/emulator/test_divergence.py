"""Diverged warps: instructions of each path, reconvergence, loops, early exits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.lane_programs import STORE, executed, run

IF_ELSE = (
    """
    S2R R0,SR_TID.X
    ISETP.GE.AND P0,PT,R0,{limit:#x},PT
    BSSY B0,join             # before
    @P0 BRA else
    MOV R4,0x64              # then
    BRA meet
else: MOV R4,0xc8            # else
meet: BSYNC B0               # sync
join: NOP                    # after
"""
    + STORE
)


@pytest.mark.parametrize("limit", [1, 5, 16, 31])
def test_each_side_of_a_branch_is_executed_once_and_then_they_merge(limit: int) -> None:
    text = IF_ELSE.format(limit=limit)
    ran = run(text)
    assert ran.arrays["out"].tolist() == [100] * limit + [200] * (32 - limit)
    assert executed(ran, text) == {
        "before": (1, 32),
        "then": (1, limit),
        "else": (1, 32 - limit),
        "sync": (2, 32),
        "after": (1, 32),
    }


@pytest.mark.parametrize(("limit", "side"), [(0, "else"), (32, "then")])
def test_a_branch_that_all_lanes_agree_on_costs_one_side(limit: int, side: str) -> None:
    text = IF_ELSE.format(limit=limit)
    counts = executed(run(text), text)
    assert counts[side] == (1, 32)
    assert counts["sync"] == (1, 32)
    assert sum(warps for warps, _ in (counts["then"], counts["else"])) == 1


def test_every_warp_of_every_block_splits_on_its_own() -> None:
    text = IF_ELSE.format(limit=40)
    ran = run(text, threads=70, grid=3)
    counts = executed(ran, text)
    assert ran.arrays["out"].tolist() == [100] * 40 + [200] * 30
    assert counts["then"] == (3 * 2, 3 * 40)  # warps 0 and 1
    assert counts["else"] == (3 * 2, 3 * 30)  # warps 1 and 2, which has 6 threads
    assert counts["sync"] == (3 * 4, 3 * 70)
    assert counts["after"] == (3 * 3, 3 * 70)


AGREED_BRANCH = IF_ELSE.replace("    BSSY", "    @P0 BRA.U join\n    BSSY")


@pytest.mark.parametrize("limit", [0, 5, 32])
def test_a_uniform_branch_is_taken_by_all_lanes_or_by_none(limit: int) -> None:
    text = AGREED_BRANCH.format(limit=limit)
    counts = executed(run(text), text)
    assert counts.get("before", (0, 0)) == ((0, 0) if limit == 0 else (1, 32))
    assert counts["after"] == (1, 32)


WITHOUT_BARRIER = (
    """
    S2R R0,SR_TID.X
    ISETP.GE.AND P0,PT,R0,0x8,PT
    @P0 BRA else
    MOV R4,0x64              # then
    BRA meet
else: MOV R4,0xc8            # else
meet: NOP                    # meet
"""
    + STORE
)


def test_paths_do_not_merge_at_equal_addresses_without_a_convergence_barrier() -> None:
    """A merge there would give the right output and too few instructions."""
    ran = run(WITHOUT_BARRIER)
    assert ran.arrays["out"].tolist() == [100] * 8 + [200] * 24
    assert executed(ran, WITHOUT_BARRIER) == {"then": (1, 8), "else": (1, 24), "meet": (2, 32)}


NESTED = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT P0,RZ,R0,0x10,RZ,0xc0,!PT
    LOP3.LUT P1,RZ,R0,0x8,RZ,0xc0,!PT
    MOV R4,RZ
    BSSY B0,outer_join
    @P0 BRA outer_meet       # outer
    BSSY B1,inner_join
    @P1 BRA inner_else       # inner
    IADD3 R4,R4,0x1,RZ       # both clear
    BRA inner_meet
inner_else: IADD3 R4,R4,0x2,RZ  # second set
inner_meet: BSYNC B1         # inner sync
inner_join: IADD3 R4,R4,0x10,RZ # inner after
outer_meet: BSYNC B0         # outer sync
outer_join: IADD3 R4,R4,0x100,RZ # after
"""
    + STORE
)


def test_nested_branches_merge_from_the_inside_out() -> None:
    ran = run(NESTED)
    assert ran.arrays["out"].tolist() == [0x111] * 8 + [0x112] * 8 + [0x100] * 16
    assert executed(ran, NESTED) == {
        "outer": (1, 32),
        "inner": (1, 16),
        "both clear": (1, 8),
        "second set": (1, 8),
        "inner sync": (2, 16),
        "inner after": (1, 16),
        "outer sync": (2, 32),
        "after": (1, 32),
    }


THIRTY_TWO_PATHS = (
    """
    S2R R0,SR_TID.X
    MOV R4,RZ
    BSSY B0,join
loop: ISETP.GE.AND P0,PT,R4,R0,PT
    @P0 BRA done             # test
    IADD3 R4,R4,0x1,RZ       # body
    BRA loop
done: BSYNC B0               # sync
join: NOP                    # after
"""
    + STORE
)


def test_a_loop_with_another_trip_count_in_every_lane() -> None:
    """Lane n iterates n times; lanes leave in turn, and wait at the barrier as 32 paths."""
    ran = run(THIRTY_TWO_PATHS)
    assert ran.arrays["out"].tolist() == list(range(32))
    assert executed(ran, THIRTY_TWO_PATHS) == {
        "test": (32, sum(range(1, 33))),
        "body": (31, sum(range(32))),
        "sync": (32, 32),
        "after": (1, 32),
    }


LOOP_OF_BRANCHES = (
    """
    S2R R0,SR_TID.X
    MOV R4,RZ
    MOV R6,RZ
loop: IADD3 R7,R0,R6,RZ
    LOP3.LUT P0,RZ,R7,0x1,RZ,0xc0,!PT
    BSSY B0,join
    @P0 BRA meet
    IADD3 R4,R4,0x1,RZ       # even
meet: BSYNC B0               # sync
join: IADD3 R6,R6,0x1,RZ     # after
    ISETP.NE.AND P1,PT,R6,0x7,PT
    @P1 BRA loop
"""
    + STORE
)


def test_a_barrier_is_used_again_in_every_round_of_a_loop() -> None:
    ran = run(LOOP_OF_BRANCHES)
    assert ran.arrays["out"].tolist() == [4, 3] * 16
    assert executed(ran, LOOP_OF_BRANCHES) == {
        "even": (7, 16 * 7),
        "sync": (14, 32 * 7),
        "after": (7, 32 * 7),
    }


EXIT_INSIDE = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT R6,R0,0x3,RZ,0xc0,!PT
    ISETP.EQ.AND P0,PT,R6,RZ,PT
    ISETP.EQ.AND P1,PT,R6,0x1,PT
    MOV R4,0x5
    BSSY B0,join
    @P0 BRA else
    @P1 EXIT                 # exit
    IADD3 R4,R4,0x1,RZ       # stayed
    BRA meet
else: IADD3 R4,R4,0x2,RZ     # else
meet: BSYNC B0               # sync
join: IADD3 R4,R4,0x10,RZ    # after
"""
    + STORE
)


def test_lanes_that_exit_inside_a_branch_are_not_waited_for() -> None:
    ran = run(EXIT_INSIDE)
    assert ran.arrays["out"].tolist() == [0x17, -1, 0x16, 0x16] * 8
    assert executed(ran, EXIT_INSIDE) == {
        "exit": (1, 24),
        "stayed": (1, 16),
        "else": (1, 8),
        "sync": (2, 24),
        "after": (1, 24),
    }


WHOLE_SIDE_EXITS = (
    """
    S2R R0,SR_TID.X
    ISETP.GE.AND P0,PT,R0,0x14,PT
    MOV R4,0x7
    BSSY B0,join
    @!P0 BRA meet
    EXIT                     # exit
meet: BSYNC B0               # sync
join: NOP                    # after
"""
    + STORE
)


def test_a_whole_side_may_exit_before_or_after_the_other_waits() -> None:
    ran = run(WHOLE_SIDE_EXITS)
    assert ran.arrays["out"].tolist() == [7] * 20 + [-1] * 12
    assert executed(ran, WHOLE_SIDE_EXITS) == {"exit": (1, 12), "sync": (1, 20), "after": (1, 20)}


EARLY_EXIT = (
    "S2R R0,SR_TID.X\nISETP.GE.AND P0,PT,R0,0x9,PT\n@P0 EXIT # guard\nMOV R4,0x3 # rest\n" + STORE
)


def test_a_guarded_exit_leaves_the_others_running() -> None:
    ran = run(EARLY_EXIT, threads=64)
    assert ran.arrays["out"].tolist() == [3] * 9 + [-1] * 55
    assert executed(ran, EARLY_EXIT) == {"guard": (2, 64), "rest": (1, 9)}


EXTRA_PREDICATES = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    LOP3.LUT P1,RZ,R0,0x2,RZ,0xc0,!PT
    MOV R4,RZ
    BSSY B0,join
    @P0 BRA {extra},meet
    MOV R4,0x1
meet: BSYNC B0
join: NOP
"""
    + STORE
)


@pytest.mark.parametrize(("extra", "taken"), [("P1", {3}), ("!P1", {1})])
def test_predicate_operands_of_a_branch_are_anded_with_its_guard(
    extra: str, taken: set[int]
) -> None:
    ran = run(EXTRA_PREDICATES.format(extra=extra))
    assert ran.arrays["out"].tolist() == [0 if lane % 4 in taken else 1 for lane in range(32)]


UNIFORM_BRANCH = (
    """
    S2R R0,SR_TID.X
    S2UR UR6,SR_CTAID.X
    UISETP.EQ.AND UP0,UPT,UR6,0x1,UPT
    MOV R4,0x1
    @UP0 BRA end             # branch
    MOV R4,0x2               # fell
end: NOP
"""
    + STORE
)


def test_a_uniform_guard_moves_whole_warps() -> None:
    counts = executed(run(UNIFORM_BRANCH, grid=3), UNIFORM_BRANCH)
    assert counts == {"branch": (3, 96), "fell": (2, 64)}


@pytest.mark.parametrize(
    "text", [IF_ELSE.format(limit=40), NESTED, THIRTY_TWO_PATHS, LOOP_OF_BRANCHES, EXIT_INSIDE]
)
def test_results_do_not_depend_on_the_number_of_host_threads(text: str) -> None:
    runs = [run(text, threads=96, grid=37, host_threads=count) for count in (1, 2, 3, 8)]
    first = runs[0]
    for other in runs[1:]:
        assert other.outcome == first.outcome
        assert np.array_equal(other.arrays["out"], first.arrays["out"])


PREDICATES_KEPT = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    LOP3.LUT P1,RZ,R0,0x2,RZ,0xc0,!PT
    MOV R4,0x1
    MOV R5,0x7
    BSSY B0,join
    @P0 BRA else
    ISETP.EQ.AND P1,PT,RZ,RZ,PT
    MOV R5,0x9
    BRA meet
else: IADD3 R4,R4,R5,RZ
meet: BSYNC B0
join: @P1 IADD3 R4,R4,0x100,RZ
    IADD3 R4,R4,R5,RZ
"""
    + STORE
)


def test_a_path_changes_no_register_and_no_predicate_of_another() -> None:
    got = run(PREDICATES_KEPT).arrays["out"].tolist()
    want = {0: 1 + 0x100 + 9, 1: 1 + 7 + 7, 2: 1 + 0x100 + 9, 3: 1 + 7 + 0x100 + 7}
    assert got == [want[lane % 4] for lane in range(32)]


LEFT_ALONE = (
    """
    S2R R0,SR_TID.X
    ISETP.LT.AND P0,PT,R0,{limit:#x},PT
    MOV R4,0x7
    BSSY B0,join
    @P0 BRA meet
    {leave}
    EXIT
meet: BSYNC B0               # sync
join: NOP                    # after
"""
    + STORE
)


@pytest.mark.parametrize("leave", ["NOP", "BREAK B0"])
@pytest.mark.parametrize(("limit", "again"), [(1, 1), (15, 1), (16, 0), (31, 0)])
def test_the_side_with_fewer_lanes_runs_first_and_syncs_again_when_others_leave(
    leave: str, limit: int, again: int
) -> None:
    """Fewer than half of the lanes wait at the barrier until the others leave it; an H100 counts a
    second BSYNC for them."""
    text = LEFT_ALONE.format(limit=limit, leave=leave)
    ran = run(text)
    assert ran.arrays["out"].tolist() == [7] * limit + [-1] * (32 - limit)
    assert executed(ran, text) == {"sync": (1 + again, limit), "after": (1, limit)}


LAST_WORD = """
    S2R R0,SR_TID.X
    ISETP.GE.AND P0,PT,R0,{limit:#x},PT
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    BSSY B0,join
    @P0 BRA else
    STG.E desc[UR4][R2.64],R0
    BRA meet
else: STG.E desc[UR4][R2.64],R0
meet: BSYNC B0
join: EXIT
"""


@pytest.mark.parametrize(
    ("limit", "taken"), [(1, True), (15, True), (16, True), (17, False), (31, False)]
)
def test_the_side_with_more_lanes_has_the_last_word(limit: int, taken: bool) -> None:
    written = run(LAST_WORD.format(limit=limit)).arrays["out"][0]
    assert bool(written >= limit) is taken


EXIT_BY_TWO = (
    """
    S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    MOV R4,0x7
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    LOP3.LUT P1,RZ,R0,0x2,RZ,0xc0,!PT
    {leave}
"""
    + STORE
)


@pytest.mark.parametrize(
    ("leave", "end"),
    [
        ("@!P0 EXIT P1", [lane & 3 == 2 for lane in range(32)]),
        ("@P0 EXIT !P1", [lane & 3 == 1 for lane in range(32)]),
        ("EXIT P1", [bool(lane & 2) for lane in range(32)]),
    ],
)
def test_predicate_operands_of_an_exit_are_anded_with_its_guard(
    leave: str, end: list[bool]
) -> None:
    out = run(EXIT_BY_TWO.format(leave=leave)).arrays["out"]
    assert (out == -1).tolist() == end
