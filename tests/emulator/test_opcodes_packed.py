"""Packed integers against Python's integers."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.packed import PACKED
from tests.support.opcode_rows import (
    LANE_FORMS,
    MASK,
    UNIFORM,
    Lane,
    Row,
    Wrote,
    check_rows,
    draw_a_few,
    drawn_lanes,
    groups,
    lanes_of,
    pair,
    signed,
    signed64,
    uncovered,
    uniform_row,
)

EDGES = [
    0,
    1,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFF7FFF,
    0x80008000,
    0x00010001,
    0x80007FFF,
    0x12FE80FF,
    0x7F808101,
    0x7FFFFFFF,
    0x80000000,
    MASK,
]


def parts(word: int, bits: int, *, sign: bool) -> list[int]:
    """The bytes or halves of a word, lowest first."""
    values = [word >> place & (1 << bits) - 1 for place in range(0, 32, bits)]
    return [value - (1 << bits) if sign and value >> bits - 1 else value for value in values]


def joined(values: list[int]) -> int:
    bits = 32 // len(values)
    return sum((value & (1 << bits) - 1) << bits * place for place, value in enumerate(values))


def halves_and_origins(choose: Callable[[int, int], int], a: int, b: int, *, sign: bool) -> Wrote:
    """The smaller or larger halves, and for the lower and the upper half whether it is a's."""
    pairs = list(zip(parts(a, 16, sign=sign), parts(b, 16, sign=sign), strict=True))
    low, high = (choose(*both) == both[0] for both in pairs)
    return Wrote(joined([choose(*both) for both in pairs]), p=low, q=high)


def packed(kind: str, a: int, b: int, kept: int) -> int:
    """Both values saturated to a type, b lowest; for bytes, the kept part above them."""
    bits = int(kind[1:])
    low, high = (0, (1 << bits) - 1) if kind[0] == "U" else (-1 << bits - 1, (1 << bits - 1) - 1)
    first, second = (max(low, min(value, high)) & (1 << bits) - 1 for value in (a, b))
    return kept << 2 * bits | first << bits | second


def halves(operation: Callable[..., int], *words: int, sign: bool = True) -> int:
    """An operation on the lower halves and on the upper halves."""
    return joined(
        [
            operation(*values)
            for values in zip(*(parts(word, 16, sign=sign) for word in words), strict=True)
        ]
    )


def half(value: int) -> int:
    """A sum as a signed half."""
    return parts(value & 0xFFFF, 16, sign=True)[0]


def word(value: int) -> int:
    return signed(value & MASK)


def saturated(value: int) -> int:
    return max(min(value, 0x7FFFFFFF), -0x80000000)


def quarters(operation: Callable[..., int], *words: int, sign: bool = False) -> int:
    """An operation on the bytes."""
    rows = zip(*(parts(each, 8, sign=sign) for each in words), strict=True)
    return joined([operation(*values) for values in rows])


