"""`__syncthreads()`: waits between threads, and barriers that some threads cannot reach."""

from __future__ import annotations

import operator

import numpy as np
import pytest

from grader.emulator import Fault, FaultKind
from tests.support.assembler import Run, build, launch

BLOCKS, THREADS = 3, 128

HEAD = """S2R R0,SR_TID.X
    S2R R1,SR_CTAID.X
    LDC R5,c[0x0][0x0]
    IMAD R1,R1,R5,R0
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R1,0x4,R2
    LEA R6,R0,0x400,0x2
"""
"""R0 thread, R2:R3 address of its output, R6 its own word of shared memory."""

TAIL = """
    STG.E desc[UR4][R2.64],R4
    EXIT
"""


def run(body: str, *, check: bool = True, threads: int = THREADS, host_threads: int = 1) -> Run:
    """Runs HEAD, the body, TAIL: every thread stores its R4."""
    out = np.full(BLOCKS * threads, -1, dtype=np.int32)
    kernel = build(HEAD + body + TAIL, shared_bytes=4 * threads)
    return launch(
        kernel,
        {"out": out},
        block=(threads, 1, 1),
        grid=(BLOCKS, 1, 1),
        check=check,
        threads=host_threads,
    )


def line_of(body: str, comment: str) -> int:
    """The line of the whole program that ends in `# comment`."""
    return next(
        n
        for n, line in enumerate((HEAD + body).splitlines(), start=1)
        if line.endswith(f"# {comment}")
    )


def fault_of(body: str, *, threads: int = THREADS) -> Fault:
    fault = run(body, check=False, threads=threads).outcome.fault
    assert fault is not None
    return fault


REVERSE = """
    STS [R6],R0
    BAR.SYNC.DEFER_BLOCKING 0x0
    IADD3 R7,R5,-0x1,-R0
    LEA R7,R7,0x400,0x2
    LDS R4,[R7]
"""


@pytest.mark.parametrize("threads", [1, 32, 33, 64, 128, 1000, 1024])
def test_data_crosses_warps_at_a_barrier(threads: int) -> None:
    got = run(REVERSE, threads=threads).arrays["out"].reshape(BLOCKS, threads)
    assert got.tolist() == [list(reversed(range(threads)))] * BLOCKS


RING = """
    MOV R4,R0
    MOV R8,RZ
    IADD3 R7,R0,0x1,RZ
    ISETP.EQ.AND P0,PT,R7,R5,PT
    SEL R7,RZ,R7,P0
    LEA R7,R7,0x400,0x2
round: STS [R6],R4
    BAR.SYNC.DEFER_BLOCKING 0x0
    LDS R4,[R7]
    IADD3 R8,R8,0x1,RZ
    ISETP.NE.AND P1,PT,R8,0x5,PT
    BAR.SYNC.DEFER_BLOCKING 0x0
    @P1 BRA round
"""


def test_a_barrier_in_a_loop_keeps_the_rounds_apart() -> None:
    got = run(RING).arrays["out"].reshape(BLOCKS, THREADS)
    assert got.tolist() == [[(thread + 5) % THREADS for thread in range(THREADS)]] * BLOCKS


EXITED = """
    ISETP.GE.AND P0,PT,R0,{limit:#x},PT
    @P0 EXIT
    MOV R4,0x5
    BAR.SYNC.DEFER_BLOCKING 0x0
    IADD3 R4,R4,0x1,RZ
"""


@pytest.mark.parametrize("limit", [1, 16, 40, 96])
def test_exited_threads_are_not_waited_for(limit: int) -> None:
    got = run(EXITED.format(limit=limit)).arrays["out"].reshape(BLOCKS, THREADS)
    assert got.tolist() == [[6] * limit + [-1] * (THREADS - limit)] * BLOCKS


EXITED_LATER = """
    MOV R4,0x5
    ISETP.GE.AND P0,PT,R0,0x30,PT
    BSSY B0,join
    @!P0 BRA meet
    EXIT
meet: BSYNC B0
join: BAR.SYNC.DEFER_BLOCKING 0x0
"""


def test_threads_that_exit_on_a_path_of_their_own_are_not_waited_for() -> None:
    got = run(EXITED_LATER).arrays["out"].reshape(BLOCKS, THREADS)
    assert got.tolist() == [[5] * 48 + [-1] * 80] * BLOCKS


PREDICATED = """
    MOV R4,0x5
    ISETP.GE.AND P0,PT,R5,{limit:#x},PT
    @P0 BAR.SYNC.DEFER_BLOCKING 0x0
"""


@pytest.mark.parametrize("limit", [THREADS, THREADS + 1])
def test_a_guarded_barrier_that_all_or_no_threads_execute_is_fine(limit: int) -> None:
    assert run(PREDICATED.format(limit=limit)).arrays["out"].tolist() == [5] * (BLOCKS * THREADS)


# --- barriers that return something ---------------------------------------------------------------

REDUCE = """
    ISETP.{comparison}.U32.AND P0,PT,R0,{limit:#x},PT
    BAR.RED.{mode}.DEFER_BLOCKING 0x0,P0
    {result}
    BAR.SYNC.DEFER_BLOCKING 0x0
"""
TRUTHS = [("LT", 0), ("LT", 1), ("GE", 1), ("LT", 40), ("EQ", 127), ("LT", 128)]
HOLDS = {"LT": operator.lt, "GE": operator.ge, "EQ": operator.eq}


