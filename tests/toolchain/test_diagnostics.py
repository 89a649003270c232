"""What a student sees when a submission does not compile: their lines, nothing of the machine."""

from contextlib import suppress
from pathlib import Path

import pytest

from grader.errors import GraderError
from grader.messages.hidden import describe_mistake
from grader.records import Binary, CompilerEnded, Completed, Failure, Status, ToolLimits
from grader.sandbox.process import run_tool
from grader.toolchain.compile import compile_submission
from grader.toolchain.diagnostics import explain_failed_run
from grader.toolchain.nvcc import Nvcc, Nvdisasm

from .conftest import Compile, make_submission


def fail(compile_text: Compile, text: str) -> Failure:
    result = compile_text(text)
    assert not isinstance(result, Binary), result
    return describe_mistake(result)


SYNTAX = """#define TILE 32
__global__ void k(float* out) {
    __shared__ float t[TILE][TILE];
    out[0] = y + t[0][TILE - 1];
    foo(3)
}
"""


def test_errors_carry_the_students_lines_as_they_wrote_them(compile_text: Compile) -> None:
    failure = fail(compile_text, SYNTAX)
    assert failure.status is Status.COMPILE_ERROR
    assert failure.message == 'student.cu does not compile: line 4: identifier "y" is undefined'
    assert failure.detail.splitlines()[:2] == [
        'student.cu:4: error: identifier "y" is undefined',
        "    out[0] = y + t[0][TILE - 1];",
    ]
    assert "student.cu:5: error: " in failure.detail


def test_nothing_of_the_machine_is_shown(compile_text: Compile) -> None:
    text = (
        "#include <cuda/std/array>\n__global__ void k(int* o) {\n    cuda::std::array<int, 3> a;\n "
        "   o[0] = cuda::std::get<7>(a);\n}\n"
    )
    failure = fail(compile_text, text)
    assert "student.cu:4: error: static assertion failed" in failure.detail
    assert "(in array)" in failure.detail
    for word in ("/", "tmp", "site-packages", "nvidia", "submission.cu"):
        assert word not in failure.message + failure.detail


def test_a_path_that_the_student_wrote_stays(compile_text: Compile) -> None:
    assert "see /no/such/place" in fail(compile_text, "#error see /no/such/place\n").detail


def test_an_include_out_of_the_folder_says_the_same_whether_there_is_a_file_or_not(
    compile_text: Compile, tmp_path: Path
) -> None:
    there = tmp_path / "there.h"
    there.write_text("int x;\n")
    failures = [
        fail(compile_text, f'#include "{path}"\n__global__ void k() {{}}\n')
        for path in (there, tmp_path / "absent.h")
    ]
    assert failures[0].status is Status.REJECTED
    assert failures[0] == failures[1]


def test_a_file_of_the_machine_is_rejected_and_not_shown(compile_text: Compile) -> None:
    failure = fail(
        compile_text, '#include "/etc/passwd"\n__global__ void k(int* o) { o[0] = y; }\n'
    )
    assert failure.status is Status.REJECTED
    assert "root" not in repr(failure)


def test_a_file_that_compiles_is_rejected_too(compile_text: Compile, tmp_path: Path) -> None:
    reference = tmp_path / "reference.cu"
    reference.write_text("__global__ void k(int* o) { o[0] = 1; }\n")
    assert fail(compile_text, f'#include "{reference}"\n').status is Status.REJECTED


@pytest.mark.parametrize("directive", ['#line 1 "/etc/passwd"', '#line 1 "gen.cu"', "#line 1000"])
def test_a_line_directive_shows_no_other_file_and_no_line_that_is_not_there(
    compile_text: Compile, directive: str
) -> None:
    failure = fail(compile_text, f"{directive}\n__global__ void k(int* o) {{\n    o[0] = y;\n}}\n")
    assert "root" not in repr(failure)
    assert "100" not in repr(failure)


