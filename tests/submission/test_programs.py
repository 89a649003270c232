"""Launch lines as a program: the mistakes in what a host does between launches, each with its place
and words, and what the statements come to."""

from __future__ import annotations

import pytest

from grader.messages.hidden import describe_mistake
from grader.records import (
    Copy,
    DeviceBuffer,
    Dim3,
    Failure,
    Fill,
    Kernel,
    KernelParameter,
    LaunchLimits,
    MemoryPlace,
    PlanMistake,
    Role,
    Status,
    Submission,
)
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import MAX_LAUNCHES, MAX_STATEMENTS, ResolvedPlan, resolve_plan

LIMITS = LaunchLimits(
    1024, Dim3(1024, 1024, 64), Dim3((1 << 31) - 1, 65535, 65535), 232_448, 65_536
)
PARAMETERS = (KernelParameter(0, 8, "float*"), KernelParameter(8, 4, "int"))
STEP = Kernel("_Z4stepPfi", "step", PARAMETERS, 0x210, 32, 0, 0, None, ())
BUFFERS = (
    DeviceBuffer("out", "float32", (100,), Role.OUTPUT),
    DeviceBuffer("in", "float32", (100,), Role.INPUT),
    DeviceBuffer("few", "float32", (50,), Role.INPUT),
    DeviceBuffer("marks", "int32", (100,), Role.INPUT),
)
SYMBOLS = {"weights": 40, "_ZN2ns5tableE": 16, "_ZN5other5tableE": 16}
"""What the variables of the code are called, and their bytes."""


def resolve(*lines: str) -> ResolvedPlan | PlanMistake:
    """The plan of launch lines with these texts, where n is 100."""
    source = "".join(f"// launch: {line}\n" for line in lines)
    plan = read_plan(Submission("mine.cu", "", source))
    if not isinstance(plan, Plan):
        assert plan is not None
        return plan
    return resolve_plan(
        plan,
        sizes={"n": 100},
        macros={"TILE": 16},
        buffers=BUFFERS,
        kernels=(STEP,),
        limits=LIMITS,
        source=source,
        scalars={"alpha": 0.5},
        symbols=SYMBOLS,
    )


def failure_of(*lines: str) -> Failure:
    mistake = resolve(*lines)
    assert isinstance(mistake, PlanMistake), mistake
    failure = describe_mistake(mistake)
    assert failure.status is Status.LAUNCH_ERROR
    return failure


