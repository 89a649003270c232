"""Counters of single asynchronous copies: 597 that Nsight Compute counted on an H100, and 213 with
predicates on an H200."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import grader
from tests.support.assembler import SHARED_BASE, build, launch

TRUTH = Path(__file__).parents[1] / "data" / "truth"
COPIES = {
    "ca4": "LDGSTS.E",
    "ca8": "LDGSTS.E.64",
    "ca16": "LDGSTS.E.128",
    "cg16": "LDGSTS.E.BYPASS.128",
    "zf4": "LDGSTS.E.ZFILL",
    "zf16": "LDGSTS.E.BYPASS.128.ZFILL",
}
PROBE = """
    S2R R0,SR_TID.X
    ULDC.64 UR4,c[0x0][0x208]
    LDC.64 R2,c[0x0][0x210]
    IMAD.WIDE.U32 R2,R0,0x10,R2
    LDG.E.128 R4,desc[UR4][R2.64]
    ISETP.EQ.AND P0,PT,R6,RZ,PT
    @P0 EXIT
    R2P PR,R7,0x7f
    LDC.64 R2,c[0x0][0x218]
    IMAD.WIDE.U32 R6,R5,0x1,R2
    COPY
    EXIT
"""
"""A copy of a warp: each lane reads its two addresses, whether it executes the copy, and its
predicates from a table."""


def read_patterns(name: str) -> list[dict[str, Any]]:
    patterns: list[dict[str, Any]] = json.loads((TRUTH / name).read_text())["patterns"]
    return patterns


def count(copy: str, table: np.ndarray) -> dict[str, int]:
    """The emulator's counters, under the names of the files."""
    table[:, 0] += SHARED_BASE
    run = launch(
        build(PROBE.replace("COPY", copy)),
        {"table": table, "data": np.zeros(1 << 16, dtype=np.uint8)},
        dynamic_shared_bytes=64 << 10,
    )
    (source, target) = (
        next(c for c in run.outcome.counts if c.opcode.startswith("LDGSTS") and c.space == space)
        for space in ("global", "shared")
    )
    return {
        "wavefronts": target.passes,
        "wavefronts_ideal": target.passes_ideal,
        "global_sectors": source.passes,
        "global_sectors_ideal": source.passes_ideal,
        "global_data_bytes": source.bytes,
        "global_requests": source.requests,
    }


def test_a_copy_is_counted_as_on_an_h100() -> None:
    patterns = read_patterns("ldgsts_patterns_h100.json")
    assert len(patterns) == 597
    for pattern in patterns:
        width, read = pattern["width_bytes"], pattern["source_bytes"]
        table = np.zeros((32, 4), dtype=np.uint32)
        table[:, 0] = pattern["offsets"]
        table[:, 1] = np.array(pattern["global_offsets"]) + (width - read) % width
        table[:, 2] = [pattern["active_mask"] >> lane & 1 for lane in range(32)]
        table[:, 3] = read > 0
        operand = ",P0" if pattern["op"].startswith("zf") else ""
        counted = count(f"{COPIES[pattern['op']]} [R4],desc[UR4][R6.64]{operand}", table)
        recorded = {name: pattern.get(name, counted[name]) for name in counted}
        assert counted == recorded, (pattern["op"], pattern["pattern"], pattern["from_pattern"])


@pytest.mark.parametrize("op", ["ca4", "ca8", "ca16", "cg16"])
def test_a_copy_under_predicates_is_counted_as_on_an_h200(op: str) -> None:
    """Two cases differ: copies past the L1 whose lanes send the same sector to several places."""
    wrong = []
    for pattern in read_patterns("ldgsts_predicates_h200.json"):
        if pattern["op"] != op:
            continue
        table = np.ones((32, 4), dtype=np.uint32)
        table[:, 0] = pattern["offsets"]
        table[:, 1] = pattern["global_offsets"]
        table[:, 3] = pattern["predicates"]
        fill = ".ZFILL" if pattern["zero_fill"] else ""
        addresses = f"[R4],desc[UR4][R6.64],{pattern['operand']}"
        counted = count(f"@{pattern['guard']} {COPIES[op]}{fill} {addresses}", table)
        if counted != {name: pattern[name] for name in counted}:
            wrong.append((pattern["guard"], pattern["operand"]))
    assert wrong == ([("P1", "PT"), ("PT", "!P2")] if op == "cg16" else [])


def test_copies_of_one_kind_from_elsewhere_in_a_sector_are_counted_anew() -> None:
    """Rows of 128 bytes that begin 0, 12, 24 and 36 bytes after the start of a line."""
    source = """#include <cuda_pipeline.h>
// launch: rows<<<1, 128>>>(y, x)
__global__ void rows(int* y, const int* x)
{
    __shared__ int row[128];
    __pipeline_memcpy_async(row + threadIdx.x, x + threadIdx.x + 3 * (threadIdx.x / 32), 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    y[threadIdx.x] = row[threadIdx.x];
}
"""
    x = np.arange(256, dtype=np.int32)
    run = grader.run(source, inputs={"x": x}, outputs={"y": ("int32", (128,))}, isolated=False)
    counters = run.launches[0].counters
    assert (counters.global_load_sectors, counters.shared_store_wavefronts) == (4 + 5 + 5 + 5, 4)