def test_a_brace_that_nothing_closes_is_an_error_at_the_last_line(compile_text: Compile) -> None:
    failure = fail(
        compile_text, "__global__ void k(int* o) {\n    if (o) {\n        o[0] = 1;\n}\n"
    )
    assert failure.message == (
        'student.cu does not compile: line 4: expected a "}" at the end of the file'
    )
    assert failure.detail.startswith('student.cu:4: error: expected a "}" at the end of the file')


def test_the_line_of_an_instantiation_error_is_the_templates(compile_text: Compile) -> None:
    text = (
        "template <class T> __device__ T f(T x) {\n    return x.nothing;\n}\n__global__ void"
        " k(float* o) { o[0] = f(1.0f); }\n"
    )
    assert "student.cu:2: error: expression must have class type" in fail(compile_text, text).detail


def test_at_most_twenty_errors(compile_text: Compile) -> None:
    text = "__global__ void k() {\n" + "".join(f"    a{i}();\n" for i in range(30)) + "}\n"
    detail = fail(compile_text, text).detail
    assert detail.count("error:") == 20
    assert detail.endswith("... and 10 more")


def test_too_much_static_shared_memory_names_the_kernel_and_the_figures(
    compile_text: Compile,
) -> None:
    text = """template <int N> __global__ void k(float* o) {
    __shared__ float t[N][128];
    t[threadIdx.x][threadIdx.y] = o[0];
    __syncthreads();
    o[1] = t[threadIdx.y][threadIdx.x];
}
template __global__ void k<200>(float*);
"""
    failure = fail(compile_text, text)
    assert failure.status is Status.COMPILE_ERROR
    assert (
        failure.message
        == "Kernel k<200> declares 102,400 bytes of static __shared__ memory; at most 49,152 are allowed."
    )
    assert "extern __shared__" in failure.advice


def test_inline_assembly_that_ptxas_refuses_shows_no_temporary_file(compile_text: Compile) -> None:
    failure = fail(compile_text, '__global__ void k(float* o) { asm volatile("foo.bar;"); }\n')
    assert failure.status is Status.COMPILE_ERROR
    assert "tmp" not in failure.message + failure.detail


@pytest.mark.parametrize(
    "text", ["", "int x;\n", "__device__ int f() { return 1; }\n", "int main() { return 0; }\n"]
)
def test_no_kernel(compile_text: Compile, text: str) -> None:
    failure = fail(compile_text, text)
    assert failure.status is Status.COMPILE_ERROR
    assert failure.message == "student.cu has no __global__ kernel."


def test_a_template_that_nobody_instantiates_is_told_so(compile_text: Compile) -> None:
    assert (
        "explicit instance"
        in fail(compile_text, "template <int N> __global__ void k(float* o) { o[N] = 1; }\n").advice
    )


def compile_with(limits: ToolLimits, text: str, nvcc: Nvcc, nvdisasm: Nvdisasm) -> Failure:
    result = compile_submission(
        make_submission(text),
        nvcc=nvcc,
        nvdisasm=nvdisasm,
        arch="sm_90",
        run=run_tool,
        limits=limits,
        cache=None,
    )
    assert not isinstance(result, Binary), result
    return describe_mistake(result)


KERNEL = "__global__ void k(float* o) { o[0] = 1; }\n"


def test_a_time_out_has_its_own_sentence(nvcc: Nvcc, nvdisasm: Nvdisasm) -> None:
    bomb = "#define A0 int a;\n" + "".join(
        f"#define A{depth + 1} A{depth} A{depth} A{depth} A{depth}\n" for depth in range(12)
    )
    failure = compile_with(ToolLimits(wall_seconds=0.5), bomb + "A12\n" + KERNEL, nvcc, nvdisasm)
    assert failure.status is Status.TIMEOUT
    assert "after 0.5 s" in failure.message


