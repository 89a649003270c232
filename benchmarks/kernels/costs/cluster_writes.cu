// Cycles of a store, or of an atomic addition, to the shared memory of the next block of a cluster of 4.
// run: --size turns=256 --size threads=32 --size adds=0 --output y=float32:128*threads
// run: --size turns=256 --size threads=256 --size adds=0 --output y=float32:128*threads
// run: --size turns=256 --size threads=1024 --size adds=0 --output y=float32:128*threads
// run: --size turns=256 --size threads=32 --size adds=1 --output y=float32:128*threads
// run: --size turns=256 --size threads=256 --size adds=1 --output y=float32:128*threads
// run: --size turns=256 --size threads=1024 --size adds=1 --output y=float32:128*threads
// launch: writes<<<128, threads>>>(y, turns, adds)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(4, 1, 1) writes(float* y, int turns, int adds)
{
    __shared__ int words[1024];
    auto cluster = cooperative_groups::this_cluster();
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        words[k] = 0;
    cluster.sync();
    int* other = cluster.map_shared_rank(words, (cluster.block_rank() + 1) % 4);
    const int place = threadIdx.x;
    const long long start = clock64();
    if (adds)
#pragma unroll 16
        for (int k = 0; k < turns; k++)
            atomicAdd(&other[(place + 32 * k) % 1024], 1);
    else
#pragma unroll 16
        for (int k = 0; k < turns; k++)
            other[(place + 32 * k) % 1024] = k;
    cluster.sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = (float)(clock64() - start) / turns;
}
