"""Conversions among integers and floats against exact fractions, bit for bit."""

from __future__ import annotations

import functools
import math
from bisect import bisect_left
from collections.abc import Callable
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.emulator.codegen.opcodes.convert import CONVERSIONS
from tests.support.exact import BFLOAT, DOUBLE, HALF, SINGLE, Format, Mode, to_integer
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
    pair,
    signed,
    signed64,
    uncovered,
    uniform_row,
)

FORMATS = {"F16": HALF, "BF16": BFLOAT, "F32": SINGLE, "F64": DOUBLE}
INTEGERS = {"U8": 8, "S8": 8, "U16": 16, "S16": 16, "U32": 32, "S32": 32, "U64": 64, "S64": 64}
E4M3, E5M2 = Format(4, 3, 0x7F), Format(5, 2, 0x7F)
QUIET = 1 << 51


def source(x: Lane, bits: int) -> int:
    """The operand R4, or R4:R5, as a pattern of this number of bits."""
    return x.ab if bits == 64 else x.a & (1 << bits) - 1


def wrote(value: int, bits: int) -> Wrote:
    return pair(value) if bits == 64 else Wrote(value)


def size(fmt: Format) -> int:
    return fmt.sign.bit_length()


def number(x: Lane, kind: str) -> int:
    """The integer operand of a type."""
    bits = INTEGERS[kind]
    value = source(x, bits)
    return value - (1 << bits) if kind[0] == "S" and value >> bits - 1 else value


def from_integer(kind: str, to: str, mode: Mode) -> Row:
    fmt = FORMATS[to]
    names = [name for name in (to, kind) if name not in ("F32", "S32")]
    text = f"{'.'.join(['I2F', *names])}{mode.value} R12,R4"
    return Row(text, lambda x: wrote(fmt.round(Fraction(number(x, kind)), mode), size(fmt)))


FROM_INTEGERS = [
    *(from_integer(kind, to, mode) for kind in INTEGERS for to in FORMATS for mode in Mode),
    Row("I2F.S32 R12,-R4", lambda x: SINGLE.round(Fraction(signed(-x.a & MASK)))),
    Row("I2F.U8 R12,R4.B3", lambda x: SINGLE.round(Fraction(x.a >> 24))),
    Row("I2F.S8 R12,R4.B1", lambda x: SINGLE.round(Fraction(signed(x.a << 16 & MASK) >> 24))),
    Row("I2F.S16 R12,R4.H1", lambda x: SINGLE.round(Fraction(signed(x.a) >> 16))),
    Row("I2FP.F32.S32 R12,R4", lambda x: SINGLE.round(Fraction(signed(x.a)))),
    Row("I2FP.F32.S32 R12,-R4", lambda x: SINGLE.round(Fraction(signed(-x.a & MASK)))),
    *(
        Row(
            f"I2FP.F32.U32{mode.value} R12,R4",
            lambda x, mode=mode: SINGLE.round(Fraction(x.a), mode),
        )
        for mode in Mode
    ),
]


def saturated(kind: str, fmt: Format, bits: int, how: str, *, zero: bool) -> int:
    width = INTEGERS[kind]
    lowest, highest = (
        (-(1 << width - 1), (1 << width - 1) - 1) if kind[0] == "S" else (0, (1 << width) - 1)
    )
    nan = 0 if zero else lowest if kind[0] == "S" else 1 << width - 1
    return to_integer(fmt, bits, lowest, highest, how, nan)


def to_int(kind: str, name: str, how: str) -> Row:
    """`.NTZ` is ptxas's form for sources and results of up to 32 bits."""
    fmt, width = FORMATS[name], INTEGERS[kind]
    zero = name != "F64" and width < 64
    names = [
        "F2I",
        kind if kind != "S32" else "",
        name if name != "F32" else "",
        how,
        "NTZ" if zero else "",
    ]
    text = f"{'.'.join(filter(None, names))} R12,R4"
    return Row(
        text, lambda x: wrote(saturated(kind, fmt, source(x, size(fmt)), how, zero=zero), width)
    )