@pytest.mark.parametrize(("comparison", "limit"), TRUTHS)
@pytest.mark.parametrize("mode", ["AND", "OR", "POPC"])
def test_a_barrier_that_reduces_returns_the_result_to_all_threads(
    mode: str, comparison: str, limit: int
) -> None:
    """`__syncthreads_and`, `_or` and `_count`; in nvcc's code, the count has no predicate and the
    others have no register."""
    result = "B2R.RESULT R4" if mode == "POPC" else "B2R.RESULT RZ,P1\n    SEL R4,RZ,0x1,!P1"
    truths = [HOLDS[comparison](thread, limit) for thread in range(THREADS)]
    want = {"AND": int(all(truths)), "OR": int(any(truths)), "POPC": sum(truths)}[mode]
    got = run(REDUCE.format(mode=mode, comparison=comparison, limit=limit, result=result)).arrays[
        "out"
    ]
    assert got.tolist() == [want] * (BLOCKS * THREADS)


REDUCE_THE_LIVING = """
    ISETP.GE.AND P0,PT,R0,0x30,PT
    @P0 EXIT
    BAR.RED.AND.DEFER_BLOCKING 0x0,PT
    B2R.RESULT RZ,P1
    SEL R4,RZ,0x1,!P1
"""


def test_a_barrier_that_reduces_leaves_exited_threads_out() -> None:
    got = run(REDUCE_THE_LIVING).arrays["out"].reshape(BLOCKS, THREADS)
    assert got.tolist() == [[1] * 48 + [-1] * 80] * BLOCKS


# --- barriers that cannot be reached by all -------------------------------------------------------

IN_A_BRANCH = """
    ISETP.GE.AND P0,PT,R0,{limit:#x},PT
    MOV R4,0x5
    BSSY B0,join
    @P0 BRA meet
    BAR.SYNC.DEFER_BLOCKING 0x0  # barrier
meet: BSYNC B0                   # sync
join: NOP                        # after
    BAR.SYNC.DEFER_BLOCKING 0x0  # later
"""


def test_a_barrier_in_a_branch_of_one_warp_names_both_lines() -> None:
    """Lanes 0 to 15 wait at the barrier; the others wait for them where the branch ends."""
    body = IN_A_BRANCH.format(limit=16)
    fault = fault_of(body, threads=32)
    assert fault.kind is FaultKind.BARRIER_DIVERGENCE
    assert fault.opcode == "BAR.SYNC.DEFER_BLOCKING"
    assert fault.line == line_of(body, "barrier")
    assert fault.other_line == line_of(body, "sync")
    assert fault.block == (0, 0, 0)
    assert fault.thread == (16, 0, 0)


def test_the_same_where_other_warps_reach_a_later_barrier() -> None:
    body = IN_A_BRANCH.format(limit=48)
    fault = fault_of(body)
    assert fault.kind is FaultKind.BARRIER_DIVERGENCE
    assert fault.line in (line_of(body, "barrier"), line_of(body, "later"))
    assert fault.other_line == line_of(body, "sync")
    assert fault.thread == (48, 0, 0)


BOTH_SIDES = """
    LOP3.LUT P0,RZ,R0,0x1,RZ,0xc0,!PT
    BSSY B0,join
    @P0 BRA odd
    MOV R4,0x1
    BAR.SYNC.DEFER_BLOCKING 0x0  # even
    BRA meet
odd: MOV R4,0x2
    BAR.SYNC.DEFER_BLOCKING 0x0  # odd
meet: BSYNC B0
join: NOP
"""


def test_lanes_of_one_warp_at_two_barriers_are_found() -> None:
    """CUDA allows a barrier in a branch only if all threads of the block take the same side;
    hardware may accept this code by chance."""
    fault = fault_of(BOTH_SIDES)
    assert fault.kind is FaultKind.BARRIER_DIVERGENCE
    assert {fault.line, fault.other_line} == {
        line_of(BOTH_SIDES, "even"),
        line_of(BOTH_SIDES, "odd"),
    }


GUARD_SPLITS_A_WARP = """
    ISETP.GE.AND P0,PT,R0,0x10,PT
    MOV R4,0x5
    BSSY B0,join
    @P0 BAR.SYNC.DEFER_BLOCKING 0x0  # barrier
    BSYNC B0
join: NOP
"""


def test_a_guard_that_keeps_half_a_warp_from_the_barrier_is_found() -> None:
    """nvcc's code for `if (threadIdx.x >= 16) __syncthreads();`: a guarded BAR, no branch."""
    fault = fault_of(GUARD_SPLITS_A_WARP, threads=32)
    assert fault.kind is FaultKind.BARRIER_DIVERGENCE
    assert fault.line == line_of(GUARD_SPLITS_A_WARP, "barrier")
    assert fault.thread == (0, 0, 0)


def test_the_first_block_in_order_is_reported_for_any_number_of_host_threads() -> None:
    body = IN_A_BRANCH.format(limit=16)
    faults = {run(body, check=False, host_threads=count).outcome.fault for count in (1, 2, 4)}
    assert len(faults) == 1


@pytest.mark.parametrize("barrier", ["B16", "B99", "B01", "SR_TID.X"])
def test_a_convergence_barrier_that_no_machine_has_is_unknown(barrier: str) -> None:
    kernel = build(f"BSSY {barrier},there\nthere: EXIT\n")
    assert kernel.unknown == {0: "BSSY with this barrier"}


def test_a_barrier_of_the_block_that_no_machine_has_is_unknown() -> None:
    kernel = build("BAR.SYNC.DEFER_BLOCKING 0x10,0x40\nEXIT\n")
    assert kernel.unknown == {0: "BAR.SYNC.DEFER_BLOCKING of barrier 16"}
