// A variable of more than 64 MiB that is not zero.
// expect points: 0
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
__device__ int big[(1 << 24) + 1] = {1};
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    out[x * rows + y] = in[y * cols + x] + big[x];
}