TO_INTEGERS = [
    *(
        to_int(kind, name, how)
        for kind in INTEGERS
        for name in FORMATS
        for how in ("", "TRUNC", "FLOOR", "CEIL")
    ),
    Row(
        "F2I.S32.TRUNC.NTZ R12,-|R4|",
        lambda x: saturated("S32", SINGLE, x.a | SINGLE.sign, "TRUNC", zero=True),
    ),
    Row(
        "F2I.FTZ.U32.CEIL.NTZ R12,R4",
        lambda x: saturated("U32", SINGLE, SINGLE.flushed(x.a), "CEIL", zero=True),
    ),
    Row(
        "F2I.F16.TRUNC.NTZ R12,R4.H1",
        lambda x: saturated("S32", HALF, x.a >> 16, "TRUNC", zero=True),
    ),
    *(
        Row(
            f"F2IP.U8.F32{how and '.' + how}.NTZ R12,RZ,R4,RZ",
            lambda x, how=how: saturated("U8", SINGLE, x.a, how, zero=True),
        )
        for how in ("", "TRUNC", "FLOOR", "CEIL")
    ),
]


def clamp(kind: str, value: int) -> int:
    bits = INTEGERS[kind]
    lowest, highest = (
        (-(1 << bits - 1), (1 << bits - 1) - 1) if kind[0] == "S" else (0, (1 << bits) - 1)
    )
    return min(max(value, lowest), highest)


AMONG_INTEGERS = [
    *(
        Row(f"I2I.{kind}.S32.SAT R12,R4", lambda x, kind=kind: clamp(kind, signed(x.a)))
        for kind in ("U8", "S8", "U16", "S16", "U32")
    ),
    *(
        Row(f"I2I.{kind}.U32.SAT R12,R4", lambda x, kind=kind: clamp(kind, x.a))
        for kind in ("U8", "S8", "U16", "S16", "S32")
    ),
]


def widened(fmt: Format, bits: int) -> int:
    """As float64; a NaN keeps its sign and payload and becomes quiet."""
    if not fmt.is_nan(bits):
        return fmt.convert(bits, DOUBLE)
    sign = DOUBLE.sign if bits & fmt.sign else 0
    payload = bits & (fmt.smallest_normal - 1)
    return sign | DOUBLE.infinity | QUIET | payload << DOUBLE.fraction_bits - fmt.fraction_bits


def narrowed(to: str, name: str, mode: Mode) -> Row:
    fmt, other = FORMATS[name], FORMATS[to]
    convert = from_double if fmt is DOUBLE else fmt.convert
    return Row(
        f"F2F.{to}.{name}{mode.value} R12,R4", lambda x: convert(source(x, size(fmt)), other, mode)
    )


def from_double(bits: int, other: Format, mode: Mode = Mode.NEAREST) -> int:
    """A float64 in a narrower format: a NaN keeps its sign and the part of its payload that fits,
    and becomes quiet."""
    if not DOUBLE.is_nan(bits):
        return DOUBLE.convert(bits, other, mode)
    payload = (
        bits | QUIET
    ) >> DOUBLE.fraction_bits - other.fraction_bits & other.smallest_normal - 1
    return (other.sign if bits & DOUBLE.sign else 0) | other.infinity | payload


def packed(x: Lane, fmt: Format, mode: Mode = Mode.NEAREST) -> int:
    return SINGLE.convert(x.a, fmt, mode) << 16 | SINGLE.convert(x.b, fmt, mode)


def half_of_e4m3(byte: int) -> int:
    """E4M3 has no infinity, and a NaN whose bits, except for the sign, are all ones."""
    sign, magnitude = (byte & 0x80) << 8, byte & 0x7F
    return HALF.nan if magnitude == 0x7F else HALF.round(E4M3.value(byte), zero_sign=sign)


def half_of_e5m2(byte: int) -> int:
    return E5M2.convert(byte, HALF)


def unpacked(word: int, half_of: Callable[[int], int]) -> int:
    return half_of(word >> 8 & 0xFF) << 16 | half_of(word & 0xFF)


@functools.cache
def values_of(fmt: Format) -> list[Fraction]:
    """The positive numbers of an 8-bit format, by code."""
    return [fmt.value(code) for code in range(LARGEST_BYTE[fmt] + 1)]


