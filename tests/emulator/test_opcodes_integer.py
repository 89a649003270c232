"""Integer arithmetic, comparison and selection against Python's integers, on lanes and on the
uniform datapath."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.integer import INTEGER
from tests.support.opcode_rows import (
    CONSTANT,
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

INT_MIN, INT_MAX = 0x80000000, 0x7FFFFFFF
EDGES = [
    0,
    1,
    2,
    5,
    31,
    32,
    33,
    0xFFFF,
    0x12345678,
    0x55555556,
    0xDEADBEEF,
    INT_MAX,
    INT_MIN,
    INT_MIN + 1,
    MASK,
]
LOW_CONSTANT = CONSTANT & MASK


def inverted(word: int) -> int:
    return ~word & MASK


def carried(total: int) -> Wrote:
    """A sum of words with its carry in P2."""
    return Wrote(total, p=total >> 32 >= 1)


def carried_twice(total: int) -> Wrote:
    return Wrote(total, p=total >> 32 >= 1, q=total >> 32 >= 2)


ADDITION = [
    Row("IADD3 R12,R4,R5,R6", lambda x: x.a + x.b + x.c),
    Row("IADD3 R12,-R4,R5,-R6", lambda x: x.b - x.a - x.c),
    Row("IADD3 R12,R4,-0x1,RZ", lambda x: x.a - 1),
    Row("IADD3 R12,R4,c[0x0][0x220],R5", lambda x: x.a + LOW_CONSTANT + x.b),
    Row("IADD3 R12,R4,-c[0x0][0x220],R5", lambda x: x.a - LOW_CONSTANT + x.b),
    Row("IADD3 R12,R4,UR10,RZ", lambda x: x.a + UNIFORM),
    Row("IADD3 RZ,R4,R5,R6", lambda x: Wrote()),
    Row("IADD3 R12,P2,R4,R5,RZ", lambda x: carried(x.a + x.b)),
    Row("IADD3 R12,P2,P3,R4,R5,R6", lambda x: carried_twice(x.a + x.b + x.c)),
    Row("IADD3 RZ,P2,R4,R5,RZ", lambda x: Wrote(p=x.a + x.b > MASK)),
    Row("IADD3 R12,P2,R4,-R5,RZ", lambda x: Wrote(x.a - x.b, p=x.a >= x.b)),
    Row("IADD3 R12,P2,R4,-UR10,RZ", lambda x: Wrote(x.a - UNIFORM, p=x.a >= UNIFORM)),
    Row(
        "IADD3 R12,P2,R4,-c[0x0][0x220],RZ",
        lambda x: Wrote(x.a - LOW_CONSTANT, p=x.a >= LOW_CONSTANT),
    ),
    Row(
        "IADD3 R12,P2,R4,-c[0x0][0x20],RZ", lambda x: Wrote(x.a, p=True)
    ),  # minus a constant that is 0: no borrow
    Row("IADD3 R12,P2,R4,-0x5,RZ", lambda x: Wrote(x.a - 5, p=x.a >= 5)),
    Row("IADD3 R12,PT,PT,R4,R5,-R6", lambda x: x.a + x.b - x.c),
    Row("IADD3 R12,P2,PT,R4,R5,RZ", lambda x: carried(x.a + x.b)),
    Row("IADD3 RZ,PT,P3,R4,R5,R6", lambda x: Wrote(q=x.a + x.b + x.c >> 32 >= 2)),
    Row("IADD3.X R12,PT,PT,~R4,R5,R6,P0,P1", lambda x: inverted(x.a) + x.b + x.c + x.p + x.q),
    Row("IADD R12,R4,-R5", lambda x: x.a - x.b),
    Row("IADD R12,R4,-0x8", lambda x: x.a - 8),
    Row("IADD R12,P2,R4,R5", lambda x: carried(x.a + x.b)),
    Row("IADD R12,P2,-R4,R5", lambda x: Wrote(x.b - x.a, p=x.b >= x.a)),
    Row("IADD.X R12,R4,~R5,P0", lambda x: x.a + inverted(x.b) + x.p),
    Row("IADD.X RZ,P2,R4,R5,P0", lambda x: Wrote(p=x.a + x.b + x.p > MASK)),
    Row("IADD.64 R12,R4,R6", lambda x: pair(x.ab + x.cd)),
    Row("IADD.64 R12,-R4,0x7ffffff0", lambda x: pair(0x7FFFFFF0 - x.ab)),
    Row("IADD.64 R12,R4,-0x80000000", lambda x: pair(x.ab - 0x80000000)),
    Row("IADD.64 R12,R4,UR10", lambda x: pair(x.ab + UNIFORM)),
    Row("IADD3.X R12,R4,R5,RZ,P0,!PT", lambda x: x.a + x.b + x.p),
    Row("IADD3.X R12,R4,R5,R6,P0,P1", lambda x: x.a + x.b + x.c + x.p + x.q),
    Row("IADD3.X R12,R4,~R5,RZ,P0,!PT", lambda x: x.a + inverted(x.b) + x.p),
    Row("IADD3.X R12,P2,R4,R5,RZ,!P0,!PT", lambda x: carried(x.a + x.b + (not x.p))),
    Row("IADD3.X R12,P2,R4,~R5,RZ,P0,!PT", lambda x: carried(x.a + inverted(x.b) + x.p)),
]

MULTIPLICATION = [
    Row("IMAD R12,R4,R5,R6", lambda x: x.a * x.b + x.c),
    Row("IMAD R12,R4,-R5,R6", lambda x: x.c - x.a * x.b),
    Row("IMAD R12,R4,UR10,R6", lambda x: x.a * UNIFORM + x.c),
    Row("IMAD R12,R4,c[0x0][0x220],R6", lambda x: x.a * LOW_CONSTANT + x.c),
    Row("IMAD R12,R4,R5,-c[0x0][0x220]", lambda x: x.a * x.b - LOW_CONSTANT),
    Row("IMAD R12,R4,-0x800000,R6", lambda x: x.c - x.a * 0x800000),
    Row("IMAD.U32 R12,R4,R5,R6", lambda x: x.a * x.b + x.c),
    Row("IMAD.MOV R12,RZ,RZ,-R4", lambda x: -x.a),
    Row("IMAD.MOV.U32 R12,RZ,RZ,R4", lambda x: x.a),
    Row("IMAD.MOV.U32 R12,RZ,RZ,-0x7fff8000", lambda x: 0x80008000),
    Row("IMAD.MOV.U32 R12,RZ,RZ,c[0x0][0x224]", lambda x: CONSTANT >> 32),
    Row("IMAD.IADD R12,R4,0x1,-R5", lambda x: x.a - x.b),
    Row("IMAD.SHL.U32 R12,R4,0x100,RZ", lambda x: x.a << 8),
    Row("IMAD.X R12,R4,0x1,R5,P0", lambda x: x.a + x.b + x.p),
    Row("IMAD.X R12,RZ,RZ,~R5,!P0", lambda x: inverted(x.b) + (not x.p)),
    Row("IMAD.WIDE R12,R4,R5,R6", lambda x: pair(signed(x.a) * signed(x.b) + x.cd)),
    Row("IMAD.WIDE R12,R4,0x4,R6", lambda x: pair(signed(x.a) * 4 + x.cd)),
    Row("IMAD.WIDE R12,R4,-0x4,RZ", lambda x: pair(signed(x.a) * -4)),
    Row("IMAD.WIDE R12,R4,R5,c[0x0][0x220]", lambda x: pair(signed(x.a) * signed(x.b) + CONSTANT)),
    Row("IMAD.WIDE R12,R4,R5,-R6", lambda x: pair(signed(x.a) * signed(x.b) - x.cd)),
    Row("IMAD.WIDE.U32 R12,R4,R5,R6", lambda x: pair(x.a * x.b + x.cd)),
    Row("IMAD.WIDE.U32 R12,R4,0xfffffffc,RZ", lambda x: pair(x.a * 0xFFFFFFFC)),
    Row(
        "IMAD.WIDE.U32 R12,P2,R4,R5,R6",
        lambda x: Wrote(x.a * x.b + x.cd, (x.a * x.b + x.cd) >> 32, p=(x.a * x.b + x.cd) >> 64 > 0),
    ),
    Row("IMAD.WIDE.U32.X R12,R4,R5,R6,P0", lambda x: pair(x.a * x.b + x.cd + x.p)),
    Row("IMAD.HI R12,R4,R5,R6", lambda x: (signed(x.a) * signed(x.b) + signed64(x.cd)) >> 32),
    Row(
        "IMAD.HI R12,R4,-0x6db6db6d,R6",
        lambda x: (signed(x.a) * -0x6DB6DB6D + signed64(x.cd)) >> 32,
    ),
    Row("IMAD.HI.U32 R12,R4,R5,RZ", lambda x: x.a * x.b >> 32),
    Row("IMAD.HI.U32 R12,R4,R5,R6", lambda x: (x.a * x.b + x.cd) >> 32),
]

SHIFTED_ADDITION = [
    Row("LEA R12,R4,R5,0x2", lambda x: (x.a << 2) + x.b),
    Row("LEA R12,R4,UR10,0x3", lambda x: (x.a << 3) + UNIFORM),
    Row("LEA R12,R4,c[0x0][0x220],0x2", lambda x: (x.a << 2) + LOW_CONSTANT),
    Row("LEA R12,P2,R4,R5,0x2", lambda x: carried((x.a << 2 & MASK) + x.b)),
    Row("LEA R12,P2,-R4,R5,0x2", lambda x: carried((~(x.a << 2) & MASK) + 1 + x.b)),
    Row("LEA R12,R4,R5,R6", lambda x: (x.a << (x.c & 31)) + x.b),
    Row("LEA.HI R12,R4,R5,RZ,0x1f", lambda x: (x.a << 31 >> 32) + x.b),
    Row("LEA.HI R12,R4,R5,R6,0x4", lambda x: ((x.c << 32 | x.a) << 4 >> 32) + x.b),
    Row(
        "LEA.HI R12,P2,R4,R5,R6,0x4", lambda x: carried(((x.c << 32 | x.a) << 4 >> 32 & MASK) + x.b)
    ),
    Row("LEA.HI.X R12,R4,R5,R6,0x2,P0", lambda x: ((x.c << 32 | x.a) << 2 >> 32) + x.b + x.p),
    Row(
        "LEA.HI.X R12,R4,c[0x0][0x224],R6,0x2,P0",
        lambda x: ((x.c << 32 | x.a) << 2 >> 32) + (CONSTANT >> 32) + x.p,
    ),
    Row("LEA.HI.SX32 R12,R4,R5,0x1e", lambda x: (signed(x.a) << 30 >> 32) + x.b),
    Row("LEA.HI.X.SX32 R12,R4,R5,0x2,P0", lambda x: (signed(x.a) << 2 >> 32) + x.b + x.p),
]

SELECTION = [
    Row("IABS R12,R4", lambda x: abs(signed(x.a))),
    Row("IABS R12,-R4", lambda x: abs(signed(x.a))),
    Row("SEL R12,R4,R5,P0", lambda x: x.a if x.p else x.b),
    Row("SEL.64 R12,R4,R6,P0", lambda x: pair(x.ab if x.p else x.cd)),
    Row("SEL.64 R12,R4,-0x5,!P1", lambda x: pair(-5 if x.q else x.ab)),
    Row("SEL R12,RZ,0xffffffff,!P0", lambda x: 0 if not x.p else MASK),
]


def leading_one(word: int) -> int:
    """Index of the highest set bit, -1 for 0 (PTX ISA, `bfind.u32`)."""
    return word.bit_length() - 1


def leading_signed(word: int) -> int:
    """Index of the highest bit that differs from the sign, -1 if none does (PTX ISA,
    `bfind.s32`)."""
    return leading_one(inverted(word) if word >> 31 else word)


def from_top(index: int) -> int:
    """`.shiftamt` of an index: the shift that brings the bit to the top."""
    return -1 if index < 0 else 31 - index


def low_bits(word: int, count: int, *, unsigned: bool = False) -> int:
    """The low bits of a word, sign-extended or zero-extended (PTX ISA, `szext`)."""
    kept = word & (1 << count) - 1
    return kept - (1 << count) if count and kept >> count - 1 and not unsigned else kept


def ones(start: int, count: int) -> int:
    """`count` ones from a bit upwards, up to the word's end (PTX ISA, `bmsk`)."""
    return (1 << count) - 1 << start


