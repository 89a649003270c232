"""float32 arithmetic and comparison against exact fractions, bit for bit."""

from __future__ import annotations

import operator
import struct
from collections.abc import Callable
from functools import reduce

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.floating import FLOATING
from tests.support.exact import HALF, SINGLE, Mode
from tests.support.opcode_rows import (
    LANE_FORMS,
    MASK,
    Lane,
    Row,
    Wrote,
    check_rows,
    draw_a_few,
    drawn_lanes,
    groups,
    lanes_of,
    run_rows,
    uncovered,
    uniform_row,
)

INF, NAN, SIGN = SINGLE.infinity, SINGLE.nan, SINGLE.sign
"""The canonical NaN of float32 arithmetic on NVIDIA GPUs."""
fma, is_nan, is_infinite, value_of = SINGLE.fma, SINGLE.is_nan, SINGLE.is_infinite, SINGLE.real


def bits_of(value: float) -> int:
    """The bits of a float32; the value must be exact in float32."""
    return int(struct.unpack("<I", struct.pack("<f", value))[0])


ONE, MINUS_ZERO = bits_of(1.0), SIGN
SMALLEST, LARGEST_DENORMAL, SMALLEST_NORMAL, LARGEST = 1, 0x007FFFFF, 0x00800000, 0x7F7FFFFF
SIGNALLING_NAN, NEGATIVE_NAN = 0x7F800001, 0xFFC00001
ZEROS_AND_ONES = [0, MINUS_ZERO, ONE, ONE | SIGN]
EXTREMES = [SMALLEST, SMALLEST | SIGN, LARGEST_DENORMAL, SMALLEST_NORMAL, LARGEST, LARGEST | SIGN]
SPECIALS = [INF, INF | SIGN, NAN, SIGNALLING_NAN, NEGATIVE_NAN]
ORDINARY = [bits_of(value) for value in (0.5, -1.5, 2.0**24, 2.0**31, -(2.0**31), 2.0**32)] + [
    0x3EAAAAAB,
    ONE + 1,
    ONE - 1,
]
EDGES = [*ZEROS_AND_ONES, *EXTREMES, *SPECIALS, *ORDINARY]


def negated(bits: int) -> int:
    return bits ^ SIGN


def absolute(bits: int) -> int:
    return bits & ~SIGN


def add(a: int, b: int) -> int:
    return fma(a, ONE, b)


def multiply(a: int, b: int) -> int:
    return fma(a, b, MINUS_ZERO)


ARITHMETIC = [
    Row("FADD R12,R4,R5", lambda x: add(x.a, x.b)),
    Row("FADD R12,R4,-R5", lambda x: add(x.a, negated(x.b))),
    Row("FADD R12,|R4|,-|R5|", lambda x: add(absolute(x.a), negated(absolute(x.b)))),
    Row("FADD R12,-RZ,R5", lambda x: add(MINUS_ZERO, x.b)),
    Row("FADD R12,R4,1.0005271035279193886e-42", lambda x: add(x.a, 714)),
    Row("FADD R12,R4,-0.0 ", lambda x: add(x.a, MINUS_ZERO)),
    Row("FADD R12,R4,+INF ", lambda x: add(x.a, INF)),
    Row("FHADD R12,R4,R5", lambda x: add(HALF.convert(x.a & 0xFFFF, SINGLE), x.b)),
    Row(
        "FHADD R12,-R4.H1,-R5", lambda x: add(HALF.convert(x.a >> 16 ^ 0x8000, SINGLE), x.b ^ SIGN)
    ),
    Row("FHADD.BF16.SAT R12,R4,R5", lambda x: clamped(add(x.a << 16 & MASK, x.b))),
    *(
        Row(
            f"FHADD.BF16{mode.value} R12,R4,R5",
            lambda x, mode=mode: SINGLE.add(x.a << 16 & MASK, x.b, mode),
        )
        for mode in Mode
    ),
    Row("FHFMA.BF16 R12,R4,R5,R6", lambda x: fma(x.a << 16 & MASK, x.b << 16 & MASK, x.c)),
    Row(
        "FHFMA.BF16.SAT R12,R4,|R5|.H1,R6",
        lambda x: clamped(fma(x.a << 16 & MASK, x.b & 0x7FFF0000, x.c)),
    ),
    *(
        Row(
            f"FHFMA{mode.value} R12,R4,R5,-R6",
            lambda x, mode=mode: fma(
                *(HALF.convert(each & 0xFFFF, SINGLE) for each in (x.a, x.b)), x.c ^ SIGN, mode
            ),
        )
        for mode in Mode
    ),
    Row("FADD R12,R4,UR10", lambda x: add(x.a, 0x80000005)),
    Row("FMUL R12,R4,R5", lambda x: multiply(x.a, x.b)),
    Row("FMUL R12,R4,-R5", lambda x: multiply(x.a, negated(x.b))),
    Row("FMUL R12,|R4|,R5", lambda x: multiply(absolute(x.a), x.b)),
    Row("FMUL R12,RZ,-R5", lambda x: multiply(0, negated(x.b))),
    Row("FMUL R12,R4,16777216", lambda x: multiply(x.a, bits_of(2.0**24))),
    Row("FFMA R12,R4,R5,R6", lambda x: fma(x.a, x.b, x.c)),
    Row("FFMA R12,-R4,R5,-R6", lambda x: fma(negated(x.a), x.b, negated(x.c))),
    Row("FFMA R12,R4,2,-RZ", lambda x: fma(x.a, bits_of(2.0), MINUS_ZERO)),
    Row("FFMA R12,R4,R5,0.3333333432674407959", lambda x: fma(x.a, x.b, 0x3EAAAAAB)),
    Row("FFMA R12,R4,c[0x0][0x224],R6", lambda x: fma(x.a, 0x89ABCDEF, x.c)),
]


