"""printf, assert and `__device__` variables: sources through the toolchain and the emulated
device."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Mapping
from dataclasses import replace
from types import FrameType

import numpy as np
import pytest

from grader.devices.emulated.emulated_device import EmulatedDevice
from grader.emulator.run.launch import PRINT_LIMIT
from grader.messages.hidden import describe_mistake
from grader.records import (
    Act,
    Binary,
    BufferArgument,
    DeviceBuffer,
    Dim3,
    Execution,
    Faulted,
    Launch,
    Program,
    Role,
    RunLimits,
    ScalarArgument,
    Status,
    Submission,
)
from tests.support.compiling import compile_source

LIMITS = RunLimits(warp_instructions=10**7, wall_seconds=60.0)


def compile_text(text: str) -> Binary:
    return compile_source(Submission("host.cu", hashlib.sha256(text.encode()).hexdigest(), text))


def run(
    binary: Binary, *, threads: int = 2, blocks: int = 1, n: int = 0, size: int = 64
) -> tuple[Execution, Mapping[str, np.ndarray]]:
    """Launches the binary's kernel `(int* y, int n)` in blocks of 32 threads."""
    launch = Launch(
        binary.kernels[0].symbol,
        Dim3(blocks),
        Dim3(32),
        0,
        (BufferArgument("y"), ScalarArgument(n, 4)),
        1,
        "",
    )
    buffers = (DeviceBuffer("y", "int32", (size,), Role.OUTPUT),)
    program = Program("test", binary, (launch,), buffers)
    device = EmulatedDevice("h100", threads=threads)
    return device.run(program, {"y": np.zeros(size, dtype=np.int32)}, limits=LIMITS)


def test_printf_is_collected_block_after_block() -> None:
    call = 'if (threadIdx.x < 2) printf("%d.%d %s|", blockIdx.x, threadIdx.x, "ok");'
    text = f"#include <cstdio>\n__global__ void k(int* y, int n) {{ {call} }}"
    execution, _ = run(compile_text(text), blocks=40)
    assert execution.failure is None
    assert execution.launches[0].printed == "".join(
        f"{block}.{thread} ok|" for block in range(40) for thread in range(2)
    )


def test_printf_is_kept_up_to_a_limit() -> None:
    text = (
        "#include <cstdio>\n__global__ void k(int* y, int n) { for (int i = 0; i < n; ++i)"
        ' printf("%0100d", i); }'
    )
    execution, _ = run(compile_text(text), n=100)
    assert execution.failure is None
    assert len(execution.launches[0].printed) == PRINT_LIMIT


def test_printf_beyond_the_limit_is_counted_and_not_formatted() -> None:
    text = """#include <cstdio>
__global__ void k(int* y, int n)
{
    for (int i = 0; i < n; ++i) y[threadIdx.x] = printf("%*d %% %.*f %s %0100d", 5, i, 2, 1.0, "some text", i);
}"""
    formatted = 0

    def count(frame: FrameType, event: str, _: object) -> None:
        nonlocal formatted
        formatted += event == "call" and frame.f_code.co_name == "format_text"

    sys.setprofile(count)
    try:
        execution, outputs = run(compile_text(text), n=200)
    finally:
        sys.setprofile(None)
    assert execution.failure is None
    assert len(execution.launches[0].printed) == PRINT_LIMIT
    assert outputs["y"].tolist()[:32] == [6] * 32
    assert 0 < formatted < 2 * 32 * PRINT_LIMIT // 3000


def test_printf_reads_shared_and_local_memory() -> None:
    text = """#include <cstdio>
__global__ void k(int* y, int n)
{
    __shared__ char s[4];
    char own[3] = {char('a' + n), 'z', 0};
    if (threadIdx.x == 0) s[0] = 'S', s[1] = own[0], s[2] = 0, printf("%s %s", s, own);
}"""
    execution, _ = run(compile_text(text), n=2)
    assert execution.launches[0].printed == "Sc cz"


def test_a_failed_assertion_names_condition_and_line() -> None:
    text = (
        "#include <cassert>\n__global__ void k(int* y, int n)\n{\n    assert(threadIdx.x != 5 ||"
        " blockIdx.x == 0);\n    y[0] = 1;\n}"
    )
    execution, outputs = run(compile_text(text), blocks=2)
    assert execution.failure is not None
    assert execution.failure.status is Status.RUNTIME_ERROR
    assert (
        "line 4: assert(threadIdx.x != 5 || blockIdx.x == 0) failed in void k(int *, int)"
        in describe_mistake(execution.failure).message
    )
    assert "block (1, 0, 0), thread (5, 0, 0)" in describe_mistake(execution.failure).message
    assert outputs == {}


