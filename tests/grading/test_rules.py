"""What an exercise or a part forbids: each rule on code that breaks it and on code that just keeps
it. With a compiler."""

from __future__ import annotations

import hashlib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import grader
from grader.cpp.expressions import parse_expression
from grader.devices.gpus import read_gpus
from grader.grading.building import Built, build, make_program
from grader.grading.mistakes import SubmissionError
from grader.grading.tools import Toolchain, find_toolchain
from grader.records import Failure, Status, Submission
from grader.spec.exercise import Atomics, Forbidden
from grader.spec.reader import read_exercise
from grader.spec.statements import Plan
from grader.submission.plan import read_plan

ROOT = Path(__file__).resolve().parents[2]
TRANSPOSE = read_exercise(ROOT / "exercises" / "transpose")
LIMITS = read_gpus()["h100"].emulated_info.limits
SIZES = {"rows": 70, "cols": 30}

KERNELS = """
#define PARAMETERS float* out, const float* in, int rows, int cols
namespace course { __device__ float table[1000]; }
__device__ float* pointer = course::table;
__constant__ float* address = course::table;
__global__ void plain(PARAMETERS) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void by_name(PARAMETERS) {
    course::table[threadIdx.x] = in[threadIdx.x];
    out[threadIdx.x] = course::table[cols];
}
__global__ void by_pointer(PARAMETERS) { out[threadIdx.x] = pointer[threadIdx.x]; }
__global__ void by_constant(PARAMETERS) { out[threadIdx.x] = address[threadIdx.x]; }
__device__ __noinline__ float apart(int i) { return course::table[i]; }
__global__ void by_call(PARAMETERS) { out[threadIdx.x] = apart(rows); }
__global__ void by_text(PARAMETERS) { out[threadIdx.x] = "a text that is held in global memory"[cols]; }
__global__ void heap(PARAMETERS) {
    float* own = new float[rows];
    own[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = own[cols];
}
__global__ void adds(PARAMETERS) {
    atomicAdd(out + cols, in[threadIdx.x]);
}
__global__ void exchanges(PARAMETERS) { out[rows] = atomicExch(out + threadIdx.x, in[threadIdx.x]); }
__global__ void adds_in_shared_memory(PARAMETERS) {
    __shared__ int sum;
    sum = 0;
    __syncthreads();
    atomicAdd(&sum, (int)in[threadIdx.x]);
    __syncthreads();
    out[threadIdx.x] = sum;
}
"""
LINES = KERNELS.count("\n")
VARIABLE_BYTES = 4000 + 8 + 37
"""Of `table`, `pointer` and the text in `by_text`."""


@pytest.fixture(scope="module")
def tools(cache: Path) -> Toolchain:
    return find_toolchain(prefer_wheel=True, cache=cache)


@pytest.fixture(scope="module")
def compiled(tools: Toolchain) -> Built:
    built = build(
        _submission(KERNELS), TRANSPOSE, tools, arch="sm_90", plan=TRANSPOSE.baseline_plan
    )
    assert built.binary.variable_bytes == VARIABLE_BYTES
    return built


def _submission(text: str) -> Submission:
    return Submission("mine.cu", hashlib.sha256(text.encode()).hexdigest(), text)


def judge(
    compiled: Built,
    kernel: str,
    forbid: Forbidden,
    *,
    scratch: tuple[str, ...] = (),
    sizes: dict[str, int] = SIZES,
) -> Failure | None:
    """What is said of a file that launches this kernel, behind its code, for a transpose that
    forbids this."""
    lines = [
        *(f"// scratch: {text}" for text in scratch),
        f"// launch: {kernel}<<<1, 32>>>(out, in, rows, cols)",
    ]
    source = _submission(KERNELS + "\n".join(lines))
    plan = read_plan(source)
    assert isinstance(plan, Plan), plan
    exercise = replace(TRANSPOSE, forbid=forbid)
    built = replace(compiled, source=source, plan=plan, rules_of=exercise)
    try:
        make_program("submission", built, exercise, sizes=sizes, limits=LIMITS)
    except SubmissionError as error:
        program = error.failure
    else:
        return None
    assert (program.status, bool(program.advice)) == (Status.REJECTED, True), program
    return program