BIT_FIELDS = [
    Row("SGXT R12,R4,R5", lambda x: low_bits(x.a, min(x.b, 32))),
    Row("SGXT R12,R4,0x8", lambda x: low_bits(x.a, 8)),
    Row("SGXT.U32 R12,R4,R5", lambda x: low_bits(x.a, min(x.b, 32), unsigned=True)),
    Row("SGXT.W R12,R4,R5", lambda x: low_bits(x.a, x.b & 31)),
    Row("SGXT.W.U32 R12,R4,R5", lambda x: low_bits(x.a, x.b & 31, unsigned=True)),
    Row("BMSK R12,R4,R5", lambda x: ones(min(x.a, 32), min(x.b, 32))),
    Row("BMSK R12,RZ,0x5", lambda x: 31),
    Row("BMSK.W R12,R4,R5", lambda x: ones(x.a & 31, x.b & 31)),
]

BIT_COUNTS = [
    Row("POPC R12,R4", lambda x: x.a.bit_count()),
    Row("POPC R12,~R4", lambda x: 32 - x.a.bit_count()),
    Row("BREV R12,R4", lambda x: int(f"{x.a:032b}"[::-1], 2)),
    Row("FLO.U32 R12,R4", lambda x: leading_one(x.a)),
    Row("FLO.U32 R12,~R4", lambda x: leading_one(inverted(x.a))),
    Row("FLO.U32.SH R12,R4", lambda x: from_top(leading_one(x.a))),
    Row("FLO R12,R4", lambda x: leading_signed(x.a)),
    Row("FLO.SH R12,R4", lambda x: from_top(leading_signed(x.a))),
]