def minimum(a: int, b: int) -> int:
    """The smaller value; a number takes precedence over a NaN, and -0 is smaller than +0."""
    if is_nan(a) or is_nan(b):
        return NAN if is_nan(a) and is_nan(b) else b if is_nan(a) else a
    return min(a, b, key=lambda bits: (value_of(bits), bits != MINUS_ZERO))


def maximum(a: int, b: int) -> int:
    if is_nan(a) or is_nan(b):
        return minimum(a, b)
    return max(a, b, key=lambda bits: (value_of(bits), bits != MINUS_ZERO))


def maximum_of_flushed(*words: int) -> int:
    return reduce(maximum, map(SINGLE.flushed, words))


def with_sign_of_both(choose: Callable[[int, int], int], a: int, b: int) -> int:
    chosen = choose(absolute(a), absolute(b))
    return chosen if is_nan(chosen) else chosen | (a ^ b) & SIGN


SELECTION = [
    Row("FSEL R12,R4,R5,P0", lambda x: x.a if x.p else x.b),
    Row("FSEL R12,-R4,|R5|,!P0", lambda x: absolute(x.b) if x.p else negated(x.a)),
    Row("FSEL R12,R4,+QNAN ,P0", lambda x: x.a if x.p else NAN),
    Row("FSEL R12,-RZ,1.0005271035279193886e-42,!P1", lambda x: 714 if x.q else MINUS_ZERO),
    Row("FMNMX R12,R4,R5,PT", lambda x: minimum(x.a, x.b)),
    Row("FMNMX R12,R4,R5,!PT", lambda x: maximum(x.a, x.b)),
    Row("FMNMX R12,R4,R5,P0", lambda x: (minimum if x.p else maximum)(x.a, x.b)),
    Row("FMNMX R12,RZ,R4,!PT", lambda x: maximum(0, x.a)),
    Row("FMNMX R12,|R4|,-R5,PT", lambda x: minimum(absolute(x.a), negated(x.b))),
    Row("FMNMX3 R12,R4,R5,R6,PT", lambda x: minimum(minimum(x.a, x.b), x.c)),
    Row("FMNMX3.FTZ R12,R4,-R5,R6,!PT", lambda x: maximum_of_flushed(x.a, negated(x.b), x.c)),
    Row(
        "FMNMX3.NAN R12,R4,R5,R6,PT",
        lambda x: SINGLE.minimum(SINGLE.minimum(x.a, x.b, nan_wins=True), x.c, nan_wins=True),
    ),
    Row("FMNMX.XORSIGN R12,|R4|,|R5|,PT", lambda x: with_sign_of_both(minimum, x.a, x.b)),
    Row("FMNMX.XORSIGN R12,|R4|,|R5|,!PT", lambda x: with_sign_of_both(maximum, x.a, x.b)),
    Row(
        "FMNMX.XORSIGN R12,|R4|,|c[0x0][0x220]|,!PT",
        lambda x: with_sign_of_both(maximum, x.a, 0x01234567),
    ),
]