# --- scratch memory -------------------------------------------------------------------------------


def scratch_above(formula: str) -> Forbidden:
    return Forbidden(scratch_bytes_above=parse_expression(formula))


def test_no_scratch_memory_at_all(compiled: Built) -> None:
    assert judge(compiled, "plain", scratch_above("0")) is None
    failure = judge(compiled, "plain", scratch_above("0"), scratch=("char one[1]",))
    assert failure is not None
    assert (
        failure.message
        == f"the exercise allows no scratch memory: line {LINES + 1} declares 'char one[1]'"
    )
    assert failure.detail == f"{LINES + 1} | // scratch: char one[1]"


def test_scratch_memory_up_to_a_formula_of_the_sizes(compiled: Built) -> None:
    just_enough = ("float row[cols - 1]", "short two[2]")
    assert judge(compiled, "plain", scratch_above("4 * cols"), scratch=just_enough) is None
    failure = judge(
        compiled, "plain", scratch_above("4 * cols"), scratch=(*just_enough, "char more[1]")
    )
    assert failure is not None
    wanted = (
        f"the exercise allows no more than 4 * cols bytes of scratch memory: line {LINES + 3}"
        " declares 'char more[1]'"
    )
    assert failure.message == wanted


def test_scratch_memory_that_is_too_much_at_some_sizes_only_and_no_figure_of_them(
    compiled: Built,
) -> None:
    grows = ("float late[max(1, rows - 4096)]",)
    assert judge(compiled, "plain", scratch_above("4"), scratch=grows) is None
    failure = judge(
        compiled, "plain", scratch_above("4"), scratch=grows, sizes={"rows": 5167, "cols": 30}
    )
    assert failure is not None
    said = f"{failure.message} {failure.detail} {failure.advice}"
    assert not [
        figure for figure in ("5167", "5,167", "1071", "1,071", "4284", "4,284") if figure in said
    ]


def test_malloc_is_scratch_memory_of_any_size(compiled: Built) -> None:
    failure = judge(compiled, "heap", scratch_above("4 * rows * cols"))
    assert failure is not None
    assert failure.message.endswith(
        "4 * rows * cols bytes of scratch memory: the kernel heap can call malloc"
    )


# --- __device__ variables -------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", ["by_name", "by_pointer", "by_constant", "by_call", "by_text"])
def test_a_kernel_that_has_an_address_reaches_all_variables(kernel: str, compiled: Built) -> None:
    assert judge(compiled, kernel, Forbidden(device_variable_bytes_above=VARIABLE_BYTES)) is None
    failure = judge(compiled, kernel, Forbidden(device_variable_bytes_above=VARIABLE_BYTES - 1))
    assert failure is not None
    what = f"the kernel {kernel} can reach 4,045 bytes of them, most of them declared in line 3"
    assert (
        failure.message
        == f"the exercise allows no more than 4,044 bytes of __device__ variables: {what}"
    )
    assert failure.detail == "3 | namespace course { __device__ float table[1000]; }"


def test_variables_of_other_kernels_do_not_matter(compiled: Built) -> None:
    assert judge(compiled, "plain", Forbidden(device_variable_bytes_above=0)) is None
    failure = judge(compiled, "by_name", Forbidden(device_variable_bytes_above=0))
    assert failure is not None
    assert failure.message.startswith("the exercise allows no __device__ variables: ")


# --- atomics --------------------------------------------------------------------------------------


@pytest.mark.parametrize("forbidden", Atomics)
@pytest.mark.parametrize("kernel", ["adds", "exchanges"])
def test_atomics_on_global_memory(kernel: str, forbidden: Atomics, compiled: Built) -> None:
    failure = judge(compiled, kernel, Forbidden(atomics=forbidden))
    assert failure is not None
    call = {"adds": "atomicAdd(out", "exchanges": "atomicExch(out"}[kernel]
    line = next(number for number, text in enumerate(KERNELS.splitlines(), 1) if call in text)
    assert f": the kernel {kernel} has one in line {line} (" in failure.message
    assert call in failure.detail