ORDERS: dict[str, Callable[[int, int], bool]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}


def both(result: bool, combine: Callable[[bool, bool], bool], other: bool) -> Wrote:
    """The two predicates of a comparison."""
    return Wrote(p=combine(result, other), q=combine(not result, other))


def comparison(name: str, *, unsigned: bool) -> Row:
    order = ORDERS[name]
    if unsigned:
        return Row(
            f"ISETP.{name}.U32.AND P2,P3,R4,R5,PT",
            lambda x: both(order(x.a, x.b), operator.and_, True),
        )
    return Row(
        f"ISETP.{name}.AND P2,P3,R4,R5,PT",
        lambda x: both(order(signed(x.a), signed(x.b)), operator.and_, True),
    )


def long_comparison(name: str, *, unsigned: bool) -> Row:
    """The upper half of a 64-bit comparison, with the lower half's result in P0: both values of P0
    must give the right result."""
    order = ORDERS[name]
    how = ".U32" if unsigned else ""

    def extended(x: Lane) -> Wrote:
        left, right = (x.a, x.b) if unsigned else (signed(x.a), signed(x.b))
        return both(x.p if left == right else order(left, right), operator.and_, True)

    return Row(f"ISETP.{name}{how}.AND.EX P2,P3,R4,R5,PT,P0", extended)


