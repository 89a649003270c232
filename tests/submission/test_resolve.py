"""A plan resolves to concrete launches, and every limit is checked before anything runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from grader.messages.hidden import describe_mistake
from grader.records import (
    BufferArgument,
    DeviceBuffer,
    Dim3,
    Failure,
    Kernel,
    KernelParameter,
    Launch,
    LaunchLimits,
    PlanMistake,
    Role,
    ScalarArgument,
    Status,
    Submission,
)
from grader.spec.launch_lines import parse_launch
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan, resolve_plan
from grader.submission.scalars import NO_SCALARS, Scalar

H100 = LaunchLimits(1024, Dim3(1024, 1024, 64), Dim3((1 << 31) - 1, 65535, 65535), 232_448, 65_536)
PARAMETERS = tuple(
    KernelParameter(offset, size, name)
    for offset, size, name in (
        (0, 8, "float*"),
        (8, 8, "float const*"),
        (16, 4, "int"),
        (20, 4, "int"),
    )
)
TRANSPOSE = Kernel("_Z9transposePfPKfii", "transpose", PARAMETERS, 0x210, 32, 4224, 0, None, ())
EMPTY = Kernel("_Z5emptyv", "empty", (), 0x210, 32, 0, 0, None, ())
BUFFERS = (
    DeviceBuffer("out", "float32", (33, 65), Role.OUTPUT),
    DeviceBuffer("in", "float32", (65, 33), Role.INPUT),
)
SIZES = {"rows": 65, "cols": 33}
MACROS = {"TILE": 32, "ROWS": 8}
LINE = (
    "// launch: transpose<<<dim3(ceil_div(cols, TILE), ceil_div(rows, TILE)), dim3(TILE,"
    " ROWS)>>>(out, in, rows, cols)"
)


def resolve(
    source: str,
    *,
    kernels: tuple[Kernel, ...] = (TRANSPOSE, EMPTY),
    limits: LaunchLimits = H100,
    macros: dict[str, int] = MACROS,
    scalars: Mapping[str, Scalar] = NO_SCALARS,
) -> ResolvedPlan | PlanMistake:
    plan = read_plan(Submission("mine.cu", "", source))
    assert isinstance(plan, Plan), plan
    return resolve_plan(
        plan,
        sizes=SIZES,
        macros=macros,
        buffers=BUFFERS,
        kernels=kernels,
        limits=limits,
        source=source,
        scalars=scalars,
    )


def failure_of(
    source: str, *, kernels: tuple[Kernel, ...] = (TRANSPOSE, EMPTY), limits: LaunchLimits = H100
) -> Failure:
    mistake = resolve(source, kernels=kernels, limits=limits)
    assert isinstance(mistake, PlanMistake)
    failure = describe_mistake(mistake)
    assert failure.status is Status.LAUNCH_ERROR
    assert failure.advice
    return failure


def test_launch_with_concrete_sizes() -> None:
    arguments = (
        BufferArgument("out"),
        BufferArgument("in"),
        ScalarArgument(65, 4),
        ScalarArgument(33, 4),
    )
    launch = Launch(
        TRANSPOSE.symbol,
        Dim3(2, 3, 1),
        Dim3(32, 8, 1),
        0,
        arguments,
        2,
        LINE.removeprefix("// launch: "),
    )
    assert resolve("\n" + LINE) == ResolvedPlan((launch,), ())


def test_launches_in_order_with_scratch() -> None:
    source = (
        "// scratch: float mid[rows * cols]\n// scratch: unsigned char flags[2][TILE]\n"
        "// launch: transpose<<<cols, 32>>>(mid, in, rows, cols)\n"
        "// launch: transpose<<<rows, dim3(8, 4, 2), 4 * TILE>>>(out, mid, cols, rows)"
    )
    resolved = resolve(source)
    assert isinstance(resolved, ResolvedPlan)
    mid = DeviceBuffer("mid", "float32", (65 * 33,), Role.SCRATCH)
    assert resolved.scratch == (mid, DeviceBuffer("flags", "uint8", (2, 32), Role.SCRATCH))
    assert [
        (launch.grid, launch.block, launch.dynamic_shared_bytes) for launch in resolved.launches
    ] == [
        (Dim3(33), Dim3(32), 0),
        (Dim3(65), Dim3(8, 4, 2), 128),
    ]
    assert [launch.arguments[0] for launch in resolved.launches] == [
        BufferArgument("mid"),
        BufferArgument("out"),
    ]


def test_size_goes_before_a_macro_of_the_same_name() -> None:
    resolved = resolve("// launch: empty<<<rows, 1>>>()", macros={"rows": 7})
    assert isinstance(resolved, ResolvedPlan)
    assert resolved.launches[0].grid == Dim3(65)


def test_launch_at_every_limit_is_allowed() -> None:
    kernel = replace(EMPTY, registers=64, static_shared_bytes=1000, max_threads_per_block=1024)
    resolved = resolve(
        "// launch: empty<<<dim3(2147483647, 65535, 65535), dim3(4, 4, 64), 231448>>>()",
        kernels=(kernel,),
    )
    assert isinstance(resolved, ResolvedPlan)
    assert resolved.launches[0].dynamic_shared_bytes == 231_448


MISTAKES = [
    ("empti<<<1, 1>>>()", "empti", "there is no kernel 'empti'; did you mean 'empty'?"),
    ("empty<<<TILES, 1>>>()", "TILES", "'TILES' is not known here; did you mean 'TILE'?"),
    ("empty<<<1, 2 * width>>>()", "width", "'width' is not known here"),
    ("empty<<<out, 1>>>()", "out", "'out' is a buffer, and can only be given to a kernel"),
    (
        "transpose<<<1, 1>>>(out, in + rows * cols + 1, rows, cols)",
        "in +",
        "the buffer 'in' from byte 8584 on, which lies outside of its 8580 bytes",
    ),
    ("transpose<<<1, 1>>>(out, in * 2, rows, cols)", "*", "'*' does not go with the buffer 'in'"),
    ("transpose<<<1, 1>>>(out, in[0], rows, cols)", "[", "cannot read the elements of a buffer"),
    ("empty<<<rows / 2.0, 1>>>()", "rows", "'rows / 2.0' is a double, no integer"),
    (
        "transpose<<<1, 1>>>(out, inn, rows, cols)",
        "inn",
        "'inn' is not known here; did you mean 'in'?",
    ),
    (
        "transpose<<<1, 1>>>(out, in, rows)",
        "transpose",
        "takes 4 arguments (float*, float const*, int, int), but 3 are given",
    ),
    (
        "transpose<<<1, 1>>>(rows, in, out, cols)",
        "rows",
        "is the integer 'rows', but the kernel's parameter is a pointer",
    ),
    (
        "transpose<<<1, 1>>>(out, in, in, cols)",
        "in, cols",
        "is the buffer 'in', but the kernel's parameter is no pointer",
    ),
    (
        "transpose<<<1, 1>>>(out, in, 1 + 4294967295, cols)",
        "1 + 4",
        "does not fit the parameter's 4 bytes",
    ),
    ("empty<<<rows / (TILE - 32), 1>>>()", "/", "division by zero"),
    ("empty<<<cols / 64, 1>>>()", "cols", "the grid's x is 0: 'cols / 64' must be at least 1"),
    ("empty<<<dim3(1, rows - 66), 1>>>()", "rows", "the grid's y is -1"),
    (
        "empty<<<rows * 1000000000, 1>>>()",
        "rows",
        "the grid's x is 65000000000: at most 2147483647",
    ),
    ("empty<<<dim3(1, 65536), 1>>>()", "65536", "the grid's y is 65536: at most 65535"),
    ("empty<<<1, 0>>>()", "0", "the block's x is 0"),
    ("empty<<<1, dim3(1, 1, 65)>>>()", "65", "the block's z is 65: at most 64"),
    ("empty<<<1, 1025>>>()", "1025", "the block's x is 1025: at most 1024"),
    (
        "empty<<<1, dim3(64, TILE)>>>()",
        "64",
        "the block (64, 32, 1) has 2048 threads; at most 1024",
    ),
    (
        "transpose<<<1, 1, 228225>>>(out, in, 1, 1)",
        "228225",
        "232449 bytes of shared memory a block (4224 static and 228225 dynamic)",
    ),
    ("empty<<<1, 1, -4>>>()", "-4", "the dynamic shared memory is -4 bytes"),
]


@pytest.mark.parametrize(("text", "place", "message"), MISTAKES)
def test_mistake_names_its_place_and_shows_it(text: str, place: str, message: str) -> None:
    failure = failure_of(f"\n  // launch: {text}\n")
    assert message in failure.message
    line, caret = failure.detail.split("\n")
    assert line == f"2 |   // launch: {text}"
    assert line[caret.index("^") :].startswith(place)
    assert failure.message.startswith(f"line 2, column {caret.index('^') - 3}: ")


@pytest.mark.parametrize(
    ("kernel", "text", "message"),
    [
        (
            replace(EMPTY, registers=255),
            "empty<<<1, 512>>>()",
            "uses 255 registers a thread, 130560 for the 512 threads",
        ),
        (
            replace(EMPTY, max_threads_per_block=256),
            "empty<<<1, 512>>>()",
            "has 512 threads; empty has __launch_bounds__(256)",
        ),
        (
            replace(EMPTY, static_shared_bytes=232_449),
            "empty<<<1, 1>>>()",
            "232449 bytes of shared memory a block (232449 static",
        ),
    ],
)
def test_kernel_that_needs_too_much_says_the_cause(kernel: Kernel, text: str, message: str) -> None:
    assert message in failure_of(f"// launch: {text}", kernels=(kernel,)).message


def test_limits_are_those_of_the_device() -> None:
    small = replace(H100, max_shared_bytes_per_block=49_152)
    assert (
        "the device has 49152"
        in failure_of("// launch: empty<<<1, 1, 49153>>>()", limits=small).message
    )


def test_variable_of_the_code_is_told_from_a_constant() -> None:
    failure = failure_of("int WIDTH = 32;\n// launch: empty<<<1, WIDTH>>>()")
    assert "sees constants, not the variables of the code" in failure.message
    assert "Make WIDTH a constexpr" in failure.advice


def test_unknown_name_lists_the_known_ones() -> None:
    assert (
        failure_of("// launch: empty<<<1, xyz>>>()").advice
        == "Names that are known: ROWS, TILE, cols, in, out, rows."
    )


@pytest.mark.parametrize(
    ("scratch", "column", "message"),
    [
        ("float x[rows - 65]", 21, "the number of elements 'rows - 65' is 0"),
        ("float x[1][-1]", 24, "the number of elements '-1' is -1"),
        ("float x[4294967296]", 13, "'x' takes 17179869184 bytes; all together may take 4 GiB"),
        ("char x[4294967297]", 13, "'x' takes 4294967297 bytes"),
        ("float x[TILES]", 21, "'TILES' is not known here; did you mean 'TILE'?"),
        ("float out[4]", 13, "'out' is already the name of a buffer"),
        ("float rows[4]", 13, "'rows' is already the name of a size"),
    ],
)
def test_scratch_buffer_that_cannot_be(scratch: str, column: int, message: str) -> None:
    failure = failure_of(f"// scratch: {scratch}\n// launch: empty<<<1, 1>>>()")
    assert failure.message.startswith(f"line 1, column {column}: ")
    assert message in failure.message


def test_a_scalar_is_an_argument_or_a_part_of_one() -> None:
    scalars = {"alpha": 2, "beta": 0.5}
    taken = resolve("// launch: transpose<<<1, 32>>>(out, in, alpha, 3)", scalars=scalars)
    assert isinstance(taken, ResolvedPlan)
    assert taken.launches[0].arguments[2:] == (ScalarArgument(2, 4), ScalarArgument(3, 4))
    taken = resolve("// launch: transpose<<<alpha, 8>>>(out, in, -alpha, 3)", scalars=scalars)
    assert isinstance(taken, ResolvedPlan)
    assert taken.launches[0].grid == Dim3(2)
    assert taken.launches[0].arguments[2] == ScalarArgument(-2, 4)
    refused = resolve("// launch: transpose<<<1, 32>>>(out, in, beta, 1)", scalars=scalars)
    assert isinstance(refused, PlanMistake)
    words = describe_mistake(refused).message
    assert "argument 3 is the float 'beta', but the kernel's parameter is int" in words


def test_scratch_buffers_share_the_limit() -> None:
    failure = failure_of(
        "// scratch: char x[4294967296]\n// scratch: char y[1]\n// launch: empty<<<1, 1>>>()"
    )
    assert failure.message.startswith("line 2, column 13: ")


def test_mistake_in_the_default_plan_names_no_line() -> None:
    plan = Plan((parse_launch("transpose<<<1, 1>>>(out, in, rows, cols)"),))
    mistake = resolve_plan(
        plan,
        sizes=SIZES,
        macros={},
        buffers=BUFFERS,
        kernels=(EMPTY,),
        limits=H100,
        source="// other text",
    )
    assert isinstance(mistake, PlanMistake)
    failure = describe_mistake(mistake)
    assert (
        failure.message
        == "the exercise's default launch line, column 1: there is no kernel 'transpose'"
    )
    assert failure.detail == "transpose<<<1, 1>>>(out, in, rows, cols)\n^"
