"""Named numbers as arguments of a kernel: the parameter's width, floats by their bits, NumPy's by
their type."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from grader.cpp.cursor import LanguageError
from grader.cpp.lexer import Position
from grader.records import KernelParameter
from grader.submission.scalars import Place, Scalar, bind_scalar

PLACE = Place(2, Position(7, 30))


def bind(value: Scalar, type_: str | None, size_bytes: int) -> bytes:
    """The argument's bytes as a kernel sees them."""
    argument = bind_scalar("s", value, KernelParameter(0, size_bytes, type_), PLACE)
    assert argument.size_bytes == size_bytes
    return (argument.value % (1 << 8 * size_bytes)).to_bytes(size_bytes, "little")


@pytest.mark.parametrize(
    ("value", "type_", "size_bytes", "format_"),
    [
        (0.1, "float", 4, "<f"),
        (0.1, "double", 8, "<d"),
        (0.5, "__half", 2, "<e"),
        (-7, "int", 4, "<i"),
        (-7, "long long", 8, "<q"),
        ((1 << 32) - 1, "unsigned int", 4, "<I"),
        (1 << 40, "unsigned long", 8, "<Q"),
        (True, "bool", 1, "<?"),
        (np.float32(0.1), "float", 4, "<f"),
        (np.float64(0.1), "double", 8, "<d"),
        (np.int64(-3), "long", 8, "<q"),
        (np.uint8(200), "unsigned char", 1, "<B"),
        (float("inf"), "float", 4, "<f"),
    ],
)
@pytest.mark.parametrize("linkage", ["C++", "C"])
def test_a_number_takes_the_width_of_its_parameter(
    value: Scalar, type_: str, size_bytes: int, format_: str, linkage: str
) -> None:
    known = type_ if linkage == "C++" else None
    assert bind(value, known, size_bytes) == struct.pack(format_, value)


@pytest.mark.parametrize(
    ("value", "type_", "size_bytes", "message"),
    [
        (2, "float", 4, "argument 2 is the int 's', but the kernel's parameter is float"),
        (2.0, "int", 4, "argument 2 is the float 's', but the kernel's parameter is int"),
        (np.float32(2), "int", 4, "is the float32 's', but the kernel's parameter is int"),
        (2.0, "float*", 8, "is a pointer (float*)"),
        (2.0, "ns::S", 12, "but the kernel's parameter is ns::S"),
        (2.0, None, 12, "is a structure of 12 bytes"),
        (2.0, None, 1, "is a structure of 1 bytes"),
        (1 << 40, "int", 4, "argument_too_wide"),  # words.plans tells it
        (1e300, "float", 4, "does not fit the parameter's 4 bytes (float)"),
        (np.float64(2), "float", 4, "the float64 's', which does not fit"),
        (np.float32(2), None, 8, "the float32 's', which does not fit"),
    ],
)
def test_another_kind_or_width_is_refused(
    value: Scalar, type_: str | None, size_bytes: int, message: str
) -> None:
    with pytest.raises(LanguageError) as refused:
        bind(value, type_, size_bytes)
    assert message in str(refused.value)
    assert (refused.value.line, refused.value.column) == (7, 30)
    assert refused.value.advice or refused.value.problem is not None
