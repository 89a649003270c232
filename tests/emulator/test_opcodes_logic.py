"""Bits against Python's integers: logic by table, shifts, byte permutation; on lanes and on the
uniform datapath."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.logic import LOGIC
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
    signed,
    signed64,
    uncovered,
    uniform_row,
)

EDGES = [
    0,
    1,
    31,
    32,
    33,
    63,
    64,
    0x80,
    0x3210,
    0x7654,
    0xBA98,
    0xFEDC,
    0x12345678,
    0x80402010,
    0x7FFFFFFF,
    0x80000000,
    MASK,
]
TABLES = [
    0x00,
    0x01,
    0x0C,
    0x30,
    0x3C,
    0x48,
    0x54,
    0x55,
    0x96,
    0xC0,
    0xC8,
    0xE8,
    0xF8,
    0xFC,
    0xFE,
    0xFF,
]


def look_up(table: int, a: int, b: int, c: int, bits: int = 32) -> int:
    """Bit i of the result is bit (4 a_i + 2 b_i + c_i) of the table."""
    return sum(
        (table >> (4 * (a >> i & 1) + 2 * (b >> i & 1) + (c >> i & 1)) & 1) << i
        for i in range(bits)
    )


def logic(table: int) -> Row:
    return Row(f"LOP3.LUT R12,R4,R5,R6,{table:#x},!PT", lambda x: look_up(table, x.a, x.b, x.c))


def predicate_logic(table: int, second: int) -> Row:
    def expected(x: Lane) -> Wrote:
        return Wrote(
            p=bool(look_up(table, x.p, x.q, True, 1)), q=bool(look_up(second, x.p, x.q, True, 1))
        )

    return Row(f"PLOP3.LUT P2,P3,P0,P1,PT,{table:#x},{second:#x}", expected)


LOGIC_ROWS = [
    *(logic(table) for table in TABLES),
    Row("LOP3.LUT R12,R4,UR10,RZ,0xc0,!PT", lambda x: x.a & UNIFORM),
    Row("LOP3.LUT R12,R4,0x1f,RZ,0xc0,!PT", lambda x: x.a & 31),
    Row("LOP3.LUT R12,R4,c[0x0][0x224],R6,0xf8,!PT", lambda x: x.a | (CONSTANT >> 32 & x.c)),
    Row("LOP3.LUT R12,RZ,R4,RZ,0x33,!PT", lambda x: ~x.a),
    Row("LOP3.LUT P2,RZ,R4,R5,RZ,0xc0,!PT", lambda x: Wrote(p=x.a & x.b != 0)),
    Row("LOP3.LUT P2,R12,R4,R5,RZ,0x3c,!PT", lambda x: Wrote(x.a ^ x.b, p=x.a != x.b)),
    Row("LOP3.LUT P2,RZ,R4,R5,RZ,0xc0,P1", lambda x: Wrote(p=x.a & x.b != 0 or x.q)),
    Row(
        "LOP3.LUT.PAND P2,R12,R4,R5,RZ,0xc0,!P0",
        lambda x: Wrote(x.a & x.b, p=x.a & x.b != 0 and not x.p),
    ),
    *(
        predicate_logic(table, second)
        for table, second in zip(TABLES, reversed(TABLES), strict=True)
    ),
    Row(
        "PLOP3.LUT P2,PT,R4.SIGN,R5.reuse.SIGN,P0,0x40,0x0",
        lambda x: Wrote(p=signed(x.a) < 0 and signed(x.b) < 0 and not x.p),
    ),
    Row("PLOP3.LUT P2,PT,!P0,P1,PT,0x80,0x0", lambda x: Wrote(p=not x.p and x.q)),
    Row("PLOP3.LUT P2,PT,P0,P1,!P0,0xe0,0x8", lambda x: Wrote(p=x.p and (x.q or not x.p))),
]


def wide(x: Lane) -> int:
    """The 64 bits that a funnel shift moves: {c:a}."""
    return x.c << 32 | x.a


def saturated(count: int, most: int) -> int:
    return min(count, most)


SHIFTS = [
    Row("SHF.L.U32 R12,R4,R5,RZ", lambda x: x.a << saturated(x.b, 32)),
    Row("SHF.L.U32 R12,R4,0x5,RZ", lambda x: x.a << 5),
    Row("SHF.L.W.U32 R12,R4,R5,RZ", lambda x: x.a << (x.b & 31)),
    Row("SHF.L.U32.HI R12,R4,R5,R6", lambda x: wide(x) << saturated(x.b, 32) >> 32),
    Row("SHF.L.W.U32.HI R12,R4,R5,R6", lambda x: wide(x) << (x.b & 31) >> 32),
    Row("SHF.R.U32.HI R12,RZ,R5,R6", lambda x: x.c >> saturated(x.b, 32)),
    Row("SHF.R.U32.HI R12,RZ,0x1f,R6", lambda x: x.c >> 31),
    Row("SHF.R.W.U32.HI R12,RZ,R5,R6", lambda x: x.c >> (x.b & 31)),
    Row("SHF.R.S32.HI R12,RZ,R5,R6", lambda x: signed(x.c) >> saturated(x.b, 32)),
    Row("SHF.R.S32.HI R12,RZ,0x1f,R6", lambda x: -(x.c >> 31)),
    Row("SHF.L.U64.HI R12,R4,R5,R6", lambda x: wide(x) << saturated(x.b, 64) >> 32),
    Row("SHF.L.U64.HI R12,R4,0x2,R6", lambda x: wide(x) << 2 >> 32),
    Row("SHF.R.U64 R12,R4,R5,R6", lambda x: wide(x) >> saturated(x.b, 64)),
    Row("SHF.R.U64 R12,R4,UR10,R6", lambda x: 0),  # UR10 is beyond 64
    Row("SHF.R.S64 R12,R4,R5,R6", lambda x: signed64(wide(x)) >> saturated(x.b, 64)),
    Row("SHF.R.S64 R12,R4,c[0x0][0x220],R6", lambda x: signed64(wide(x)) >> 63),
    Row("SHF.R.U32 R12,R4,R5,R6", lambda x: wide(x) >> saturated(x.b, 32)),
    Row("SHF.R.W.U32 R12,R4,R5,R6", lambda x: wide(x) >> (x.b & 31)),
    Row("SHF.R.U64.HI R12,R4,R5,R6", lambda x: wide(x) >> saturated(x.b, 64) >> 32),
]


def permuted(low: int, selector: int, high: int) -> int:
    """`prmt.b32` of the PTX ISA: byte n of the result is the byte that nibble n of the selector
    names."""
    source = (high << 32 | low).to_bytes(8, "little")
    result = []
    for n in range(4):
        nibble = selector >> 4 * n & 15
        byte = source[nibble & 7]
        result.append((0xFF if byte >> 7 else 0) if nibble & 8 else byte)
    return int.from_bytes(bytes(result), "little")


MODES: dict[str, Callable[[int, int], int]] = {
    "F4E": lambda start, n: start + n,
    "B4E": lambda start, n: (start - n) % 8,
    "RC8": lambda start, n: start,
    "ECL": max,
    "ECR": min,
    "RC16": lambda start, n: start % 2 * 2 + n % 2,
}


def in_mode(mode: str) -> Row:
    """A mode of `prmt`: the two lowest bits of the selector determine the bytes."""

    def expected(x: Lane) -> int:
        selector = sum(MODES[mode](x.b & 3, n) << 4 * n for n in range(4))
        return permuted(x.a, selector, x.c)

    return Row(f"PRMT.{mode} R12,R4,R5,R6", expected)


PERMUTATION = [
    *map(in_mode, MODES),
    Row("PRMT R12,R4,R5,R6", lambda x: permuted(x.a, x.b, x.c)),
    Row("PRMT R12,R4,0x5410,R6", lambda x: (x.c & 0xFFFF) << 16 | x.a & 0xFFFF),
    Row("PRMT R12,R4,0x7632,R6", lambda x: x.c >> 16 << 16 | x.a >> 16),
    Row("PRMT R12,R4,0x9910,RZ", lambda x: x.a & 0xFFFF | (0xFFFF0000 if x.a >> 15 & 1 else 0)),
]

LANE_ROWS = [*LOGIC_ROWS, *SHIFTS, *PERMUTATION]
UNIFORM_ROWS = [uniform_row(row) for row in LANE_ROWS if f"U{row.base}" in LOGIC]
GROUPS = groups(LANE_ROWS)
UNIFORM_GROUPS = groups(UNIFORM_ROWS)
LANES = lanes_of(EDGES)

words = st.one_of(st.sampled_from(EDGES), st.integers(0, 70), st.integers(0, MASK))


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


def test_all_tables_of_three_inputs() -> None:
    """All 256 tables, on the eight combinations of input bits at once."""
    lane = Lane(0xF0F0F0F0, 0xCCCCCCCC, 0xAAAAAAAA, 0, 0)
    for first in range(0, 256, 64):
        check_rows([logic(table) for table in range(first, first + 64)], [lane], "together")


def test_every_opcode_and_modifier_has_a_row() -> None:
    assert uncovered(LOGIC, [*LANE_ROWS, *UNIFORM_ROWS]) == set()
