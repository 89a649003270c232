"""The expressions of launch lines mean what they mean in C, and every mistake has a line and a
column."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cpp.cursor import MAX_LENGTH, LanguageError
from grader.cpp.evaluation import LARGEST_VALUE, SMALLEST_VALUE
from grader.cpp.expressions import MAX_DEPTH, parse_expression
from grader.cpp.lexer import Position
from grader.cpp.tree import Address, Group, Real, Value
from grader.messages.syntax import describe_error

VALUES = {"rows": 65, "cols": 33, "TILE": 32, "ROWS": 8, "negative": -7}


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("0", 0),
        ("TILE", 32),
        (" ( TILE ) ", 32),
        ("0x1F", 31),
        ("0XfFuLL", 255),
        ("010", 8),
        ("0b101", 5),
        ("32u", 32),
        ("32UL", 32),
        ("32ull", 32),
        ("32LLU", 32),
        ("18446744073709551615", LARGEST_VALUE),
        ("-9223372036854775808", SMALLEST_VALUE),
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 3 - 2", 5),
        ("100 / 5 / 2", 10),
        ("100 / 5 * 2", 40),
        ("7 % 4 * 2", 6),
        ("-3 + 5", 2),
        ("--3", 3),
        ("2 * -3", -6),
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 / -2", -3),
        ("7 % -2", 1),
        ("negative / 2", -3),
        ("ceil_div(cols, TILE)", 2),
        ("ceil_div(TILE, TILE)", 1),
        ("ceil_div(0, TILE)", 0),
        ("ceil_div(-7, 2)", -3),
        ("min(rows, cols) * max(1, 2)", 66),
        ("min(max(1, 2), ceil_div(9, 2))", 2),
        ("(rows+TILE-1)/TILE", 3),
        ("(16\n*\n2)", 32),
        ("rows << 1", 130),
        ("-7 >> 1", -4),
        ("rows & 0xf | 16 ^ 3", 19),
        ("~0", -1),
        ("!rows + !0", 1),
        ("rows > cols", 1),
        ("rows <= cols || cols == 33 && rows != 65", 0),
        ("rows && 0 || TILE", 1),
        ("cols && 1 / cols", 0),
        ("0 && 1 / 0", 0),
        ("rows > cols ? TILE : 1 / 0", 32),
        ("0 ? 1 : 0 ? 2 : 3", 3),
        ("(int)2.9f * 10", 20),
        ("int(-2.9)", -2),
        ("static_cast<unsigned char>(300)", 44),
        ("(char)200", -56),
        ("(unsigned)-1", 4294967295),
        ("(size_t)rows * 2", 130),
        ("(rows) * 2", 130),
        ("sizeof(float) * TILE + sizeof(unsigned long long) + sizeof(float4 *)", 144),
        ("sizeof(const float4)", 16),
        ("std::min(rows, cols) + std::max(1, 2)", 35),
        ("1'000", 1000),
        ("1.5f < 2", 1),
        ("2 * 3 + 4 * 5 - 6 / 2 % 2 << 1 == 50", 1),
        ("--negative", -7),
    ],
)
def test_value(text: str, value: int) -> None:
    assert parse_expression(text).evaluate(VALUES) == value


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected a number or a name before the end of the line"),
        ("1 +", 4, "expected a number or a name before the end of the line"),
        ("(1", 3, "expected ')' before the end of the line"),
        ("1 2", 3, "expected an operator or the end before '2'"),
        ("1;", 2, "expected an operator or the end before ';'"),
        ("a.b", 2, "expected an operator or the end before '.'"),
        ("a[0", 4, "expected ']' before the end of the line"),
        ("1 <", 4, "expected a number or a name before the end of the line"),
        ("1 ? 2", 6, "expected ':' before the end of the line"),
        ("rows = 2", 6, "expected an operator or the end before '='"),
        ("(float)", 8, "expected a number or a name before the end of the line"),
        ("static_cast<int> 3", 18, "expected '(' before '3'"),
        ("sizeof()", 8, "expected a type before ')'"),
        ("{1, 2", 6, "expected ',' or '}' before the end of the line"),
        ("rows ** 2", 7, "expected a number or a name before '*'"),
        ("rows // 2", 7, "expected a number or a name before '/'"),
        ("1.5g", 1, "'1.5g' is no number as C writes them"),
        ("08", 1, "'08' is no number"),
        ("0x", 1, "'0x' is no number"),
        ("1lul", 1, "'1lul' is no number"),
        ("12ab", 1, "'12ab' is no number"),
        ("'os'", 1, "\"'os'\" is no character of ASCII"),
        ('"os"', 1, "expected a number or a name before '\"'"),
        (
            "__import__('os').system('ls')",
            1,
            "'__import__' cannot be called here; the functions are ceil_div, min, max",
        ),
        ("1 + exec(1)", 5, "'exec' cannot be called here"),
        ("(lambda: 1)()", 8, "expected ')' before ':'"),
        ("min(1)", 1, "min takes 2 arguments, got 1"),
        ("max()", 1, "max takes 2 arguments, got 0"),
        ("ceil_div(1, 2, 3)", 1, "ceil_div takes 2 arguments, got 3"),
        ("min(1, )", 8, "expected a number or a name before ')'"),
        ("min(1; 2)", 6, "expected ',' or ')' before ';'"),
        ("9" * 5000, 1, "the value does not fit 64 bits"),
        ("18446744073709551616", 1, "the value does not fit 64 bits"),
        ("§", 1, "expected a number or a name before '§'"),
        ("1 \x00", 3, "expected an operator or the end before '\\x00'"),
        ("(" * 5000, MAX_DEPTH + 1, f"nested more than {MAX_DEPTH} deep"),
        ("-" * 5000 + "1", MAX_DEPTH + 1, f"nested more than {MAX_DEPTH} deep"),
        ("min(1," * 500, MAX_DEPTH * 6 - 1, f"nested more than {MAX_DEPTH} deep"),
        ("1" + "+1" * MAX_LENGTH, 1, f"at most {MAX_LENGTH} are read"),
    ],
)
def test_mistake_has_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_expression(text, line=3, column=11)
    assert (caught.value.line, caught.value.column) == (3, column + 10)
    assert message in describe_error(caught.value)


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("1 + TILES", 5, "'TILES' is not known here; did you mean 'TILE'?"),
        ("xyz", 1, "'xyz' is not known here"),
        ("rows / (TILE - 32)", 6, "division by zero"),
        ("rows % 0", 6, "division by zero"),
        ("ceil_div(rows, 0)", 1, "division by zero"),
        ("18446744073709551615 + 1", 22, "the value does not fit 64 bits"),
        ("0 - 9223372036854775807 - 2", 25, "the value does not fit 64 bits"),
        ("-(18446744073709551615)", 1, "the value does not fit 64 bits"),
        ("1 << 64", 3, "a shift by no number of bits from 0 to 63"),
        ("1.5", 1, "'1.5' is a double, no integer"),
        ("2 * 1.5f", 1, "'2 * 1.5f' is a float, no integer"),
        ("7.0 % 2", 5, "'%' takes integers, not floats"),
        ("~1.5", 1, "'~' does not take a double"),
        ("(wide)1", 7, "expected an operator or the end before '1'"),
        (
            "(long double)1",
            1,
            "'long double' is no type that is known here; did you mean 'double'?",
        ),
        ("rows[0]", 5, "a launch line cannot read the elements of a buffer"),
        ("&rows", 1, "'&' is there for elements of buffers only"),
        ("&rows[1]", 6, "'[' does not take an integer"),
        ("dim3(1, 2)", 1, "'dim3(1, 2)' is a dim3, no integer"),
        ("(float4 *)rows", 1, "an integer cannot be made a pointer"),
        ("(int)1e300", 1, "the value does not fit 64 bits"),
    ],
)
def test_mistake_in_evaluation_has_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_expression(text, line=2).evaluate(VALUES)
    assert (caught.value.line, caught.value.column) == (2, column)
    assert describe_error(caught.value) == message


def test_place_counts_lines_of_the_text() -> None:
    with pytest.raises(LanguageError) as caught:
        parse_expression("1 +\n  2 $", line=5, column=40)
    assert (caught.value.line, caught.value.column) == (6, 5)


def test_names_leave_functions_out() -> None:
    assert parse_expression("ceil_div(rows, TILE) + min * TILE").names == {"rows", "TILE", "min"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ns::N + Tile<8, float>::size", {"ns::N", "Tile<8,float>::size"}),
        ("sizeof(Pair) * n", {"sizeof(Pair)", "n"}),
        ("a < b", {"a", "b"}),
        ("&out[n] == nullptr ? (T *)a : {b, d}", {"out", "n", "a", "b", "d"}),
    ],
)
def test_names_of_all_kinds(text: str, names: set[str]) -> None:
    assert parse_expression(text).names == names


def test_operators_of_all_levels_are_nested_as_deep_as_python_goes() -> None:
    inner = "0||1&&1|1^1&1==1<1<<1+1*("
    text = inner * (MAX_DEPTH - 1) + "1" + ")" * (MAX_DEPTH - 1)
    with pytest.raises(LanguageError, match="TOO_DEEP"):
        parse_expression(text).evaluate({})
    text = inner * 20 + "1" + ")" * 20
    assert parse_expression(text).evaluate({}) == 1


OUT = Address("out", "float", 4)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1.5f", Real(1.5, 4)),
        ("-.5", Real(-0.5, 8)),
        ("1e-1f", Real(float(np.float32(0.1)), 4)),
        ("1.0f / 3", Real(float(np.float32(1) / np.float32(3)), 4)),
        ("1.0f / 3.0", Real(1 / 3, 8)),
        ("16777216.0f + 1.0f", Real(16777216.0, 4)),
        ("1.0 / 0", Real(float("inf"), 8)),
        ("max(1, 2.5f)", Real(2.5, 4)),
        ("(float)7 / 2", Real(3.5, 4)),
        ("1 ? 2.0 : 3", Real(2.0, 8)),
        ("3e38f * 10", Real(float("inf"), 4)),
        ("out + 3", Address("out", "float", 4, 12)),
        ("2 + out - 1", Address("out", "float", 4, 4)),
        ("&out[n]", Address("out", "float", 4, 20)),
        ("(float4 *)out + 1", Address("out", "float4", 16, 16)),
        ("reinterpret_cast<const double *>(out + 2) + 1", Address("out", "double", 8, 16)),
        ("&((char *)out)[3]", Address("out", "char", 1, 3)),
        ("&out[4] - out", 4),
        ("out + 1 > out", 1),
        ("{1, 2.0f, out}", Group(None, (1, Real(2.0, 4), OUT))),
        ("Params{n}", Group("Params", (5,))),
        ("make_float2(1, 2)", Group("float2", (1, 2))),
        ("dim3(1, n)", Group("dim3", (1, 5))),
    ],
)
def test_value_of_any_kind(text: str, value: Value) -> None:
    assert parse_expression(text).value({"out": OUT, "n": 5}) == value


def test_text_and_position_are_those_of_the_file() -> None:
    expression = parse_expression("  rows + 1  ", line=4, column=10)
    assert (expression.text, expression.position) == ("rows + 1", Position(4, 12))
    assert expression.place_of("rows") == Position(4, 12)


@pytest.mark.parametrize(
    ("text", "name"), [("out", "out"), ("(out)", "out"), ("out + 0", None), ("1", None)]
)
def test_bare_name(text: str, name: str | None) -> None:
    assert parse_expression(text).bare_name == name


def test_deepest_allowed_nesting_evaluates() -> None:
    depth = MAX_DEPTH - 1
    assert parse_expression("(" * depth + "7" + ")" * depth).evaluate({}) == 7
    assert parse_expression("min(1+1*1," * depth + "7" + ")" * depth).evaluate({}) == 2


def test_long_sum_evaluates() -> None:
    assert parse_expression("+".join(["1"] * (MAX_LENGTH // 2))).evaluate({}) == MAX_LENGTH // 2


# Random expressions: the text, and its value by C's rules as Python computes them; None where C has
# none.

Sample = tuple[str, int | None]


def c_divide(a: int, b: int) -> int | None:
    return (
        None if b == 0 else (a // b if (a >= 0) == (b > 0) else -(-a // b) if a < 0 else -(a // -b))
    )


def c_remainder(a: int, b: int) -> int | None:
    quotient = c_divide(a, b)
    return None if quotient is None else a - b * quotient


C_OPERATORS: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": c_divide,
    "%": c_remainder,
}


def in_range(value: int | None) -> int | None:
    return value if value is not None and SMALLEST_VALUE <= value <= LARGEST_VALUE else None


def combine(left: Sample, operator: str, right: Sample) -> Sample:
    text = f"({left[0]}) {operator} ({right[0]})"
    if left[1] is None or right[1] is None:
        return text, None
    return text, in_range(C_OPERATORS[operator](left[1], right[1]))


leaves = st.one_of(
    st.integers(0, 100).map(lambda n: (str(n), n)),
    st.integers(0, LARGEST_VALUE).map(lambda n: (hex(n), n)),
    st.sampled_from(sorted(VALUES)).map(lambda name: (name, VALUES[name])),
)
samples = st.recursive(
    leaves,
    lambda inner: st.one_of(
        st.builds(combine, inner, st.sampled_from(sorted(C_OPERATORS)), inner),
        inner.map(lambda s: (f"-({s[0]})", None if s[1] is None else in_range(-s[1]))),
    ),
    max_leaves=12,
)


@given(samples)
def test_random_expressions_agree_with_c(sample: Sample) -> None:
    text, value = sample
    expression = parse_expression(text)
    if value is None:
        with pytest.raises(LanguageError):
            expression.evaluate(VALUES)
    else:
        assert expression.evaluate(VALUES) == value


@given(
    st.lists(st.tuples(st.sampled_from("+-*"), st.integers(0, 9)), max_size=12), st.integers(0, 9)
)
def test_precedence_agrees_with_python(steps: list[tuple[str, int]], first: int) -> None:
    text = str(first) + "".join(f" {operator} {number}" for operator, number in steps)
    assert parse_expression(text).evaluate({}) == eval(text)  # digits and operators only


@given(st.text(alphabet="ab1(), +-*/%.'\"\n\t<>_$é", max_size=40))
def test_any_text_gives_a_value_or_an_error_with_a_place(text: str) -> None:
    place = Position(1, 1)
    try:
        parse_expression(text).evaluate({"a": 1, "b": 0})
    except LanguageError as error:
        place = Position(error.line, error.column)
    lines = text.split("\n")
    assert 1 <= place.line <= len(lines)
    assert 1 <= place.column <= len(lines[place.line - 1]) + 1
