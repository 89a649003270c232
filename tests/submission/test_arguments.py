"""Arguments of a launch line must suit the kernel's parameters in number, kind, type and width."""

from __future__ import annotations

import pytest

from grader.cpp.cursor import LanguageError
from grader.records import (
    BufferArgument,
    DeviceBuffer,
    Kernel,
    KernelParameter,
    Role,
    ScalarArgument,
)
from grader.spec.launch_lines import parse_launch
from grader.submission.arguments import bind_arguments, element_dtype
from grader.submission.plan_mistakes import launch_mistake
from grader.words.hidden import tell

BUFFERS = {
    "f": DeviceBuffer("f", "float32", (4,), Role.INPUT),
    "d": DeviceBuffer("d", "float64", (4,), Role.OUTPUT),
    "i": DeviceBuffer("i", "int32", (4,), Role.SCRATCH),
    "h": DeviceBuffer("h", "float16", (4,), Role.SCRATCH),
}
VALUES = {"n": 100, "big": 1 << 40}
SIZES = {
    "int": 4,
    "unsigned int": 4,
    "long": 8,
    "unsigned char": 1,
    "bool": 1,
    "short": 2,
    "float": 4,
    "double": 8,
    "ns::S": 12,
}


def bind(
    arguments: str, *parameters: KernelParameter | str
) -> tuple[BufferArgument | ScalarArgument, ...]:
    typed = tuple(
        p if isinstance(p, KernelParameter) else KernelParameter(0, SIZES.get(p, 8), p)
        for p in parameters
    )
    kernel = Kernel("k", "k", typed, 0x210, 32, 0, 0, None, ())
    launch = parse_launch(f"k<<<1, 1>>>({arguments})", line=1, column=1)
    return bind_arguments(launch, kernel, buffers=BUFFERS, evaluate=lambda e: e.evaluate(VALUES))


def untyped(size_bytes: int) -> KernelParameter:
    return KernelParameter(0, size_bytes)


@pytest.mark.parametrize(
    ("argument", "parameter"),
    [
        ("f", "float*"),
        ("f", "float const*"),
        ("f", "float volatile*"),
        ("(f)", "float *"),
        ("f", "void*"),
        ("f", "void const*"),
        ("f", "char*"),
        ("f", "unsigned char const*"),
        ("f", "float4*"),
        ("f", "float2 const*"),
        ("f", "ns::Vec*"),
        ("f", "float const (*) [4]"),
        ("f", "float (*)[4][8]"),
        ("f", "float2 (*) [4]"),
        ("d", "double*"),
        ("d", "double2*"),
        ("i", "int*"),
        ("i", "int4 const*"),
        ("h", "__half*"),
        ("h", "__half2*"),
        ("f", untyped(8)),
    ],
)
def test_buffer_for_a_pointer(argument: str, parameter: KernelParameter | str) -> None:
    assert bind(argument, parameter) == (BufferArgument(argument.strip("()")),)


@pytest.mark.parametrize(
    ("argument", "parameter", "value", "size_bytes"),
    [
        ("n", "int", 100, 4),
        ("n + 1", "long", 101, 8),
        ("big", "long", 1 << 40, 8),
        ("-1", "int", -1, 4),
        ("-1", "unsigned int", -1, 4),
        ("4294967295", "int", 0xFFFFFFFF, 4),
        ("-2147483648", "int", -(1 << 31), 4),
        ("255", "unsigned char", 255, 1),
        ("-128", "unsigned char", -128, 1),
        ("65535", "short", 65535, 2),
        ("1", "bool", 1, 1),
        ("18446744073709551615", "unsigned long", (1 << 64) - 1, 8),
        ("n", untyped(4), 100, 4),
        ("big", untyped(8), 1 << 40, 8),
    ],
)
def test_integer_takes_the_parameters_width(
    argument: str, parameter: KernelParameter | str, value: int, size_bytes: int
) -> None:
    assert bind(argument, parameter) == (ScalarArgument(value, size_bytes),)


