"""Pairs of half and bfloat16 against exact fractions, bit for bit."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.half import HALVES
from tests.support.exact import BFLOAT, HALF, SINGLE, Format
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
    uncovered,
)

ORDERS: dict[str, Callable[[float, float], bool]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}


def low(word: int) -> int:
    return word & 0xFFFF


def high(word: int) -> int:
    return word >> 16


def pairwise(operation: Callable[..., int], *words: int) -> int:
    """An operation on the lower halves and on the upper halves."""
    return operation(*map(low, words)) | operation(*map(high, words)) << 16


def both(word: int, part: Callable[[int], int]) -> int:
    """A half of a word in both places."""
    return part(word) * 0x10001


def clamped(fmt: Format, bits: int) -> int:
    """`.SAT`: between 0 and 1; NaNs and all negative values become 0."""
    return 0 if fmt.is_nan(bits) or bits & fmt.sign else min(bits, fmt.one)


def positive(fmt: Format, bits: int) -> int:
    return 0 if bits & fmt.sign else bits


def compare(fmt: Format, name: str, a: int, b: int) -> bool:
    unordered = fmt.is_nan(a) or fmt.is_nan(b)
    if name in ("NUM", "NAN"):
        return unordered == (name == "NAN")
    return name.endswith("U") if unordered else ORDERS[name[:2]](fmt.real(a), fmt.real(b))


def rows_of(fmt: Format, kind: str) -> list[Row]:
    """Rows of a format; `kind` is its modifier."""
    return [*_arithmetic(fmt, kind), *_selection(fmt, kind), *_comparison(fmt, kind)]


def _arithmetic(fmt: Format, kind: str) -> list[Row]:
    def fma(a: int, b: int, c: int) -> int:
        return pairwise(fmt.fma, a, b, c)

    def add(a: int, b: int) -> int:
        return pairwise(fmt.add, a, b)

    def multiply(a: int, b: int) -> int:
        return pairwise(fmt.multiply, a, b)

    one = fmt.one * 0x10001
    return [
        Row(f"HADD2{kind} R12,R4,R5", lambda x: add(x.a, x.b)),
        Row(f"HADD2{kind} R12,R4,-R5", lambda x: add(x.a, x.b ^ 0x80008000)),
        Row(f"HADD2{kind} R12,|R4|,-|R5|", lambda x: add(x.a & 0x7FFF7FFF, x.b | 0x80008000)),
        Row(f"HADD2{kind} R12,R4.H0_H0,R5.H1_H1", lambda x: add(both(x.a, low), both(x.b, high))),
        Row(f"HADD2{kind} R12,-RZ,c[0x0][0x220]", lambda x: add(0x80008000, 0x01234567)),
        Row(f"HADD2{kind} R12,R4,c[0x0][0x220].H1_H1", lambda x: add(x.a, 0x01230123)),
        Row(
            f"HADD2{kind}.SAT R12,R4,R5",
            lambda x: pairwise(lambda a, b: clamped(fmt, fmt.add(a, b)), x.a, x.b),
        ),
        Row(f"HMUL2{kind} R12,R4,R5", lambda x: multiply(x.a, x.b)),
        Row(
            f"HMUL2{kind} R12,R4,-|R5|.H0_H0", lambda x: multiply(x.a, both(x.b, low) | 0x80008000)
        ),
        Row(
            f"HMUL2{kind} R12,R4,1.5,-0.25",
            lambda x: multiply(x.a, fmt.one + (1 << fmt.fraction_bits - 1) << 16 | quarter(fmt)),
        ),
        Row(
            f"HMUL2{kind}.SAT R12,R4,R5",
            lambda x: pairwise(lambda a, b: clamped(fmt, fmt.multiply(a, b)), x.a, x.b),
        ),
        Row(
            f"HMUL2{kind}.RELU R12,R4,R5",
            lambda x: pairwise(lambda a, b: positive(fmt, fmt.multiply(a, b)), x.a, x.b),
        ),
        Row(f"HFMA2{kind} R12,R4,R5,R6", lambda x: fma(x.a, x.b, x.c)),
        Row(
            f"HFMA2{kind} R12,R4.H1_H1,UR10,-R6",
            lambda x: fma(both(x.a, high), 0x80000005, x.c ^ 0x80008000),
        ),
        Row(f"HFMA2.MMA{kind} R12,R4,1,1,-R6", lambda x: fma(x.a, one, x.c ^ 0x80008000)),
        Row(f"HFMA2.MMA{kind} R12,R4,R5,-RZ", lambda x: fma(x.a, x.b, 0x80008000)),
        Row(
            f"HFMA2.MMA{kind}.SAT R12,R4,R5,R6",
            lambda x: pairwise(lambda *v: clamped(fmt, fmt.fma(*v)), x.a, x.b, x.c),
        ),
        Row(
            f"HFMA2{kind}.RELU R12,R4,R5,R6",
            lambda x: pairwise(lambda *v: positive(fmt, fmt.fma(*v)), x.a, x.b, x.c),
        ),
        Row(f"HFMA2{kind}.OOB R12,R4,R5,R6", lambda x: fma_of_a_tensor(fmt, x.a, x.b, x.c)),
        Row(
            f"HADD2{kind}.RELU R12,R4,R5",
            lambda x: pairwise(lambda a, b: positive(fmt, fmt.add(a, b)), x.a, x.b),
        ),
        Row(f"HFMA2.MMA{kind} R12,-RZ,RZ,1,-0.0 ", lambda x: fmt.one << 16 | fmt.sign),
        Row(
            f"HFMA2{kind} R12,-RZ,RZ,+INF ,-INF ",
            lambda x: fmt.infinity << 16 | fmt.sign | fmt.infinity,
        ),
    ]


def fma_of_a_tensor(fmt: Format, a: int, b: int, c: int) -> int:
    """Pairs of a * b + c, which are 0 if a or b is the mark of elements outside of a tensor."""

    def each(a: int, b: int, c: int) -> int:
        return 0 if 0x7FF7 in (a & 0x7FFF, b & 0x7FFF) else fmt.fma(a, b, c)

    return pairwise(each, a, b, c)


def quarter(fmt: Format) -> int:
    """-0.25"""
    return fmt.sign | fmt.one - 2 * fmt.smallest_normal


def least_with_sign_of_both(fmt: Format, a: int, b: int) -> int:
    chosen = fmt.minimum(a & ~fmt.sign, b & ~fmt.sign)
    return chosen if fmt.is_nan(chosen) else chosen | (a ^ b) & fmt.sign


def _selection(fmt: Format, kind: str) -> list[Row]:
    def extreme(x: Lane, *, largest: bool, nan_wins: bool = False) -> int:
        return pairwise(
            lambda a, b: fmt.minimum(a, b, largest=largest, nan_wins=nan_wins), x.a, x.b
        )

    return [
        Row(f"HMNMX2{kind} R12,R4,R5,PT", lambda x: extreme(x, largest=False)),
        Row(f"HMNMX2{kind} R12,R4,R5,!PT", lambda x: extreme(x, largest=True)),
        Row(
            f"HMNMX2{kind}.XORSIGN R12,|R4|,|R5|,PT",
            lambda x: pairwise(lambda a, b: least_with_sign_of_both(fmt, a, b), x.a, x.b),
        ),
        Row(f"HMNMX2{kind}.NAN R12,R4,R5,P0", lambda x: extreme(x, largest=not x.p, nan_wins=True)),
    ]


def _comparison(fmt: Format, kind: str) -> list[Row]:
    def both_halves(name: str, x: Lane) -> tuple[bool, bool]:
        return compare(fmt, name, low(x.a), low(x.b)), compare(fmt, name, high(x.a), high(x.b))

    def predicates(name: str) -> Row:
        return Row(
            f"HSETP2{kind}.{name}.AND P2,P3,R4,R5,P0",
            lambda x: Wrote(p=both_halves(name, x)[0] and x.p, q=both_halves(name, x)[1] and x.p),
        )

    def mask(
        name: str, combine: str, act: Callable[[bool, bool], bool], true: int, letters: str
    ) -> Row:
        def expected(x: Lane) -> int:
            first, second = (act(result, x.p) for result in both_halves(name, x))
            return true * first | true * second << 16

        return Row(f"HSET2{kind}{letters}.{name}.{combine} R12,R4,R5,P0", expected)

    names = [*ORDERS, *(f"{name}U" for name in ORDERS), "NUM", "NAN"]
    return [
        *(predicates(name) for name in names),
        Row(
            f"HSETP2{kind}.LT.OR P2,P3,R4,R5,P0",
            lambda x: Wrote(*(None, None), *(r or x.p for r in both_halves("LT", x))),
        ),
        Row(
            f"HSETP2{kind}.LT.XOR P2,P3,R4,R5,P0",
            lambda x: Wrote(*(None, None), *(r != x.p for r in both_halves("LT", x))),
        ),
        *(mask(name, "AND", operator.and_, fmt.one, ".BF") for name in names),
        mask("GEU", "OR", operator.or_, 0xFFFF, ""),
        mask("NE", "XOR", operator.xor, 0xFFFF, ""),
    ]


def to_single(half: int) -> int:
    return HALF.convert(half, SINGLE)


WIDENING = [
    Row("HADD2.F32 R12,-RZ,R4.H0_H0", lambda x: to_single(low(x.a))),
    Row("HADD2.F32 R12,-RZ,-|R4|.H1_H1", lambda x: to_single(high(x.a) | 0x8000)),
]


def flushed(word: int) -> int:
    return pairwise(HALF.flushed, word)


def fused_flushed(*words: int) -> int:
    return pairwise(HALF.fma_flushed, *words)


def compare_flushed(name: str, x: Lane) -> list[bool]:
    a, b = flushed(x.a), flushed(x.b)
    return [compare(HALF, name, part(a), part(b)) for part in (low, high)]


ONES = HALF.one * 0x10001
FLUSHING = [
    Row("HADD2.FTZ R12,R4,R5", lambda x: fused_flushed(x.a, ONES, x.b)),
    Row(
        "HADD2.FTZ.SAT R12,R4,R5",
        lambda x: pairwise(lambda bits: clamped(HALF, bits), fused_flushed(x.a, ONES, x.b)),
    ),
    Row("HMUL2.FTZ R12,R4,R5", lambda x: fused_flushed(x.a, x.b, (x.a ^ x.b) & 0x80008000)),
    Row("HFMA2.FTZ R12,R4,R5,R6", lambda x: fused_flushed(x.a, x.b, x.c)),
    Row(
        "HFMA2.FTZ.RELU R12,R4,R5,R6",
        lambda x: pairwise(lambda bits: positive(HALF, bits), fused_flushed(x.a, x.b, x.c)),
    ),
    Row("HFMA2.MMA.FTZ R12,R4,R5,R6.H0_H0", lambda x: fused_flushed(x.a, x.b, both(x.c, low))),
    Row("HMNMX2.FTZ R12,R4,R5,PT", lambda x: pairwise(HALF.minimum, flushed(x.a), flushed(x.b))),
    Row("HSETP2.LT.FTZ.AND P2,P3,R4,R5,PT", lambda x: Wrote(None, None, *compare_flushed("LT", x))),
    Row(
        "HSETP2.GEU.FTZ.AND P2,P3,R4,R5,PT", lambda x: Wrote(None, None, *compare_flushed("GEU", x))
    ),
    Row(
        "HSET2.BF.EQ.FTZ.AND R12,R4,R5,PT",
        lambda x: sum(HALF.one << 16 * k for k, r in enumerate(compare_flushed("EQ", x)) if r),
    ),
]
ROWS = {"half": [*rows_of(HALF, ""), *WIDENING, *FLUSHING], "bfloat": rows_of(BFLOAT, ".BF16_V2")}
GROUPS = {
    f"{kind} {base}": rows for kind, found in ROWS.items() for base, rows in groups(found).items()
}


def edges(fmt: Format) -> list[int]:
    """Words of two edge values."""
    unit = fmt.smallest_normal
    positive_values = [
        0,
        1,
        unit - 1,
        unit,
        unit + 1,
        fmt.one,
        fmt.one + 1,
        fmt.one - 1,
        fmt.infinity - 1,
        fmt.infinity,
        fmt.infinity + 1,
    ]
    values = [
        *positive_values,
        *(value | fmt.sign for value in positive_values),
        fmt.nan,
        0x7FF7,
        0xFFF7,
        fmt.one + 3 * unit + 5,
    ]
    return [
        value | values[(index * 7 + 3) % len(values)] << 16 for index, value in enumerate(values)
    ]


LANES = {"half": lanes_of(edges(HALF)), "bfloat": lanes_of(edges(BFLOAT))}


@pytest.mark.parametrize("form", LANE_FORMS)
@pytest.mark.parametrize("group", GROUPS)
def test_lanes_on_edge_values(group: str, form: str) -> None:
    check_rows(GROUPS[group], LANES[group.split()[0]], form)


@pytest.mark.parametrize("group", GROUPS)
@draw_a_few
@given(lanes=drawn_lanes(st.integers(0, MASK)))
def test_lanes_on_drawn_values(group: str, lanes: list[Lane]) -> None:
    check_rows(GROUPS[group], lanes, "apart")


TIES = [
    (0x3F81, 0x3F80 + 64, 1),
    (0x3F81, 0x3FC0, 0x8001),
    (0x4001, 0x3F81, 0x0001),
    (0x3F83, 0x3FC0, 0x0080),
    (0x3F81, 0x3FC0, 0x8080),
]


def test_a_tie_is_broken_by_the_smallest_addend() -> None:
    """Products of bfloat16 half way between two numbers, with an addend that float64 would lose."""
    lanes = [Lane(a, b, c, 0, 0) for a, b, c in TIES]
    check_rows(
        [Row("HFMA2.BF16_V2 R12,R4,R5,R6", lambda x: pairwise(BFLOAT.fma, x.a, x.b, x.c))],
        lanes,
        "together",
    )
    assert any(BFLOAT.fma(a, b, c) != BFLOAT.multiply(a, b) for a, b, c in TIES)


NEARLY_NORMAL = [
    (0x0400, 0x8400, 0x0400),
    (0x8400, 0x0400, 0x0400),
    (0x0400, 0x9000, 0x0400),
    (0x3BFF, 0x0400, 0),
    (0x3BFF, 0x0401, 0),
]


def test_results_that_round_to_a_normal_half_are_not_flushed() -> None:
    """2^-14 minus at most a quarter of a unit in the last place of smaller numbers, as if exponents
    were unbounded."""
    lanes = [Lane(a, b, c, 0, 0) for a, b, c in NEARLY_NORMAL]
    check_rows(
        [Row("HFMA2.FTZ R12,R4,R5,R6", lambda x: fused_flushed(x.a, x.b, x.c))], lanes, "together"
    )
    assert [HALF.fma_flushed(*each) for each in NEARLY_NORMAL] == [0x0400, 0x0400, 0, 0, 0x0400]


def test_every_opcode_and_modifier_has_a_row() -> None:
    assert uncovered(HALVES, [row for rows in ROWS.values() for row in rows]) == set()
