"""float64 arithmetic and comparison against exact fractions, bit for bit, with NaNs."""

from __future__ import annotations

import operator
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.double import DOUBLE as TABLE
from tests.support.exact import DOUBLE, Mode
from tests.support.opcode_rows import (
    CONSTANT,
    LANE_FORMS,
    Lane,
    Row,
    Wrote,
    check_rows,
    draw_a_few,
    groups,
    pair,
    uncovered,
)

SIGN, INF, QUIET = DOUBLE.sign, DOUBLE.infinity, 1 << 51
ONE, MINUS_ZERO = DOUBLE.one, DOUBLE.sign


def with_payload(result: int, *sources: int) -> int:
    """The result, or the first NaN among the sources, made quiet. Sources: unmodified registers in
    the order of precedence."""
    nans = [source | QUIET for source in sources if DOUBLE.is_nan(source)]
    return nans[0] if nans else result


def add(a: int, b: int, mode: Mode = Mode.NEAREST) -> int:
    return with_payload(DOUBLE.add(a, b, mode), b, a)


def multiply(a: int, b: int, mode: Mode = Mode.NEAREST) -> int:
    return with_payload(DOUBLE.multiply(a, b, mode), b, a)


def fma(a: int, b: int, c: int, mode: Mode = Mode.NEAREST) -> int:
    return with_payload(DOUBLE.fma(a, b, c, mode), b, c, a)


def in_mode(mode: Mode) -> list[Row]:
    return [
        Row(f"DADD{mode.value} R12,R4,R6", lambda x: pair(add(x.ab, x.cd, mode))),
        Row(
            f"DADD{mode.value} R12,R4,-R4",
            lambda x: pair(with_payload(DOUBLE.add(x.ab, x.ab ^ SIGN, mode), x.ab)),
        ),
        Row(f"DMUL{mode.value} R12,R4,R6", lambda x: pair(multiply(x.ab, x.cd, mode))),
        Row(f"DFMA{mode.value} R12,R4,R6,R4", lambda x: pair(fma(x.ab, x.cd, x.ab, mode))),
        Row(
            f"DFMA{mode.value} R12,-R4,R6,|R6|",
            lambda x: pair(
                with_payload(DOUBLE.fma(x.ab ^ SIGN, x.cd, x.cd & ~SIGN, mode), x.cd, x.ab)
            ),
        ),
    ]


ARITHMETIC = [
    *(row for mode in Mode for row in in_mode(mode)),
    Row(
        "DADD R12,-RZ,|R4|",
        lambda x: pair(with_payload(DOUBLE.add(MINUS_ZERO, x.ab & ~SIGN), x.ab)),
    ),
    Row("DMUL R12,R4,8.98846567431157953865e+307", lambda x: pair(multiply(x.ab, 0x7FE << 52))),
    Row("DMUL R12,R4,c[0x0][0x220]", lambda x: pair(multiply(x.ab, CONSTANT))),
    Row("DFMA R12,R4,R6,1", lambda x: pair(fma(x.ab, x.cd, ONE))),
    Row("DFMA R12,R4,R4,R6", lambda x: pair(fma(x.ab, x.ab, x.cd))),
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
    unordered = DOUBLE.is_nan(a) or DOUBLE.is_nan(b)
    if name in ("NUM", "NAN"):
        return unordered == (name == "NAN")
    return name.endswith("U") if unordered else ORDERS[name[:2]](DOUBLE.real(a), DOUBLE.real(b))


def comparison(name: str, how: str = "AND") -> Row:
    combine = {"AND": operator.and_, "OR": operator.or_, "XOR": operator.xor}[how]

    def expected(x: Lane) -> Wrote:
        result = compare(name, x.ab, x.cd)
        return Wrote(p=combine(result, x.p), q=combine(not result, x.p))

    return Row(f"DSETP.{name}.{how} P2,P3,R4,R6,P0", expected)


def choice(name: str) -> Row:
    """P2: the left operand is the minimum (maximum); P3: both are NaN."""

    def expected(x: Lane) -> Wrote:
        nans = DOUBLE.is_nan(x.ab), DOUBLE.is_nan(x.cd)
        if any(nans):
            return Wrote(p=nans == (False, True), q=all(nans))
        chosen = DOUBLE.minimum(x.ab, x.cd, largest=name == "MAX")
        return Wrote(p=chosen == x.ab and x.ab != x.cd, q=False)

    return Row(f"DSETP.{name}.AND P2,P3,R4,R6,PT", expected)


COMPARISON = [
    *(comparison(name) for order in ORDERS for name in (order, f"{order}U")),
    comparison("NUM"),
    comparison("NAN"),
    comparison("LT", "OR"),
    comparison("GEU", "XOR"),
    choice("MIN"),
    choice("MAX"),
]
ROWS = [*ARITHMETIC, *COMPARISON]
GROUPS = groups(ROWS)

UNIT = DOUBLE.smallest_normal
POSITIVE = [
    0,
    1,
    UNIT - 1,
    UNIT,
    UNIT + 1,
    ONE,
    ONE + 1,
    ONE - 1,
    INF - 1,
    INF,
    INF + 1,
    INF + QUIET + 5,
    ONE + (1 << 51),
    ONE - 53 * UNIT,
]
EDGES = [*POSITIVE, *(value | SIGN for value in POSITIVE)]


def lane(left: int, right: int, flags: int) -> Lane:
    return Lane(left & 0xFFFFFFFF, left >> 32, right & 0xFFFFFFFF, right >> 32, flags)


LANES = [
    lane(a, b, (5 * i + 3 * j) % 8 if i * len(EDGES) + j >= 64 else i % 4)
    for i, a in enumerate(EDGES)
    for j, b in enumerate(EDGES)
]
near_one = st.integers(ONE - 60 * UNIT, ONE + 60 * UNIT)
numbers = st.one_of(
    st.sampled_from(EDGES),
    near_one,
    near_one.map(lambda bits: bits | SIGN),
    st.integers(0, (1 << 64) - 1),
)
drawn = st.lists(st.builds(lane, numbers, numbers, st.integers(0, 7)), min_size=64, max_size=64)


@pytest.mark.parametrize("form", LANE_FORMS)
@pytest.mark.parametrize("base", GROUPS)
def test_lanes_on_edge_values(base: str, form: str) -> None:
    check_rows(GROUPS[base], LANES, form)


@pytest.mark.parametrize("base", GROUPS)
@draw_a_few
@given(lanes=drawn)
def test_lanes_on_drawn_values(base: str, lanes: list[Lane]) -> None:
    check_rows(GROUPS[base], lanes, "apart")


def test_every_opcode_and_modifier_has_a_row() -> None:
    assert uncovered(TABLE, ROWS) == set()
