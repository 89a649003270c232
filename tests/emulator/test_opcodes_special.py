"""The special-function unit at special values (test_special_sums.py has all others), and the range
check of divisions."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest

from grader.emulator.codegen.opcodes.special import SPECIAL
from tests.support.exact import BFLOAT, DOUBLE, HALF, SINGLE, Format
from tests.support.opcode_rows import LANE_FORMS, Lane, Row, check_rows, run_rows, uncovered

INF, NAN, SIGN, ONE, UNIT = (
    SINGLE.infinity,
    SINGLE.nan,
    SINGLE.sign,
    SINGLE.one,
    SINGLE.smallest_normal,
)


def bits(value: float, fmt: Format = SINGLE) -> int:
    sign = fmt.sign if math.copysign(1.0, value) < 0 else 0
    return sign | fmt.infinity if math.isinf(value) else fmt.round(Fraction(value), zero_sign=sign)


EXACT: dict[str, dict[int, int]] = {
    "RCP": {
        0: INF,
        SIGN: INF | SIGN,
        1: INF,
        UNIT - 1 | SIGN: INF | SIGN,
        INF: 0,
        INF | SIGN: SIGN,
        INF + 1: NAN,
        bits(-4): bits(-0.25),
    },
    "RSQ": {
        0: INF,
        SIGN: INF | SIGN,
        1: INF,
        INF: 0,
        bits(-1): NAN,
        INF | SIGN: NAN,
        bits(4): bits(0.5),
        NAN | SIGN: NAN,
    },
    "SQRT": {0: 0, SIGN: SIGN, 1: 0, INF: INF, bits(-1): NAN, bits(9): bits(3)},
    "EX2": {
        0: ONE,
        SIGN: ONE,
        INF: INF,
        INF | SIGN: 0,
        bits(-126): UNIT,
        bits(-127): 0,
        bits(128): INF,
        bits(10): bits(1024),
    },
    "LG2": {
        0: INF | SIGN,
        SIGN: INF | SIGN,
        1: INF | SIGN,
        INF: INF,
        bits(-1): NAN,
        ONE: 0,
        bits(1024): bits(10),
    },
    "SIN": {
        0: 0,
        SIGN: SIGN,
        INF: NAN,
        bits(0.25): ONE,
        bits(0.75): bits(-1),
        bits(-0.25): bits(-1),
        bits(1e10): 0,
    },
    "COS": {
        0: ONE,
        INF: NAN,
        bits(0.25): 0,
        bits(0.5): bits(-1),
        bits(1): ONE,
        bits(0.125): bits(math.sqrt(0.5)),
        bits(1e10): ONE,
    },
    "TANH": {
        0: 0,
        SIGN: SIGN,
        INF: ONE,
        INF | SIGN: bits(-1),
        1: 1,
        NAN | SIGN: NAN,
        bits(20): ONE,
    },
}


@pytest.mark.parametrize("form", LANE_FORMS)
@pytest.mark.parametrize("name", EXACT)
def test_results_that_are_exact(name: str, form: str) -> None:
    table = EXACT[name]
    row = Row(f"MUFU.{name} R12,R4", lambda x: table[x.a])
    check_rows(
        [row], [Lane(value, 0, 0, 0, 4 * (n % 3 == 2)) for n, value in enumerate(table)], form
    )


UPPER = ("RCP64H", "RSQ64H")


def test_upper_words_of_special_values() -> None:
    infinity = DOUBLE.infinity >> 32
    lanes = [
        Lane(word, 0, 0, 0, 0)
        for word in (
            0,
            0x80000000,
            0x000FFFFF,
            infinity,
            infinity | 0x80000000,
            0x7FD00000,
            0xC0000000,
        )
    ]
    inverse = [infinity, infinity | 0x80000000, infinity, 0, 0x80000000, 0x00100000, 0xBFE00000]
    root = [infinity, infinity | 0x80000000, infinity, 0, 0x7FFFFFFF, 0x20000000, 0x7FFFFFFF]
    for name, want in (("RCP64H", inverse), ("RSQ64H", root)):
        (got,) = run_rows([Row(f"MUFU.{name} R12,R4", lambda x: 0)], lanes, "together")
        assert [low for low, *_ in got] == want, name


def test_a_literal_of_an_upper_word_is_a_float64() -> None:
    """`x / 7.0` begins with a reciprocal of the literal 7."""
    rows = [
        Row("MUFU.RCP64H R12,7", lambda x: 0x3FC24924),
        Row("MUFU.RSQ64H R12,0.0625", lambda x: 0x40100000),
    ]
    check_rows(rows, [Lane(0, 0, 0, 0, 0)], "together")


def test_functions_of_smaller_floats() -> None:
    """Results are truncated to the format, denormals are kept."""
    cases = [
        ("MUFU.TANH.F16 R12,R4", HALF, 2.0**-20, 2.0**-20),
        ("MUFU.EX2.BF16 R12,R4.H1", BFLOAT, -2.0, 0.25),
        ("MUFU.EX2.F16 R12,R4", HALF, -15.5, 362 * 2.0**-24),
        ("MUFU.EX2.F16 R12,R4", HALF, 0.25, 1217 / 1024),
    ]
    for text, fmt, value, want in cases:
        pattern = bits(value, fmt) << (16 if "H1" in text else 0)
        check_rows(
            [Row(text, lambda x, fmt=fmt, want=want: bits(want, fmt))],
            [Lane(pattern, 0, 0, 0, 0)],
            "together",
        )


SLOW_EXPONENTS = ((24, 100), (100, 1), (100, 252), (25, 150), (254, 127), (126, 251))
FAST_EXPONENTS = ((25, 100), (100, 2), (127, 251), (25, 149), (254, 128))
"""Limits of an H200's fast path, over all pairs of exponents."""
SLOW = [
    (ONE, 0),
    (ONE, 1),
    (ONE, INF),
    (ONE, NAN),
    (INF, ONE),
    (NAN, ONE),
    (1, ONE),
    (bits(1e-37), bits(3.0)),
    (bits(1e30), bits(1e-30)),
]
SLOW += [(bits(1e-20), bits(1e25)), (bits(2.0), bits(2.0**127))]
SLOW += [(exponent << 23, other << 23) for exponent, other in SLOW_EXPONENTS]
FAST = [(ONE, ONE), (bits(-10.0), bits(3.0)), (bits(1e20), bits(-1e-10)), (bits(1e-20), bits(1e10))]
FAST += [(exponent << 23, other << 23) for exponent, other in FAST_EXPONENTS]


def test_the_check_of_a_division_finds_operands_for_the_slow_path() -> None:
    lanes = [Lane(a, b, 0, 0, 0) for a, b in (*SLOW, *FAST)]
    (got,) = run_rows([Row("FCHK P2,R4,R5", lambda x: 0)], lanes, "together")
    assert [p for _, _, p, _ in got] == [True] * len(SLOW) + [False] * len(FAST)


def test_every_opcode_and_modifier_is_tested() -> None:
    texts = [
        *(f"MUFU.{name}" for name in (*EXACT, *UPPER)),
        "MUFU.EX2.F16",
        "MUFU.TANH.BF16",
        "FCHK",
    ]
    assert uncovered(SPECIAL, [Row(text, lambda x: 0) for text in texts]) == set()
