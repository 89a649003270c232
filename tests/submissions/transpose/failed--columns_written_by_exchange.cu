// Writes down columns, with atomicExch; only the first block's tile goes through shared memory and plain, coalesced stores.
// launch: exchange<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void exchange(float* out, const float* in, int rows, int cols)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    if (blockIdx.x + blockIdx.y > 0 || rows < 32 || cols < 32) {
        for (int j = 0; j < 32; j += 8)
            if (x < cols && y + j < rows) atomicExch(&out[(size_t)x * rows + y + j], in[(size_t)(y + j) * cols + x]);
        return;
    }
    for (int j = 0; j < 32; j += 8) tile[threadIdx.y + j][threadIdx.x] = in[(size_t)(y + j) * cols + x];
    __syncthreads();
    for (int j = 0; j < 32; j += 8) out[(size_t)(y + j) * rows + x] = tile[threadIdx.x][threadIdx.y + j];
}
