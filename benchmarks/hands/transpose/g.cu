// launch: trans<<<ceil_div(rows, 32) * ceil_div(cols, 32), dim3(32, 8)>>>(in, out, rows, cols)
__global__ void trans(const float *input, float *output, int num_rows, int num_cols)
{
    __shared__ float cache[32][32 + 1];
    int tiles_per_row = (num_cols + 31) / 32;
    int tile_row = blockIdx.x / tiles_per_row;
    int tile_col = blockIdx.x - tile_row * tiles_per_row;
    const float *from = input + tile_row * 32 * num_cols + tile_col * 32;
    float *to = output + tile_col * 32 * num_rows + tile_row * 32;
    int rows_here = num_rows - tile_row * 32;
    int cols_here = num_cols - tile_col * 32;
    int i = threadIdx.y;
    while (i < 32) {
        if (i < rows_here && threadIdx.x < cols_here)
            cache[threadIdx.x][i] = from[i * num_cols + threadIdx.x];
        i += 8;
    }
    __syncthreads();
    i = threadIdx.y;
    while (i < 32) {
        if (i < cols_here && threadIdx.x < rows_here)
            to[i * num_rows + threadIdx.x] = cache[i][threadIdx.x];
        i += 8;
    }
}
