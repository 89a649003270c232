// A while loop whose counter never moves.
// launch: t<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void t(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int j = threadIdx.y;
    while (j < 32) {
        int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + j;
        if (x >= cols || y >= rows) continue;
        tile[j][threadIdx.x] = *(volatile const float*)&in[y * cols + x];
    }
    __syncthreads();
    for (j = threadIdx.y; j < 32; j += 8) {
        int x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + j;
        if (x < rows && y < cols) out[y * rows + x] = tile[threadIdx.x][j];
    }
}
