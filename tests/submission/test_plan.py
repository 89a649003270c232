"""Launch and scratch lines are found where they are, and nowhere else."""

from __future__ import annotations

import pytest

from grader.cpp.tree import Real, Value
from grader.messages.hidden import describe_mistake
from grader.records import Failure, Kernel, NoConstant, PlanMistake, Status, Submission
from grader.spec.launch_lines import parse_launch
from grader.spec.statements import Plan
from grader.submission.plan import (
    MAX_LINES,
    macro_names,
    open_questions,
    read_macros,
    read_plan,
    unanswered,
)

LAUNCH = "k<<<1, TILE>>>(out, rows)"


def submit(text: str) -> Submission:
    return Submission("mine.cu", "0" * 64, text)


def plan_of(text: str) -> Plan:
    plan = read_plan(submit(text))
    assert isinstance(plan, Plan)
    return plan


def failure_of(text: str) -> Failure:
    mistake = read_plan(submit(text))
    assert isinstance(mistake, PlanMistake)
    failure = describe_mistake(mistake)
    assert failure.status is Status.LAUNCH_ERROR
    assert failure.advice
    return failure


def test_lines_are_read_in_order_with_their_places() -> None:
    plan = plan_of(
        "#define TILE 32\n  // launch: a<<<1, 1>>>()\n// scratch: float x[4]\nint"
        f" i;\r\n//launch:{LAUNCH}\r\n"
    )
    assert [(str(launch.kernel), launch.line, launch.column) for launch in plan.launches] == [
        ("a", 2, 14),
        ("k", 5, 10),
    ]
    assert [(buffer.name, buffer.line, buffer.column) for buffer in plan.scratch] == [("x", 3, 13)]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "__global__ void k() {}",
        "// launch the kernel with 32 x 8 threads",
        "// Launch: 32 x 8 threads work best",
        "// the launch: see below",
        "// kernel<<<grid, block>>>(out, in)",
        "// scratch space is needed",
        f'const char* text = "\\\n// launch: {LAUNCH}";',
        f'const char* text = R"(\n// launch: {LAUNCH}\n)";',
        f"/*\n// launch: {LAUNCH}\n*/",
        f"// not this one \\\n// launch: {LAUNCH}",
        "int i; // launch: only a word",
        f"// // launch: {LAUNCH}",
        f"// launch{LAUNCH[1:]}",
        f"// launch <{LAUNCH[5:]}",
        f"// benchmark: {LAUNCH}",
        "/* launch the kernel with 32 x 8 threads */",
        f"/* launch2<<<1, 1>>>(out); */ // {LAUNCH}",
    ],
)
def test_what_is_no_launch_line(text: str) -> None:
    assert read_plan(submit(text)) is None


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("// launch: k<<<1, 1>>>(a;", 1, 25, "expected ',' or ')' before ';'"),
        ("// launch: k<<<1, 1>>>(a, \\\n//  b)", 1, 4, "a launch line cannot be continued"),
        ("// launch: k<<<1, 1>>>(a,\n//  b)", 1, 26, "before the end of the line"),
        ("// launch: __import__('os').system('id')", 1, 22, "expected '<<<' before '('"),
        ("// launch:", 1, 11, "expected the name of a kernel"),
        (
            f"//launch : {LAUNCH}",
            1,
            3,
            "'//launch :' starts no launch line; did you mean '// launch:'?",
        ),
        (f"  // lauch: {LAUNCH}", 1, 6, "'// lauch:' starts no launch line"),
        (f"// Launch: {LAUNCH}", 1, 4, "did you mean '// launch:'?"),
        (f"// launch {LAUNCH}", 1, 4, "did you mean '// launch:'?"),
        (f"/// launch: {LAUNCH}", 1, 3, "did you mean '// launch:'?"),
        (f"// launches: {LAUNCH}", 1, 4, "did you mean '// launch:'?"),
        ("// scratsh: float x[2]", 1, 4, "did you mean '// scratch:'?"),
        *[
            (
                f"\n  //{written} k<<<1, 32>>>(out)",
                2,
                column,
                "starts no launch line; did you mean '// launch:'?",
            )
            for written, column in [
                (" LAUNCH:", 6),
                (" LAUNCH", 6),
                (" laumch:", 6),
                (" launch;", 6),
                (" - launch:", 6),
                (" @launch:", 6),
                (" 1. launch:", 6),
                (" Launch with:", 6),
                (" l\u0430unch:", 6),
                (" Launch: the best is", 6),
                ("* launch:", 5),
            ]
        ],
        ("/* launch: k<<<1, 1>>>(out) */", 1, 4, "'/* launch:' starts no launch line"),
        ("int i; /* launch: k<<<1, 1>>>(out) */", 1, 11, "'/* launch:' starts no launch line"),
        (
            "/**\n * The kernel.\n * launch: k<<<1, 1>>>(out)\n */",
            3,
            2,
            "'* launch:' starts no launch line",
        ),
        (f"// Launch: {LAUNCH};", 1, 4, "'// Launch:' starts no launch line"),
        ("// Launch: k<<<1, 1", 1, 4, "'// Launch:' starts no launch line"),
        ("int i; // launch: k<<<1, 1", 1, 11, "a launch line must stand on a line of its own"),
        ("// Scratch: float x[2];", 1, 4, "'// Scratch:' starts no scratch line"),
        ("/* scratch: float x[2] */", 1, 4, "'/* scratch:' starts no scratch line"),
        ("// scratch: float x[2] ;", 1, 24, "a scratch line has no semicolon"),
        (f"int i; // launch: {LAUNCH}", 1, 11, "a launch line must stand on a line of its own"),
        (
            f"// scratch: float x[2]\n// scratch: int x[2]\n// launch: {LAUNCH}",
            2,
            13,
            "already declared in line 1",
        ),
        ("\n\n// scratch: float x[2]", 3, 13, "no launch line"),
        (f"// launch: {LAUNCH}\n" * (MAX_LINES + 1), MAX_LINES + 1, 4, f"more than {MAX_LINES}"),
        ("// launch: k<<<1" + "+1" * 9000 + ",1>>>()", 1, 11, "at most 10000 are read"),
    ],
)
def test_mistake_names_its_place(text: str, line: int, column: int, message: str) -> None:
    failure = failure_of(text)
    assert failure.message.startswith(f"line {line}, column {column}: ")
    assert message in failure.message


