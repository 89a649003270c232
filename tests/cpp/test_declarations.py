"""What a file declares is found as a compiler finds it: not in comments, strings and other
lines."""

from __future__ import annotations

import pytest

from grader.cpp.declarations import (
    assigns,
    evaluate,
    find_constants,
    find_includes,
    find_kernels,
    find_macros,
    read_constants,
)
from grader.cpp.signatures import find_kernel_lines


@pytest.mark.parametrize(
    ("source", "kernels"),
    [
        ("__global__ void k(float *a) {}", {"k": False}),
        ("template <int N>\n__global__ void k(float *a) {}", {"k": True}),
        ("template <int N> struct S {}; __global__ void k(int n);", {"k": False}),
        ("__global__ void __launch_bounds__(256) k(int n) {}", {"k": False}),
        ("template __global__ void k<32>(float *);", {}),
        ("// __global__ void k(int n) {}", {}),
        ('const char *s = "__global__ void k(int n) {}";', {}),
        ('const char *s = "//"; __global__ void k(int n) {}', {"k": False}),
        ('R"(\n__global__ void k() {}\n)"', {}),
        ("void host(int n) {} int my__global__; void f(int n) {}", {}),
    ],
)
def test_kernels(source: str, kernels: dict[str, bool]) -> None:
    assert find_kernels(source) == kernels


@pytest.mark.parametrize(
    ("source", "macros"),
    [
        ("#define A 1\n", [("A", False, ["1"])]),
        ("# define A(x) x\n", [("A", True, ["(", "x", ")", "x"])]),
        ("#define A (x)\n", [("A", False, ["(", "x", ")"])]),
        ("#define A 1 \\\n + 2 // three\n", [("A", False, ["1", "+", "2"])]),
        ("%:define A\n", [("A", False, [])]),
        ("x #define A 1\n", []),
        ("/*\n#define A 1\n*/", []),
        ("/* */ #define A 1\n", [("A", False, ["1"])]),
        ("#define\n", []),
        ("#define 1\n", []),
    ],
)
def test_macros(source: str, macros: list[tuple[str, bool, list[str]]]) -> None:
    found = [
        (macro.name, macro.is_function, [token.text for token in macro.value])
        for macro in find_macros(source)
    ]
    assert found == macros


def test_includes_are_named_with_their_lines() -> None:
    text = '\n#include <cub/cub.cuh>\n// #include <a>\n#  include "b.h"\n#include A\nR"(\n#include <c>\n)"'
    assert list(find_includes(text)) == [(2, "cub/cub.cuh"), (4, "b.h")]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("TILE + 1", 33),
        ("1 << 3 + 1", 16),
        ("-1 >> 1", -1),
        ("- 7 / 2", -3),
        ("010", 8),
        ("16u", 16),
        ("1 << 64", None),
        ("max ( 1 , 2 )", None),
        ("TILES", None),
        ("1 / 0", None),
        ("a--1", None),
        ("( int ) 1", 1),
        ("1" + " + 1" * 60, None),
    ],
)
def test_expressions_of_code_mean_what_they_mean_in_c(text: str, value: int | None) -> None:
    assert evaluate(text, {"TILE": 32}) == value


def test_constants_are_expressions_of_earlier_ones() -> None:
    text = """
#define TILE 32
#define ROWS (TILE / 4)
#define AREA(n) n * n
#define LATER UNKNOWN
// const int commented = 1;
constexpr int width = TILE + 1, other = 2;
static const unsigned int half = TILE >> 1;
int variable = 5;
const float real = 1;
"""
    assert read_constants(text) == {"TILE": 32, "ROWS": 8, "width": 33, "half": 16}


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("const int N = 4;", True),
        ("if (N == 4) f();", False),
        ("// N = 4", False),
        ("int N\n = 4;", True),
        ("NN = 4;", False),
    ],
)
def test_assignments_are_those_of_the_code(source: str, found: bool) -> None:
    assert assigns(source, "N") is found


def test_names_that_may_be_constants_or_types() -> None:
    source = """
    constexpr int A = 1, B = 2; static const unsigned C{3}; enum Kind : int { RED = 4, BLUE };
    struct Pair { static constexpr int width = 5; float member; }; using real = float;
    typedef unsigned char byte; namespace deep { class Inner; } int variable = 6;
    __global__ void k(const float *x, int n) { int local = n; }
    """
    names = {"A", "B", "Kind", "RED", "BLUE", "Pair", "width", "real", "byte", "deep", "Inner"}
    assert names <= find_constants(source)
    assert not {"variable", "n", "x", "local", "member"} & find_constants(source)


def test_kernels_have_the_lines_of_their_bodies() -> None:
    source = """\
__global__ void declared(int n);
template <int N> __global__
void __launch_bounds__(64) one(int n)
{
    if (n) { return; }
}
void host() { int x; }
namespace a {
__global__ void two() { }
}
"""
    assert [*find_kernel_lines(source)] == [("one", 2, 6)]
