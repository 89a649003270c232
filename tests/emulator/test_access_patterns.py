"""Consecutive patterns of lane addresses at an instruction: data and counters do not depend on the
previous access."""

from __future__ import annotations

import random
from collections.abc import Iterator

import numpy as np
import pytest

from tests.support.assembler import build, launch

LANES = range(32)
WIDTH_NAMES = {1: ".U8", 2: ".U16", 4: "", 8: ".64", 16: ".128"}
FULL = 0xFFFFFFFF
MASKS = (FULL, 0xFFFF, 0x55555555, 0x80000001)
FIRST_ELEMENTS = (160, 160, 161, 165, 168, 167)
"""Start of the lowest lane of each occurrence of a pattern: other bases modulo 32."""
ELEMENTS = 1024
"""Elements of memory per access."""


def groups(size: int, step: int, apart: int) -> list[int]:
    """Elements that ascend by a step within each group of lanes."""
    return [lane // size * apart + lane % size * step for lane in LANES]


def scattered(count: int) -> list[int]:
    rng = random.Random(count)
    return [0, *(rng.randrange(-64, count - 64) for _ in LANES[1:])]


PATTERNS = (
    *(groups(size, 1, apart) for size in (32, 16, 8, 4, 2) for apart in (40, 0, -9, 3)),
    *(groups(size, 0, apart) for size in (32, 16, 8, 4, 2) for apart in (7, -3)),
    groups(32, 3, 0),
    groups(32, -1, 0),
    [lane ^ 1 for lane in LANES],
    random.Random(1).sample(range(-64, 300), 32),
    scattered(100),
    scattered(300),
)
ACCESSES = [
    (lanes, first, mask) for lanes in PATTERNS for mask in MASKS for first in FIRST_ELEMENTS
]
# after a pattern of half a warp, a whole warp's that differs only in the other half
ACCESSES += [([*range(16), *[0] * 16], 160, mask) for mask in (0xFFFF, FULL)]
"""Accesses, one per block."""

BEFORE = """    ULDC.64 UR4,c[0x0][0x208]
    S2R R0,SR_TID.X
    S2R R1,SR_CTAID.X
    IMAD R1,R1,0x20,R0
    LDC.64 R2,c[0x0][0x210]
    LDC.64 R4,c[0x0][0x218]
    LDC.64 R6,c[0x0][0x220]
    IMAD.WIDE.U32 R2,R1,0x8,R2
    LDG.E.64 R8,desc[UR4][R2.64]
    ISETP.NE.AND P0,PT,R9,RZ,PT
    IMAD.WIDE.U32 R4,R8,0x1,R4
    IMAD.WIDE.U32 R6,R1,0x10,R6
    LDG.E.128 R12,desc[UR4][R6.64]
"""
"""Each lane reads from `table` the offset of its access to `memory`, and whether it is active.
`words` has four words per lane."""
LOAD = """    @P0 LDG.E{width} R12,desc[UR4][R4.64]
    STG.E.128 desc[UR4][R6.64],R12
    EXIT"""
STORE = """    @P0 STG.E{width} desc[UR4][R4.64],R12
    EXIT"""


def run_accesses(
    code: str, width: int, memory: np.ndarray, words: np.ndarray
) -> tuple[dict[str, np.ndarray], tuple[int, int, int]]:
    """The buffers after all accesses, and the requests, sectors and bytes of the instruction."""
    table = np.array(
        [
            [
                ((access * ELEMENTS + first + element) * width, mask >> lane & 1)
                for lane, element in enumerate(lanes)
            ]
            for access, (lanes, first, mask) in enumerate(ACCESSES)
        ],
        dtype=np.uint32,
    )
    line = BEFORE.count("\n") + 1
    ran = launch(
        build(BEFORE + code.format(width=WIDTH_NAMES[width])),
        {"table": table, "memory": memory, "words": words},
        grid=(len(ACCESSES), 1, 1),
    )
    counts = ran.at_line(line)
    return ran.arrays, (counts.requests, counts.passes, counts.bytes)


def active(mask: int) -> list[int]:
    return [lane for lane in LANES if mask >> lane & 1]


def expected_counts(width: int) -> tuple[int, int, int]:
    """The number of sectors and of distinct bytes that the active lanes access."""
    sectors = elements = 0
    for lanes, first, mask in ACCESSES:
        touched = {(lanes[lane] + first) * width for lane in active(mask)}
        sectors += len({offset // 32 for offset in touched})
        elements += len(touched)
    return len(ACCESSES), sectors, elements * width


def numbers(count: int) -> np.ndarray:
    return np.random.default_rng(count).integers(1, 1 << 32, count, dtype=np.uint32)


def own_memory(width: int) -> np.ndarray:
    return numbers(len(ACCESSES) * ELEMENTS * width // 4)


@pytest.mark.parametrize("width", WIDTH_NAMES)
def test_a_load_brings_each_lane_its_own_bytes(width: int) -> None:
    memory, words = own_memory(width), numbers(len(ACCESSES) * 128)
    arrays, counts = run_accesses(LOAD, width, memory, words)
    expected = words.reshape(-1, 32, 4).copy()
    elements = memory.view(np.uint8).reshape(-1, ELEMENTS, width)
    for access, (lanes, first, mask) in enumerate(ACCESSES):
        for lane in active(mask):
            loaded = np.zeros(max(width, 4), dtype=np.uint8)
            loaded[:width] = elements[access, lanes[lane] + first]
            expected[access, lane, : len(loaded) // 4] = loaded.view(np.uint32)
    assert np.array_equal(arrays["words"].reshape(expected.shape), expected)
    assert counts == expected_counts(width)


def in_order(mask: int, width: int) -> Iterator[int]:
    """The active lanes of a store, with the winner last: the lowest lane of each phase, phase after
    phase."""
    phase = 32 // max(1, width // 4)
    for start in range(0, 32, phase):
        yield from (lane for lane in reversed(active(mask)) if start <= lane < start + phase)


@pytest.mark.parametrize("width", WIDTH_NAMES)
def test_a_store_leaves_the_value_of_the_last_lane(width: int) -> None:
    memory, words = own_memory(width), numbers(len(ACCESSES) * 128)
    arrays, counts = run_accesses(STORE, width, memory, words)
    expected = memory.view(np.uint8).reshape(-1, ELEMENTS, width).copy()
    sources = words.view(np.uint8).reshape(-1, 32, 16)
    for access, (lanes, first, mask) in enumerate(ACCESSES):
        for lane in in_order(mask, width):
            expected[access, lanes[lane] + first] = sources[access, lane, :width]
    assert np.array_equal(arrays["memory"].view(np.uint8).reshape(expected.shape), expected)
    assert counts == expected_counts(width)
