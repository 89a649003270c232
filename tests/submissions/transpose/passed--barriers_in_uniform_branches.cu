// Barriers inside branches that a whole block takes alike, another one on either side. Full marks expected on a GPU.
// launch: uniform<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void uniform(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int x0 = blockIdx.x * 32, y0 = blockIdx.y * 32, tx = threadIdx.x;
    const bool whole = x0 + 32 <= cols && y0 + 32 <= rows;
    if (whole) {
        for (int j = threadIdx.y; j < 32; j += 8) tile[j][tx] = in[(y0 + j) * cols + x0 + tx];
        __syncthreads();
        for (int j = threadIdx.y; j < 32; j += 8) out[(x0 + j) * rows + y0 + tx] = tile[tx][j];
    } else if (blockIdx.y % 2 == 0) {
        for (int j = threadIdx.y; j < 32; j += 8)
            if (y0 + j < rows && x0 + tx < cols) tile[j][tx] = in[(y0 + j) * cols + x0 + tx];
        for (int repeat = 0; repeat < 2; ++repeat) __syncthreads();
        for (int j = threadIdx.y; j < 32; j += 8)
            if (x0 + j < cols && y0 + tx < rows) out[(x0 + j) * rows + y0 + tx] = tile[tx][j];
    } else {
        for (int j = threadIdx.y; j < 32; j += 8)
            if (x0 + j < cols && y0 + tx < rows) tile[j][tx] = in[(y0 + tx) * cols + x0 + j];
        if (__syncthreads_or(cols > 0))
            for (int j = threadIdx.y; j < 32; j += 8)
                if (x0 + j < cols && y0 + tx < rows) out[(x0 + j) * rows + y0 + tx] = tile[j][tx];
    }
}
