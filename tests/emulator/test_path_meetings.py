"""Reconvergence of paths: which paths execute a BSYNC or a WARPSYNC together, and which repeat
it."""

from __future__ import annotations

import pytest

from tests.support.lane_programs import STORE, executed, run

LEFT_ONE_BY_ONE = (
    """
    S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    MOV R4,RZ
    BSSY B0,join
    ISETP.GE.AND P0,PT,R0,0xc,PT
    @P0 BRA meet                 # 20 of 32
    ISETP.GE.AND P0,PT,R0,{second:#x},PT
    @P0 BRA meet                 # of 12
    ISETP.GE.AND P0,PT,R0,{third:#x},PT
    @P0 BRA meet                 # of the rest
    IADD3 R4,R4,0x1,RZ           # last
meet: {together}                 # meet
join: NOP                        # after
"""
    + STORE
)


@pytest.mark.parametrize(
    ("second", "third", "times"),
    [(5, 2, 3), (5, 3, 3), (5, 0, 3), (9, 2, 4), (12, 2, 3), (12, 12, 2)],
)
def test_paths_that_wait_to_run_at_one_bsync_execute_it_together(
    second: int, third: int, times: int
) -> None:
    """Except for the other side of the last branch: of four paths, an H100 runs the last two
    together if both are the larger sides of earlier branches."""
    text = LEFT_ONE_BY_ONE.format(second=second, third=third, together="BSYNC B0")
    ran = run(text)
    assert ran.arrays["out"].tolist() == [1] * third + [0] * (32 - third)
    counts = executed(ran, text)
    assert counts["meet"] == (times, 32)
    assert counts["after"] == (1, 32)


@pytest.mark.parametrize(
    ("second", "third", "times"), [(12, 12, 3), (5, 5, 3), (5, 2, 3), (9, 2, 4)]
)
def test_a_path_chosen_at_a_warpsync_passes_it_with_waiting_paths(
    second: int, third: int, times: int
) -> None:
    """Otherwise all paths that meet execute it again."""
    text = LEFT_ONE_BY_ONE.format(second=second, third=third, together="WARPSYNC.ALL")
    counts = executed(run(text), text)
    assert counts["meet"] == (times, 32)
    assert counts["after"] == (1, 32)


TAKEN_BACK = (
    """
    S2R R0,SR_TID.X
    MOV R4,RZ
    ISETP.GE.AND P0,PT,R0,{limit:#x},PT
    BSSY B0,join
    BMOV.32.CLEAR R8,B0
    BSSY B0,inner
    @P0 BRA within
within: BSYNC B0             # inner
inner: BMOV.32 B0,R8
    @P0 BRA meet
    NOP
meet: BSYNC B0               # outer
join: NOP
"""
    + STORE
)


@pytest.mark.parametrize(("limit", "paths"), [(0, 1), (5, 2)])
def test_a_barrier_that_was_saved_is_waited_for_once_more(limit: int, paths: int) -> None:
    """Once for all lanes that meet there: an H100 counts that for all kernels of the corpus at
    -O0."""
    text = TAKEN_BACK.format(limit=limit)
    counts = executed(run(text), text)
    assert counts == {"inner": (paths, 32), "outer": (paths + 1, 32)}
