// Cooperative launches: a grid-wide sum by grid synchronisation, and a grid that is too large.
// nvcc: -rdc=true
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__global__ void sum(int *x, int n)
{
    cg::grid_group grid = cg::this_grid();
    for (int step = n / 2; step > 0; step /= 2) {
        for (unsigned i = grid.thread_rank(); i < step; i += grid.size())
            x[i] += x[i + step];
        grid.sync();
    }
}

int main()
{
    int n = 4096, *x, supported;
    CHECK(cudaDeviceGetAttribute(&supported, cudaDevAttrCooperativeLaunch, 0));
    printf("supported %d\n", supported);
    CHECK(cudaMallocManaged(&x, n * sizeof(int)));
    void *arguments[] = {&x, &n};
    for (int blocks : {1, 3, 16}) {
        for (int i = 0; i < n; ++i)
            x[i] = i;
        CHECK(cudaLaunchCooperativeKernel(sum, blocks, 64, arguments, 0, 0));
        CHECK(cudaDeviceSynchronize());
        printf("%d blocks: %d\n", blocks, x[0]);
    }
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeCooperative;
    attribute.val.cooperative = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 128;
    config.attrs = &attribute;
    config.numAttrs = 1;
    for (int i = 0; i < n; ++i)
        x[i] = 1;
    CHECK(cudaLaunchKernelEx(&config, sum, x, n));
    CHECK(cudaDeviceSynchronize());
    printf("by attribute: %d\n", x[0]);
    printf("too large: %s\n",
           cudaGetErrorName(cudaLaunchCooperativeKernel(sum, 1 << 16, 1024, arguments, 0, 0)));
    CHECK(cudaFree(x));
    return 0;
}