def test_misspelt_line_shows_the_right_form() -> None:
    failure = failure_of(f"/* launch: {LAUNCH} */")
    assert "// launch: kernel<<<" in failure.advice
    assert failure.detail == f"1 | /* launch: {LAUNCH} */\n       ^"
    assert "// scratch: float name[" in failure_of("// Scratch: float x[2]").advice


def test_semicolon_says_what_to_do() -> None:
    assert failure_of(f"// scratch: int i[1];\n// launch: {LAUNCH}").advice == "Take the ';' out."


def test_detail_shows_the_line_with_a_caret() -> None:
    failure = failure_of("int i;\n\t// launch: k<<<1, 1>>>(a;\n")
    assert failure.detail == "2 | \t// launch: k<<<1, 1>>>(a;\n    \t" + " " * 24 + "^"


def test_detail_of_a_long_line_is_short() -> None:
    failure = failure_of("// launch: k<<<" + "1+" * 4000 + ", 1>>>()")
    line, caret = failure.detail.split("\n")
    assert len(line) < 300
    assert line[caret.index("^")] == ","


def test_macro_names_are_those_that_nothing_else_explains() -> None:
    plan = plan_of(
        "// scratch: float x[rows * PAD]\n// launch: k<KIND, float><<<TILE, 1>>>(out, x, rows)"
    )
    assert macro_names(plan, {"out", "rows", "cols"}) == ("KIND", "PAD", "TILE")


MACROS = "// scratch: float x[PAD]\n// launch: k<KIND, 2 * PAD><<<TILE, 1>>>(out, WIDTH)"


def test_macros_are_integer_expressions() -> None:
    texts = {"TILE": "(16*2)", "PAD": " 0x10u ", "WIDTH": "-1", "UNUSED": "float"}
    assert read_macros(plan_of(MACROS), texts, MACROS) == {"TILE": 32, "PAD": 16, "WIDTH": -1}


