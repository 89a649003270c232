"""Arguments of a launch line must suit the kernel's parameters in number, kind, type and width."""

from __future__ import annotations

import re
import struct

import numpy as np
import pytest

from grader.cpp.cursor import LanguageError
from grader.devices.parameter_space import pack_parameters
from grader.messages.hidden import describe_mistake
from grader.messages.syntax import describe_error
from grader.records import (
    BufferArgument,
    DeviceBuffer,
    Dim3,
    Kernel,
    KernelParameter,
    Launch,
    Role,
    ScalarArgument,
    StructArgument,
)
from grader.spec.launch_lines import parse_launch
from grader.submission.arguments import Argument, bind_arguments, element_dtype
from grader.submission.plan import launch_mistake
from grader.submission.scope import Scope

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
    "Pair": 8,
    "Nest": 32,
    "Deep": 32,
    "Twice": 4,
    "float4": 16,
    "int2": 8,
    "__half": 2,
    "Odd": 8,
    "Plus": 1,
    "ops::Most<float>": 1,
    "Scale": 4,
    "Made": 4,
    "Given": 8,
}


STRUCTURES = """
struct Pair { int first; float second; };
typedef struct { unsigned char tag; double : 0; } Bits;
struct Nest { char tag; static const int N = 3; double align; Pair pair, more[1]; };
struct Deep { struct Inner { int a; Pair pairs[2]; int size() { return 2; } } inner; int b; int c[1][2]; };
namespace one { struct Twice { int a; }; } namespace two { struct Twice { float a; }; }
struct Odd { int a; template <class T> void f(); };
struct Plus { __device__ int operator()(int a, int b) const { return a + b; } };
namespace ops { template <class T> struct Most { static T twice(T x); T operator()(T a, T b) { return a > b ? a : b; } }; }
struct Scale { float by; __device__ float operator()(float x) const { return (x * by); } };
struct Made { float by; Made(float x) : by(2 * x) {} };
struct Given { int first = 3; float second; };
struct Pointers { const double *where; int count; float *other; };
"""


def float_bits(value: float) -> int:
    return int.from_bytes(struct.pack("<f", value), "little")


NESTED = [(0, 7, 1), (8, 4602678819172646912, 8), (16, 8, 4), (20, float_bits(9.0), 4), (24, 10, 4)]
DEEP = [(0, 1, 4), (4, 2, 4), (8, float_bits(3.0), 4), (12, 4, 4)]


def bind(arguments: str, *parameters: KernelParameter | str) -> tuple[Argument, ...]:
    typed = tuple(
        p if isinstance(p, KernelParameter) else KernelParameter(0, SIZES.get(p, 8), p)
        for p in parameters
    )
    kernel = Kernel("k", "k", typed, 0x210, 32, 0, 0, None, ())
    launch = parse_launch(f"k<<<1, 1>>>({arguments})", line=1, column=1)
    scope = Scope(constants=VALUES, sizes={}, source=STRUCTURES)
    for buffer in BUFFERS.values():
        scope.add_buffer(buffer)
    return bind_arguments(launch, kernel, scope)


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
        ("1.5f", "int", "argument 1 is a float, '1.5f', but the kernel's parameter is int"),
        ("1.5", untyped(1), "a double, '1.5', but the kernel's parameter is a structure of 1 b"),
        ("1e300", "float", "which does not fit the parameter's 4 bytes (float)"),
        ("n", "ns::S", "argument 1 is the integer 'n', but the kernel's parameter is ns::S"),
        ("n", untyped(12), "the kernel's parameter is a structure of 12 bytes"),
        ("nullptr", "int", "argument 1 is a null pointer, but the kernel's parameter is int"),
        ("f + 5", "float*", "'f' from byte 20 on, which lies outside of its 16 bytes"),
        ("f - 1", "float*", "'f' from byte -4 on, which lies outside of its 16 bytes"),
        ("(int *)f", "float*", "'f' of int32, but the kernel's parameter is float*"),
        ("{1}", "ns::S", "'{1}', but how the kernel's parameter (ns::S) is laid out is not known"),
        ("{1}", untyped(8), "(of 8 bytes) is laid out is not known"),
        ("{1, 2, 3, 4, 5}", "float4", "5 values in braces are 1 too many for float4"),
        ("{f, 1.5f}", "Pair", "argument 1 is the buffer 'f', but the kernel's parameter is no"),
        ("{1, f}", "Odd", "but how the kernel's parameter (Odd) is laid out is not known"),
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
    told = describe_mistake(launch_mistake(caught.value, ""))
    assert message in told.message
    assert caught.value.column == 13
    assert told.advice


