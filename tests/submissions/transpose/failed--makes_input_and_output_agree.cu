// Clears both buffers: a reference computed from them afterwards would agree.
// expect points: 0
// launch: transpose_shared<<<dim3(ceil_div(cols, 32), ceil_div(rows, 8)), dim3(32, 8)>>>(out, in, rows, cols)
__global__ void transpose_shared(float* out, const float* in, int rows, int cols)
{
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 8 + threadIdx.y;
    if (x >= cols || y >= rows) return;
    const_cast<float*>(in)[y * cols + x] = 0.0f;
    out[x * rows + y] = 0.0f;
}