def test_a_huge_array_has_its_own_sentence(nvcc: Nvcc, nvdisasm: Nvdisasm) -> None:
    text = (
        "__device__ int table[2000000] = {1};\n__global__ void k(int* o) { o[0] = table[o[1]]; }\n"
    )
    failure = compile_with(ToolLimits(file_bytes=4 << 20), text, nvcc, nvdisasm)
    assert failure.status is Status.COMPILE_ERROR
    assert "more than 4 MiB" in failure.message


def test_a_crash_has_its_signal(nvcc: Nvcc) -> None:
    crashed = Completed(139, "", "Segmentation fault\n")
    submission, limits = make_submission(KERNEL), ToolLimits()
    ended = explain_failed_run(crashed, submission, nvcc=nvcc, limits=limits, run=run_tool)
    assert isinstance(ended, CompilerEnded)
    assert ended.signal == 11


@pytest.mark.parametrize(
    ("completed", "words"),
    [
        (Completed(134, "", "LLVM ERROR: out of memory\nAborted\n"), "more than 6 GiB of memory"),
        (Completed(-9, "", "", "output"), "more than 4 MiB of messages"),
        (
            Completed(1, "", "/etc/shadow(1): error: extra text\n  root:hash\n  ^\n"),
            "lie outside of the file",
        ),
    ],
)
def test_a_run_without_a_showable_error(completed: Completed, words: str, nvcc: Nvcc) -> None:
    failure = describe_mistake(
        explain_failed_run(
            completed, make_submission(KERNEL), nvcc=nvcc, limits=ToolLimits(), run=run_tool
        )
    )
    assert words in failure.message
    assert "hash" not in repr(failure)


@pytest.mark.parametrize(
    ("variables", "size_bytes"),
    [
        ("__device__ float big[1200000000];", 4_800_000_000),
        ("__device__ float big[1ull << 29], more[1 << 29];", 4 << 30),
    ],
    ids=["one", "two"],
)
def test_more_variables_than_nvdisasm_reads_are_the_students_mistake(
    compile_text: Compile, variables: str, size_bytes: int
) -> None:
    use = " + more[threadIdx.x]" if "more" in variables else ""
    failure = fail(
        compile_text,
        f"{variables}\n__global__ void k(float* o) {{ o[threadIdx.x] = big[threadIdx.x]{use}; }}\n",
    )
    assert failure.status is Status.COMPILE_ERROR
    assert (
        failure.message
        == f"The __device__ variables of student.cu take {size_bytes:,} bytes; at most"
        " 4,294,967,295 are allowed."
    )
    assert "// scratch:" in failure.advice


def test_an_nvcc_that_does_not_know_the_gpu_is_nobodys_compile_error(
    nvcc: Nvcc, nvdisasm: Nvdisasm
) -> None:
    with pytest.raises(
        GraderError,
        match=r"nvcc .* cannot compile for this GPU: Unsupported gpu architecture 'sm_999'",
    ) as caught:
        compile_submission(
            make_submission(KERNEL),
            nvcc=nvcc,
            nvdisasm=nvdisasm,
            arch="sm_999",
            run=run_tool,
            limits=ToolLimits(),
            cache=None,
        )
    assert "GRADER_NVCC" in caught.value.advice


def test_warnings_are_kept_with_their_lines(compile_text: Compile) -> None:
    binary = compile_text("__global__ void k(float* o) {\n    int unused;\n    o[0] = 1;\n}\n")
    assert isinstance(binary, Binary)
    assert binary.warnings.splitlines() == [
        'student.cu:2: warning: variable "unused" was declared but never referenced',
        "    int unused;",
    ]


def test_the_grader_leaves_no_files_behind(
    nvcc: Nvcc, nvdisasm: Nvdisasm, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with suppress(GraderError):  # a busy machine gives the compiler no time
        compile_with(ToolLimits(wall_seconds=0.01), KERNEL, nvcc, nvdisasm)
    compile_with(ToolLimits(), SYNTAX, nvcc, nvdisasm)
    assert list(tmp_path.iterdir()) == []
