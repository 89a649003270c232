// A volatile tile and volatile global pointers, "to be safe". On a GPU: bandwidth is partial (volatile loads stay in order).
// expect without a model: passed, only a clock tells (68 % of an H100's peak bandwidth, 80 % are asked)
// launch: vt<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void vt(volatile float* out, const volatile float* in, int rows, int cols)
{
    volatile __shared__ float tile[32][33];
    volatile int x = blockIdx.x * 32 + threadIdx.x;
    int y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
    __threadfence_block();
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols)
            out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
