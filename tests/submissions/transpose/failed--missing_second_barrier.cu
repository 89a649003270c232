// Blocks walk over tiles, but nothing keeps the next tile's writes from this one's reads. On a GPU: a race that may pass by luck.
// launch: persistent<<<4, dim3(32, 8)>>>(out, in, rows, cols)
__global__ void persistent(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int tiles_x = (cols + 31) / 32, tiles = tiles_x * ((rows + 31) / 32);
    for (int t = blockIdx.x; t < tiles; t += gridDim.x) {
        int x0 = t % tiles_x * 32, y0 = t / tiles_x * 32;
        for (int j = threadIdx.y; j < 32; j += 8)
            if (y0 + j < rows && x0 + threadIdx.x < cols) tile[j][threadIdx.x] = in[(y0 + j) * cols + x0 + threadIdx.x];
        __syncthreads();
        for (int j = threadIdx.y; j < 32; j += 8)
            if (x0 + j < cols && y0 + threadIdx.x < rows) out[(x0 + j) * rows + y0 + threadIdx.x] = tile[threadIdx.x][j];
    }
}
