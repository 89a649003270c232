// HONEST: 1,000 blocks walk through the tiles (not a divisor of their number)
#define TILE 32
// launch: k<<<1000, dim3(32, 8)>>>(out, in, rows, cols)
__global__ void k(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int nx = (cols + 31) / 32, ny = (rows + 31) / 32;
    for (int b = blockIdx.x; b < nx * ny; b += gridDim.x) {
        int bx = b % nx, by = b / nx, x = bx * 32 + threadIdx.x, y = by * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8) if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
        __syncthreads();
        x = by * 32 + threadIdx.x; y = bx * 32 + threadIdx.y;
        for (int j = 0; j < 32; j += 8) if (x < rows && y + j < cols) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
        __syncthreads();
    }
}
