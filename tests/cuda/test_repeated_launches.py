"""A kernel that a program launches again and again, in the memory of its first launch."""

from __future__ import annotations

from grader.cuda.program import exec_program

WRITES_THEN_READS = r"""
#include <cstdio>

constexpr int CHUNKS = 4200, WORDS = 4096;
__device__ volatile int many[CHUNKS * WORDS];
__device__ int sum;

__global__ void write_or_read(int writes)
{
    if (writes) {
        float x = threadIdx.x;
        for (int k = 0; k < 20000; k++)
            x = 1.01f * x + 0.5f;
        for (int k = threadIdx.x; k < CHUNKS; k += blockDim.x)
            many[k * WORDS] = x > 0.0f;
    } else {
        int found = 0;
        for (int k = threadIdx.x; k < CHUNKS; k += blockDim.x)
            found += many[k * WORDS];
        atomicAdd(&sum, found);
    }
}

int main()
{
    for (int k = 0; k < 4; k++)
        write_or_read<<<2, 128>>>(k == 1);
    int found = 0;
    cudaMemcpyFromSymbol(&found, sum, sizeof found);
    printf("%d\n", found);
}
"""


def test_a_launch_does_not_wait_for_writes_of_a_launch_before_it() -> None:
    """Their records are more than a launch keeps, so such a wait would have no time."""
    found = exec_program(WRITES_THEN_READS)
    assert (found.stdout or "").strip() == str(2 * 2 * 4200)
    assert [kernel.waited for kernel in found.kernels] == [False]
