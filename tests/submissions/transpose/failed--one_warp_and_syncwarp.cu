// Blocks of one warp, four 8-row strips each, only __syncwarp(). Only a clock tells: 79 % of the peak on an H100.
// expect without a model: passed, only a clock tells (79 % of an H100's peak bandwidth, 80 % are asked)
// expect with a model: passed, too close to call
// launch: one_warp<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), 32>>>(out, in, rows, cols)
__global__ void one_warp(float* out, const float* in, int rows, int cols)
{
    __shared__ float s[32 * 33];
    const int lane = threadIdx.x;
    const int x = blockIdx.x * 32, y = blockIdx.y * 32;
    #pragma unroll 8
    for (int i = 0; i < 32; ++i)
        if (x + lane < cols && y + i < rows) s[i * 33 + lane] = in[(y + i) * cols + x + lane];
    __syncwarp();
    #pragma unroll 8
    for (int i = 0; i < 32; ++i)
        if (y + lane < rows && x + i < cols) out[(x + i) * rows + y + lane] = s[lane * 33 + i];
}
