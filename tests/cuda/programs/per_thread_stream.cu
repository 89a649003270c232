// Two host threads, each with its own default stream.
// nvcc: --default-stream per-thread
#include "check.h"
#include <thread>

__global__ void count(int *x, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        atomicAdd(x, i);
}

void work(int n, int *result)
{
    int *x;
    CHECK(cudaMalloc(&x, sizeof(int)));
    CHECK(cudaMemsetAsync(x, 0, sizeof(int), 0));
    count<<<1, 64>>>(x, n);
    CHECK(cudaMemcpyAsync(result, x, sizeof(int), cudaMemcpyDeviceToHost, 0));
    CHECK(cudaStreamSynchronize(0));
    CHECK(cudaFree(x));
}

int main()
{
    int results[2] = {};
    std::thread one(work, 100, &results[0]), two(work, 1000, &results[1]);
    one.join();
    two.join();
    printf("%d %d\n", results[0], results[1]);
    CHECK(cudaStreamSynchronize(cudaStreamPerThread));
    return 0;
}