def test_macro_that_is_a_template_argument_may_be_a_type() -> None:
    assert read_macros(plan_of(MACROS), {"KIND": "float", "TILE": "1"}, MACROS) == {"TILE": 1}


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("((int)4)", {"TILE": 4}),
        ("32.0", {"TILE": Real(32.0, 8)}),
        ("float", {}),
        ("1 / 0", {}),
        ("open('/etc/passwd')", {}),
        ("WIDTH * sizeof(Pair)", {}),
    ],
)
def test_macro_that_is_no_number_is_left_to_the_compiler(
    text: str, values: dict[str, Value]
) -> None:
    assert read_macros(plan_of(MACROS), {"TILE": text}, MACROS) == values


def test_macro_without_a_value_is_named() -> None:
    mistake = read_macros(plan_of(MACROS), {"TILE": ""}, MACROS)
    assert isinstance(mistake, PlanMistake)
    message = describe_mistake(mistake).message
    assert message == "line 2, column 31: the macro 'TILE' is defined without a value"


CONSTANTS = """
constexpr int TILE = 16; using real = float; struct Shape { static constexpr int width = 4; };
// scratch: float x[Shape::width * PAD]
// launch: k<real, TILE, ns::Mode::B, other><<<sizeof(Shape), rows>>>(x, TYPO)
"""


def test_the_compiler_is_asked_for_what_only_the_file_explains() -> None:
    kernel = Kernel("s", "k<float, 16, (ns::Mode)7, other>", (), 0, 0, 0, 0, None, ())
    source = CONSTANTS + "enum class Mode { B = 7 }; namespace ns {} struct other;"
    questions = open_questions(plan_of(source), {"rows"}, [kernel], source)
    assert {each.text: each.may_be_type for each in questions} == {
        "Shape::width": False,
        "real": True,
        "TILE": True,
        "ns::Mode::B": True,
        "sizeof(Shape)": False,
    }


def test_what_is_no_constant_is_told_with_the_compilers_words() -> None:
    source = "int width = 4;\n// launch: k<<<1, width>>>()"
    mistake = unanswered(plan_of(source), NoConstant("width", "width is no constant"), source)
    failure = describe_mistake(mistake)
    assert failure.message == (
        "line 2, column 19: 'width' is no constant that the compiler can evaluate at the end of the"
        " file: width is no constant"
    )
    assert "constexpr" in failure.advice


def test_macro_of_the_default_plan_is_named_without_a_line() -> None:
    plan = Plan((parse_launch("k<<<TILE, 1>>>()"),))
    mistake = read_macros(plan, {"TILE": ""}, "")
    assert isinstance(mistake, PlanMistake)
    failure = describe_mistake(mistake)
    assert failure.message.startswith(
        "the exercise's default launch line, column 5: the macro 'TILE'"
    )
    assert failure.detail == "k<<<TILE, 1>>>()\n    ^"


# --- parts ----------------------------------------------------------------------------------------

PARTS_SOURCE = """
// launch: own<<<1, 2>>>(out)
// launch in_place: square<<<1, 3>>>(t)
// scratch in_place: float t[n]
// launch twice: second<<<1, 4>>>(out)
"""


@pytest.mark.parametrize(
    ("part", "kernel", "scratch"),
    [(None, "own", 0), ("in_place", "square", 1), ("twice", "second", 0)],
)
def test_each_part_has_its_own_lines(part: str | None, kernel: str, scratch: int) -> None:
    plan = read_plan(submit(PARTS_SOURCE), part=part, parts=("in_place", "twice"))
    assert isinstance(plan, Plan)
    assert [launch.kernel.name for launch in plan.launches] == [kernel]
    assert len(plan.scratch) == scratch


def test_a_mistake_in_a_part_s_line_is_that_part_s() -> None:
    source = submit("// launch in_place: square<<<1 3>>>(out)\n")
    assert read_plan(source, parts=("in_place",)) is None
    mistake = read_plan(source, part="in_place", parts=("in_place",))
    assert isinstance(mistake, PlanMistake)
    failure = describe_mistake(mistake)
    assert "line 1, column 32" in failure.message


def test_a_part_that_does_not_exist_is_named() -> None:
    mistake = read_plan(submit("// launch in_plaec: square<<<1, 3>>>(out)\n"), parts=("in_place",))
    assert isinstance(mistake, PlanMistake)
    failure = describe_mistake(mistake)
    assert "has no part 'in_plaec'; did you mean 'in_place'?" in failure.message


def test_prose_about_launches_is_left_alone_where_there_are_parts() -> None:
    assert (
        read_plan(submit("// launch twice: once to warm up, then again\n"), parts=("in_place",))
        is None
    )