ORDERS: dict[str, Callable[[float, float], bool]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}


def compare(name: str, a: int, b: int) -> bool:
    """A comparison of float32 bits: false for a NaN operand, with U true."""
    unordered = is_nan(a) or is_nan(b)
    if name in ("NUM", "NAN"):
        return unordered == (name == "NAN")
    return name.endswith("U") if unordered else ORDERS[name[:2]](value_of(a), value_of(b))


def comparison(name: str, combined: str, text: str) -> Row:
    combine = {"AND": operator.and_, "OR": operator.or_, "XOR": operator.xor}[combined]

    def expected(x: Lane) -> Wrote:
        result, other = compare(name, x.a, x.b), {"PT": True, "P0": x.p, "!P0": not x.p}[text]
        return Wrote(p=combine(result, other), q=combine(not result, other))

    return Row(f"FSETP.{name}.{combined} P2,P3,R4,R5,{text}", expected)


COMPARISON = [
    *(comparison(name, "AND", "PT") for order in ORDERS for name in (order, f"{order}U")),
    comparison("NUM", "AND", "PT"),
    comparison("NAN", "AND", "PT"),
    comparison("LT", "AND", "P0"),
    comparison("GEU", "OR", "!P0"),
    comparison("NE", "XOR", "P0"),
    Row(
        "FSETP.GEU.AND P2,PT,|R4|,1.175494350822287508e-38,PT",
        lambda x: Wrote(p=compare("GEU", absolute(x.a), SMALLEST_NORMAL)),
    ),
    Row(
        "FSETP.GT.AND P2,PT,-R4,-5,PT",
        lambda x: Wrote(p=compare("GT", negated(x.a), bits_of(-5.0))),
    ),
]


def ftz(bits: int) -> int:
    return SINGLE.flushed(bits)


def clamped(bits: int) -> int:
    """`.SAT`: between 0 and 1; NaNs and -0 become 0."""
    return 0 if is_nan(bits) or bits & SIGN else min(bits, ONE)


def in_mode(mode: Mode) -> list[Row]:
    how = mode.value
    return [
        Row(f"FADD{how} R12,R4,R5", lambda x: SINGLE.add(x.a, x.b, mode)),
        Row(f"FADD{how} R12,R4,-R4", lambda x: SINGLE.add(x.a, negated(x.a), mode)),
        Row(f"FMUL{how} R12,R4,R5", lambda x: SINGLE.multiply(x.a, x.b, mode)),
        Row(f"FFMA{how} R12,R4,R5,R6", lambda x: SINGLE.fma(x.a, x.b, x.c, mode)),
        Row(f"FADD.FTZ{how} R12,R4,R5", lambda x: SINGLE.fma_flushed(x.a, ONE, x.b, mode)),
        Row(
            f"FMUL.FTZ{how}.SAT R12,R4,R5",
            lambda x: clamped(SINGLE.fma_flushed(x.a, x.b, (x.a ^ x.b) & SIGN, mode)),
        ),
        Row(f"FFMA.FTZ{how} R12,R4,R5,R6", lambda x: SINGLE.fma_flushed(x.a, x.b, x.c, mode)),
        Row(f"FFMA{how}.SAT R12,R4,R5,R6", lambda x: clamped(SINGLE.fma(x.a, x.b, x.c, mode))),
    ]


def set_row(
    name: str, combined: str, act: Callable[[bool, bool], bool], letters: str, true: int
) -> Row:
    flush = ftz if ".FTZ" in letters else lambda bits: bits
    text = (
        f"FSET{letters.replace('.FTZ', '')}.{name}{'.FTZ' if '.FTZ' in letters else ''}.{combined}"
        " R12,R4,R5,P0"
    )
    return Row(text, lambda x: true if act(compare(name, flush(x.a), flush(x.b)), x.p) else 0)


