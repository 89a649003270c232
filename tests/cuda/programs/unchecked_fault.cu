// A program that notices an illegal address only at the copy of its result, and exits with 2.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void scatter(int *x, int stride)
{
    x[(long long)threadIdx.x * stride * 1024] = threadIdx.x;
}

int main()
{
    int *x, host[64] = {42};
    cudaMalloc(&x, sizeof(host));
    scatter<<<1, 64>>>(x, 1 << 22);
    cudaError_t error = cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        printf("copy: %s, host[0] %d\n", cudaGetErrorString(error), host[0]);
        exit(2);
    }
    return 0;
}
