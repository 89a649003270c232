"""The look-back of the scan's reference: on the emulated device tiles run in order and find a
prefix at once, so the longer ways are tested on states that are written beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import grader

ROOT = Path(__file__).resolve().parents[2]
PROBE = """
// launch: probe<<<6, 32>>>(out, tiles, tile)
__global__ void probe(int* out, unsigned long long* tiles, const int* tile)
{
    out[32 * blockIdx.x + threadIdx.x] = look_back(tiles + 100 * blockIdx.x, tile[blockIdx.x], threadIdx.x);
}
"""
HAS_SUM, HAS_PREFIX = 1 << 32, 2 << 32
KNOWN: tuple[tuple[int, list[int]], ...] = (
    (0, []),
    (7, []),
    (32, [0]),
    (33, [0]),
    (100, [3]),
    (100, [35, 67, 68]),
)
"""A tile, and the tiles before it whose prefix is known; of the others only the sum is."""


def test_the_reference_adds_sums_up_to_the_nearest_prefix() -> None:
    sums = np.arange(5, 105, dtype=np.uint64) * 7
    tiles = np.tile(sums + np.uint64(HAS_SUM), (len(KNOWN), 1))
    for row, (_, prefixes) in zip(tiles, KNOWN, strict=True):
        for known in prefixes:
            row[known] = HAS_PREFIX + int(sums[: known + 1].sum())
    code = (ROOT / "solutions" / "scan.cu").read_text(encoding="utf-8")
    lines = [line for line in code.splitlines() if not line.startswith(("// launch", "// scratch"))]
    run = grader.run(
        "\n".join(lines) + PROBE,
        inputs={
            "tiles": tiles.view(np.uint8),
            "tile": np.array([tile for tile, _ in KNOWN], dtype=np.int32),
        },
        outputs={"out": ("int32", (len(KNOWN), 32))},
        device="emulated:h100",
    )
    assert run.outputs["out"].tolist() == [[int(sums[:tile].sum())] * 32 for tile, _ in KNOWN]