RUN = "step<<<1, 32>>>(out, 1);"
MISTAKES = [
    # declarations and assignments
    ("int = 3;", "=", "expected the name of a variable before '='"),
    ("int d = ;", ";", "expected a number or a name before ';'"),
    ("int d[4];", "[", "a launch line has no arrays; // scratch: declares device memory"),
    ("int d = out;", "out", "the buffer 'out' cannot be given to 'd', which is 'int'"),
    ("float *p = 1;", "1", "an integer cannot be given to 'p', which is 'float *'"),
    ("int d = 1 << 40;", "1 <<", "1099511627776 does not fit the variable 'd' (int)"),
    ("dim3 g(1, 2, 3, 4);", "(1", "dim3 takes 1 to 3"),
    ("int n = 3;", "int n", "'n' is already the name of something else"),
    ("d = 3;", "d =", "'d' is not known here"),
    ("m += 1;", "m +=", "'m' is not known here"),
    ("n = n / 0;", "/ 0", "division by zero"),
    ("alpha = out;", "out", "the buffer 'out' cannot be given to 'alpha', which is 'double'"),
    ("{ int d = 1; } step<<<1, d>>>(out, 1);", "d>>>", "'d' is not known here"),
    ("in++;", None, ""),
    # loops and branches
    ("for (int d = 1; d < n)", ")", "expected ';' before ')'"),
    ("for (int d = 1; d < n; d *= 2", None, "expected ',' or ')' before the end of the line"),
    ("for (int d = 1; d < n; d *= 2) {", "{", "there is no '}' for this '{'"),
    ("while (n) { }", "while", "the launch lines have taken 100000 steps without an end"),
    ("for (;;) step<<<1, 1>>>(out, 1);", "step", "this is launch 1024 + 1: at most 1024"),
    ("while n > 1) {}", "n", "expected '(' before 'n'"),
    ("do { } until (n);", "until", "expected 'while' before 'until'"),
    ("do { } while (n);", "while", "the launch lines have taken 100000 steps without an end"),
    ("do { } while (n) n = 1;", "n =", "expected ';' or the end of the line before 'n'"),
    ("do { }", None, "expected 'while' before the end of the line"),
    ("if (out) {}", "out", "the buffer 'out' is no condition: compare integers"),
    ("if (n > 1)", None, "expected a statement before the end of the line"),
    ("}", "}", "there is no '{' for this '}'"),
    ("break;", "break", "'break' stands in no loop"),
    ("if (1) " * 17 + RUN, "if (1) step", "there are more than 16 blocks in each other"),
    # swaps
    ("std::swap(out, few);", "out", "'out' has 400 bytes and 'few' has 200: only equal buffers"),
    ("std::swap(out, marks);", "out", "'out' holds float32, and 'marks' int32"),
    ("std::swap(out, n);", "out", "std::swap takes two of a kind, not the buffer 'out' and an int"),
    ("std::swap(out, in + 1);", "in +", "std::swap takes the names of two variables"),
    ("swap(out);", "swap", "swap takes 2 arguments here, got 1"),
    # copies and fills
    ("cudaMemcpy(out, in, 404);", "404", "404 bytes from byte 0 on do not lie in 'out', which has"),
    ("cudaMemcpy(out, in + 1, n * 4);", "n * 4", "400 bytes from byte 4 on do not lie in 'in'"),
    ("cudaMemcpy(out, in, -4);", "-4", "-4 bytes from byte 0 on do not lie in 'out'"),
    ("cudaMemcpy(out, out + 1, 8);", "8)", "the two places of 8 bytes in 'out' overlap"),
    ("cudaMemcpy(out, 5, 4);", "5", "'5' is an integer, no buffer"),
    ("cudaMemcpy(out, in);", "cudaM", "cudaMemcpy takes 3 arguments here, got 2"),
    (
        "cudaMemcpy(out, in, 4, cudaMemcpyHostToDevice);",
        "cudaMemcpyH",
        "cudaMemcpyHostToDevice is no copy within the device",
    ),
    ("cudaMemset(out, 1.5, 4);", "1.5", "'1.5' is a double, no integer"),
    ("cudaMemset(out + 99, 0, 8);", "8)", "8 bytes from byte 396 on do not lie in 'out'"),
    ("cudaMemcpyToSymbol(weights, in);", None, ""),
    (
        "cudaMemcpyToSymbol(wieghts, in, 40);",
        "cudaM",
        "there is no __constant__ or __device__ variable 'wieghts' that kernels use; did you mean"
        " 'weights'?",
    ),
    ("cudaMemcpyToSymbol(table, in);", "cudaM", "there is no __constant__ or __device__ variable"),
    ("cudaMemcpyToSymbol(ns::table, in, 20);", "20", "20 bytes from byte 0 on do not lie in"),
    ("cudaMemcpyToSymbol(weights, in, 8, 36);", "8, 36", "8 bytes from byte 36 on do not lie in"),
    ("cudaMemcpyToSymbol(&weights, in);", "&", "'&weights' is no name of a __constant__"),
    # calls
    (
        "cudaMalloc(&out, 4);",
        "cudaM",
        "'cudaMalloc' cannot be called here: device memory is declared by // scratch: float name",
    ),
    ("cudaMemcopy(out, in, 4);", "cudaM", "did you mean 'cudaMemcpy'?"),
    ("cudaFuncSetAttribute(stepp, x, 1);", "stepp", "no kernel 'stepp'; did you mean 'step'?"),
    ('printf("x");', "printf", "a launch line prints nothing; print in the kernel"),
    ("sort(out);", "(", "expected '<<<' before '('"),
    ("step<<<{}, 1>>>(out, 1);", "{", "dim3 takes 1 to 3 arguments, got 0"),
    ("step<<<1, {1, 2, 3, 4}>>>(out, 1);", "{1", "dim3 takes 1 to 3 arguments, got 4"),
    ("step<<<{1, 2), 1>>>(out, 1);", "), 1", "expected ',' or '}' before ')'"),
    ("step<<<1, {n, 64}>>>(out, 1);", "n, 64", "the block (100, 64, 1) has 6400 threads"),
    ("step<<<1, 1>>>(out, 'ab');", "'ab'", "\"'ab'\" is no character of ASCII"),
    ("step<<<1, 1>>>(out, 'é');", "'é'", "\"'é'\" is no character of ASCII"),
    ("step<<<1, 1>>>(out, '');", "''", "expected a number or a name before"),
    ("step<<<1, 32>>>(out, 1) step", "step", "expected ';' or the end of the line before 'step'"),
]


@pytest.mark.parametrize(("line", "place", "message"), MISTAKES)
def test_every_kind_of_mistake_has_its_place_and_words(
    line: str, place: str | None, message: str
) -> None:
    if not message:
        assert isinstance(resolve(line, RUN), ResolvedPlan)
        return
    failure = failure_of(line) if place is None else failure_of(line, RUN)
    assert message in failure.message
    quoted, caret = failure.detail.split("\n")
    assert f"1 | // launch: {line}".endswith(quoted.removeprefix("1 | ").rstrip())
    if place is not None:
        pointed = quoted[caret.index("^") :]
        assert pointed.startswith(place), pointed


def test_a_plan_without_a_launch_is_told() -> None:
    assert "launch no kernel" in failure_of("cudaMemset(out, 0, 4)").message
    told = failure_of(f"if (n < 0) {{ {RUN} }}")
    assert "no kernel is launched at these sizes" in told.message