MODES = [
    *(row for mode in Mode for row in in_mode(mode)),
    Row("FADD.SAT R12,R4,-R5", lambda x: clamped(add(x.a, negated(x.b)))),
    Row("FMNMX.FTZ R12,R4,R5,PT", lambda x: minimum(ftz(x.a), ftz(x.b))),
    Row("FMNMX.NAN R12,R4,R5,PT", lambda x: SINGLE.minimum(x.a, x.b, nan_wins=True)),
    Row("FMNMX.NAN R12,R4,R5,!PT", lambda x: SINGLE.minimum(x.a, x.b, largest=True, nan_wins=True)),
    Row("FSETP.GT.FTZ.AND P2,PT,R4,R5,PT", lambda x: Wrote(p=compare("GT", ftz(x.a), ftz(x.b)))),
    *(
        set_row(name, "AND", operator.and_, ".BF", ONE)
        for order in ORDERS
        for name in (order, f"{order}U")
    ),
    set_row("NUM", "OR", operator.or_, "", MASK),
    set_row("NAN", "XOR", operator.xor, ".BF", ONE),
    set_row("EQ", "AND", operator.and_, ".BF.FTZ", ONE),
]


def paired(low: int, high: int) -> Wrote:
    return Wrote(low, high)


def pairs_in_mode(mode: Mode) -> list[Row]:
    """Each rounding, with the modifiers of all arithmetic."""
    how, operands = mode.value, "R12,R4.F32x2.HI_LO,R6.F32x2.HI_LO"
    return [
        Row(
            f"FADD2{how}.SAT {operands}",
            lambda x: paired(
                *(clamped(SINGLE.add(*each, mode)) for each in ((x.a, x.c), (x.b, x.d)))
            ),
        ),
        Row(
            f"FMUL2{how} {operands}",
            lambda x: paired(*(SINGLE.multiply(*each, mode) for each in ((x.a, x.c), (x.b, x.d)))),
        ),
        Row(
            f"FFMA2{how} {operands},RZ.F32x2.HI_LO",
            lambda x: paired(*(SINGLE.fma(*each, 0, mode) for each in ((x.a, x.c), (x.b, x.d)))),
        ),
    ]


PAIRS = [
    Row(
        "FADD2 R12,R4.F32x2.HI_LO,-R6.F32x2.HI_LO",
        lambda x: paired(add(x.a, negated(x.c)), add(x.b, negated(x.d))),
    ),
    Row(
        "FADD2 R12,|R4|.F32x2.HI_LO,R6.F32x2.HI_LO.NP",
        lambda x: paired(add(absolute(x.a), x.c), add(absolute(x.b), negated(x.d))),
    ),
    Row(
        "FMUL2 R12,R4.F32x2.LO_HI,R6.F32x2.HI_LO",
        lambda x: paired(multiply(x.b, x.c), multiply(x.a, x.d)),
    ),
    Row(
        "FMUL2 R12,R4.F32x2.HI_LO,3",
        lambda x: paired(multiply(x.a, bits_of(3.0)), multiply(x.b, bits_of(3.0))),
    ),
    Row(
        "FFMA2 R12,R4.F32x2.HI_LO,R7.F32,-R5.F32",
        lambda x: paired(fma(x.a, x.d, negated(x.b)), fma(x.b, x.d, negated(x.b))),
    ),
    Row(
        "FFMA2 R12,R6.F32x2.HI_LO,R4.F32x2.HI_LO,-R4.F32x2.HI_LO.NP",
        lambda x: paired(fma(x.c, x.a, negated(x.a)), fma(x.d, x.b, x.b)),
    ),
    *(row for mode in Mode for row in pairs_in_mode(mode)),
]

ROWS = [*ARITHMETIC, *SELECTION, *COMPARISON, *MODES, *PAIRS]
UNIFORM_ROWS = [uniform_row(row) for row in ROWS if f"U{row.base}" in FLOATING]
UNIFORM_GROUPS = groups(UNIFORM_ROWS)
GROUPS = groups(ROWS)
LANES = lanes_of(EDGES)

near_one = st.integers(110 << 23, 140 << 23)
words = st.one_of(st.sampled_from(EDGES), near_one, near_one.map(negated), st.integers(0, MASK))


@pytest.mark.parametrize("form", LANE_FORMS)
@pytest.mark.parametrize("base", GROUPS)
def test_lanes_on_edge_values(base: str, form: str) -> None:
    check_rows(GROUPS[base], LANES, form)


@pytest.mark.parametrize("base", UNIFORM_GROUPS)
def test_uniform_values_on_edge_values(base: str) -> None:
    check_rows(UNIFORM_GROUPS[base], LANES, "guarded")