def test_atomics_on_shared_memory_are_forbidden_with_all_others_only(compiled: Built) -> None:
    assert judge(compiled, "adds_in_shared_memory", Forbidden(atomics=Atomics.GLOBAL)) is None
    failure = judge(compiled, "adds_in_shared_memory", Forbidden(atomics=Atomics.ALL))
    assert failure is not None
    assert failure.message.startswith(
        "the exercise allows no atomics: the kernel adds_in_shared_memory has one in line "
    )


def test_atomics_of_kernels_that_are_not_launched_do_not_matter(compiled: Built) -> None:
    assert judge(compiled, "plain", Forbidden(atomics=Atomics.ALL)) is None


# --- headers --------------------------------------------------------------------------------------

PLAIN = (
    "__global__ void plain(float* out, const float* in, int rows, int cols) { out[threadIdx.x] ="
    " in[threadIdx.x]; }\n"
)
LAUNCH = "// launch: plain<<<1, 32>>>(out, in, rows, cols)\n"
HEADERS = [
    (
        "#include <cstdio>\n  #  include <cub/util_type.cuh>\n",
        "cub",
        "line 2 includes cub/util_type.cuh",
    ),
    ('#include "mma.h"\n', "mma.h", "line 1 includes mma.h"),
    (
        "#define INSIDE <cuda/std/cstdint>\n#include INSIDE\n",
        "cuda",
        "another header includes cuda/std/",
    ),
    (
        "#include <cooperative_groups.h>\n",
        "cooperative_groups",
        "includes cooperative_groups/details/",
    ),
]


@pytest.mark.parametrize(("text", "name", "words"), HEADERS)
def test_a_forbidden_header_is_refused_however_it_is_included(
    text: str, name: str, words: str, tools: Toolchain
) -> None:
    exercise = replace(TRANSPOSE, forbid=Forbidden(headers=("thrust", name)))
    with pytest.raises(SubmissionError) as refused:
        build(_submission(text + LAUNCH + PLAIN), exercise, tools, arch="sm_90")
    assert refused.value.status is Status.REJECTED
    assert refused.value.message.startswith(f"the exercise allows no header of {name}: ")
    assert words in refused.value.message


def test_the_toolkits_own_headers_use_none_of_a_library(tools: Toolchain) -> None:
    exercise = replace(
        TRANSPOSE,
        forbid=Forbidden(headers=("cub", "thrust", "cuda", "cooperative_groups", "mma.h", "cu")),
    )
    source = _submission("#include <cuda_fp16.h>\n" + LAUNCH + PLAIN)
    assert build(source, exercise, tools, arch="sm_90").binary.kernels


def test_rules_do_not_restrict_baselines(tools: Toolchain) -> None:
    exercise = replace(TRANSPOSE, forbid=Forbidden(headers=("cub",)))
    source = _submission("#include <cub/util_type.cuh>\n" + LAUNCH + PLAIN)
    assert build(source, exercise, tools, arch="sm_90", plan=exercise.default_plan).binary.kernels


# --- a whole grading ------------------------------------------------------------------------------


def test_what_the_exercise_itself_forbids_is_rejected(tmp_path: Path, cache: Path) -> None:
    folder = tmp_path / "exercises" / "transpose"
    shutil.copytree(ROOT / "exercises" / "transpose", folder)
    shutil.copytree(ROOT / "starter", tmp_path / "starter")
    spec = json.loads((folder / "spec.json").read_text())
    (folder / "spec.json").write_text(
        json.dumps({**spec, "forbid": {"scratch_bytes_above": "4 * rows"}})
    )
    file = ROOT / "tests" / "submissions" / "transpose" / "failed--copy_to_scratch_first.cu"
    score = grader.grade(folder, file, device="emulated:h100", seed=1, cache=cache, model=False)
    assert (score.status, score.score, score.exit_code) == (Status.REJECTED, 0, 1)
    assert score.message.startswith(
        "the exercise allows no more than 4 * rows bytes of scratch memory: line "
    )
    assert all(check.points == 0 for check in score.checks)
