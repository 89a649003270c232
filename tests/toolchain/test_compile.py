"""Submissions to kernels: names, parameters, resources, instructions, and the cache."""

import json
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from grader.records import Binary, CompileErrors, Completed, Kernel, ToolLimits, TooMuchStaticShared
from grader.sandbox.process import run_tool
from grader.toolchain.compilation import NotCompiled
from grader.toolchain.compile import compile_submission
from grader.toolchain.nvcc import Nvcc, Nvdisasm
from tests.support.compiling import compile_source

from .conftest import Compile, make_submission

TRUTH = Path(__file__).parent.parent / "data" / "truth"

HOST_CODE = """#include <cstdio>
#include <vector>
#include <cuda_runtime.h>
__global__ void k(float* o) { o[threadIdx.x] = 1; }
int main() {
    float* p;
    cudaMalloc(&p, 128);
    k<<<1, 32>>>(p);
    std::vector<int> v;
    printf("%zu", v.size());
}
"""

NAMES = """extern "C" __global__ void plain(float* o, char c, unsigned long long n) { o[c] = n; }
namespace ns {
struct Pair { float x, y; };
template <int N, unsigned M, bool B, class T> __global__ void k(T* o, const T* i, Pair p) { o[N] = B ? i[M] : p.y; }
template __global__ void k<32, 8, true, float>(float*, const float*, Pair);
}
namespace { __global__ void hidden(int* o) { o[0] = 1; } }
__global__ void __launch_bounds__(64, 2) bounded(int* o, int (*f)(int)) { o[0] = f(o[1]); }
template <class T> __global__ void overloaded(T* o) { o[0] = 1; }
template __global__ void overloaded<int>(int*);
template __global__ void overloaded<double>(double*);
"""

INLINED = """#include <cuda_fp16.h>
__device__ __noinline__ float far_away(float x) {
    return x * sinf(x);
}
__device__ float near(float x) {
    return x * 3.0f;
}
__global__ void k(float* o) {
    extern __shared__ float s[];
    s[threadIdx.x] = near(o[threadIdx.x]);
    __syncthreads();
    o[1] = __half2float(__float2half(s[1]));
    o[2] = far_away(o[3]);
}
"""


def kernels(compile_text: Compile, text: str) -> dict[str, Kernel]:
    binary = compile_text(text)
    assert isinstance(binary, Binary), binary
    return {kernel.name: kernel for kernel in binary.kernels}


@pytest.mark.parametrize("name", sorted(json.loads((TRUTH / "h100.json").read_text())["kernels"]))
def test_resources_are_those_that_an_h100_reported(name: str) -> None:
    record = json.loads((TRUTH / "h100.json").read_text())["kernels"][name]
    text = (TRUTH / "kernels" / f"{name.split('/')[1]}.cu").read_text()
    found = {kernel.name: kernel for kernel in compile_source(make_submission(text)).kernels}
    for launch in (launch for counted in record["counted"] for launch in counted["launches"]):
        kernel = found[launch["kernel"]]
        assert (kernel.registers, kernel.static_shared_bytes, kernel.local_bytes) == (
            launch["regs"],
            launch["static_shared"],
            launch["local"],
        )
        assert kernel.parameter_base == 0x210


def test_names_are_those_of_the_source(compile_text: Compile) -> None:
    assert set(kernels(compile_text, NAMES)) == {
        "plain",
        "ns::k<32, 8, true, float>",
        "hidden",
        "bounded",
        "overloaded<int>",
        "overloaded<double>",
    }


def test_parameters_have_places_and_where_known_types(compile_text: Compile) -> None:
    found = kernels(compile_text, NAMES)
    plain = [(p.offset, p.size_bytes, p.type, p.is_pointer) for p in found["plain"].parameters]
    assert plain == [(0, 8, None, None), (8, 1, None, None), (16, 8, None, None)]
    template = [
        (p.offset, p.size_bytes, p.type, p.is_pointer)
        for p in found["ns::k<32, 8, true, float>"].parameters
    ]
    assert template == [
        (0, 8, "float*", True),
        (8, 8, "float const*", True),
        (16, 8, "ns::Pair", False),
    ]