@functools.cache
def byte_of(fmt: Format, bits: int, *, positive: bool = False) -> int:
    """The nearest 8-bit float to a float32, ties to even; larger values become the largest."""
    if SINGLE.is_nan(bits):
        return 0x7F
    sign = bits >> 24 & 0x80
    magnitude = bits & ~SINGLE.sign
    largest = LARGEST_BYTE[fmt]
    if positive and sign:
        return 0
    if SINGLE.is_infinite(magnitude) or SINGLE.value(magnitude) >= fmt.value(largest):
        return sign | largest
    exact, values = SINGLE.value(magnitude), values_of(fmt)
    above = bisect_left(values, exact)
    near = range(max(above - 1, 0), above + 1)
    return sign | min(near, key=lambda code: (abs(values[code] - exact), code & 1))


LARGEST_BYTE = {E4M3: 0x7E, E5M2: 0x7B}


def bytes_of(fmt: Format, high: int, low: int, *, positive: bool = False) -> int:
    return byte_of(fmt, high, positive=positive) << 8 | byte_of(fmt, low, positive=positive)


def bytes_of_halves(fmt: Format, word: int) -> int:
    return bytes_of(fmt, *(HALF.convert(word >> shift & 0xFFFF, SINGLE) for shift in (16, 0)))


def tf32(bits: int, how: Callable[[Fraction], int] = round) -> int:
    """A float32 with 10 bits of fraction."""
    if SINGLE.is_nan(bits):
        return 0x7FFFE000
    magnitude = how(Fraction(bits & ~SINGLE.sign, 1 << 13)) << 13
    return bits & SINGLE.sign | magnitude


EIGHT_BITS = [
    row
    for name, fmt in (("E4M3", E4M3), ("E5M2", E5M2))
    for row in (
        Row(
            f"F2FP.SATFINITE.{name}.F32.PACK_AB_MERGE_C R12,R4,R5,RZ",
            lambda x, fmt=fmt: bytes_of(fmt, x.a, x.b),
        ),
        Row(
            f"F2FP.SATFINITE.RELU.{name}.F32.PACK_AB_MERGE_C R12,-R4,|R5|,RZ",
            lambda x, fmt=fmt: bytes_of(fmt, x.a ^ SINGLE.sign, x.b & ~SINGLE.sign, positive=True),
        ),
        Row(
            f"F2FP.SATFINITE.{name}.F16.UNPACK_B_MERGE_C R12,R4,RZ",
            lambda x, fmt=fmt: bytes_of_halves(fmt, x.a),
        ),
    )
]


def finite(word: int, fmt: Format) -> int:
    """A pair of 16-bit floats with the largest numbers instead of infinities."""
    halves = (word >> shift & 0xFFFF for shift in (16, 0))
    high, low = (half - (half & 0x7FFF == fmt.infinity) for half in halves)
    return high << 16 | low


def relu(bits: int) -> int:
    return 0 if bits & 0x8000 else bits


