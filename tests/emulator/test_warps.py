"""Warp operations besides branches: calls, BREAK, `__syncwarp()`, fences, collective operations."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

from grader.emulator import FaultKind
from tests.support.assembler import build, launch
from tests.support.lane_programs import STORE, executed, run

CALL = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    MOV R4,R0
    BSSY B0,join
    @P0 BRA odd
    MOV R8,{even_return:#x}
    CALL.REL.NOINC {function:#x}
    IADD3 R4,R4,0x1000,RZ        # even back
    BRA meet
odd: MOV R8,{odd_return:#x}
    CALL.REL.NOINC {function:#x}
    IADD3 R4,R4,0x2000,RZ        # odd back
meet: BSYNC B0                   # sync
join: NOP                        # after
"""
    + STORE
    + """
    IADD3 R4,R4,0x100,RZ         # function
    MOV R9,RZ
    RET.REL.NODEC R8,kernel      # return
"""
)


def test_a_function_returns_each_path_to_its_own_call() -> None:
    text = CALL.format(even_return=16 * 7, odd_return=16 * 11, function=16 * 19)
    ran = run(text)
    assert ran.arrays["out"].tolist() == [
        lane + (0x2100 if lane % 2 else 0x1100) for lane in range(32)
    ]
    assert executed(ran, text) == {
        "even back": (1, 16),
        "odd back": (1, 16),
        "sync": (2, 32),
        "after": (1, 32),
        "function": (2, 32),
        "return": (2, 32),
    }