COUNTER = (
    "__device__ int counter = 3;\n__global__ void k(int* y, int n) { if (threadIdx.x == 0) counter"
    " += n, y[0] = counter; }"
)


def test_variables_start_anew_in_every_execution() -> None:
    binary = compile_text(COUNTER)
    assert [run(binary, n=4)[1]["y"][0] for _ in range(2)] == [7, 7]


def test_an_access_past_a_variable_names_it() -> None:
    execution, _ = run(
        compile_text(
            "__device__ int table[8];\n__global__ void k(int* y, int n) { table[n + threadIdx.x] ="
            " 1; }"
        ),
        n=5,
    )
    assert execution.failure is not None
    assert (
        "right behind the end of buffer __device__ table (32 bytes)"
        in describe_mistake(execution.failure).message
    )


FIBONACCI = """__device__ __noinline__ int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }
__global__ void k(int* y, int n) { y[threadIdx.x] = f(n - threadIdx.x % 4); }"""
STACKS = """__device__ __noinline__ int f(int n, int last, const int* y)
{
    int a[16];
    for (int i = 0; i < 16; i++) a[i] = y[i & 3];
    return n >= last ? a[n % 16] : 1 + f(n + 1, last, y) + a[n % 16];
}
__global__ void k(int* y, int n) { y[threadIdx.x] = 0; y[threadIdx.x] = f(0, n, y); }"""


def test_functions_call_themselves() -> None:
    execution, outputs = run(compile_text(FIBONACCI), n=12)
    assert execution.failure is None
    assert outputs["y"][:4].tolist() == [144, 89, 55, 34]


def test_a_stack_has_as_many_bytes_as_on_an_h200() -> None:
    """1,024: nine frames with 64 bytes of numbers and some registers fit, and sixteen never do."""
    assert run(compile_text(STACKS), n=8)[0].failure is None
    failure = run(compile_text(STACKS), n=15)[0].failure
    assert isinstance(failure, Faulted)
    assert failure.observation.act is Act.STACK_OVERFLOW
    assert "the stack of 1,024 bytes that a thread has is full" in describe_mistake(failure).message


def test_functions_are_called_by_pointers_and_tables() -> None:
    text = """__device__ __noinline__ int twice(int n) { return 2 * n; }
__device__ __noinline__ int square(int n) { return n * n; }
__device__ __noinline__ int less(int n) { return n < 1 ? 0 : 1 + less(n - 1); }
typedef int (*function)(int);
__device__ function table[3] = {twice, square, less};
__global__ void k(int* y, int n) { y[threadIdx.x] = table[(n + threadIdx.x) % 3](threadIdx.x); }"""
    _, outputs = run(compile_text(text), n=1)
    calls = (lambda n: 2 * n, lambda n: n * n, lambda n: n)
    assert outputs["y"][:32].tolist() == [calls[(1 + n) % 3](n) for n in range(32)]


def test_alloca_takes_of_the_stack() -> None:
    text = """__global__ void k(int* y, int n)
{
    int* room = (int*)alloca(n * sizeof(int));
    for (int i = 0; i < n; i++) room[i] = i + threadIdx.x;
    int sum = 0;
    for (int i = 0; i < n; i++) sum += room[i * 7 % n];
    y[threadIdx.x] = sum;
}"""
    _, outputs = run(compile_text(text), n=200)
    assert outputs["y"][5] == 200 * 199 // 2 + 5 * 200
    assert isinstance(run(compile_text(text), n=300)[0].failure, Faulted)


HEAP = """struct Shape { int side; __device__ virtual int area() { return side * side; } };
struct Half : Shape { __device__ int area() override { return side * side / 2; } };
__global__ void k(int* y, int n)
{
    int* numbers = (int*)malloc(n * sizeof(int));
    for (int i = 0; i < n; i++) numbers[i] = i + threadIdx.x;
    Shape* shape = threadIdx.x % 2 ? new Shape : new Half;
    shape->side = numbers[n - 1];
    y[threadIdx.x] = shape->area();
    delete shape;
    free(numbers);
    free(nullptr);
}"""