def comparison64(name: str, *, unsigned: bool) -> Row:
    """A comparison of pairs."""
    read = (lambda value: value) if unsigned else signed64
    return Row(
        f"ISETP.{name}.{'U64' if unsigned else 'S64'}.AND P2,P3,R4,R6,P0",
        lambda x: both(ORDERS[name](read(x.ab), read(x.cd)), operator.and_, x.p),
    )


COMPARISON = [
    *(comparison(name, unsigned=unsigned) for name in ORDERS for unsigned in (False, True)),
    *(long_comparison(name, unsigned=unsigned) for name in ORDERS for unsigned in (False, True)),
    Row("ISETP.LT.AND P2,PT,R4,-0x5,P0", lambda x: Wrote(p=signed(x.a) < -5 and x.p)),
    Row(
        "ISETP.LT.AND P2,P3,R4,R5,!P0",
        lambda x: both(signed(x.a) < signed(x.b), operator.and_, not x.p),
    ),
    Row("ISETP.LT.OR P2,P3,R4,R5,P0", lambda x: both(signed(x.a) < signed(x.b), operator.or_, x.p)),
    Row(
        "ISETP.LT.XOR P2,P3,R4,R5,P0", lambda x: both(signed(x.a) < signed(x.b), operator.xor, x.p)
    ),
    Row("ISETP.GE.U32.AND P2,PT,R4,c[0x0][0x220],PT", lambda x: Wrote(p=x.a >= LOW_CONSTANT)),
    *(comparison64(name, unsigned=unsigned) for name in ORDERS for unsigned in (False, True)),
    Row("ISETP.GT.S64.AND P2,PT,R4,-0x3,PT", lambda x: Wrote(p=signed64(x.ab) > -3)),
    Row("ISETP.GE.U64.AND P2,PT,R4,-0x100,PT", lambda x: Wrote(p=x.ab >= (1 << 64) - 0x100)),
    Row("ISETP.GE.AND P2,PT,R4,UR10,PT", lambda x: Wrote(p=signed(x.a) >= signed(UNIFORM))),
]

LANE_ROWS = [
    *ADDITION,
    *MULTIPLICATION,
    *SHIFTED_ADDITION,
    *SELECTION,
    *BIT_FIELDS,
    *BIT_COUNTS,
    *COMPARISON,
]
UNIFORM_ROWS = [
    *(uniform_row(row) for row in LANE_ROWS if f"U{row.base}" in INTEGER),
    Row("UIADD3.64 UR12,UPT,UPT,-UR4,UR6,URZ", lambda x: pair(x.cd - x.ab)),
]
GROUPS = groups(LANE_ROWS)
UNIFORM_GROUPS = groups(UNIFORM_ROWS)
LANES = lanes_of(EDGES)

words = st.one_of(st.sampled_from(EDGES), st.integers(0, MASK))


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


def test_every_opcode_and_modifier_has_a_row() -> None:
    """`F` and `T` compare nothing; `translate` refuses them (test_decode.py)."""
    besides = {f"{opcode}.{name}" for opcode in ("ISETP", "UISETP") for name in "FT"}
    assert uncovered(INTEGER, [*LANE_ROWS, *UNIFORM_ROWS], besides) == set()
