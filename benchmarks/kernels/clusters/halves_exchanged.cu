// Transposes squares of 64 x 64 in a cluster of 2: each block reads 32 rows, and writes 32 columns, half of which
// it reads from the other block's tile.
// run: --size n=4096 --input x=normal:n,n --output y=float32:n,n
// run: --size n=8192 --input x=normal:n,n --output y=float32:n,n
// launch: halves_exchanged<<<dim3(2 * (n / 64), n / 64), dim3(32, 8)>>>(y, x, n)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) halves_exchanged(float* y, const float* x, int n)
{
    __shared__ float tile[32][65];
    auto cluster = cooperative_groups::this_cluster();
    const int rank = cluster.block_rank(), left = 64 * (blockIdx.x / 2), top = 64 * blockIdx.y;
    for (int j = threadIdx.y; j < 32; j += 8)
        for (int k = threadIdx.x; k < 64; k += 32)
            tile[j][k] = x[(size_t)(top + 32 * rank + j) * n + left + k];
    cluster.sync();
    for (int half = 0; half < 2; half++) {
        const float* from = cluster.map_shared_rank(&tile[0][0], half);
        for (int j = threadIdx.y; j < 32; j += 8)
            y[(size_t)(left + 32 * rank + j) * n + top + 32 * half + threadIdx.x] = from[threadIdx.x * 65 + 32 * rank + j];
    }
    cluster.sync();
}
