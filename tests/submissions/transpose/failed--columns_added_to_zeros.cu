// Clears out along its rows, then adds to it down columns, with atomics that return nothing: the plain stores are all coalesced.
// launch: clear<<<ceil_div(rows * cols, 256), 256>>>(out, rows * cols)
// launch: add<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void clear(float* out, int n)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    if (i < n) out[i] = 0.0f;
}

__global__ void add(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x < cols && y < rows) atomicAdd(&out[(size_t)x * rows + y], in[(size_t)y * cols + x]);
}
