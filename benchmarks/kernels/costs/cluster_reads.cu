// Cycles of a load from the shared memory of the next block of a cluster of 4: each load depends on
// the load before (chained), or on none.
// run: --size turns=256 --size threads=32 --size chained=1 --output y=float32:128*threads
// run: --size turns=256 --size threads=1024 --size chained=1 --output y=float32:128*threads
// run: --size turns=256 --size threads=32 --size chained=0 --output y=float32:128*threads
// run: --size turns=256 --size threads=128 --size chained=0 --output y=float32:128*threads
// run: --size turns=256 --size threads=512 --size chained=0 --output y=float32:128*threads
// run: --size turns=256 --size threads=1024 --size chained=0 --output y=float32:128*threads
// launch: reads<<<128, threads>>>(y, turns, chained)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(4, 1, 1) reads(float* y, int turns, int chained)
{
    __shared__ int words[1024];
    auto cluster = cooperative_groups::this_cluster();
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        words[k] = (k + 32) % 1024;
    cluster.sync();
    const int* other = cluster.map_shared_rank(words, (cluster.block_rank() + 1) % 4);
    int place = threadIdx.x, sum = 0;
    const long long start = clock64();
    if (chained)
        for (int k = 0; k < turns; k++)
            place = other[place];
    else
#pragma unroll 16
        for (int k = 0; k < turns; k++)
            sum += other[(place + 32 * k) % 1024];
    const float cycles = (float)(clock64() - start) / turns;
    cluster.sync();
    y[blockIdx.x * blockDim.x + threadIdx.x] = cycles + (place + sum == -1);
}
