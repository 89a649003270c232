"""What an exercise forbids, found in machine code and texts that are made here; the real compiler's
are in tests/grading/test_rules.py."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from grader.cpp.expressions import parse_expression
from grader.errors import SpecError
from grader.records import (
    AtomicUse,
    Binary,
    Breach,
    DeviceBuffer,
    DeviceVariable,
    Dim3,
    HeaderUse,
    HeapUse,
    Kernel,
    Launch,
    Pointer,
    Role,
    SassInstruction,
    ScratchUse,
    VariableUse,
)
from grader.spec.exercise import Atomics, Forbidden, Part, Task
from grader.spec.statements import Plan
from grader.submission.plan import read_plan
from grader.submission.resolve import ResolvedPlan
from grader.submission.rules import check_headers, check_rules
from tests.support.factories import make_exercise, make_submission

LAUNCH = "// launch: used<<<1, 32>>>(out, in)"
ROOTS = (Path("/cuda/include"), Path("/cuda/include/cccl"), Path("/usr/include/c++/13"))


def make_task(forbid: Forbidden, part: str | None = None) -> Task:
    exercise = replace(make_exercise(), forbid=forbid)
    if part is None:
        return exercise
    return Part(**{name: getattr(exercise, name) for name in Task.__dataclass_fields__}, name=part)


def make_kernel(*code: str, name: str = "used", heap: bool = False) -> Kernel:
    """A kernel of instructions `OPCODE OPERANDS`; the n-th is of line 10 + n, the first of none."""
    instructions = tuple(
        SassInstruction(16 * number, None, *text.split(" ", 1), 10 + number if number else None)
        for number, text in enumerate(code)
    )
    pointers = {4: (Pointer(0, "malloc" if heap else "table", 0),)}
    return Kernel(name, name, (), 0x210, 16, 0, 0, None, instructions, pointers=pointers)


def judge(
    forbid: Forbidden,
    *kernels: Kernel,
    text: str = LAUNCH,
    part: str | None = None,
    variables: tuple[DeviceVariable, ...] = (),
    scratch_bytes: tuple[int, ...] = (),
) -> Breach | None:
    source = make_submission(text=text)
    plan = read_plan(source)
    assert isinstance(plan, Plan), plan
    resolved = ResolvedPlan(
        (Launch("used", Dim3(1), Dim3(32), 0, (), 1, "used<<<1, 32>>>(out, in)"),),
        tuple(
            DeviceBuffer(declared.name, "int8", (size,), Role.SCRATCH)
            for declared, size in zip(plan.scratch, scratch_bytes, strict=True)
        ),
    )
    size_bytes = sum(variable.size_bytes for variable in variables)
    binary = Binary("sm_90", "", b"", kernels, variable_bytes=size_bytes, variables=variables)
    sizes = {"rows": 10, "cols": 20}
    return check_rules(
        make_task(forbid, part), plan, resolved, binary=binary, sizes=sizes, source=source
    )


PLAIN = make_kernel("LDG.E R2, [R4]", "STG.E [R4], R2")


def test_where_nothing_is_forbidden_all_is_allowed() -> None:
    everything = make_kernel("LDC R2, c[0x4][0x0]", "RED.E.ADD [R4], R2", heap=True)
    table = DeviceVariable("table", 1 << 30)
    assert judge(Forbidden(), everything, variables=(table,)) is None


# --- scratch memory -------------------------------------------------------------------------------


TWO_BUFFERS = f"// scratch: char a[n]\n// scratch: char b[n]\n{LAUNCH}"
HALF_A_MATRIX = Forbidden(scratch_bytes_above=parse_expression("2 * rows * cols"))


def test_buffers_count_together_and_the_first_one_too_many_is_named() -> None:
    assert judge(HALF_A_MATRIX, PLAIN, text=TWO_BUFFERS, scratch_bytes=(300, 100)) is None
    breach = judge(HALF_A_MATRIX, PLAIN, text=TWO_BUFFERS, scratch_bytes=(300, 101))
    use = ScratchUse("2 * rows * cols", "char b[n]", 2)
    assert breach == Breach(use, None, "2 | // scratch: char b[n]")


def test_a_limit_that_cannot_be_computed_is_the_authors_mistake() -> None:
    broken = Forbidden(scratch_bytes_above=parse_expression("rows / (cols - 20)"))
    with pytest.raises(SpecError) as caught:
        judge(broken, PLAIN, part="in_place")
    assert [each.path for each in caught.value.problems] == [
        "$.parts.in_place.forbid.scratch_bytes_above"
    ]
    with pytest.raises(SpecError) as caught:
        judge(broken, PLAIN)
    assert [each.path for each in caught.value.problems] == ["$.forbid.scratch_bytes_above"]


@pytest.mark.parametrize(
    ("kernel", "found"),
    [
        (make_kernel("LDC R2, c[0x4][0x8]", heap=True), True),
        (make_kernel("LDC R2, c[0x4][0x8]"), False),
        (make_kernel("LDC R2, c[0x0][0x210]", heap=True), False),
    ],
    ids=["malloc", "another symbol", "no address read"],
)
def test_the_heap_is_scratch_memory(kernel: Kernel, found: bool) -> None:
    breach = judge(HALF_A_MATRIX, kernel)
    assert breach == (Breach(HeapUse("2 * rows * cols", "used"), None, "") if found else None)


def test_kernels_that_are_not_launched_may_do_what_they_like() -> None:
    other = make_kernel("LDC R2, c[0x4][0x8]", name="unused", heap=True)
    assert judge(HALF_A_MATRIX, PLAIN, other) is None


# --- variables ------------------------------------------------------------------------------------


READS_ADDRESS = make_kernel("LDC R2, c[0x4][0x0]")
VARIABLES = (DeviceVariable("small", 8), DeviceVariable("_ZN6course5tableE", 4000))


@pytest.mark.parametrize(
    ("declared", "line"),
    [
        ("namespace course { __device__ float table[1000]; }", 1),
        ("__device__ float\n  other,\n  table[1000];", None),
        ("__managed__ float table[1000];", 1),
        ("// __device__ float table[1000];", None),
    ],
)
def test_the_line_of_the_largest_variable_is_found(declared: str, line: int | None) -> None:
    forbid = Forbidden(device_variable_bytes_above=4007)
    text = f"{declared}\n{LAUNCH}"
    breach = judge(forbid, READS_ADDRESS, text=text, variables=VARIABLES)
    quoted = "" if line is None else f"{line} | {declared}"
    assert breach == Breach(VariableUse(4007, "used", 4008, line), None, quoted)


def test_variables_up_to_the_limit_or_out_of_reach_are_allowed() -> None:
    assert (
        judge(Forbidden(device_variable_bytes_above=4008), READS_ADDRESS, variables=VARIABLES)
        is None
    )
    assert judge(Forbidden(device_variable_bytes_above=0), PLAIN, variables=VARIABLES) is None


# --- atomics --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("opcode", "of_global", "of_all"),
    [
        ("RED.E.ADD.STRONG.GPU", True, True),
        ("ATOMG.E.ADD.STRONG.GPU", True, True),
        ("ATOMS.ADD", False, True),
        ("LDS", False, False),
        ("STG.E", False, False),
    ],
)
def test_atomics_are_told_by_their_memory(opcode: str, of_global: bool, of_all: bool) -> None:
    kernel = make_kernel("NOP ", f"{opcode} [R4], R2")
    for atomics, found in ((Atomics.GLOBAL, of_global), (Atomics.ALL, of_all)):
        breach = judge(Forbidden(atomics=atomics), kernel, part="in_place", text=f"{LAUNCH}\n" * 1)
        use = AtomicUse(atomics is Atomics.ALL, "used", opcode, 11)
        assert breach == (Breach(use, "in_place", "11 | ") if found else None)


def test_the_first_thing_that_is_forbidden_is_told() -> None:
    guilty = make_kernel("LDC R2, c[0x4][0x0]", "RED.E.ADD [R4], R2", heap=True)
    everything = Forbidden(parse_expression("0"), 0, Atomics.ALL)
    found = []
    while (breach := judge(everything, guilty, variables=VARIABLES)) is not None:
        found.append(type(breach.use))
        name = next(
            name for name, value in vars(everything).items() if value is not None and value != ()
        )
        everything = replace(everything, **{name: None})
    assert found == [HeapUse, VariableUse, AtomicUse]


# --- headers --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "file", "use", "quoted"),
    [
        (
            "\n#include <cub/cub.cuh>",
            "/cuda/include/cccl/cub/cub.cuh",
            HeaderUse("cub", "cub/cub.cuh", 2),
            "2 | #include <cub/cub.cuh>",
        ),
        (
            "#include <mma.h>",
            "/cuda/include/cub/detail.cuh",
            HeaderUse("cub", "cub/detail.cuh", None),
            "",
        ),
        ("#include <mma.h>", "/cuda/include/mma.h", HeaderUse("mma.h", "mma.h", 1), "1 | #include <mma.h>"),
        ("", "/elsewhere/mma.h", HeaderUse("mma.h", "mma.h", None), ""),
    ],
    ids=["a folder", "of another header", "a header", "outside of all roots"],
)  # fmt: skip
def test_a_header_is_named_as_it_is_included(
    text: str, file: str, use: HeaderUse, quoted: str
) -> None:
    task = make_task(Forbidden(headers=("cub", "mma.h")))
    files = ["/cuda/include/cuda_runtime.h", "/cuda/include/cubic.h", file]
    found = check_headers(task, files, ROOTS, make_submission(text=text))
    assert found == Breach(use, None, quoted)
    assert check_headers(task, files[:2], ROOTS, make_submission(text=text)) is None
    assert check_headers(make_task(Forbidden()), files, ROOTS, make_submission(text=text)) is None
