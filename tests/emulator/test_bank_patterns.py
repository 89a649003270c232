"""Shared-memory wavefronts of single accesses, against 868 patterns that Nsight Compute counted on
an H100."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from grader.emulator.run.worst import WorstRequest, list_wavefronts
from tests.support.assembler import SHARED_BASE, build, launch

TRUTH = Path(__file__).parents[1] / "data" / "truth" / "bank_patterns_h100.json"
WIDTH_NAMES = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}

PROBE = """
    S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x8,R2
    LDG.E.64 R4,desc[UR4][R2.64]
    ISETP.NE.AND P0,PT,R5,RZ,PT
    @P0 ACCESS
    EXIT
"""
"""A shared access of a warp. A table has each lane's address, and whether the lane is active."""


def count(pattern: dict[str, Any]) -> tuple[int, int]:
    """Actual and ideal wavefronts that the emulator counts for a pattern; lists the wavefronts of
    patterns with conflicts."""
    width = WIDTH_NAMES[pattern["width_bytes"]]
    access = f"LDS{width} R8,[R4]" if pattern["op"] == "load" else f"STS{width} [R4],R8"
    table = np.zeros((32, 2), dtype=np.uint32)
    table[:, 0] = np.array(pattern["offsets"], dtype=np.uint32) + SHARED_BASE
    table[:, 1] = [pattern["active_mask"] >> lane & 1 for lane in range(32)]
    run = launch(
        build(PROBE.replace("ACCESS", access)), {"table": table}, dynamic_shared_bytes=48 << 10
    )
    counts = next(counts for counts in run.outcome.counts if counts.space == "shared")
    worst = [each for each in run.outcome.counts.worst_requests() if each.space == "shared"]
    assert len(worst) == (counts.passes > counts.passes_ideal)
    for each in worst:
        check_listed(each, pattern, counts.passes)
    return counts.passes, counts.passes_ideal


def check_listed(worst: WorstRequest, pattern: dict[str, Any], passes: int) -> None:
    """Checks that the access has this pattern, that each lane is served once, and that no bank
    serves two words in a wavefront."""
    expected = [
        offset if pattern["active_mask"] >> lane & 1 else None
        for lane, offset in enumerate(pattern["offsets"])
    ]
    found = [None if each is None else each - SHARED_BASE for each in worst.addresses]
    assert found == expected
    wavefronts = list_wavefronts(worst)
    assert len(wavefronts) == passes
    served = sorted(lane for each in wavefronts for lane in each)
    assert served == [lane for lane, offset in enumerate(expected) if offset is not None]
    for lanes in wavefronts:
        words = {
            (expected[lane] or 0) // 4 + word
            for lane in lanes
            for word in range(max(1, pattern["width_bytes"] // 4))
        }
        assert len({word % 32 for word in words}) == len(words)


def test_wavefronts_equal_the_hardware_on_all_patterns_but_one() -> None:
    patterns = json.loads(TRUTH.read_text())["patterns"]
    wrong = [p for p in patterns if count(p) != (p["wavefronts"], p["wavefronts_ideal"])]
    assert len(patterns) == 868
    assert len(wrong) <= 1, [(p["op"], p["width_bytes"], p["pattern"]) for p in wrong]