def test_parameters_of_more_than_4_kib_have_places_too(compile_text: Compile) -> None:
    text = (
        "struct Table { int at[5000]; };\n"
        "__global__ void k(int* o, const Table t, int n) { o[n] = t.at[n]; }\n"
    )
    found = kernels(compile_text, text)["k"].parameters
    assert [(p.offset, p.size_bytes) for p in found] == [(0, 8), (8, 20000), (20008, 4)]


def test_what_only_sm_90a_has_compiles_for_sm_90(compile_text: Compile) -> None:
    binary = compile_text(
        """__global__ void k(int* o) {
    asm volatile("wgmma.fence.sync.aligned;");
    o[threadIdx.x] = 1;
}
"""
    )
    assert isinstance(binary, Binary)
    assert binary.arch == "sm_90"
    (kernel,) = binary.kernels
    assert "WARPGROUP.ARRIVE" in [each.opcode for each in kernel.instructions]


def test_launch_bounds(compile_text: Compile) -> None:
    found = kernels(compile_text, NAMES)
    assert found["bounded"].max_threads_per_block == 64
    assert found["plain"].max_threads_per_block is None


def test_local_memory_is_counted(compile_text: Compile) -> None:
    text = (
        "__global__ void k(float* o, const int* i) {\n    float l[64];\n    for (int j = 0; j < 64;"
        " j++) l[i[j] & 63] = o[j];\n"
    )
    assert kernels(compile_text, text + "    o[0] = l[i[99] & 63];\n}\n")["k"].local_bytes == 256


def test_static_shared_memory_leaves_out_what_the_system_reserves(compile_text: Compile) -> None:
    static = (
        "__global__ void k(int* o) { __shared__ int s[5]; s[threadIdx.x] = o[0]; __syncthreads();"
        " o[1] = s[4 - threadIdx.x]; }\n"
    )
    assert kernels(compile_text, static)["k"].static_shared_bytes == 20
    assert kernels(compile_text, INLINED)["k"].static_shared_bytes == 0


VARIABLES = """
__managed__ float shared_with_host[1000];
static __device__ int own[10];
__device__ int filled[4] = {1, 2, 3, 4};
__constant__ float constants[8];
__global__ void k(float* o) {
    __shared__ float s[64];
    s[threadIdx.x] = o[0];
    __syncthreads();
    o[threadIdx.x] = shared_with_host[threadIdx.x] + own[threadIdx.x % 10]++ + filled[threadIdx.x % 4] + constants[1] + s[63 - threadIdx.x];
}
"""


def test_variables_are_counted_without_constants_and_shared_memory(compile_text: Compile) -> None:
    binary = compile_text(VARIABLES)
    assert isinstance(binary, Binary)
    assert binary.variable_bytes == 4000 + 40 + 16
    plain = compile_text(CACHED)
    assert isinstance(plain, Binary)
    assert plain.variable_bytes == 0


def test_host_code_is_allowed(compile_text: Compile) -> None:
    assert set(kernels(compile_text, HOST_CODE)) == {"k"}


def test_instructions_are_the_whole_section(compile_text: Compile) -> None:
    kernel = kernels(compile_text, INLINED)["k"]
    assert [i.offset for i in kernel.instructions] == list(
        range(0, 16 * len(kernel.instructions), 16)
    )
    opcodes = [i.opcode for i in kernel.instructions]
    assert opcodes[0] == "LDC"
    assert "EXIT" in opcodes
    call = next(i for i in kernel.instructions if i.opcode.startswith("CALL"))
    assert call.line == 13
    after_exit = kernel.instructions[opcodes.index("EXIT") + 1 :]
    assert any(i.line == 3 and i.opcode == "FMUL" for i in after_exit)