NARROWER = [("F16", "F32"), ("BF16", "F32"), ("F16", "F64"), ("BF16", "F64"), ("F32", "F64")]
AMONG_FLOATS = [
    *(narrowed(to, name, mode) for to, name in NARROWER for mode in Mode),
    *(
        Row(
            f"F2F.F64.{name} R12,R4",
            lambda x, fmt=FORMATS[name]: pair(widened(fmt, source(x, size(fmt)))),
        )
        for name in ("F32", "BF16")
    ),
    Row("F2F.F64.F32 R12,-|R4|", lambda x: pair(widened(SINGLE, x.a | SINGLE.sign))),
    Row("F2F.FTZ.F64.F32 R12,R4", lambda x: pair(widened(SINGLE, SINGLE.flushed(x.a)))),
    Row("F2F.FTZ.F32.F64 R12,R4", lambda x: SINGLE.flushed(from_double(x.ab, SINGLE))),
    Row("F2F.F32.F16 R12,R4.H1", lambda x: HALF.convert(x.a >> 16, SINGLE)),
    *(
        Row(
            f"F2FP.F16.F32.PACK_AB{mode.value} R12,R4,R5",
            lambda x, mode=mode: packed(x, HALF, mode),
        )
        for mode in (Mode.NEAREST, Mode.ZERO)
    ),
    *(
        Row(
            f"F2FP.BF16.F32.PACK_AB{mode.value} R12,R4,R5",
            lambda x, mode=mode: packed(x, BFLOAT, mode),
        )
        for mode in Mode
    ),
    Row("F2FP.F16.F32.PACK_AB R12,RZ,-|R4|", lambda x: SINGLE.convert(x.a | SINGLE.sign, HALF)),
    Row("F2FP.RELU.BF16.F32.MERGE_C R12,R4,RZ", lambda x: relu(SINGLE.convert(x.a, BFLOAT))),
    *(
        Row(
            f"F2FP.SATFINITE.{name}.F32.PACK_AB{mode.value} R12,R4,R5",
            lambda x, fmt=fmt, mode=mode: finite(packed(x, fmt, mode), fmt),
        )
        for name, fmt in (("F16", HALF), ("BF16", BFLOAT))
        for mode in (Mode.NEAREST, Mode.ZERO)
    ),
    Row(
        "F2FP.SATFINITE.F16.F32.MERGE_C R12,R4,RZ",
        lambda x: finite(SINGLE.convert(x.a, HALF), HALF),
    ),
    Row("F2FP.F16.E4M3.UNPACK_B R12,R4.H1", lambda x: unpacked(x.a >> 16, half_of_e4m3)),
    Row("F2FP.F16.E4M3.UNPACK_B R12,R4", lambda x: unpacked(x.a, half_of_e4m3)),
    Row("F2FP.F16.E5M2.UNPACK_B R12,R4", lambda x: unpacked(x.a, half_of_e5m2)),
    Row("F2FP.F16.E5M2.UNPACK_B R12,R4.H1", lambda x: unpacked(x.a >> 16, half_of_e5m2)),
    Row(
        "F2FP.RELU.F16.E4M3.UNPACK_B R12,R4",
        lambda x: unpacked(x.a, lambda byte: relu(half_of_e4m3(byte))),
    ),
    *EIGHT_BITS,
    Row("F2FP.TF32.F32.PACK_B R12,R4", lambda x: tf32(x.a)),
    Row("F2FP.TF32.F32.PACK_B.RZ R12,-R4", lambda x: tf32(x.a ^ SINGLE.sign, math.floor)),
]


@pytest.mark.parametrize("name", ["E4M3", "E5M2"])
def test_every_byte_is_the_half_of_its_8_bit_float(name: str) -> None:
    rows = [row for row in ROWS if f"{name}.UNPACK_B " in row.text]
    check_rows(rows, [Lane(0x0100 * (255 - n) + n, 0, 0, 0, 0) for n in range(256)], "together")


def integral(fmt: Format, bits: int, how: str) -> int:
    if fmt.is_nan(bits):
        return fmt.nan if fmt is not DOUBLE else bits | QUIET
    if fmt.is_infinite(bits):
        return bits
    rounded = {"TRUNC": math.trunc, "FLOOR": math.floor, "CEIL": math.ceil}.get(how, round)(
        fmt.value(bits)
    )
    return fmt.round(Fraction(rounded), zero_sign=bits & fmt.sign)


def rounded(name: str, how: str) -> Row:
    fmt = FORMATS[name]
    text = ".".join(filter(None, ["FRND", name if name != "F32" else "", how]))
    return Row(
        f"{text} R12,R4", lambda x: wrote(integral(fmt, source(x, size(fmt)), how), size(fmt))
    )


INTEGRAL = [
    *(rounded(name, how) for name in FORMATS for how in ("", "TRUNC", "FLOOR", "CEIL")),
    Row("FRND.FTZ.CEIL R12,R4", lambda x: integral(SINGLE, SINGLE.flushed(x.a), "CEIL")),
]
ROWS = [*FROM_INTEGERS, *TO_INTEGERS, *AMONG_INTEGERS, *AMONG_FLOATS, *INTEGRAL]

