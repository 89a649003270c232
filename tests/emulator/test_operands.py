"""Operand texts in nvdisasm's notation, and refused texts."""

from __future__ import annotations

import math
import struct

import pytest

from grader.emulator.isa.operands import (
    DESCRIPTORS,
    TRUE_PREDICATE,
    ZERO_REGISTER,
    Address,
    Constant,
    Immediate,
    Operand,
    Predicate,
    Register,
    Special,
    parse_operand,
    parse_operands,
)
from grader.emulator.isa.program import Unsupported

R = Register

FORMS: list[tuple[str, Operand]] = [
    ("R0", R(0)),
    ("R254", R(254)),
    ("RZ", R(ZERO_REGISTER)),
    ("R5.reuse", R(5)),
    ("-R5", R(5, negated=True)),
    ("-R5.reuse", R(5, negated=True)),
    ("~R5", R(5, inverted=True)),
    ("|R5|", R(5, absolute=True)),
    ("|R5|.reuse", R(5, absolute=True)),
    ("-|R5|", R(5, negated=True, absolute=True)),
    ("-RZ", R(ZERO_REGISTER, negated=True)),
    ("R5.H0_H0", R(5, suffix="H0_H0")),
    ("UR4", R(4, uniform=True)),
    ("UR79", R(79, uniform=True)),
    ("URZ", R(ZERO_REGISTER, uniform=True)),
    ("-UR4", R(4, uniform=True, negated=True)),
    ("~UR4", R(4, uniform=True, inverted=True)),
    ("P0", Predicate(0)),
    ("P6", Predicate(6)),
    ("PT", Predicate(TRUE_PREDICATE)),
    ("!P0", Predicate(0, negated=True)),
    ("!PT", Predicate(TRUE_PREDICATE, negated=True)),
    ("UP3", Predicate(3, uniform=True)),
    ("!UP3", Predicate(3, uniform=True, negated=True)),
    ("UPT", Predicate(TRUE_PREDICATE, uniform=True)),
    ("c[0x0][0x210]", Constant(0, 0x210)),
    ("c[0x3][0x8]", Constant(3, 8)),
    ("-c[0x0][0x210]", Constant(0, 0x210, negated=True)),
    ("~c[0x0][0x210]", Constant(0, 0x210, inverted=True)),
    ("|c[0x0][0x210]|", Constant(0, 0x210, absolute=True)),
    ("-|c[0x0][0x210]|", Constant(0, 0x210, negated=True, absolute=True)),
    ("c[0x0][R5+0x10]", Constant(0, 0x10, R(5))),
    ("c[0x0][R5]", Constant(0, 0, R(5))),
    ("c[0x0][UR5+0x10]", Constant(0, 16, R(5, uniform=True))),
    ("0x10", Immediate(16, None)),
    ("-0x10", Immediate(-16, None)),
    ("0xffffffff", Immediate(0xFFFFFFFF, None)),
    ("[R4]", Address(R(4), None, 0, wide=False)),
    ("[R4+0x10]", Address(R(4), None, 16, wide=False)),
    ("[R4+-0x10]", Address(R(4), None, -16, wide=False)),
    ("[UR4]", Address(None, R(4, uniform=True), 0, wide=False)),
    ("[UR4+0x8]", Address(None, R(4, uniform=True), 8, wide=False)),
    ("[R2+UR4+0x8]", Address(R(2), R(4, uniform=True), 8, wide=False)),
    ("[0x80]", Address(None, None, 0x80, wide=False)),
    ("[RZ+0x80]", Address(R(ZERO_REGISTER), None, 0x80, wide=False)),
    ("gdesc[UR4]", R(4, uniform=True, suffix=DESCRIPTORS)),
    ("desc[UR4][R2.64]", Address(R(2, suffix="64"), None, 0, wide=True)),
    ("desc[UR4][R2.64+0x80]", Address(R(2, suffix="64"), None, 0x80, wide=True)),
    ("desc[UR4][R2.64+-0x80]", Address(R(2, suffix="64"), None, -0x80, wide=True)),
    ("desc[UR4][R2.64+UR6]", Address(R(2, suffix="64"), R(6, uniform=True), 0, wide=True)),
    ("SR_TID.X", Special("SR_TID.X")),
    ("SR_CgaCtaId", Special("SR_CgaCtaId")),
    ("SRZ", Special("SRZ")),
    ("B0", Special("B0")),
    ("B15", Special("B15")),
]


@pytest.mark.parametrize(("text", "operand"), FORMS, ids=[text for text, _ in FORMS])
def test_reads_every_form(text: str, operand: Operand) -> None:
    assert parse_operand(text) == operand
    assert parse_operand(f" {text} ") == operand