SUMS = [
    Row("VIADD R12,R4,R5", lambda x: x.a + x.b),
    Row("VIADD R12,R4,-R5", lambda x: x.a - x.b),
    Row("VIADD R12,R4,0xffffff03", lambda x: x.a - 253),
    Row("VIADD.S32.ISAT R12,R4,R5", lambda x: saturated(signed(x.a) + signed(x.b))),
    Row("VIADD.U8x4 R12,R4,-R5", lambda x: quarters(lambda a, b: a - b, x.a, x.b)),
    Row("VIADD.S8x4 R12,R4,-R5", lambda x: quarters(lambda a, b: a - b, x.a, x.b)),
    Row("VIADD.16x2 R12,R4,R5", lambda x: halves(lambda a, b: a + b, x.a, x.b)),
    Row("VIADD.16x2 R12,R4,-R5", lambda x: halves(lambda a, b: a - b, x.a, x.b)),
    Row("VIADD.16x2 R12,R4,0x10001", lambda x: halves(lambda a: a + 1, x.a)),
]
EXTREMES = [
    Row("IMNMX R12,R4,R5,PT", lambda x: min(signed(x.a), signed(x.b))),
    Row("IMNMX.U32 R12,R4,R5,!P0", lambda x: max(x.a, x.b) if x.p else min(x.a, x.b)),
    Row("IMNMX.S64 PT,PT,R12,R4,R6,PT,!PT", lambda x: pair(min(signed64(x.ab), signed64(x.cd)))),
    Row("IMNMX.S64 PT,PT,R12,R4,-0x5,!PT,!PT", lambda x: pair(max(signed64(x.ab), -5))),
    Row("IMNMX.U64 PT,PT,R12,R4,R6,P0,!PT", lambda x: pair((min if x.p else max)(x.ab, x.cd))),
    Row("VIMNMX.S32 R12,R4,-0x46a00000,!PT", lambda x: max(signed(x.a), -0x46A00000)),
    Row("VIMNMX.U32 R12,PT,PT,R4,R5,PT", lambda x: min(x.a, x.b)),
    Row("VIMNMX.U8x4 R12,R4,R5,!PT", lambda x: quarters(max, x.a, x.b)),
    Row("VIMNMX.S8x4 R12,R4,R5,PT", lambda x: quarters(min, x.a, x.b, sign=True)),
    Row("VIMNMX.S16x2 R12,P2,P3,R4,R5,!PT", lambda x: halves_and_origins(max, x.a, x.b, sign=True)),
    Row(
        "VIMNMX.S16x2.RELU R12,PT,PT,R4,R5,PT",
        lambda x: halves(lambda a, b: max(min(a, b), 0), x.a, x.b),
    ),
    Row("VIMNMX.U16x2 R12,P2,P3,R4,R5,PT", lambda x: halves_and_origins(min, x.a, x.b, sign=False)),
    *(
        Row(
            f"I2IP.{kind}.S32.SAT R12,R4,R5,{kept}",
            lambda x, kind=kind: packed(kind, signed(x.a), signed(x.b), x.c),
        )
        for kind, kept in (
            *(("U8", "R6"), ("S8", "R6"), ("U16", "RZ"), ("S16", "RZ")),
            *(("U4", "R6.24"), ("S4", "R6.24"), ("U2", "R6.28"), ("S2", "R6.28")),
        )
    ),
    Row("VIMNMX3.S32 R12,R4,R5,R6,PT", lambda x: min(map(signed, x[:3]))),
    Row("VIADDMNMX.S32 R12,R4,R5,R6,PT", lambda x: min(word(x.a + x.b), signed(x.c))),
    Row("VIMNMX R12,R4,R5,PT", lambda x: min(signed(x.a), signed(x.b))),
    Row("VIMNMX R12,R4,R5,!PT", lambda x: max(signed(x.a), signed(x.b))),
    Row("VIMNMX.S32 R12,R4,R5,P0", lambda x: (min if x.p else max)(signed(x.a), signed(x.b))),
    Row("VIMNMX.U32 R12,R4,UR10,P0", lambda x: (min if x.p else max)(x.a, UNIFORM)),
    Row("VIMNMX.RELU R12,R4,R5,PT", lambda x: max(min(signed(x.a), signed(x.b)), 0)),
    Row("VIMNMX.S16x2 R12,R4,R5,!PT", lambda x: halves(max, x.a, x.b)),
    Row("VIMNMX.U16x2 R12,R4,R5,PT", lambda x: halves(min, x.a, x.b, sign=False)),
    Row("VIMNMX3 R12,R4,R5,R6,PT", lambda x: min(map(signed, x[:3]))),
    Row("VIMNMX3.U32 R12,R4,R5,R6,!PT", lambda x: max(x[:3])),
    Row("VIMNMX3.RELU R12,R4,R5,R6,PT", lambda x: max(min(map(signed, x[:3])), 0)),
    Row("VIMNMX3.U16x2 R12,R4,R5,R6,!PT", lambda x: halves(max, *x[:3], sign=False)),
    Row("VIMNMX3.S16x2.RELU R12,R4,R5,R6,PT", lambda x: halves(lambda *v: max(min(v), 0), *x[:3])),
    Row("VIADDMNMX R12,R4,R5,R6,PT", lambda x: min(word(x.a + x.b), signed(x.c))),
    Row("VIADDMNMX R12,R4,-R5,R6,!PT", lambda x: max(word(x.a - x.b), signed(x.c))),
    Row("VIADDMNMX.U32 R12,R4,R5,R6,P0", lambda x: (min if x.p else max)(x.a + x.b & MASK, x.c)),
    Row("VIADDMNMX.RELU R12,R4,R5,R6,PT", lambda x: max(min(word(x.a + x.b), signed(x.c)), 0)),
    Row(
        "VIADDMNMX.S16x2 R12,R4,R5,R6,PT",
        lambda x: halves(lambda a, b, c: min(half(a + b), c), *x[:3]),
    ),
    Row(
        "VIADDMNMX.U16x2 R12,R4,R5,R6,!PT",
        lambda x: halves(lambda a, b, c: max(a + b & 0xFFFF, c), *x[:3], sign=False),
    ),
]