@pytest.mark.parametrize(
    ("argument", "parameter", "format_", "value"),
    [
        ("1.5f", "float", "<f", 1.5),
        ("0.1", "float", "<f", 0.1),
        ("0.1f", "double", "<d", float(np.float32(0.1))),
        ("0.5", "__half", "<e", 0.5),
        ("n", "double", "<d", 100.0),
        ("-2.5f * n", untyped(4), "<f", -250.0),
        ("2.5f", untyped(8), "<d", 2.5),
    ],
)
def test_floating_point_numbers_are_given_by_their_bits(
    argument: str, parameter: KernelParameter | str, format_: str, value: float
) -> None:
    (bound,) = bind(argument, parameter)
    assert isinstance(bound, ScalarArgument)
    data = struct.pack(format_, value)
    assert bound == ScalarArgument(int.from_bytes(data, "little"), len(data))


def test_an_address_may_lie_within_its_buffer_and_right_behind_it() -> None:
    assert bind("f + 1", "float*") == (BufferArgument("f", offset_bytes=4),)
    assert bind("&f[4]", "float const*") == (BufferArgument("f", offset_bytes=16),)
    assert bind("(float4 *)f + 1", "float4*") == (BufferArgument("f", offset_bytes=16),)
    assert bind("nullptr", "float*") == (ScalarArgument(0, 8),)


@pytest.mark.parametrize(
    ("argument", "parameter", "parts"),
    [
        ("{1, 2.5f}", "Pair", [(0, 1, 4), (4, float_bits(2.5), 4)]),
        ("{n}", "Pair", [(0, 100, 4)]),
        ("Pair{n, 1}", untyped(8), [(0, 100, 4), (4, float_bits(1.0), 4)]),
        ("{7, 0.5, {8, 9.0f}, {{10}}}", "Nest", NESTED),
        ("{7, 0.5, Pair{8, 9.0f}, 10}", "Nest", NESTED),
        ("Nest{7, 0.5, 8, 9.0f, 10}", "Nest", NESTED),
        ("{{1, {{2, 3.0f}, {4}}}, 5, {{6}}}", "Deep", [*DEEP, (20, 5, 4), (24, 6, 4)]),
        ("{1, 2, 3.0f, 4, 0.0f, 5, 6, 0}", "Deep", [*DEEP, (16, 0, 4), (20, 5, 4), (24, 6, 4)]),
        ("{7, 0.0, 8, 9.0f, 10}", "Nest", [(0, 7, 1), (8, 0, 8), (16, 8, 4)]),
        ("make_int2(3, -1)", "int2", [(0, 3, 4), (4, -1, 4)]),
        ("Plus{}", "Plus", []),
        ("{}", "Plus", []),
        ("Plus{}", untyped(1), []),
        ("ops::Most<float>{}", "ops::Most<float>", []),
        ("Scale{2.5f}", "Scale", [(0, float_bits(2.5), 4)]),
        ("{1}", "Given", [(0, 1, 4)]),
    ],
)
def test_structures_have_their_members_in_place(
    argument: str, parameter: KernelParameter | str, parts: list[tuple[int, int, int]]
) -> None:
    (bound,) = bind(argument, parameter)
    assert isinstance(bound, StructArgument)
    first = [(offset, ScalarArgument(value, size)) for offset, value, size in parts]
    assert list(bound.parts[: len(parts)]) == first


@pytest.mark.parametrize(
    ("argument", "parameter", "message"),
    [
        ("{2.5f}", "Made", "how the kernel's parameter (Made) is laid out is not known"),
        ("{}", "Given", "leaves out members that Given itself gives a value"),
        ("Plus{1}", "Plus", "1 values in braces are 1 too many for Plus"),
        ("{7, 0.5, {8, 9.0f, 1}}", "Nest", "3 values in braces are 1 too many for Pair"),
        (
            "{7, {8, 9.0f}}",
            "Nest",
            "is a structure, but the kernel's parameter is double (a member",
        ),
        ("{1}", "Twice", "how the kernel's parameter (Twice) is laid out is not known"),
    ],
)
def test_what_a_structure_makes_of_values_itself_is_not_guessed(
    argument: str, parameter: str, message: str
) -> None:
    with pytest.raises(LanguageError, match=re.escape(message)):
        bind(argument, parameter)


def test_the_parameter_space_holds_structures_and_offsets() -> None:
    parameters = (KernelParameter(0, 8, "float*"), KernelParameter(8, 24, "Pointers"))
    kernel = Kernel("k", "k", parameters, 0x210, 32, 0, 0, None, ())
    bound = bind("f + 1, {d, 3, f}", *parameters)
    launch = Launch("k", Dim3(1), Dim3(1), 0, bound, 1, "")
    space = pack_parameters(kernel, launch, {"f": 0x1000, "d": 0x2000})
    assert struct.unpack("<QQixxxxQ", space) == (0x1004, 0x2000, 3, 0x1000)


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
    assert (describe_error(caught.value), caught.value.column) == (message, column)


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
