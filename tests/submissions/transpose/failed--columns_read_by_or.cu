// Reads down columns, with atomicOr of nothing, so that no plain load is left; writes along rows.
// launch: read_by_or<<<dim3(ceil_div(rows, 32), ceil_div(cols, 8)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void read_by_or(float* out, float* in, int rows, int cols)
{
    int row = blockIdx.x * 32 + threadIdx.x, col = blockIdx.y * 8 + threadIdx.y;
    if (row >= rows || col >= cols) return;
    float value = __uint_as_float(atomicOr((unsigned int*)&in[(size_t)row * cols + col], 0u));
    out[(size_t)col * rows + row] = value;
}
