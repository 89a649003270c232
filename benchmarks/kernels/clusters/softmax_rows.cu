// Softmax with a cluster of 4 blocks for each row: blocks exchange their maxima and sums.
// run: --size rows=8192 --size cols=4096 --input x=normal:rows,cols --output y=float32:rows,cols
// run: --size rows=1024 --size cols=32768 --input x=normal:rows,cols --output y=float32:rows,cols
// run: --size rows=16384 --size cols=1024 --input x=normal:rows,cols --output y=float32:rows,cols
// launch: softmax_rows<<<4 * rows, 256, cols>>>(y, x, cols)
#include <cooperative_groups.h>

__global__ void __cluster_dims__(4, 1, 1) softmax_rows(float* y, const float* x, int cols)
{
    extern __shared__ float part[];
    __shared__ float of_warps[2][8], of_blocks[2];
    auto cluster = cooperative_groups::this_cluster();
    const int count = cols / 4, first = cluster.block_rank() * count, warp = threadIdx.x / 32;
    const float* in = x + (size_t)(blockIdx.x / 4) * cols + first;
    float* out = y + (size_t)(blockIdx.x / 4) * cols + first;
    float largest = -1e30f;
    for (int k = threadIdx.x; k < count; k += 256)
        largest = fmaxf(largest, part[k] = in[k]);
    for (int d = 16; d > 0; d /= 2)
        largest = fmaxf(largest, __shfl_xor_sync(~0u, largest, d));
    of_warps[0][warp] = largest;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            largest = fmaxf(largest, of_warps[0][k]);
        of_blocks[0] = largest;
    }
    cluster.sync();
    for (int k = 0; k < 4; k++)
        largest = fmaxf(largest, *cluster.map_shared_rank(&of_blocks[0], k));
    float sum = 0;
    for (int k = threadIdx.x; k < count; k += 256)
        sum += part[k] = __expf(part[k] - largest);
    for (int d = 16; d > 0; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    of_warps[1][warp] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int k = 1; k < 8; k++)
            sum += of_warps[1][k];
        of_blocks[1] = sum;
    }
    cluster.sync();
    sum = 0;
    for (int k = 0; k < 4; k++)
        sum += *cluster.map_shared_rank(&of_blocks[1], k);
    for (int k = threadIdx.x; k < count; k += 256)
        out[k] = part[k] / sum;
    cluster.sync();
}