def test_threads_have_a_heap() -> None:
    execution, outputs = run(compile_text(HEAP), n=4, blocks=3)
    assert execution.failure is None
    sides = [3 + thread for thread in range(32)]
    wanted = [side * side // (2 - thread % 2) for thread, side in enumerate(sides)]
    assert outputs["y"][:32].tolist() == wanted


def test_a_heap_has_8_megabytes() -> None:
    text = """__global__ void k(int* y, int n)
{
    int pieces = 0;
    for (char* piece; threadIdx.x == 0 && (piece = (char*)malloc(n)) != nullptr; pieces++)
        piece[0] = piece[n - 1] = 1;
    y[threadIdx.x] = pieces;
}"""
    assert run(compile_text(text), n=8 << 20)[1]["y"][0] == 0
    assert run(compile_text(text), n=1 << 20)[1]["y"][0] in (6, 7)  # an H200: 6
    assert 1800 < run(compile_text(text), n=4096)[1]["y"][0] < 2048  # 1888


@pytest.mark.parametrize("again", ["p", "p + 1", "y"])
def test_a_free_of_an_unallocated_address_ends_the_launch(again: str) -> None:
    text = (
        "__global__ void k(int* y, int n)\n{\n    int* p = (int*)malloc(n);\n    y[0] = p[0];\n"
        f"    if (n == 4) free(p);\n    free({again});\n}}"
    )
    failure = run(compile_text(text), n=4)[0].failure
    assert isinstance(failure, Faulted)
    assert (failure.observation.act, failure.observation.line) == (Act.BAD_FREE, 6)


def test_a_system_function_that_is_not_provided_is_reported() -> None:
    """A function like malloc, if the emulator did not provide it."""
    binary = compile_text(HEAP)
    (kernel,) = binary.kernels
    pointers = {
        bank: tuple(replace(each, symbol=f"not {each.symbol}") for each in row)
        for bank, row in kernel.pointers.items()
    }
    execution, _ = run(replace(binary, kernels=(replace(kernel, pointers=pointers),)), n=4)
    assert execution.failure is not None
    assert execution.failure.status is Status.UNSUPPORTED


def test_blocks_that_take_numbers_do_so_in_order_on_any_number_of_threads() -> None:
    text = (
        "__device__ int next;\n__global__ void k(int* y, int n) { if (threadIdx.x == 0)"
        " y[blockIdx.x] = atomicAdd(&next, 1); }"
    )
    for threads in (1, 3):
        _, outputs = run(compile_text(text), threads=threads, blocks=64)
        assert outputs["y"].tolist() == list(range(64))


def test_generic_accesses_out_of_bounds_are_faults() -> None:
    text = """__device__ __noinline__ void put(int* p, int i) { p[i] = 1; }
__global__ void k(int* y, int n) { __shared__ int s[8]; put(threadIdx.x & 1 ? s : y, n); y[1] = s[0]; }"""
    execution, _ = run(compile_text(text), n=8)
    assert execution.failure is not None
    assert (
        "4-byte store to shared memory out of bounds" in describe_mistake(execution.failure).message
    )


def test_constant_memory_that_holds_an_address_is_read_by_its_own() -> None:
    text = (
        "__device__ int word = 7;\n__constant__ int* table[2] = {&word, &word};\n"
        "__device__ __noinline__ int get(int* const* p) { return *p[0]; }\n"
        "__global__ void k(int* y, int n) {"
        " y[threadIdx.x] = get(n ? (int* const*)y : table + threadIdx.x % 2); }"
    )
    execution, outputs = run(compile_text(text))
    assert execution.failure is None
    assert outputs["y"][:32].tolist() == [7] * 32


def test_constant_memory_cannot_be_written() -> None:
    """A store by an address is unsupported, and the compiler turns a store that it recognises into
    a trap: no launch changes constants of the next."""
    put = "__device__ __noinline__ void put(int* p) { p[threadIdx.x] = 4; }\n"
    by_address = (
        "__constant__ int table[32];\n"
        + put
        + "__global__ void k(int* y, int n) { put(n ? y : (int*)table); }"
    )
    execution, _ = run(compile_text(by_address))
    assert execution.failure is not None
    assert execution.failure.status is Status.UNSUPPORTED
    store = "const_cast<int*>(table)[threadIdx.x] = n;"
    directly = (
        f"__constant__ int table[32];\n__global__ void k(int* y, int n) {{ {store} y[0] ="
        " table[1]; }"
    )
    execution, _ = run(compile_text(directly))
    assert execution.failure is not None
    assert execution.failure.status is Status.RUNTIME_ERROR