def test_predicates_operands_and_branch_targets(compile_text: Compile) -> None:
    kernel = kernels(compile_text, (TRUTH / "kernels" / "gemm_naive_row.cu").read_text())[
        "g_naive_row"
    ]
    guarded = [i for i in kernel.instructions if i.predicate]
    assert all(i.predicate and i.predicate.startswith("@") for i in guarded)
    assert any(i.opcode == "EXIT" for i in guarded)
    assert kernel.instructions[0].operands == "R1,c[0x0][0x28]"
    branches = [i for i in kernel.instructions if i.opcode == "BRA" and "," not in i.operands]
    targets = {int(i.operands, 16) for i in branches}
    assert targets <= {i.offset for i in kernel.instructions}


def test_lines_of_inlined_code_are_the_submissions(compile_text: Compile) -> None:
    kernel = kernels(compile_text, INLINED)["k"]

    def lines(opcode: str) -> set[int | None]:
        return {i.line for i in kernel.instructions if i.opcode.startswith(opcode)}

    assert lines("BAR") == {11}
    assert lines("STS") == {10}
    # An inlined function of the submission shows its own line, one of a header the line that calls
    # it.
    assert 6 in lines("FMUL")
    assert lines("F2FP") == {12}
    assert None not in {i.line for i in kernel.instructions}


class CountingRun:
    """run_tool, with the names of the programs that were run."""

    def __init__(self) -> None:
        self.programs: list[str] = []

    def __call__(
        self,
        argv: Sequence[str],
        *,
        cwd: Path | None = None,
        limits: ToolLimits | None = None,
        env: dict[str, str] | None = None,
    ) -> Completed:
        self.programs.append(Path(argv[0]).name)
        return run_tool(argv, cwd=cwd, limits=limits, env=env)


CACHED = "__global__ void k(float* o) {\n    int unused;\n    o[threadIdx.x] = 1;\n}\n"


@pytest.fixture
def counted(nvcc: Nvcc, nvdisasm: Nvdisasm) -> "Counted":
    return Counted(nvcc, nvdisasm)


class Counted:
    """Compilations with a cache, and the tools that each of them started."""

    def __init__(self, nvcc: Nvcc, nvdisasm: Nvdisasm) -> None:
        self.nvcc, self.nvdisasm = nvcc, nvdisasm

    def compile(
        self, cache: Path, text: str = CACHED, name: str = "student.cu", arch: str = "sm_90"
    ) -> tuple[Binary | NotCompiled, list[str]]:
        run = CountingRun()
        submission = make_submission(text, name)
        limits = ToolLimits()
        binary = compile_submission(
            submission,
            nvcc=self.nvcc,
            nvdisasm=self.nvdisasm,
            arch=arch,
            run=run,
            limits=limits,
            cache=cache,
        )
        return binary, run.programs


def test_a_second_run_starts_no_tool_and_says_the_same(counted: Counted, tmp_path: Path) -> None:
    first, started = counted.compile(tmp_path / "new" / "cache")
    second, started_again = counted.compile(tmp_path / "new" / "cache")
    assert sorted(started) == ["c++filt", "nvcc", "nvdisasm"]
    assert started_again == []
    assert second == first
    assert isinstance(first, Binary)


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory, nvcc: Nvcc, nvdisasm: Nvdisasm) -> Path:
    """A cache that holds CACHED alone."""
    cache = tmp_path_factory.mktemp("filled")
    Counted(nvcc, nvdisasm).compile(cache)
    return cache


@pytest.fixture
def cache(filled: Path, tmp_path: Path) -> Path:
    """A cache that holds CACHED alone, to be changed."""
    return shutil.copytree(filled, tmp_path / "cache")


