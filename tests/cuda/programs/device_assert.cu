// A failed assert in a kernel: the error appears at the synchronisation and stays.
#include "check.h"
#include <cassert>

__global__ void positive(const int *x)
{
    assert(x[threadIdx.x] > 0);
}

int main()
{
    int host[4] = {1, 2, 3, 4}, *x;
    CHECK(cudaMalloc(&x, sizeof(host)));
    CHECK(cudaMemcpy(x, host, sizeof(host), cudaMemcpyHostToDevice));
    positive<<<1, 4>>>(x);
    CHECK(cudaDeviceSynchronize());
    printf("all positive\n");
    CHECK(cudaMemset(x + 2, 0, sizeof(int)));
    positive<<<1, 4>>>(x);
    printf("launch: %s\n", cudaGetErrorName(cudaGetLastError()));
    cudaError_t error = cudaDeviceSynchronize();
    printf("synchronise: %s: %s\n", cudaGetErrorName(error), cudaGetErrorString(error));
    printf("again: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
    printf("malloc: %s\n", cudaGetErrorName(cudaMalloc(&x, 4)));
    return error == cudaErrorAssert ? 3 : 0;
}
