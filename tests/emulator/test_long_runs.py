"""Kernels with very many barriers, forms and iterations: native code must not use stack for each of
them."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator import FaultKind, Unsupported
from grader.emulator.isa.program import MAX_INSTRUCTIONS
from tests.support.assembler import build, launch

BARRIERS = """
    MOV R4,RZ
loop:    IADD3 R4,R4,0x1,RZ
    BAR.SYNC.DEFER_BLOCKING 0x0
    ISETP.LT.AND P0,PT,R4,{count:#x},PT
    @P0 BRA loop
    EXIT
"""
SPLITS = """
    S2R R0,SR_TID.X
    MOV R4,RZ
loop:    IADD3 R4,R4,0x1,RZ
    LOP3.LUT R5,R0,0x1,RZ,0xc0,!PT
    ISETP.NE.AND P1,PT,R5,RZ,PT
    BSSY B0,join
    @P1 BRA join
    NOP
join:    BSYNC B0
    ISETP.LT.AND P0,PT,R4,{count:#x},PT
    @P0 BRA loop
    EXIT
"""


def test_a_million_barriers_of_many_warps_end() -> None:
    ran = launch(build(BARRIERS.format(count=30_000)), {"out": np.zeros(1)}, block=(1024, 1, 1))
    assert ran.executed == 32 * (1 + 4 * 30_000 + 1)


def test_half_a_million_splits_of_a_warp_end() -> None:
    ran = launch(build(SPLITS.format(count=500_000)), {"out": np.zeros(1)})
    assert ran.executed == 3 + 500_000 * 9 + 500_000


def test_an_endless_loop_with_a_barrier_ends_at_the_limit() -> None:
    text = "loop:    BAR.SYNC.DEFER_BLOCKING 0x0\n    BRA loop"
    fault = launch(build(text), {"out": np.zeros(1)}, check=False, budget=20_000_000).outcome.fault
    assert fault is not None
    assert fault.kind is FaultKind.INSTRUCTION_LIMIT


def test_a_kernel_too_long_to_translate_is_unsupported() -> None:
    with pytest.raises(Unsupported, match="machine instructions"):
        build("    NOP\n" * MAX_INSTRUCTIONS + "    EXIT")