def test_an_equal_file_of_another_name_is_served_under_its_own(
    counted: Counted, cache: Path
) -> None:
    binary, started = counted.compile(cache, name="other.cu")
    assert started == []
    assert isinstance(binary, Binary)
    assert binary.warnings.startswith("other.cu:2: warning")


def test_files_that_differ_only_in_comments_are_compiled_once(
    counted: Counted, tmp_path: Path
) -> None:
    text = CACHED.replace("    int unused;\n", "")
    first, started = counted.compile(tmp_path, text=f"// Ann\n{text}")
    assert "nvcc" in started
    assert counted.compile(tmp_path, text=f"// Bob, alone   \n{text}") == (first, [])
    _, started = counted.compile(tmp_path, text=f"// Bob\n// alone\n{text}")
    assert "nvcc" in started  # on other lines


def test_a_file_with_a_warning_is_not_shared(counted: Counted, tmp_path: Path) -> None:
    """The warning quotes a line with its comment."""
    _, started = counted.compile(tmp_path, text=CACHED.replace("unused;", "unused;  // Ann"))
    assert "nvcc" in started
    binary, started = counted.compile(tmp_path, text=CACHED.replace("unused;", "unused;  // Bob"))
    assert "nvcc" in started
    assert isinstance(binary, Binary)
    assert "Ann" not in binary.warnings


@pytest.mark.parametrize("change", [{"text": CACHED + "\n"}, {"arch": "sm_80"}])
def test_another_text_or_architecture_is_compiled_anew(
    counted: Counted, cache: Path, change: dict[str, str]
) -> None:
    _, started = counted.compile(cache, **change)
    assert "nvcc" in started


@pytest.mark.parametrize(
    "damage",
    [
        "flipped",
        "folder",
        # read as those are: tests/plumbing/test_cache.py has every kind of damage
        *(pytest.param(each, marks=pytest.mark.slow) for each in ("empty", "truncated", "text")),
    ],
)
def test_a_damaged_entry_is_compiled_anew_and_replaced(
    counted: Counted, cache: Path, damage: str
) -> None:
    first, started = counted.compile(cache)
    assert started == []
    before = sorted(cache.iterdir())
    (entry,) = (path for path in before if not path.name.startswith("listing-"))
    content = entry.read_bytes()
    flipped = bytes([*content[:100], content[100] ^ 1, *content[101:]])
    damaged = {
        "empty": b"",
        "truncated": content[:-10],
        "flipped": flipped,
        "text": b"{}",
        "folder": None,
    }[damage]
    if damaged is None:
        entry.unlink()
        entry.mkdir()
    else:
        entry.write_bytes(damaged)
    second, started = counted.compile(cache)
    assert "nvcc" in started
    assert isinstance(first, Binary)
    assert isinstance(second, Binary)
    assert second.kernels == first.kernels
    if damaged is not None:
        assert counted.compile(cache) == (second, [])
    assert sorted(cache.iterdir()) == before


def test_a_failure_is_not_kept(counted: Counted, tmp_path: Path) -> None:
    failure, _ = counted.compile(tmp_path, text="__global__ void k( {")
    assert isinstance(failure, CompileErrors)
    assert list(tmp_path.iterdir()) == []


def test_a_cache_that_cannot_be_written_is_done_without(counted: Counted, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    binary, _ = counted.compile(tmp_path / "file")
    assert isinstance(binary, Binary)


def test_shared_arrays_beyond_all_bounds_are_refused(compile_text: Compile) -> None:
    """Found by benchmarks/fuzz.py: ptxas counts in 32 bits, and nvdisasm then ran out of memory."""
    failure = compile_text(
        "__global__ void k(float* o) { __shared__ float t[32][2147483648]; t[threadIdx.x][1] = 2;"
        " o[0] = t[3][1]; }\n"
    )
    assert isinstance(failure, TooMuchStaticShared)
    assert (failure.size_bytes, failure.most_bytes) == (32 * 2147483648 * 4, 48 << 10)
