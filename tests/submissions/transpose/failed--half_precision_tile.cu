// A tile of __half: half the bytes of shared memory, and wrong digits in the output.
#include <cuda_fp16.h>
// launch: halves<<<dim3(ceil_div(cols, 32), ceil_div(rows, 32)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void halves(float* out, const float* in, int rows, int cols)
{
    __shared__ __half tile[32][34];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < cols && y + j < rows) tile[threadIdx.y + j][threadIdx.x] = __float2half(in[(y + j) * cols + x]);
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x, y = blockIdx.x * 32 + threadIdx.y;
    for (int j = 0; j < 32; j += 8)
        if (x < rows && y + j < cols) out[(y + j) * rows + x] = __half2float(tile[threadIdx.x][threadIdx.y + j]);
}
