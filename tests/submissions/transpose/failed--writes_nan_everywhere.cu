// NaN is not equal to anything, so that a careless comparison never finds it wrong.
// expect points: 0
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    out[x * rows + y] = __int_as_float(0x7fc00000) + 0.0f * in[y * cols + x];
}
