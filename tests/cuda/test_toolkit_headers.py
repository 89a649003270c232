"""Programs of older toolkits compile with names that CUDA 13 removed."""

from __future__ import annotations

import pytest

from grader.cuda.compile_program import add_removed_fields
from grader.cuda.program import exec_program

REMOVED = """
#include <cstddef>
#include <cstdio>
#include <cuda.h>
#include <cuda_profiler_api.h>
#include <curand.h>
#include <thrust/functional.h>
struct Twice : thrust::unary_function<int, int> {};
int main()
{
    cudaDeviceProp p;
    cudaGetDeviceProperties(&p, 0);
    int *x;
    cudaMallocManaged(&x, 4);
    cudaProfilerStart();
    cudaError_t error = cudaMemPrefetchAsync(x, 4, cudaCpuDeviceId);
    printf("%d %d\\n", error, cudaMemAdvise(x, 4, cudaMemAdviseSetReadMostly, 0));
    printf("%d %d\\n", p.clockRate > 0, p.memoryClockRate > 0);
    CUcontext context;
    printf("%d %d\\n", cuCtxCreate(&context, 0, 0), cudaThreadSynchronize());
    int version = 1;
    curandStatus_t status = curandGetVersion(&version);
    printf("%d %d\\n", status, version);
    return 0;
}
"""


@pytest.mark.slow
def test_program_with_removed_names_runs() -> None:
    assert exec_program(REMOVED, nvcc=["-lcuda", "-lcurand"]).stdout == "0 0\n1 1\n0 0\n0 10400\n"


def test_removed_fields_keep_the_size_of_the_structure() -> None:
    text = "struct cudaMemPool {\nint reserved[4];\n};\nstruct cudaDeviceProp\n{\nint reserved[56];\n};"
    changed = add_removed_fields(text)
    assert "int reserved[4];" in changed
    assert "int clockRate, deviceOverlap" in changed
    assert "cooperativeMultiDeviceLaunch, reserved[48];" in changed


def test_a_header_with_the_fields_stays_unchanged() -> None:
    text = "struct cudaDeviceProp\n{\nint clockRate; int reserved[63];\n};"
    assert add_removed_fields(text) == text
