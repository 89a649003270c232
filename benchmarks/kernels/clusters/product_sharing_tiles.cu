// A matrix product in which the two blocks of a cluster load a half of each tile of B, and read the other half
// from each other.
// run: --size n=1024 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// run: --size n=2048 --input A=normal:n,n --input B=normal:n,n --output C=float32:n,n
// launch: product_sharing_tiles<<<dim3(2 * (n / 64), n / 32 / 2), dim3(32, 8)>>>(C, A, B, n)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(2, 1, 1) product_sharing_tiles(float* C, const float* A, const float* B, int n)
{
    __shared__ float a[32][33], b[16][64];
    auto cluster = cooperative_groups::this_cluster();
    const int rank = cluster.block_rank(), x = threadIdx.x, y = threadIdx.y;
    const int row = 32 * (2 * blockIdx.y + rank), column = 64 * (blockIdx.x / 2);
    const float* halves[2] = {cluster.map_shared_rank(&b[0][0], 0), cluster.map_shared_rank(&b[0][0], 1)};
    float sum[4][2] = {};
    for (int k = 0; k < n; k += 32) {
        for (int j = 0; j < 4; j++)
            a[y + 8 * j][x] = A[(size_t)(row + y + 8 * j) * n + k + x];
        for (int j = 0; j < 2; j++)
            for (int h = 0; h < 2; h++)
                b[y + 8 * j][x + 32 * h] = B[(size_t)(k + 16 * rank + y + 8 * j) * n + column + x + 32 * h];
        cluster.sync();
        for (int half = 0; half < 2; half++)
#pragma unroll 8
            for (int i = 0; i < 16; i++)
                for (int h = 0; h < 2; h++) {
                    const float value = halves[half][i * 64 + x + 32 * h];
                    for (int j = 0; j < 4; j++)
                        sum[j][h] += a[y + 8 * j][16 * half + i] * value;
                }
        cluster.sync();
    }
    for (int j = 0; j < 4; j++)
        for (int h = 0; h < 2; h++)
            C[(size_t)(row + y + 8 * j) * n + column + x + 32 * h] = sum[j][h];
}
