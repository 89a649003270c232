"""Which lines the code of functions belongs to that the compiler, or a header, put beside the
kernel."""

from grader.records import Binary, Kernel, SassInstruction
from grader.toolchain.callers import give_to_callers
from tests.toolchain.conftest import Compile

DIVISIONS = """__device__ __noinline__ long long apart(long long x) {
    return x / 7 % (x - 3);
}
__global__ void k(long long* out, const long long* in, long long n) {
    long long i = threadIdx.x;
    out[i] = in[i] / n;
    out[i + 32] = in[i + 1] / (n + 1);
    out[i + 64] = apart(i);
}
"""


def code(*rows: tuple[str, str, int | None]) -> tuple[SassInstruction, ...]:
    return tuple(
        SassInstruction(16 * i, None, opcode, operands, line)
        for i, (opcode, operands, line) in enumerate(rows)
    )


CALLED_TWICE = code(
    ("CALL.REL.NOINC", "0x40", 5),
    ("CALL.REL.NOINC", "0x40", 5),
    ("CALL.REL.NOINC", "0x40", 7),
    ("EXIT", "", 8),
    ("BRA", "P0, 0x60", None),
    ("WARPSYNC", "0xffffffff", None),
    ("RET.REL.NODEC", "R20,0x0", None),
)


def test_a_function_of_one_line_gets_that_line() -> None:
    given = give_to_callers(
        CALLED_TWICE[:2] + code(*[("EXIT", "", 8)] * 4)[2:4] + CALLED_TWICE[4:], [0x40]
    )
    assert [i.line for i in given] == [5, 5, 8, 8, 5, 5, 5]


def test_a_function_of_several_lines_is_repeated_for_each_of_them() -> None:
    given = give_to_callers(CALLED_TWICE, [0x40])
    assert [i.line for i in given] == [5, 5, 7, 8, 5, 5, 5, 7, 7, 7]
    assert [i.offset for i in given] == list(range(0, 160, 16))
    assert [i.operands for i in given] == [
        "0x40",
        "0x40",
        "0x70",
        "",
        "P0, 0x60",
        "0xffffffff",
        "R20,0x0",
        "P0,0x90",
        "0xffffffff",
        "R20,0x0",
    ]


def test_a_function_with_lines_keeps_them() -> None:
    own = CALLED_TWICE[:6] + code(*[("RET.REL.NODEC", "R20,0x0", 2)] * 7)[6:]
    assert give_to_callers(own, [0x40]) == own


def test_a_function_that_calls_itself_stays_without_a_line() -> None:
    itself = (
        *CALLED_TWICE[:5],
        SassInstruction(0x50, None, "CALL.REL.NOINC", "0x40", None),
        CALLED_TWICE[6],
    )
    assert give_to_callers(itself, [0x40]) == itself


def test_a_chain_of_functions_gets_the_line_at_its_start() -> None:
    chain = code(
        ("CALL.REL.NOINC", "0x20", 5),
        ("EXIT", "", 6),
        ("CALL.REL.NOINC", "0x40", None),
        ("RET", "R2", None),
        ("RET", "R4", None),
    )
    assert [i.line for i in give_to_callers(chain, [0x20, 0x40])] == [5, 6, 5, 5, 5]


def test_what_is_called_by_a_pointer_is_left_alone() -> None:
    by_pointer = (
        *CALLED_TWICE[:3],
        SassInstruction(0x30, None, "CALL.REL.NOINC", "R2 -0x40", 5),
        *CALLED_TWICE[4:],
    )
    assert give_to_callers(by_pointer, [0x40]) == by_pointer


def test_divisions_belong_to_the_lines_that_divide(compile_text: Compile) -> None:
    binary = compile_text(DIVISIONS)
    assert isinstance(binary, Binary)
    (kernel,) = binary.kernels
    assert [i.offset for i in kernel.instructions] == list(
        range(0, 16 * len(kernel.instructions), 16)
    )
    calls = [i for i in kernel.instructions if i.opcode.startswith("CALL")]
    assert {i.line for i in calls} == {2, 6, 7, 8}
    assert {line_at(kernel, int(i.operands, 16)) for i in calls} == {2, 6, 7}
    assert all(line_at(kernel, int(i.operands, 16)) == i.line for i in calls if i.line != 8)


def line_at(kernel: Kernel, offset: int) -> int | None:
    return kernel.instructions[offset // 16].line
