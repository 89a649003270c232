// The lanes of one warp wait at two different __syncthreads(). On a GPU: undefined, deadlocks or passes by luck.
// expect on an emulated device: runtime_error (threads wait at different barriers)
// launch: t<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void t(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (threadIdx.x < 16) {
        for (int j = 0; j < 32; j += 8)
            if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * cols + x];
        __syncthreads();
    } else {
        for (int j = 24; j >= 0; j -= 8)
            if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
        __syncthreads();
    }
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) out[(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
