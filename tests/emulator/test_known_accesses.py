"""Accesses that repeat the previous pattern, which a step executes itself: they are checked, traced
and counted like all others."""

from __future__ import annotations

import numpy as np
import pytest

from grader.emulator import Fault, FaultKind
from tests.support.assembler import Run, build, launch

ADDRESSES = """    ULDC.64 UR4,c[0x0][0x208]
    S2R R0,SR_TID.X
    S2R R1,SR_CTAID.X
    LDC.64 R2,c[0x0][0x210]
    LDC.64 R6,c[0x0][0x218]
    IMAD.WIDE.U32 R2,R1,0x8,R2
    LDG.E.64 R8,desc[UR4][R2.64]
    IMAD.WIDE.U32 R6,R0,0x4,R6
    IADD3 R4,P0,R6,R8,RZ
    IADD3.X R5,R7,R9,RZ,P0,!PT
"""
"""Each block moves the warp's row of words by its own offset."""
LOAD, STORE = "LDG.E R12,desc[UR4][R4.64]", "STG.E desc[UR4][R4.64],R0"
LINE = ADDRESSES.count("\n") + 1
WORDS = 1024
KNOWN = (0, 128, 256, 1024)


def run_blocks(access: str, offsets: tuple[int, ...], **settings: object) -> Run:
    """Runs a warp per block, in order, with these offsets in bytes."""
    kernel = build(f"{ADDRESSES}    {access}\n    EXIT")
    buffers = {
        "offsets": np.array(offsets, dtype=np.int64),
        "words": np.zeros(WORDS, dtype=np.uint32),
    }
    return launch(kernel, buffers, grid=(len(offsets), 1, 1), **{"threads": 1, **settings})


def fault_of(access: str, offset: int) -> Fault:
    fault = run_blocks(access, (*KNOWN, offset), check=False).outcome.fault
    assert fault is not None
    assert (fault.line, fault.block) == (LINE, (len(KNOWN), 0, 0))
    return fault


@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
@pytest.mark.parametrize(
    ("offset", "thread"),
    [
        (4 * WORDS - 96, 24),
        (4 * WORDS, 0),
        (-32, 0),
        (-(1 << 20), 0),
        (1 << 32, 0),
        (-(1 << 32), 0),
    ],
)
def test_a_known_pattern_that_leaves_its_buffer_is_reported(
    access: str, offset: int, thread: int
) -> None:
    fault = fault_of(access, offset)
    assert (fault.kind, fault.thread) == (FaultKind.OUT_OF_BOUNDS, (thread, 0, 0))


@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
@pytest.mark.parametrize("offset", [1, 2, 3, 30])
def test_a_known_pattern_at_a_misaligned_base_is_reported(access: str, offset: int) -> None:
    assert fault_of(access, offset).kind is FaultKind.MISALIGNED


@pytest.mark.parametrize("access", [LOAD, STORE], ids=["load", "store"])
def test_known_accesses_are_traced(access: str) -> None:
    blocks = tuple(range(len(KNOWN)))
    traces = run_blocks(access, KNOWN, traced=blocks, trace_words=1000).outcome.traces
    lengths = [len(trace.warps[0]) for trace in traces]
    assert [trace.block for trace in traces] == [*blocks]
    assert lengths == [lengths[0]] * len(KNOWN)
    starts = [int(trace.warps[0][-32]) for trace in traces]
    assert [start - starts[0] for start in starts] == [*KNOWN]
