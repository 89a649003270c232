"""The look-back of the sort's reference: on the emulated device tiles run in order and find a
prefix at once, so the longer ways are tested on states that are written beforehand."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import grader

ROOT = Path(__file__).resolve().parents[2]
TILES, DIGITS, OWN = 50, 256, 9
PROBE = f"""
// launch: probe<<<5, 256>>>(out, states, tile)
__global__ void probe(unsigned* out, unsigned* states, const int* tile)
{{
    unsigned* entries = states + {TILES * DIGITS} * blockIdx.x + threadIdx.x;
    out[512 * blockIdx.x + threadIdx.x] = look_back(entries, tile[blockIdx.x], {OWN});
    out[512 * blockIdx.x + 256 + threadIdx.x] = entries[tile[blockIdx.x] * {DIGITS}];
}}
"""
HAS_SUM, HAS_PREFIX = 1 << 30, 2 << 30
KNOWN: tuple[tuple[int, list[int]], ...] = ((0, []), (7, [0]), (33, [0]), (40, [3, 38]), (49, [48]))
"""A tile, and the tiles before it whose prefix is known; of the others only the sum is."""


def test_the_reference_adds_sums_up_to_the_nearest_prefix_and_publishes_its_own() -> None:
    sums = np.random.default_rng(1).integers(0, 5000, (TILES, DIGITS)).astype(np.uint32)
    states = np.tile(sums + np.uint32(HAS_SUM), (len(KNOWN), 1, 1))
    for each, (_, prefixes) in zip(states, KNOWN, strict=True):
        for known in prefixes:
            each[known] = HAS_PREFIX + sums[: known + 1].sum(0)
    code = (ROOT / "solutions" / "sort.cu").read_text(encoding="utf-8")
    lines = [line for line in code.splitlines() if not line.startswith(("// launch", "// scratch"))]
    run = grader.run(
        "\n".join(lines) + PROBE,
        inputs={"tile": np.array([tile for tile, _ in KNOWN], dtype=np.int32)},
        outputs={"out": ("uint32", (len(KNOWN), 2, DIGITS)), "states": states},
        device="emulated:h100",
    )
    before = np.array([sums[:tile].sum(0) for tile, _ in KNOWN])
    assert np.array_equal(run.outputs["out"][:, 0], before)
    assert np.array_equal(run.outputs["out"][:, 1], HAS_PREFIX + before + OWN)