UNIFORM_ROWS = [
    uniform_row(row)
    for row in ROWS
    if f"U{row.base}" in CONVERSIONS
    and CONVERSIONS[f"U{row.base}"].modifiers.issuperset(row.opcode.split(".")[1:])
    and "_H" not in row.text
]


def in_parts(every: list[Row]) -> dict[str, list[Row]]:
    """Rows by opcode, at most 40 per kernel."""
    return {
        f"{base}-{first // 40}": rows[first : first + 40]
        for base, rows in groups(every).items()
        for first in range(0, len(rows), 40)
    }


GROUPS, UNIFORM_GROUPS = in_parts(ROWS), in_parts(UNIFORM_ROWS)


def edges(fmt: Format) -> list[int]:
    """Patterns of a format: ends of its ranges, and numbers next to the ends of integer ranges."""
    unit = fmt.smallest_normal
    found = [
        0,
        1,
        unit - 1,
        unit,
        fmt.infinity - 1,
        fmt.infinity,
        fmt.infinity + 1,
        fmt.nan & ~fmt.sign,
    ]
    for limit in (
        0.25,
        0.5,
        1.5,
        2.5,
        127.5,
        128,
        255.5,
        256,
        32767.5,
        65535.5,
        2.0**31,
        2.0**32,
        2.0**63,
        2.0**64,
    ):
        nearest = fmt.round(Fraction(limit))
        found += [nearest - 1, nearest, min(nearest + 1, fmt.infinity)]
    return [*found, *(bits | fmt.sign for bits in found)]


def ties() -> list[int]:
    """float64 patterns half way between two numbers of the smaller formats, and their
    neighbours."""
    found = []
    for fmt in (HALF, BFLOAT, SINGLE):
        for bits in (1, fmt.smallest_normal - 1, fmt.one, fmt.one + 1, fmt.infinity - 1):
            number = fmt.value(bits)
            step = fmt.value(bits) - fmt.value(bits - 1)
            middle = DOUBLE.round(number + step / 2)
            found += [middle - 1, middle, middle + 1, middle | DOUBLE.sign]
    return found


def lanes_of_patterns(patterns: list[int]) -> list[Lane]:
    return [
        Lane(bits & MASK, bits >> 32 or bits, bits & MASK, 0, 0 if n < 64 else n * 5 % 8)
        for n, bits in enumerate(patterns)
    ]


LANES = lanes_of_patterns(
    [
        *edges(DOUBLE),
        *ties(),
        *edges(SINGLE),
        *(SINGLE.round(DOUBLE.value(bits)) for bits in ties()),
        *(half | half << 16 for half in (*edges(HALF), *edges(BFLOAT))),
        *(MASK >> n for n in range(32)),
        *(
            (1 << n) - d & (1 << 64) - 1
            for n in (24, 25, 31, 32, 53, 54, 63, 64)
            for d in (-3, -1, 0, 1, 3)
        ),
        *((1 << 63) + (1 << n) + d for n in (10, 11, 39, 40, 52, 55) for d in (-1, 0, 1)),
    ]
)


@pytest.mark.parametrize("form", LANE_FORMS)
@pytest.mark.parametrize("group", GROUPS)
def test_lanes_on_edge_values(group: str, form: str) -> None:
    check_rows(GROUPS[group], LANES, form)


@pytest.mark.parametrize("group", UNIFORM_GROUPS)
def test_uniform_values_on_edge_values(group: str) -> None:
    check_rows(UNIFORM_GROUPS[group], LANES, "guarded")


@pytest.mark.parametrize("group", GROUPS)
@draw_a_few
@given(lanes=drawn_lanes(st.integers(0, MASK)))
def test_lanes_on_drawn_values(group: str, lanes: list[Lane]) -> None:
    check_rows(GROUPS[group], lanes, "apart")


def test_every_opcode_and_modifier_has_a_row() -> None:
    assert uncovered(CONVERSIONS, [*ROWS, *UNIFORM_ROWS], {"F2FP.RM", "F2FP.RP"}) == set()
    assert any(signed64(lane.ab) < 0 for lane in LANES)