RETURNS_APART = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    MOV R4,R0
    MOV R8,{first:#x}
    @!P0 MOV R8,{second:#x}
    CALL.REL.NOINC {function:#x}
    IADD3 R4,R4,0x1000,RZ        # first
    MOV R8,{second:#x}
    CALL.REL.NOINC {function:#x}
    IADD3 R4,R4,0x2000,RZ        # second
"""
    + STORE
    + "    RET.REL.NODEC R8,kernel # return\n"
)


def test_a_return_may_split_a_warp() -> None:
    """A call from which odd lanes return to the next instruction, even lanes to a later one."""
    text = RETURNS_APART.format(first=16 * 6, second=16 * 9, function=16 * 15)
    ran = run(text)
    assert ran.arrays["out"].tolist() == [
        lane + (0x3000 if lane % 2 else 0x2000) for lane in range(32)
    ]
    counts = executed(ran, text)
    assert counts["first"] == (1, 16)
    assert counts["second"] == (2, 32)
    assert counts["return"] == (3, 48)  # once for each target


BREAKS = (
    """
    S2R R0,SR_TID.X
    MOV R4,RZ
    BSSY B1,outer_join
    BSSY B0,inner_join
    ISETP.GE.AND P0,PT,R0,0x18,PT
    @P0 BREAK B0                 # break
    @P0 BRA outer_meet
    ISETP.GE.AND P1,PT,R0,0xc,PT
    @P1 BRA inner_meet
    IADD3 R4,R4,0x1,RZ           # first
inner_meet: BSYNC B0             # inner sync
inner_join: IADD3 R4,R4,0x10,RZ  # together
outer_meet: BSYNC B1             # outer sync
outer_join: IADD3 R4,R4,0x100,RZ # after
"""
    + STORE
)


def test_lanes_that_break_out_of_a_barrier_are_not_waited_for_there() -> None:
    """nvcc's code for `break` and `return` inside of nested branches."""
    ran = run(BREAKS)
    assert ran.arrays["out"].tolist() == [0x111] * 12 + [0x110] * 12 + [0x100] * 8
    assert executed(ran, BREAKS) == {
        "break": (1, 32),
        "first": (1, 12),
        "inner sync": (2, 24),
        "together": (1, 24),
        "outer sync": (2, 32),
        "after": (1, 32),
    }


SYNC_WARP = (
    """
    S2R R0,SR_TID.X
    MOV R4,RZ
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    MOV R6,{mask:#x}
    @P0 BRA odd
    IADD3 R4,R4,0x1,RZ           # even
    BRA meet
odd: IADD3 R4,R4,0x2,RZ          # odd
meet: {sync}                     # sync
    NOP                          # after
"""
    + STORE
)


@pytest.mark.parametrize("sync", ["WARPSYNC.ALL", "WARPSYNC R6", "WARPSYNC 0xffffffff"])
def test_a_warp_that_synchronises_goes_on_as_one_path(sync: str) -> None:
    text = SYNC_WARP.format(mask=0xFFFFFFFF, sync=sync)
    ran = run(text)
    assert ran.arrays["out"].tolist() == [1, 2] * 16
    assert executed(ran, text) == {
        "even": (1, 16),
        "odd": (1, 16),
        "sync": (3, 32),
        "after": (1, 32),
    }  # and again together


def test_a_warp_whose_lanes_have_exited_synchronises_without_them() -> None:
    text = SYNC_WARP.format(mask=0xFFFFFFFF, sync="WARPSYNC R6").replace("BRA meet", "EXIT")
    ran = run(text)
    assert ran.arrays["out"].tolist() == [-1, 2] * 16
    assert executed(ran, text) == {
        "even": (1, 16),
        "odd": (1, 16),
        "sync": (1, 16),
        "after": (1, 16),
    }


TWO_MEETINGS = (
    """
    S2R R0,SR_TID.X
    ISETP.LT.AND P0,PT,R0,0x8,PT
    MOV R6,0xffffff00
    MOV R4,0x1
    @P0 BRA all
    WARPSYNC R6                  # some
    MOV R4,0x2                   # between
all: WARPSYNC.ALL                # all
    NOP                          # after
"""
    + STORE
)


def test_lanes_that_wait_for_all_are_not_released_by_a_meeting_of_others() -> None:
    ran = run(TWO_MEETINGS)
    assert ran.arrays["out"].tolist() == [1] * 8 + [2] * 24
    assert executed(ran, TWO_MEETINGS) == {
        "some": (1, 24),
        "between": (1, 24),
        "all": (3, 32),
        "after": (1, 32),
    }


def test_a_launch_leaves_no_cycle_that_holds_its_memory() -> None:
    gc.disable()
    try:
        memory = weakref.ref(run("MOV R0,RZ\nMOV R4,RZ\n" + STORE).memory)
        assert memory() is None
    finally:
        gc.enable()


FENCES = (
    "S2R R0,SR_TID.X\nMEMBAR.SC.GPU\nMEMBAR.ALL.CTA\nERRBAR\nCCTL.IVALL\nYIELD\nNOP\nMOV R4,0x1\n"
    "CCTL.E.PML2 [R2.64]\nCCTL.E.DML2 [R2.64],0x80\nACQBULK\nPREEXIT\nPMTRIG 0x2\n" + STORE
)


def test_fences_count_as_instructions_and_change_nothing() -> None:
    ran = run(FENCES)
    assert ran.arrays["out"].tolist() == [1] * 32
    assert ran.executed == len([line for line in FENCES.splitlines() if line.strip()])


def test_a_fence_for_the_system_takes_nine_instructions_more_and_a_store_request() -> None:
    code = FENCES.replace(
        "MEMBAR.SC.GPU", "ISETP.EQ.AND P0,PT,R0,0x40,PT\n@!P0 MEMBAR.SC.SYS\n@P0 MEMBAR.SC.SYS"
    )
    ran = run(code)
    assert ran.executed == len([line for line in code.splitlines() if line.strip()]) + 9
    assert (
        sum(counts.requests for counts in ran.outcome.counts if counts.opcode.startswith("MEMBAR"))
        == 1
    )


COLLECTIVE = (
    """S2R R0,SR_TID.X
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    MOV R6,{named:#x}
    UMOV UR4,{named:#x}
    MOV R4,RZ
    {split}
here: BRA.DIV UR4,slow
    BRA end
slow: WARPSYNC.COLLECTIVE R6,back
    VOTE.ANY R4,PT,PT
    ENDCOLLECTIVE
back: BRA end
end: NOP
"""
    + STORE
)


def test_lanes_from_several_places_execute_a_collective_operation_once_and_together() -> None:
    """`BRA.DIV` branches to slow code only if the named lanes are not on one path: converged warps
    never get there."""
    together = COLLECTIVE.format(named=0xFFFFFFFF, split="NOP")
    assert run(together).arrays["out"].tolist() == [0] * 32
    apart = COLLECTIVE.format(named=0xFFFFFFFF, split="@P0 BRA here")
    ran = run(apart)
    assert ran.arrays["out"].tolist() == [-1] * 32
    line = apart[: apart.index("VOTE")].count("\n") + 1
    assert (ran.at_line(line).executed, ran.at_line(line).threads) == (1, 32)


BOTH_SIDES = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    MOV R6,0xffffffff
    BSSY B0,join
    @P0 BRA odd
    WARPSYNC.COLLECTIVE R6,even_back # even
    BRA vote
even_back: BRA meet
odd: WARPSYNC.COLLECTIVE R6,meet # odd
vote: VOTE.ANY R4,PT,PT          # vote
    ENDCOLLECTIVE                # back
meet: BSYNC B0                   # sync
join: NOP                        # after
"""
    + STORE
)


def test_the_way_back_from_a_collective_operation_is_executed_once_for_each_place() -> None:
    counts = executed(run(BOTH_SIDES), BOTH_SIDES)
    assert (counts["even"], counts["odd"]) == ((1, 16), (1, 16))
    assert (counts["vote"], counts["back"], counts["sync"], counts["after"]) == (
        (1, 32),
        (2, 32),
        (2, 32),
        (1, 32),
    )


GROUPS_OF_LANES = (
    """
    S2R R0,SR_TID.X
    LOP3.LUT R7,R0,{which:#x},RZ,0xc0,!PT
    MATCH.ANY R6,R7
    MOV R4,R6
    WARPSYNC{form} R6            # sync
    NOP                          # after
"""
    + STORE
)


@pytest.mark.parametrize("which", [0, 1, 3, 31])
def test_groups_of_lanes_go_apart_by_one_execution_each(which: int) -> None:
    groups = which + 1
    text = GROUPS_OF_LANES.format(which=which, form=".EXCLUSIVE")
    assert executed(run(text), text) == {"sync": (groups, 32), "after": (groups, 32)}
    text = GROUPS_OF_LANES.format(which=which, form="")
    assert executed(run(text), text) == {"sync": (1, 32), "after": (1, 32)}


def test_lanes_that_are_not_named_may_be_elsewhere() -> None:
    apart = COLLECTIVE.format(named=0x55555555, split="@P0 EXIT")
    assert run(apart).arrays["out"].tolist() == [0, -1] * 16
    odd_go_round = COLLECTIVE.format(named=0x55555555, split="@P0 BRA end")
    assert run(odd_go_round).arrays["out"].tolist() == [0] * 32


GUARDED = (
    "S2R R0,SR_TID.X\nISETP.GE.AND P0,PT,R0,{first:#x},PT\nMOV R6,{value}\nUMOV UR4,0x7\n@P0 R2UR"
    " UR4,R6\nMOV R4,UR4\n" + STORE
)


def test_a_guarded_move_to_a_uniform_register_takes_the_only_value() -> None:
    assert run(GUARDED.format(first=20, value="0x9")).arrays["out"].tolist() == [9] * 32
    assert run(GUARDED.format(first=32, value="R0")).arrays["out"].tolist() == [7] * 32
    out = np.zeros(32, dtype=np.int32)
    fault = launch(
        build(GUARDED.format(first=20, value="R0")), {"out": out}, check=False
    ).outcome.fault
    assert fault is not None
    assert (fault.kind, fault.line) == (FaultKind.UNSUPPORTED, 5)