def dot(x: Lane, bits: int, first_byte: int, *, left: bool, right: bool) -> int:
    """c + the products of a's parts with b's bytes from `first_byte` on; `left` and `right`:
    whether they are signed."""
    return x.c + sum(
        a * b
        for a, b in zip(
            parts(x.a, bits, sign=left), parts(x.b, 8, sign=right)[first_byte:], strict=False
        )
    )


def distances(x: Lane, *, sign: bool = False) -> list[int]:
    pairs = zip(parts(x.a, 8, sign=sign), parts(x.b, 8, sign=sign), strict=True)
    return [abs(a - b) for a, b in pairs]


PRODUCTS = [
    Row("IDP.4A.S8.S8 R12,R4,R5,R6", lambda x: dot(x, 8, 0, left=True, right=True)),
    Row("IDP.4A.U8.U8 R12,R4,R5,R6", lambda x: dot(x, 8, 0, left=False, right=False)),
    Row("IDP.4A.U8.S8 R12,R4,R5,R6", lambda x: dot(x, 8, 0, left=False, right=True)),
    Row("IDP.2A.LO.S16.S8 R12,R4,R5,R6", lambda x: dot(x, 16, 0, left=True, right=True)),
    Row("IDP.2A.HI.U16.U8 R12,R4,R5,R6", lambda x: dot(x, 16, 2, left=False, right=False)),
    Row("IDP.2A.HI.S16.U8 R12,R4,R5,R6", lambda x: dot(x, 16, 2, left=True, right=False)),
    Row("VABSDIFF R12,R4,R5,R6", lambda x: abs(signed(x.a) - signed(x.b)) + x.c),
    Row("VABSDIFF.U32 R12,R4,R5,R6", lambda x: abs(x.a - x.b) + x.c),
    Row("VABSDIFF4.U8 R12,R4,R5,RZ", lambda x: joined(distances(x))),
    Row("VABSDIFF4.U8.ACC R12,R4,R5,R6", lambda x: sum(distances(x)) + x.c),
    Row("VABSDIFF4 R12,R4,R5,R6", lambda x: joined(distances(x, sign=True))),
    Row("VABSDIFF4.ACC R12,R4,R5,R6", lambda x: sum(distances(x, sign=True)) + x.c),
]
LANE_ROWS = [*SUMS, *EXTREMES, *PRODUCTS]
UNIFORM_ROWS = [
    uniform_row(row)
    for row in LANE_ROWS
    if f"U{row.base}" in PACKED
    and PACKED[f"U{row.base}"].modifiers.issuperset(row.opcode.split(".")[1:])
]
GROUPS = groups(LANE_ROWS)
LANES = lanes_of(EDGES)


@pytest.mark.parametrize("form", LANE_FORMS)
@pytest.mark.parametrize("base", GROUPS)
def test_lanes_on_edge_values(base: str, form: str) -> None:
    check_rows(GROUPS[base], LANES, form)


def test_uniform_values_on_edge_values() -> None:
    check_rows(UNIFORM_ROWS, LANES, "guarded")


@pytest.mark.parametrize("base", GROUPS)
@draw_a_few
@given(lanes=drawn_lanes(st.one_of(st.sampled_from(EDGES), st.integers(0, MASK))))
def test_lanes_on_drawn_values(base: str, lanes: list[Lane]) -> None:
    check_rows(GROUPS[base], lanes, "apart")


def test_every_opcode_and_modifier_has_a_row() -> None:
    assert uncovered(PACKED, [*LANE_ROWS, *UNIFORM_ROWS]) == set()
