"""Shared-memory wavefronts of single accesses, against 868 patterns that Nsight Compute counted on an H100."""

from __future__ import annotations

import functools
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np

from grader.emulator import GlobalMemory, Instruction, KernelCode, LaunchSettings, NativeKernel, run_launch, translate

TRUTH = Path(__file__).parents[1] / "data" / "truth" / "bank_patterns_h100.json"
SHARED_BASE = 0x400
WIDTH_NAMES = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}


@functools.cache
def probe(op: str, width: int) -> NativeKernel:
    """A kernel of one warp that makes one shared access: each lane takes its address and whether it is active from a table."""
    access = f"LDS{WIDTH_NAMES[width]} R8,[R4]" if op == "load" else f"STS{WIDTH_NAMES[width]} [R4],R8"
    lines = [
        "S2R R0,SR_TID.X",
        "ULDC.64 UR4,c[0x0][0x208]",
        "LDC.64 R2,c[0x0][0x210]",
        "IMAD.WIDE.U32 R2,R0,0x8,R2",
        "LDG.E.64 R4,desc[UR4][R2.64]",
        "ISETP.NE.AND P0,PT,R5,RZ,PT",
        f"@P0 {access}",
        "EXIT",
    ]
    instructions = []
    for index, line in enumerate(lines):
        guard, text = line.split(" ", 1) if line.startswith("@") else (None, line)
        opcode, _, operands = text.partition(" ")
        instructions.append(Instruction(16 * index, guard, opcode, operands, index + 1))
    return translate(KernelCode("probe", tuple(instructions), 0x210, 8, 0))


def count(pattern: dict[str, Any]) -> tuple[int, int]:
    """Wavefronts, actual and ideal, that the emulator counts for a pattern."""
    memory = GlobalMemory({"table": 32 * 8})
    table = memory.view("table").view(np.uint32).reshape(32, 2)
    table[:, 0] = np.array(pattern["offsets"], dtype=np.uint32) + SHARED_BASE
    table[:, 1] = [pattern["active_mask"] >> lane & 1 for lane in range(32)]
    parameters = struct.pack("<Q", memory.regions["table"].address)
    settings = LaunchSettings((1, 1, 1), (32, 1, 1), parameters, dynamic_shared_bytes=48 << 10)
    outcome = run_launch(probe(pattern["op"], pattern["width_bytes"]), memory, settings)
    assert outcome.fault is None, outcome.fault
    access = next(counts for counts in outcome.counts if counts.space == "shared")
    return access.passes, access.passes_ideal


def test_wavefronts_equal_the_hardware_on_all_patterns_but_one() -> None:
    patterns = json.loads(TRUTH.read_text())["patterns"]
    wrong = [p for p in patterns if count(p) != (p["wavefronts"], p["wavefronts_ideal"])]
    assert len(patterns) == 868
    assert len(wrong) <= 1, [(p["op"], p["width_bytes"], p["pattern"]) for p in wrong]
