// Blocks that walk over tiles in a grid-stride loop, with both barriers. Only a clock tells: 48 % of the peak on an H100.
// expect without a model: passed, only a clock tells (48 % of an H100's peak bandwidth, 80 % are asked)
#define GRID 264  // two blocks an SM
// launch: persistent<<<GRID, dim3(32, 8)>>>(out, in, rows, cols)
__global__ void persistent(float* __restrict__ out, const float* __restrict__ in, int rows, int cols)
{
    __shared__ float tile[32][33];
    const int tiles_x = (cols + 31) / 32;
    const int tiles = tiles_x * ((rows + 31) / 32);

    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        const int x0 = (t % tiles_x) * 32;
        const int y0 = (t / tiles_x) * 32;
        for (int j = threadIdx.y; j < 32; j += 8)
            if (y0 + j < rows && x0 + threadIdx.x < cols)
                tile[j][threadIdx.x] = in[(y0 + j) * cols + x0 + threadIdx.x];
        __syncthreads();
        for (int j = threadIdx.y; j < 32; j += 8)
            if (x0 + j < cols && y0 + threadIdx.x < rows)
                out[(x0 + j) * rows + y0 + threadIdx.x] = tile[threadIdx.x][j];
        __syncthreads();
    }
}