INTEGERS = [
    ("0x10", 16),
    ("-0x1", 0xFFFFFFFF),
    ("-0x80000000", 0x80000000),
    ("-0x7fff8000", 0x80008000),
    ("~0x0", 0xFFFFFFFF),
    ("7", 7),
]


@pytest.mark.parametrize(("text", "bits"), INTEGERS)
def test_an_integer_literal_has_32_bits(text: str, bits: int) -> None:
    operand = parse_operand(text)
    assert isinstance(operand, Immediate)
    assert operand.integer() == bits


FLOATS = [
    ("1", 0x3F800000),
    ("-5", 0xC0A00000),
    ("0", 0),
    ("-0.0", 0x80000000),
    ("-0", 0x80000000),
    ("0.5", 0x3F000000),
    ("-2.5", 0xC0200000),
    ("+2.5", 0x40200000),
    ("0.3333333432674407959", 0x3EAAAAAB),
    ("1.00000001504746621988e+30", 0x7149F2CA),
    ("1.84467440737095516160e+19", 0x5F800000),
    ("1.0005271035279193886e-42", 714),
    ("1.40129846432481707092e-45", 1),
    ("123456792", 0x4CEB79A3),
    ("+INF", 0x7F800000),
    ("-INF", 0xFF800000),
    ("+QNAN", 0x7FFFFFFF),
    ("-QNAN", 0xFFFFFFFF),
]


@pytest.mark.parametrize(("text", "bits"), FLOATS)
def test_a_decimal_literal_is_a_float32(text: str, bits: int) -> None:
    operand = parse_operand(text)
    assert isinstance(operand, Immediate)
    assert operand.float32_bits() == bits


@pytest.mark.parametrize("value", [1.5, -1e-38, 3.4e38, 1 / 3, 2.0**-149])
def test_a_float32_survives_its_nineteen_digits(value: float) -> None:
    bits = struct.unpack("<I", struct.pack("<f", value))[0]
    exact = struct.unpack("<f", struct.pack("<f", value))[0]
    operand = parse_operand(f"{exact:.19e}")
    assert isinstance(operand, Immediate)
    assert operand.float32_bits() == bits
    assert math.isclose(exact, value, rel_tol=1e-6)


def test_a_decimal_with_a_fraction_is_no_integer() -> None:
    operand = parse_operand("2.5")
    assert isinstance(operand, Immediate)
    with pytest.raises(Unsupported, match=r"floating-point literal 2\.5"):
        operand.integer()


def test_a_hexadecimal_literal_is_no_float() -> None:
    """nvdisasm prints the literals of float instructions as decimals; the hexadecimal form is
    unknown."""
    operand = parse_operand("0x3f800000")
    assert isinstance(operand, Immediate)
    with pytest.raises(Unsupported, match="the literal 0x3f800000 in a floating-point instruction"):
        operand.float32_bits()


def test_a_literal_beyond_float32_is_refused_with_its_value() -> None:
    operand = parse_operand("1e+39")
    assert isinstance(operand, Immediate)
    with pytest.raises(Unsupported, match=r"the literal 1e\+39 in a single-precision instruction"):
        operand.float32_bits()


def test_a_nan_with_known_bits_keeps_them() -> None:
    assert Immediate(bits=0x7FF00001, real=math.nan).float32_bits() == 0x7FF00001
    assert Immediate(bits=None, real=math.nan).float32_bits() == 0x7FC00000


def test_splits_at_commas_outside_of_brackets_only() -> None:
    assert parse_operands("R2,desc[UR4][R2.64+0x8], -c[0x0][0x210] ,!PT") == (
        R(2),
        Address(R(2, suffix="64"), None, 8, wide=True),
        Constant(0, 0x210, negated=True),
        Predicate(TRUE_PREDICATE, negated=True),
    )
    assert parse_operands("") == ()
    assert [type(operand) for operand in parse_operands("R0,-QNAN ")] == [Register, Immediate]


REFUSED = [
    "",
    "R5 R6",
    "c[UR4][0x0]",
    "cx[UR4][0x0]",
    "c[0x0][R5+R6]",
    "c[0x0][-R5]",
    "[R2.X32]",
    "[R2.X8+R4+0x10]",
    "[R2+R4]",
    "[UR2+UR4]",
    "[-R2]",
    "[R2*4]",
    "[R2.H1]",
    "desc[UR4][R2.64",
    "desc[R4][R2.64]",
    "gdesc[R4]",
    "{R4,R5}",
    "1.5.2",
    "`(.L_x_1)",
    "R255",
    "R999",
    "UR80",
    "!UP8",
]


@pytest.mark.parametrize("text", REFUSED)
def test_refuses_unknown_operands(text: str) -> None:
    with pytest.raises(Unsupported) as caught:
        parse_operand(text)
    quoted = caught.value.what.split("'")[1]
    assert quoted in text