@pytest.mark.parametrize(
    ("argument", "parameter", "message"),
    [
        (
            "f",
            "int",
            "argument 1 is the buffer 'f', but the kernel's parameter is no pointer (int)",
        ),
        ("f", "long", "the kernel's parameter is no pointer (long)"),
        ("f", untyped(4), "the kernel's parameter is no pointer (4 bytes)"),
        (
            "f",
            "double*",
            "argument 1 is the buffer 'f' of float32, but the kernel's parameter is double*",
        ),
        ("f", "int const*", "of float32, but the kernel's parameter is int const*"),
        ("f", "double2*", "of float32, but the kernel's parameter is double2*"),
        ("i", "float4*", "of int32, but the kernel's parameter is float4*"),
        ("i", "unsigned int*", "of int32, but the kernel's parameter is unsigned int*"),
        ("h", "float*", "of float16, but the kernel's parameter is float*"),
        (
            "n",
            "float*",
            "argument 1 is the integer 'n', but the kernel's parameter is a pointer (float*)",
        ),
        ("0", "void*", "the kernel's parameter is a pointer (void*)"),
        ("n", "float", "argument 1 is the integer 'n', but the kernel's parameter is float"),
        ("n", "double", "the kernel's parameter is double"),
        ("n", "ns::S", "the kernel's parameter is ns::S"),
        ("n", untyped(12), "the kernel's parameter is a structure of 12 bytes"),
        (
            "big",
            "int",
            "argument 1 is 1099511627776, which does not fit the parameter's 4 bytes (int)",
        ),
        ("4294967296", "unsigned int", "does not fit the parameter's 4 bytes"),
        ("-2147483649", "int", "does not fit the parameter's 4 bytes"),
        ("256", "unsigned char", "does not fit the parameter's 1 bytes"),
        ("2", "bool", "does not fit the parameter's 1 bytes (bool)"),
        ("big", untyped(4), "does not fit the parameter's 4 bytes (integer)"),
    ],
)
def test_argument_that_does_not_suit(
    argument: str, parameter: KernelParameter | str, message: str
) -> None:
    with pytest.raises(LanguageError) as caught:
        bind(argument, parameter)
    told = tell(launch_mistake(caught.value, ""))
    assert message in told.message
    assert caught.value.column == 13
    assert told.advice


@pytest.mark.parametrize(
    ("arguments", "parameters", "column", "message"),
    [
        ("", ["int"], 1, "k takes 1 argument (int), but 0 are given"),
        (
            "f, n",
            ["float*", "int", "int"],
            1,
            "k takes 3 arguments (float*, int, int), but 2 are given",
        ),
        ("f, n, 1", ["float*", "int"], 19, "k takes 2 arguments (float*, int), but 3 are given"),
        ("f", [], 13, "k takes 0 arguments, but 1 is given"),
        ("f", [untyped(8), untyped(4)], 1, "k takes 2 arguments, but 1 is given"),
    ],
)
def test_wrong_number_of_arguments(
    arguments: str, parameters: list[KernelParameter | str], column: int, message: str
) -> None:
    with pytest.raises(LanguageError) as caught:
        bind(arguments, *parameters)
    assert (caught.value.message, caught.value.column) == (message, column)


@pytest.mark.parametrize(
    ("pointer", "dtype"),
    [
        ("float*", "float32"),
        ("float4 const*", "float32"),
        ("uchar4*", "uint8"),
        ("longlong2*", "int64"),
        ("float**", None),
        ("S*", None),
    ],
)
def test_element_type_of_a_pointer(pointer: str, dtype: str | None) -> None:
    assert element_dtype(pointer) == dtype


@pytest.mark.parametrize(
    ("type", "points"),
    [
        ("float*", True),
        ("float const (*) [4]", True),
        ("float (*)[4][8]", True),
        ("int", False),
        ("void (*)(int)", False),
        ("Box<float (*) [4]>", False),
        (None, None),
    ],
)
def test_what_points_to_data(type: str | None, points: bool | None) -> None:
    assert KernelParameter(0, 8, type).is_pointer is points
