// Four warps with a tile of their own each, __syncwarp with a ballot's mask around a divergent edge. On a GPU: bandwidth perhaps partial.
#define WARPS 4
// launch: own<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32 * WARPS)), dim3(32, WARPS)>>>(out, in, rows, cols)
__global__ void own(float* out, const float* in, int rows, int cols)
{
    __shared__ float all[WARPS][32][33];
    float (*tile)[33] = all[threadIdx.y];
    const int lane = threadIdx.x, x = blockIdx.x * 32, y = (blockIdx.y * WARPS + threadIdx.y) * 32;
    const unsigned readers = __ballot_sync(0xffffffff, x + lane < cols);
    if (x + lane < cols) {
        for (int i = 0; i < 32 && y + i < rows; ++i) tile[i][lane] = in[(size_t)(y + i) * cols + x + lane];
        __syncwarp(readers);
    }
    __syncwarp();
    if (__any_sync(0xffffffff, y + lane < rows))
        for (int i = 0; i < __popc(readers); ++i)
            if (y + lane < rows) out[(size_t)(x + i) * rows + y + lane] = tile[lane][i];
}