def test_steps_are_flat_and_in_order() -> None:
    resolved = resolve(
        "cudaMemset(out + 1, -1, 8); for (int d = 1; d < 4; d++) {",
        "step<<<dim3(d), TILE>>>(out, d);",
        "if (d == 2) cudaMemcpyToSymbol(weights, in + d, 4, 4); }",
        "cudaMemcpyFromSymbol(out, ns::table)",
    )
    assert isinstance(resolved, ResolvedPlan)
    kinds = [type(step).__name__ for step in resolved.steps]
    assert kinds == ["Fill", "Launch", "Launch", "Copy", "Launch", "Copy"]
    assert [launch.grid.x for launch in resolved.launches] == [1, 2, 3]
    fill, to_symbol, from_symbol = resolved.steps[0], resolved.steps[3], resolved.steps[5]
    assert fill == Fill(MemoryPlace("out", 4), 255, 8, 1, "cudaMemset(out + 1, -1, 8)")
    assert isinstance(to_symbol, Copy)
    assert to_symbol.target == MemoryPlace("weights", 4, in_variable=True)
    assert (to_symbol.source, to_symbol.size_bytes) == (MemoryPlace("in", 8), 4)
    assert isinstance(from_symbol, Copy)
    assert from_symbol.source == MemoryPlace("_ZN2ns5tableE", 0, in_variable=True)
    assert from_symbol.size_bytes == 16


@pytest.mark.parametrize("type_", ["dim3", "const dim3", "constexpr dim3"])
@pytest.mark.parametrize("value", ["(8, 4)", "{8, 4}", " = dim3(8, 4)", " = {8, 4}"])
def test_sizes_of_blocks_are_constants_or_not(type_: str, value: str) -> None:
    resolved = resolve(f"{type_} block{value}; step<<<2, block>>>(out, 1)")
    assert isinstance(resolved, ResolvedPlan)
    assert resolved.launches[0].block == Dim3(8, 4)


@pytest.mark.parametrize(
    ("lines", "values"),
    [
        ("int half = n / 2, d = (half) + 1; half -= 1; half++; half = half + 1;", [51, 51]),
        ("const int half(3); int d = half * (half);", [9, 3]),
        ("auto size_t = 4; unsigned d{size_t};", [4, 4]),
        ("int d = 'A', half = '\\n';", [65, 10]),
        ("int d = '\\0' + '\\x41' + '\\'', half = '9' - '0';", [104, 9]),
    ],
)
def test_variables_and_characters(lines: str, values: list[int]) -> None:
    name = "size_t" if "size_t" in lines else "half"
    resolved = resolve(lines, f"step<<<1, 1>>>(out, d); step<<<1, 1>>>(out, {name})")
    assert isinstance(resolved, ResolvedPlan)
    assert [launch.arguments[1].value for launch in resolved.launches] == values  # type: ignore[union-attr]


@pytest.mark.parametrize("grid", ["{2, 3, 4}", "dim3{2, 3, 4}", "dim3(2, 3, 4)"])
def test_sizes_in_braces(grid: str) -> None:
    resolved = resolve(f"step<<<{grid}, {{8}}>>>(out, 1)")
    assert isinstance(resolved, ResolvedPlan)
    assert (resolved.launches[0].grid, resolved.launches[0].block) == (Dim3(2, 3, 4), Dim3(8))


@pytest.mark.parametrize(("first", "turns"), [(90, [90, 95]), (100, [100]), (500, [500])])
def test_a_do_loop_asks_behind_its_body(first: int, turns: list[int]) -> None:
    resolved = resolve(
        f"int d = {first}; do {{", "  step<<<1, 1>>>(out, d); d += 5;", "}", "while (d < n);"
    )
    assert isinstance(resolved, ResolvedPlan)
    assert [launch.arguments[1].value for launch in resolved.launches] == turns  # type: ignore[union-attr]


def test_a_do_loop_is_left_and_goes_on_with_its_condition() -> None:
    resolved = resolve(
        "int d = 0; do { d++; if (d == 2) continue; if (d > 4) break;",
        "step<<<1, 1>>>(out, d); } while (d != 2 || n > 1)",
    )
    assert isinstance(resolved, ResolvedPlan)
    assert [launch.arguments[1].value for launch in resolved.launches] == [1, 3, 4]  # type: ignore[union-attr]


def test_bounds_are_those_that_are_told() -> None:
    turns = MAX_LAUNCHES
    resolved = resolve(f"for (int i = 0; i < {turns}; ++i) {RUN}")
    assert isinstance(resolved, ResolvedPlan)
    assert len(resolved.launches) == turns
    told = failure_of(f"for (int i = 0; i < {MAX_STATEMENTS}; ++i) n = i;", RUN)
    assert "steps without an end" in told.message


def test_a_swap_changes_what_names_stand_for() -> None:
    resolved = resolve(
        "float *a = out, *b = out + 50;",
        "for (int i = 0; i < 3; i++) {",
        "step<<<1, 32>>>(a, i); std::swap(a, b); }",
    )
    assert isinstance(resolved, ResolvedPlan)
    offsets = [launch.arguments[0].offset_bytes for launch in resolved.launches]  # type: ignore[union-attr]
    assert offsets == [0, 200, 0]
