// Row offsets from a __constant__ table, indexed by a loop and by the thread. Only a clock tells: 65 % of the peak on an H100.
// expect without a model: passed, only a clock tells (65 % of an H100's peak bandwidth, 80 % are asked)
__constant__ int offsets[4] = {0, 8, 16, 24};
__constant__ unsigned char reversed[8] = {7, 6, 5, 4, 3, 2, 1, 0};
// launch: table<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void table(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int ty = reversed[threadIdx.y];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + ty;
    for (int k = 0; k < 4; ++k)
        if (x < cols && y + offsets[k] < rows) tile[ty + offsets[k]][threadIdx.x] = in[(y + offsets[k]) * cols + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + ty;
    for (int k = 0; k < 4; ++k)
        if (x < rows && y + offsets[k] < cols) out[(y + offsets[k]) * rows + x] = tile[threadIdx.x][ty + offsets[k]];
}
