// Thread-block clusters by cudaLaunchKernelEx and by __cluster_dims__, with distributed memory.
// nvcc: -arch=sm_90
#include "check.h"
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ void exchange(int *result)
{
    __shared__ int own;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        own = 10 * blockIdx.x;
    cluster.sync();
    int next = (cluster.block_rank() + 1) % cluster.num_blocks();
    if (threadIdx.x == 0)
        result[blockIdx.x] = *cluster.map_shared_rank(&own, next) + cluster.num_blocks();
    cluster.sync();
}

__global__ void any_cluster(int *result)
{
    exchange(result);
}

__global__ void __cluster_dims__(2, 1, 1) pairs(int *result)
{
    exchange(result);
}

void show(const char *name, const int *device)
{
    int host[8];
    CHECK(cudaMemcpy(host, device, sizeof(host), cudaMemcpyDeviceToHost));
    printf("%s:", name);
    for (int value : host)
        printf(" %d", value);
    printf("\n");
}

int main()
{
    int *result;
    CHECK(cudaMalloc(&result, 8 * sizeof(int)));
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {4, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = 8;
    config.blockDim = 32;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CHECK(cudaLaunchKernelEx(&config, any_cluster, result));
    show("four", result);
    config.numAttrs = 0;
    CHECK(cudaLaunchKernelEx(&config, any_cluster, result));
    show("one", result);
    pairs<<<8, 32>>>(result);
    show("two", result);

    config.numAttrs = 1;
    int largest = 0;
    CHECK(cudaOccupancyMaxPotentialClusterSize(&largest, any_cluster, &config));
    printf("largest portable cluster: %d\n", largest);
    config.gridDim = 6;
    printf("six blocks in fours: %s\n",
           cudaGetErrorName(cudaLaunchKernelEx(&config, any_cluster, result)));
    CHECK(cudaFree(result));
    return 0;
}
