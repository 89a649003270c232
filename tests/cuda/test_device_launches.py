"""Launches by device code (dynamic parallelism)."""

from __future__ import annotations

from grader.cuda.program import exec_program

PROGRAM = r"""
#include <cstdio>
__device__ int order[64], places;
__global__ void note(int value) { if (threadIdx.x == 0) order[atomicAdd(&places, 1)] = value; }
__global__ void tail() { printf("tail after %d notes\n", places); }
__global__ void deep(int *sum, int depth)
{
    atomicAdd(sum, 1);
    if (depth < 4 && threadIdx.x == 0)
        for (int i = 0; i < 2; i++) deep<<<1, 2>>>(sum, depth + 1);
}
typedef void (*Kernel)(int);
__device__ Kernel table[2] = {note, note};
__global__ void parent(int *sum)
{
    if (threadIdx.x == 0) {
        tail<<<1, 1, 0, cudaStreamTailLaunch>>>();
        cudaStream_t stream;
        cudaEvent_t event;
        cudaError_t first = cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        note<<<1, 32, 0, stream>>>(10 * blockIdx.x + 1);
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        cudaEventRecord(event, stream);
        note<<<1, 32, 0, cudaStreamFireAndForget>>>(10 * blockIdx.x + 2);
        table[1]<<<1, 32>>>(10 * blockIdx.x + 3);
        cudaStreamDestroy(stream);
        if (first != cudaSuccess || cudaGetLastError() != cudaSuccess) printf("error\n");
    }
    if (blockIdx.x == 0) deep<<<1, 2>>>(sum, threadIdx.x);
}
__global__ void many(int *sum) { deep<<<1, 1>>>(sum, 9); }
int main()
{
    int *sum;
    cudaMallocManaged(&sum, 4);
    parent<<<2, 2>>>(sum);
    printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
    int host[64], n;
    cudaMemcpyFromSymbol(host, order, sizeof host);
    cudaMemcpyFromSymbol(&n, places, 4);
    for (int i = 0; i < n; i++) printf("%d ", host[i]);
    printf("\n%d\n", *sum); // 2 + 4 + 8 + 16 + 32, 2 + 4 + 8 + 16
    for (int i = 0; i < 3; i++) many<<<10, 256>>>(sum);
    printf("%s ", cudaGetErrorString(cudaDeviceSynchronize()));
    printf("%d\n", *sum);
}
"""
COPIES = """
__global__ void copy(int *to, int *from) {
    cudaMemcpyAsync(to, from, 4, cudaMemcpyDeviceToDevice, 0);
}
int main() {
    int *x;
    cudaMalloc(&x, 8);
    copy<<<1, 1>>>(x, x + 1);
    return cudaDeviceSynchronize();
}
"""


def test_kernels_launch_kernels() -> None:
    found = exec_program(PROGRAM, nvcc=["-rdc=true"], check=True)
    assert found.stdout.splitlines() == [
        *("tail after 6 notes", "tail after 6 notes"),
        *("no error", "1 2 3 11 12 13 ", "92", "no error 7772"),
    ]
    assert found.exit_code == 0
    assert found.findings == ()


def test_functions_of_the_device_runtime_are_refused_with_their_line() -> None:
    found = exec_program(COPIES, nvcc=["-rdc=true"])
    assert found.exit_code == 801 % 256
    assert "does not know a function of the device runtime" in (found.stderr or "")
    assert "kernel copy uses (line 3)" in (found.stderr or "")
