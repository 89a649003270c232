"""The special-function unit returns the results of an H200 for every argument (an H100 is the same
chip).

Tests the exponents for which a function depends on all mantissa bits, and some others; with
--run-slow all.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.opcode_rows import Lane, Row, run_rows
from tests.support.special_sums import (
    FUNCTIONS,
    HALF_FUNCTIONS,
    HALVES,
    RANGES,
    add_up_emulated,
    mix,
    read_recorded,
)

RECORDED = read_recorded()
ONE, NEGATIVE = 127, 256
"""The exponent of 1, and the sign, in the upper 9 bits of a float32."""
CHOSEN = {
    "RCP": (ONE, 254, NEGATIVE + 1),
    "RSQ": (ONE, ONE + 1, NEGATIVE + ONE),
    "SQRT": (ONE, ONE + 1),
    "EX2": (ONE, ONE - 1, ONE - 9, ONE + 6, NEGATIVE + ONE, NEGATIVE + ONE + 6),
    "LG2": (ONE, ONE - 1, ONE + 3, ONE - 60),
    "SIN": (ONE - 2, ONE, ONE - 9, NEGATIVE + ONE - 1, ONE + 12, 250),
    "COS": (ONE - 2, ONE - 12, NEGATIVE + ONE),
    "TANH": (*range(ONE - 9, ONE + 4), NEGATIVE + ONE),
}
EVERYWHERE = (0, 255, NEGATIVE, NEGATIVE + 255)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("sums")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree_with_an_h200(name: str, folder: Path) -> None:
    ranges = (*CHOSEN.get(name, (ONE, ONE + 1, 0x1FE, 0x1FF)), *EVERYWHERE)
    _check(name, ranges, folder)


@pytest.mark.slow
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_agree_with_an_h200_for_all_arguments(name: str, folder: Path) -> None:
    _check(name, range(RANGES), folder)


def _check(name: str, ranges: tuple[int, ...] | range, folder: Path) -> None:
    got = dict(zip(ranges, add_up_emulated(name, ranges, folder), strict=True))
    assert got == {upper: RECORDED[name][upper] for upper in ranges}


@pytest.mark.parametrize("name", HALF_FUNCTIONS)
def test_halves_agree_with_an_h200(name: str) -> None:
    """Results are truncated to the format, not rounded; denormals are kept."""
    lanes = [Lane(code, 0, 0, 0, 0) for code in range(HALVES)]
    (got,) = run_rows([Row(f"MUFU.{name} R12,R4", lambda x: 0)], lanes, "together")
    results = np.array([low for low, *_ in got], dtype=np.uint32)
    assert (mix(np.arange(HALVES), results),) == RECORDED[name]
