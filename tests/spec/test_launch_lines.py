"""Launch and scratch lines: what they may say, and where a mistake in them is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader.cpp.cursor import LanguageError
from grader.cpp.expressions import Expression
from grader.messages.syntax import describe_error
from grader.spec.launch_lines import TypeName, parse_launch, parse_scratch
from grader.spec.statements import Plan

TRANSPOSE = (
    "transpose_shared<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE, ROWS)>>>(out,"
    " in, rows, cols)"
)


def texts(expressions: tuple[Expression, ...]) -> list[str]:
    return [expression.text for expression in expressions]


def test_launch_of_the_handout() -> None:
    launch = parse_launch(f"  {TRANSPOSE} ", line=3, column=11)
    assert str(launch.kernel) == "transpose_shared"
    assert texts(launch.grid) == ["ceil_div(cols, TILE)", "ceil_div(rows, TILE)"]
    assert texts(launch.block) == ["TILE", "ROWS"]
    assert launch.shared_bytes is None
    assert texts(launch.arguments) == ["out", "in", "rows", "cols"]
    assert (launch.line, launch.column, launch.text) == (3, 13, TRANSPOSE)


def test_launch_without_a_line_is_the_exercises() -> None:
    assert parse_launch("k<<<1, 1>>>()").line is None


@pytest.mark.parametrize(
    ("text", "name", "template", "grid", "block", "shared", "arguments"),
    [
        ("k<<<1, 256>>>()", "k", None, ["1"], ["256"], None, []),
        ("k<<<n / 2, 2 * 64, 4 * n>>>(a)", "k", None, ["n / 2"], ["2 * 64"], "4 * n", ["a"]),
        (
            "k <<<dim3(1,2,3),dim3(4)>>> (a , b)",
            "k",
            None,
            ["1", "2", "3"],
            ["4"],
            None,
            ["a", "b"],
        ),
        ("ns::inner::k<<<1, 1>>>()", "ns::inner::k", None, ["1"], ["1"], None, []),
        ("::k<<<1, 1>>>()", "k", None, ["1"], ["1"], None, []),
        ("k<><<<1, 1>>>()", "k", [], ["1"], ["1"], None, []),
        ("k<32, TILE / 4><<<1, 1>>>()", "k", ["32", "TILE / 4"], ["1"], ["1"], None, []),
        (
            "k<ceil_div(9, 2), -1><<<1, 1>>>()",
            "k",
            ["ceil_div(9, 2)", "-1"],
            ["1"],
            ["1"],
            None,
            [],
        ),
        (
            "k<float, true, const float *><<<1, 1>>>()",
            "k",
            ["float", "true", "const float *"],
            ["1"],
            ["1"],
            None,
            [],
        ),
        (
            "k<ns::pair<int, 3>, T><<<1, 1>>>()",
            "k",
            ["ns::pair<int, 3>", "T"],
            ["1"],
            ["1"],
            None,
            [],
        ),
    ],
)
def test_forms_of_a_launch(
    text: str,
    name: str,
    template: list[str] | None,
    grid: list[str],
    block: list[str],
    shared: str | None,
    arguments: list[str],
) -> None:
    launch = parse_launch(text)
    given = launch.kernel.template_arguments
    assert (
        launch.kernel.name,
        None if given is None else [argument.text for argument in given],
    ) == (name, template)
    assert (texts(launch.grid), texts(launch.block), texts(launch.arguments)) == (
        grid,
        block,
        arguments,
    )
    assert (launch.shared_bytes.text if launch.shared_bytes else None) == shared


def test_types_and_expressions_of_a_template_are_told_apart() -> None:
    launch = parse_launch("k<float, 32, false, TILE>  <<<1, 1>>>()")
    kinds = [type(argument) for argument in launch.kernel.template_arguments or ()]
    assert kinds == [TypeName, Expression, TypeName, Expression]


LAUNCH_MISTAKES = [
    ("", 1, "expected the name of a kernel before the end of the line"),
    ("<<<1, 1>>>()", 1, "expected the name of a kernel before '<<<'"),
    ("k", 2, "expected '<<<' before the end of the line"),
    ("k(out)", 2, "expected '<<<' before '('"),
    ("k<<1, 1>>()", 2, "expected '<<<' before '<<'"),
    ("k<< <1, 1>>>()", 2, "expected '<<<' before '<<'"),
    ("k.run<<<1, 1>>>()", 2, "expected '<<<' before '.'"),
    ("k::<<<1, 1>>>()", 4, "expected the name of a kernel before '<<<'"),
    ("k:x<<<1, 1>>>()", 2, "expected '<<<' before ':'"),
    ("k<<<>>>()", 5, "expected a number or a name before '>>>'"),
    ("k<<<1>>>()", 6, "expected ',' before '>>>'"),
    ("k<<<1, 1>>()", 9, "expected ',' or '>>>' before '>>'"),
    ("k<<<1, 1>>(a, b)", 9, "expected ',' or '>>>' before '>>'"),
    ("k<<<1, 1, 0, >>>()", 14, "expected a stream before '>>>'"),
    ("k<<<1, 1, 0, s, 1>>>()", 15, "expected ',' or '>>>' before ','"),
    ("k<<<1, 1 1>>>()", 10, "expected ',' or '>>>' before '1'"),
    ("k<<<dim3(), 1>>>()", 5, "dim3 takes 1 to 3 arguments, got 0"),
    ("k<<<dim3(1, 2, 3, 4), 1>>>()", 5, "dim3 takes 1 to 3 arguments, got 4"),
    ("k<<<1, 1>>>", 12, "expected '(' before the end of the line"),
    ("k<<<1, 1>>>(a", 14, "expected ',' or ')' before the end of the line"),
    ("k<<<1, 1>>>(a;", 14, "expected ',' or ')' before ';'"),
    ("k<<<1, 1>>>(a);", 15, "expected the end of the line before ';'"),
    ("k<<<1, 1>>>(a) // twice", 16, "expected the end of the line before '/'"),
    ("k<<<1, 1>>>(a, 1.0h)", 16, "'1.0h' is no number"),
    ("k<<<1, 1>>>({1, 2)", 18, "expected ',' or '}' before ')'"),
    ("k<<<1, 1>>>(__import__('os').system('id'))", 13, "'__import__' cannot be called here"),
    ("k<32<<<1, 1>>>()", 5, "expected '>' before '<<<'"),
    ("k<32", 5, "expected '>' before the end of the line"),
    ("k<,><<<1, 1>>>()", 3, "expected a template argument before ','"),
    ("k<1.5g><<<1, 1>>>()", 3, "'1.5g' is no number"),
    ("k<<<" + "(" * 9000, 69, "nested more than 64 deep"),
]


@pytest.mark.parametrize(("text", "column", "message"), LAUNCH_MISTAKES)
def test_mistake_in_a_launch_has_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_launch(text, line=7, column=12)
    assert (caught.value.line, caught.value.column) == (7, column + 11)
    assert message in describe_error(caught.value)


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("float x[N]", "float32"),
        ("double x[N]", "float64"),
        ("half x[N]", "float16"),
        ("int x[N]", "int32"),
        ("unsigned x[N]", "uint32"),
        ("unsigned int x[N]", "uint32"),
        ("long long x[N]", "int64"),
        ("long x[N]", "int64"),
        ("unsigned long long int x[N]", "uint64"),
        ("long unsigned int x[N]", "uint64"),
        ("char x[N]", "int8"),
        ("signed char x[N]", "int8"),
        ("unsigned char x[N]", "uint8"),
        ("short int x[N]", "int16"),
        ("uint32_t x[N]", "uint32"),
        ("size_t x[N]", "uint64"),
    ],
)
def test_types_of_scratch_buffers(text: str, dtype: str) -> None:
    assert parse_scratch(text).dtype == dtype


def test_scratch_line() -> None:
    buffer = parse_scratch(" float BT[N * K][2]", line=4, column=12)
    assert (buffer.name, texts(buffer.shape)) == ("BT", ["N * K", "2"])
    assert (buffer.line, buffer.column, buffer.text) == (4, 13, "float BT[N * K][2]")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("", 1, "expected a type before the end of the line"),
        ("int", 4, "expected the buffer's name before the end of the line"),
        ("flaot x[1]", 1, "'flaot' is no type of a scratch buffer; did you mean 'float'?"),
        ("long double x[1]", 1, "'long double' is no type of a scratch buffer"),
        ("float* x", 6, "declared by its elements"),
        ("float x", 8, "expected '[' before the end of the line"),
        ("float x[]", 9, "expected a number or a name before ']'"),
        ("float x[N", 10, "expected ']' before the end of the line"),
        ("float x[N];", 11, "expected the end of the line before ';'"),
        ("float x[open('f')]", 9, "'open' cannot be called here"),
    ],
)
def test_mistake_in_a_scratch_line_has_its_place(text: str, column: int, message: str) -> None:
    with pytest.raises(LanguageError) as caught:
        parse_scratch(text, line=2, column=5)
    assert (caught.value.line, caught.value.column) == (2, column + 4)
    assert message in describe_error(caught.value)


def test_names_of_a_plan_are_those_of_all_its_expressions() -> None:
    launch = parse_launch("k<A, float><<<dim3(B, 1), C, D>>>(out, E + min(F, 1))")
    plan = Plan((launch,), (parse_scratch("float x[G]"),))
    assert plan.names == {"A", "B", "C", "D", "out", "E", "F", "G"}


@given(st.text(alphabet="k<>(),:dim3 1;*_\n", max_size=40))
def test_any_text_gives_a_launch_or_an_error_with_a_place(text: str) -> None:
    text = "k<" + text
    place = (1, 1)
    try:
        parse_launch(text)
    except LanguageError as error:
        place = (error.line, error.column)
    lines = text.split("\n")
    assert 1 <= place[0] <= len(lines)
    assert 1 <= place[1] <= len(lines[place[0] - 1]) + 1
