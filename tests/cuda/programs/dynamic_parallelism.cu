// A kernel that launches kernels: needs the device runtime.
// nvcc: -rdc=true -lcudadevrt
#include "check.h"

__global__ void child(int *x, int depth)
{
    x[threadIdx.x] += depth;
}

__global__ void parent(int *x)
{
    if (threadIdx.x == 0)
        for (int depth = 1; depth <= 3; ++depth)
            child<<<1, 8>>>(x, depth);
}

int main()
{
    int *x, host[8];
    CHECK(cudaMalloc(&x, sizeof(host)));
    CHECK(cudaMemset(x, 0, sizeof(host)));
    parent<<<1, 32>>>(x);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(host, x, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%d %d\n", host[0], host[7]);
    return 0;
}
