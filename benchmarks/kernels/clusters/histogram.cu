// A histogram whose bins are spread over the shared memory of a cluster of 8 blocks.
// run: --size n=16777216 --size bins=4096 --input x=index:n:uint32 --output counts=index:bins:uint32
// run: --size n=4194304 --size bins=65536 --input x=index:n:uint32 --output counts=index:bins:uint32
// launch: histogram<<<512, 512, bins / 8 * 4>>>(counts, x, n, bins)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(8, 1, 1) histogram(unsigned* counts, const unsigned* x, int n, int bins)
{
    extern __shared__ unsigned own[];
    auto cluster = cooperative_groups::this_cluster();
    const int part = bins / 8;
    for (int k = threadIdx.x; k < part; k += blockDim.x)
        own[k] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const unsigned bin = x[i] * 2654435761u >> 8 & (bins - 1);
        atomicAdd(cluster.map_shared_rank(own, bin / part) + bin % part, 1u);
    }
    cluster.sync();
    for (int k = threadIdx.x; k < part; k += blockDim.x)
        atomicAdd(&counts[cluster.block_rank() * part + k], own[k]);
}