@pytest.mark.parametrize("base", GROUPS)
@draw_a_few
@given(lanes=drawn_lanes(words))
def test_lanes_on_drawn_values(base: str, lanes: list[Lane]) -> None:
    check_rows(GROUPS[base], lanes, "apart")


def rounded_twice(a: int, b: int, c: int) -> int:
    """a * b + c in float64 arithmetic, rounded to float64 first and to float32 second."""
    with np.errstate(over="ignore"):
        return bits_of(float(np.float32(value_of(a) * value_of(b) + value_of(c))))


TWELVE, ALMOST = bits_of(1 + 2.0**-12), bits_of(1 - 2.0**-12)
ROUNDS_ONCE = [
    (TWELVE, TWELVE, bits_of(2.0**-70)),
    (TWELVE, TWELVE, bits_of(-(2.0**-70))),
    (TWELVE | SIGN, TWELVE, bits_of(2.0**-70)),
    (TWELVE, TWELVE | SIGN, bits_of(-(2.0**-70))),
    (TWELVE, TWELVE, SMALLEST),
    (bits_of(2.0**-75), bits_of(2.0**-75), SMALLEST),
    (bits_of(2.0**-100), bits_of(2.0**-50 + 2.0**-72), LARGEST_DENORMAL),
    (LARGEST, bits_of(2.0**-24), LARGEST),
    (LARGEST, ALMOST, SMALLEST),
]


def test_a_fused_multiply_and_add_rounds_once() -> None:
    """Products half way between two float32, with an addend that float64 loses: random triples miss
    them."""
    lanes = [Lane(a, b, c, 0, 0) for a, b, c in ROUNDS_ONCE]
    (got,) = run_rows([Row("FFMA R12,R4,R5,R6", lambda x: fma(x.a, x.b, x.c))], lanes, "together")
    assert [low for low, *_ in got] == [fma(*triple) for triple in ROUNDS_ONCE]
    assert sum(rounded_twice(*triple) != fma(*triple) for triple in ROUNDS_ONCE) >= 3


SCALED = [
    Row(f"FMUL.{name} R12,R4,R5", lambda x, by=by: multiply(multiply(x.a, x.b), bits_of(by)))
    for name, by in (("D2", 0.5), ("D4", 0.25), ("D8", 0.125), ("M4", 4.0), ("M8", 8.0))
]
HALVED = SCALED[0]
HALVED_FLUSHED = Row("FMUL.D2.FTZ.SAT R12,R4,R5", lambda x: clamped(HALVED.outputs(x)[0]))
MIDDLE = [0, MINUS_ZERO, INF, INF | SIGN, NAN, SIGNALLING_NAN, *ORDINARY]


def test_a_scaled_product() -> None:
    check_rows([*SCALED, HALVED_FLUSHED], lanes_of(MIDDLE), "apart")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (ONE + 1, SMALLEST_NORMAL + 4),  # the value that is rounded twice is even
        (LARGEST, bits_of(2.0)),  # the half is finite, the product is not
        (SMALLEST, bits_of(2.0**31)),  # half of an operand is 0
    ],
)
def test_a_scaled_product_that_depends_on_the_order_ends_the_launch(a: int, b: int) -> None:
    with pytest.raises(AssertionError, match=r"FMUL\.D2"):
        run_rows([HALVED], [Lane(ONE, ONE, 0, 0, 0), Lane(a, b, 0, 0, 0)], "together")


def test_the_reference_agrees_with_numpy() -> None:
    """NumPy's float32 also rounds a single operation once; only NaNs have other bits there."""
    with np.errstate(all="ignore"):
        for a in EDGES:
            for b in EDGES:
                left, right = (np.array(bits, dtype=np.uint32).view(np.float32) for bits in (a, b))
                for mine, theirs in ((add(a, b), left + right), (multiply(a, b), left * right)):
                    assert mine == (NAN if np.isnan(theirs) else int(theirs.view(np.uint32)))


def test_every_opcode_and_modifier_has_a_row() -> None:
    besides = {
        f"F{name}2.{modifier}" for name in ("ADD", "MUL", "FMA") for modifier in ("FTZ", "SAT")
    }
    rows = [*ROWS, *UNIFORM_ROWS, *SCALED]
    assert uncovered(FLOATING, rows, besides) == set()
    assert any(is_infinite(lane.a) for lane in LANES)
